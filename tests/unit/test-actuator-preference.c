// SPDX-License-Identifier: GPL-2.0-only
/* The lab's driver has no energy preference: a made-up tree has. */
#include "fake-setting.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <sys/stat.h>

#include "actuator/governor.h"
#include "actuator/saved.h"
#include "shared/cleanup.h"

#define POLICY(file) "cpufreq/policy0/" file
#define PREFERENCE   POLICY("energy_performance_preference")

static const struct topology_domain info = {
	.name = "policy0",
	.n_opps = 2,
	.opp_khz = { 400000, 1800000 },
	.capacity = 1024,
};

static int set_up(void **state)
{
	struct setting *s;

	if (setting_begin(state) < 0)
		return -1;
	s = *state;
	fake_write(POLICY("scaling_governor"), "powersave");
	fake_write(POLICY("energy_performance_available_preferences"),
		   "default performance balance_performance balance_power power ");
	fake_write(PREFERENCE, "balance_performance");
	if (setting_open(s, &info) < 0)
		return -1;
	return backend_limits.acquire(&s->domain);
}

#define FIXTURE_TEST(name) SETTING_TEST(name, set_up)

FIXTURE_TEST(test_set_and_restored)
{
	assert_int_equal(preference_set(&s->domain, NULL), PREFERENCE_UNCHANGED);
	assert_int_equal(preference_set(&s->domain, "balance_performance"), PREFERENCE_UNCHANGED);
	assert_int_equal(s->saved->n, 2);
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
	fake_assert(PREFERENCE, "power");
	assert_int_equal(preference_set(&s->domain, "balance_power"), PREFERENCE_DONE);
	fake_assert(PREFERENCE, "balance_power");
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(PREFERENCE, "balance_performance");
	assert_int_equal(s->saved->n, 0);
}

/* As amd-pstate answers who reads a preference that has no word. */
static bool is_unnamed;

int __real_control_load(enum control control, uint32_t number, char *ret_value, size_t size);
int __wrap_control_load(enum control control, uint32_t number, char *ret_value, size_t size);

int __wrap_control_load(enum control control, uint32_t number, char *ret_value, size_t size)
{
	if (is_unnamed && control == CONTROL_PREFERENCE)
		return -EINVAL;
	return __real_control_load(control, number, ret_value, size);
}

FIXTURE_TEST(test_unnamed)
{
	is_unnamed = true;
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_UNNAMED);
	is_unnamed = false;
	fake_assert(PREFERENCE, "balance_performance");
	assert_int_equal(s->saved->n, 2);
	assert_non_null(strstr(preference_describe(PREFERENCE_UNNAMED), "no word"));
}

/* Before its Nth write from then on the daemon is killed; 0: it is not. */
static unsigned int writes_until_kill;
static jmp_buf killed;

int __real_control_write_path(const char *path, const char *value);
int __wrap_control_write_path(const char *path, const char *value);

int __wrap_control_write_path(const char *path, const char *value)
{
	if (writes_until_kill && --writes_until_kill == 0)
		longjmp(killed, 1);
	return __real_control_write_path(path, value);
}

/* Whether it was killed amid the change. */
static bool set_until_kill(struct setting *s, const char *word, unsigned int write)
{
	volatile bool was_killed = true;

	writes_until_kill = write;
	if (!setjmp(killed)) {
		assert_int_equal(preference_set(&s->domain, word), PREFERENCE_DONE);
		was_killed = false;
	}
	writes_until_kill = 0;
	return was_killed;
}

FIXTURE_TEST(test_killed_amid_a_change)
{
	for (const char *const *word = (const char *const[]){ "balance_power", NULL, "" };
	     !*word || **word; word++) {
		unsigned int write = 1;
		bool was_killed;

		do {
			fake_write(PREFERENCE, "balance_performance");
			assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
			was_killed = set_until_kill(s, *word, write++);
			assert_int_equal(restore_saved(s->run_dir, NULL, NULL), 0);
			fake_assert(PREFERENCE, "balance_performance");
			saved_drop(s->saved, saved_find(s->saved, 0, CONTROL_PREFERENCE));
			assert_int_equal(saved_save(s->saved), 0);
		} while (was_killed);
		assert_int_equal(write, 4); /* two writes, and none left */
	}
}

FIXTURE_TEST(test_set_back_by_a_reload)
{
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
	assert_int_equal(preference_set(&s->domain, NULL), PREFERENCE_DONE);
	fake_assert(PREFERENCE, "balance_performance");
}

/* The firmware's own value has a number, which is not among those offered. */
FIXTURE_TEST(test_number_set_back)
{
	fake_write(PREFERENCE, "100");
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
	assert_int_equal(preference_set(&s->domain, NULL), PREFERENCE_DONE);
	fake_assert(PREFERENCE, "100");
	assert_int_equal(preference_set(&s->domain, "60"), -EINVAL);
}

/* The kernel prints that word where the driver cannot say. */
FIXTURE_TEST(test_unknown_frequency)
{
	static const struct backend *const backends[] = { &backend_observe, &backend_limits };
	const struct actuator_request request = { 400000, 400000, 400000, 400000, 400000 };
	uint32_t khz = 1;

	fake_write(POLICY("scaling_cur_freq"), "<unknown>");
	assert_int_equal(actuator_domain_read_back(&s->domain, &khz), 0);
	assert_int_equal(khz, 0);
	for (int i = 0; i < 2; i++) {
		assert_true(backends[i]->apply(&s->domain, &request) >= 0);
		assert_int_equal(s->domain.write_errors, 0);
	}
	fake_write(POLICY("scaling_cur_freq"), "fast");
	assert_int_equal(actuator_domain_read_back(&s->domain, &khz), -EINVAL);
}

FIXTURE_TEST(test_drivers)
{
	assert_true(governor_driver_chooses("intel_pstate"));
	assert_true(governor_driver_chooses("amd-pstate-epp"));
	assert_true(governor_driver_chooses("amd_pstate_epp"));
	assert_false(governor_driver_chooses("amd-pstate"));
	assert_false(governor_driver_chooses("intel_cpufreq"));
	assert_false(governor_driver_chooses("acpi-cpufreq"));
}

/* The kernel would answer EBUSY, each time again. */
FIXTURE_TEST(test_not_written_under_performance)
{
	fake_write(POLICY("scaling_governor"), "performance");
	fake_write(PREFERENCE, "performance");
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_REFUSED);
	assert_int_equal(preference_set(&s->domain, "performance"), PREFERENCE_UNCHANGED);
	fake_assert(PREFERENCE, "performance");
	assert_non_null(strstr(preference_describe(PREFERENCE_REFUSED), "powersave"));
}

FIXTURE_TEST(test_not_offered)
{
	fake_write(POLICY("energy_performance_available_preferences"), "default performance");
	assert_int_equal(preference_set(&s->domain, "power"), -EINVAL);
	fake_write(POLICY("energy_performance_available_preferences"), "balance_power");
	assert_int_equal(preference_set(&s->domain, "power"), -EINVAL);
	fake_assert(PREFERENCE, "balance_performance");
}

FIXTURE_TEST(test_missing)
{
	remove(FAKE_CPU "/" PREFERENCE);
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_MISSING);
}

FIXTURE_TEST(test_of_somebody_else)
{
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
	fake_write(PREFERENCE, "performance");
	assert_int_equal(preference_set(&s->domain, "balance_power"), PREFERENCE_FOREIGN);
	fake_assert(PREFERENCE, "performance");
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(PREFERENCE, "performance");
}

/* The governor is set to performance, and later back: intel_pstate has our word then, amd-pstate
 * not. */
FIXTURE_TEST(test_hidden_by_performance)
{
	static const char *const words_after[] = { "power", "performance" };

	for (size_t i = 0; i < ARRAY_SIZE(words_after); i++) {
		assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
		fake_write(POLICY("scaling_governor"), "performance");
		fake_write(PREFERENCE, "performance");
		assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_REFUSED);
		/* A daemon that was killed now leaves it to whoever restores later. */
		assert_int_equal(restore_saved(s->run_dir, NULL, NULL), 1);
		fake_write(POLICY("scaling_governor"), "powersave");
		fake_write(PREFERENCE, "%s", words_after[i]);
		assert_in_range(preference_set(&s->domain, "power"), PREFERENCE_DONE,
				PREFERENCE_UNCHANGED);
		fake_assert(PREFERENCE, "power");
		/* From now on `performance` is another program's. */
		fake_write(PREFERENCE, "performance");
		assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_FOREIGN);
		fake_write(PREFERENCE, "balance_performance");
	}
}

FIXTURE_TEST(test_hidden_at_the_end)
{
	static const char *const words_after[] = { "power", "performance" };

	for (size_t i = 0; i < ARRAY_SIZE(words_after); i++) {
		assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
		fake_write(POLICY("scaling_governor"), "performance");
		fake_write(PREFERENCE, "performance");
		assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
				 ACTUATOR_OFFLINE);
		assert_int_equal(s->saved->n, 1);
		fake_write(POLICY("scaling_governor"), "powersave");
		fake_write(PREFERENCE, "%s", words_after[i]);
		assert_int_equal(restore_saved(s->run_dir, NULL, NULL), 0);
		fake_assert(PREFERENCE, "balance_performance");
		saved_free(s->saved);
		assert_int_equal(saved_open(s->run_dir, &s->saved), 0);
		assert_int_equal(s->saved->n, 0);
		s->domain.saved = s->saved;
		assert_int_equal(backend_limits.acquire(&s->domain), ACTUATOR_DONE);
	}
}

/* amd-pstate's own choice is left to it, also where ours stood before, and on the way out. */
FIXTURE_TEST(test_dynamic)
{
	fake_write("amd_pstate/dynamic_epp", "enabled");
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DYNAMIC);
	fake_assert(PREFERENCE, "balance_performance");
	fake_write("amd_pstate/dynamic_epp", "disabled");
	assert_int_equal(preference_set(&s->domain, "power"), PREFERENCE_DONE);
	fake_write("amd_pstate/dynamic_epp", "enabled");
	assert_int_equal(preference_set(&s->domain, "performance"), PREFERENCE_DYNAMIC);
	assert_int_equal(preference_set(&s->domain, NULL), PREFERENCE_UNCHANGED);
	assert_int_equal(actuator_domain_release(&s->domain, &backend_limits, NULL, NULL),
			 ACTUATOR_DONE);
	fake_assert(PREFERENCE, "power");
	assert_int_equal(s->saved->n, 0);
}
