// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every backend must do, against a real cpufreq driver. Runs inside the lab:
 *
 *	tests/lab/lab run -- build/tests/lab/actuator-conformance setspeed
 *
 * A suite, which the tests name that belong to it, is
 *
 * setspeed, limits, uclamp, observe   the backend of that name
 * cooled              limits on a kernel whose processors' cooling devices have states, from 6.3 on
 * unclamped           uclamp on a kernel without it
 * refused             setspeed on a kernel without the userspace governor's module
 * absent              a machine without cpufreq
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "actuator-fixture.h"
#include "shared/cleanup.h"

/* observe */

TEST("observe", test_observe_writes_nothing)
{
	struct actuator_domain *domain = &f->domains[0];

	fixture_watch(f, domain);
	assert_int_equal(backend->acquire(domain), ACTUATOR_DONE);
	assert_int_equal(fixture_apply(domain, 600000), ACTUATOR_UNCHANGED);
	assert_int_equal(fixture_apply(domain, 1800000), ACTUATOR_UNCHANGED);
	assert_int_equal(backend->verify(domain), ACTUATOR_DONE);
	assert_int_equal(domain->read_back_khz, 0); /* nothing was written */
	assert_int_equal(actuator_domain_release(domain, backend, NULL, NULL), ACTUATOR_DONE);
	assert_int_equal(domain->writes, 0);
	assert_int_equal(fixture_read_watch(f), 0);
	assert_null(fixture_text(f, SAVED_FILE));
	fixture_assert_as_before(f);
}

/* A kernel that cannot. */

TEST("refused", test_refused_without_module)
{
	assert_int_equal(backend->acquire(&f->domains[0]), -EOPNOTSUPP);
	assert_non_null(strstr(f->domains[0].why, "modprobe cpufreq_userspace"));
	fixture_assert_as_before(f);
	assert_null(fixture_text(f, SAVED_FILE));
}

TEST_WITH("absent", test_absent, NULL, NULL)
{
	struct topology *topology;

	assert_int_equal(cpufreq_discover(&topology, NULL, NULL), 0);
	assert_int_equal(topology->n_domains, 0);
	assert_int_equal(topology->n_cpus, 4);
	free(topology);
}

/* The OPPs are the driver's table where it has one, and else from its minimum to its maximum. */
TEST("setspeed limits uclamp", test_discover)
{
	static const uint32_t khz[] = { 400000, 600000, 1000000, 1400000, 1800000 };
	const struct topology *topology = f->topology;

	for (uint32_t cpu = 0; cpu < topology->n_cpus; cpu++)
		assert_int_equal(topology->cpu_domain[cpu], cpu >= f->second);
	for (uint32_t d = 0; d < topology->n_domains; d++) {
		const struct topology_domain *domain = &topology->domains[d];
		char name[DOMAIN_NAME_SIZE];

		snprintf(name, sizeof(name), "policy%u", domain->first_cpu);
		assert_string_equal(domain->name, name);
		assert_control_u32(domain->first_cpu, "cpuinfo_min_freq", domain->opp_khz[0]);
		assert_control_u32(domain->first_cpu, "cpuinfo_max_freq",
				   topology_domain_max_khz(domain));
		for (uint32_t i = 1; i < domain->n_opps; i++)
			assert_true(domain->opp_khz[i - 1] < domain->opp_khz[i]);
		if (has_control(domain->first_cpu, "scaling_available_frequencies"))
			assert_memory_equal(domain->opp_khz, khz, domain->n_opps * sizeof(khz[0]));
	}
}

static struct {
	const char *suites;
	struct CMUnitTest test;
} conforming[128];
static size_t n_conforming;

void conformance_add(const char *suites, struct CMUnitTest test)
{
	if (n_conforming == ARRAY_SIZE(conforming))
		abort();
	conforming[n_conforming].suites = suites;
	conforming[n_conforming++].test = test;
}

const struct backend *backend = &backend_setspeed;

/* As intel_pstate has them: a clock, and a domain, for each. */
static bool every_cpu_is_alone(void)
{
	char cpus[64];

	return control_read_file(0, "related_cpus", cpus, sizeof(cpus)) >= 0 && !strchr(cpus, ' ');
}

/* Drivers of machines with unlike CPUs give each domain its own of a governor. */
static bool tunables_are_shared(void)
{
	return access(CONTROL_DIRECTORY "/schedutil", F_OK) == 0;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; words; words = strchr(words, ' ')) {
		words += *words == ' ';
		if (strncmp(words, word, length) == 0 && strchr(" ", words[length]))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	const char *suite = argc > 1 ? argv[1] : "setspeed";
	struct CMUnitTest tests[ARRAY_SIZE(conforming)];
	size_t n_tests = 0;

	if (!getenv("WAKEGOV_LAB")) {
		fprintf(stderr, "skipped: runs in the lab only, see tests/lab/lab help\n");
		return 77;
	}
	if (every_cpu_is_alone())
		cmocka_set_skip_filter("*sibling*");
	else if (!tunables_are_shared())
		cmocka_set_skip_filter("*tunables*");
	if (has_word("limits cooled", suite))
		backend = &backend_limits;
	else if (has_word("uclamp unclamped", suite))
		backend = &backend_uclamp;
	else if (has_word("observe", suite))
		backend = &backend_observe;
	for (size_t i = 0; i < n_conforming; i++)
		if (has_word(conforming[i].suites, suite))
			tests[n_tests++] = conforming[i].test;
	if (n_tests == 0) {
		fprintf(stderr, "%s: no such suite\n", suite);
		return 2;
	}
	return _cmocka_run_group_tests(suite, tests, n_tests, NULL, NULL);
}
