// SPDX-License-Identifier: GPL-2.0-only
/* [profile NAME]: what changes with it, when it holds, and what is refused. */
#include "test-config.h"

#include <stdio.h>
#include <unistd.h>

#include "config/load.h"
#include "shared/cleanup.h"

#define PATH_SIZE 64

static void write_file(const char *text, char path[static PATH_SIZE])
{
	FILE *file;
	int fd;

	strcpy(path, "/tmp/test-profile-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Returns what policy_files_read() does. The file is gone then; messages begin with its path. */
static int read_as_file(const char *text, char path[static PATH_SIZE], struct policy_files **ret,
			char **ret_message)
{
	int r;

	write_file(text, path);
	r = policy_files_read(path, false, NULL, ret, ret_message);
	unlink(path);
	return r;
}

static struct policy_files *read_text(const char *text)
{
	struct policy_files *files = NULL;
	char path[PATH_SIZE], *message = NULL;
	int r = read_as_file(text, path, &files, &message);

	if (message)
		fail_msg("%s", message);
	assert_int_equal(r, 0);
	return files;
}

static void apply(const struct policy_files *files, const char *profile, struct policy *ret)
{
	const struct policy_profile *found = policy_profiles_find(policy_files_profiles(files),
								  profile);

	assert_non_null(found);
	assert_int_equal(policy_files_apply(files, found, ret), 0);
}

TEST(test_every_kind_of_key)
{
	struct policy_files *files = read_text("[domain]\n"
					       "headroom = 150%\n"
					       "down-hold = 30ms\n"
					       "[rule backup]\n"
					       "comm = tar\n"
					       "cap = 50%\n"
					       "[profile night]\n"
					       "domain.headroom = 110%\n"
					       "domain policy4.max-frequency = 1GHz\n"
					       "io-boost.enabled = no\n"
					       "caps.burst-limit = 5ms\n"
					       "rule backup.cap = 20%\n"
					       "class batch.cap = 10%\n");
	struct policy policy;

	apply(files, "night", &policy);
	assert_int_equal(policy.domain.headroom_percent, 110);
	assert_int_equal(policy.domain.down_hold_ns, 30000000);
	assert_int_equal(policy.n_domain_sections, 1);
	assert_string_equal(policy.domain_sections[0].name, "policy4");
	assert_int_equal(policy.domain_sections[0].values.max.value, 1000000);
	assert_false(policy.io_boost.enabled);
	assert_int_equal(policy.caps.burst_limit_ns, 5000000);
	assert_int_equal(policy.n_rules, 1);
	assert_string_equal(policy.rules[0].match.comm, "tar");
	assert_int_equal(policy.rules[0].properties.cap.value, 20);

	/* And without it all is as it was. */
	apply(files, POLICY_PROFILE_DEFAULT, &policy);
	assert_int_equal(policy.domain.headroom_percent, 150);
	assert_int_equal(policy.n_domain_sections, 0);
	assert_true(policy.io_boost.enabled);
	assert_int_equal(policy.rules[0].properties.cap.value, 50);
	policy_files_free(files);
}

/* A rule has what its class has under the profile. */
TEST(test_class_of_profile)
{
	struct policy_files *files = read_text("[rule make]\ncomm = make\nclass = batch\n"
					       "[profile low]\nclass batch.cap = 10%\n");
	struct policy policy;

	apply(files, POLICY_PROFILE_DEFAULT, &policy);
	assert_int_equal(policy.rules[0].properties.cap.value, 80);
	apply(files, "low", &policy);
	assert_int_equal(policy.rules[0].properties.cap.value, 10);
	policy_files_free(files);
}

TEST(test_built_in)
{
	static const char *const names[] = { "balanced", "quiet", "performance" };
	struct policy_files *files = read_text("");
	const struct policy_profiles *profiles = policy_files_profiles(files);
	struct policy policy, defaults;

	policy_init(&defaults);
	policy_init(&policy);
	assert_int_equal(profiles->n, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_string_equal(profiles->entries[i].name, names[i]);
		assert_false(profiles->entries[i].when.given);
	}
	apply(files, "balanced", &policy);
	assert_memory_equal(&policy, &defaults, sizeof(policy));
	apply(files, "quiet", &policy);
	assert_int_equal(policy.domain.max.value, 60);
	assert_int_equal(policy.domain.preference, POLICY_PREFERENCE_POWER);
	apply(files, "performance", &policy);
	assert_int_equal(policy.domain.min.value, 60);
	assert_int_equal(policy.domain.preference, POLICY_PREFERENCE_PERFORMANCE);
	policy_files_free(files);
}

/* A file goes on with a built-in one, key by key; limits of the files may cross those of one. */
TEST(test_changed_built_in)
{
	struct policy_files *files = read_text("[domain]\nmin-frequency = 70%\n"
					       "[profile quiet]\nwhen = battery\n"
					       "domain.energy-preference = balance_power\n");
	struct policy policy;

	assert_int_equal(policy_files_profiles(files)->n, 3);
	apply(files, "quiet", &policy);
	assert_int_equal(policy.domain.preference, POLICY_PREFERENCE_BALANCE_POWER);
	assert_int_equal(policy.domain.max.value, 60);
	assert_int_equal(policy.domain.min.value, 70);
	policy_files_free(files);
}

TEST(test_conditions)
{
	struct policy_files *files = read_text("[rule game]\ncomm = doom\n"
					       "[profile a]\nwhen = mains 22:00-06:30 rule game\n"
					       "[profile b]\nwhen = 0:05-23:59\n");
	const struct policy_profiles *profiles = policy_files_profiles(files);
	const struct policy_when *a = &policy_profiles_find(profiles, "a")->when;
	const struct policy_when *b = &policy_profiles_find(profiles, "b")->when;

	assert_true(a->given && a->by_time);
	assert_int_equal(a->power, POLICY_POWER_MAINS);
	assert_int_equal(a->from_min, 22 * 60);
	assert_int_equal(a->until_min, 6 * 60 + 30);
	assert_string_equal(a->rule, "game");
	assert_int_equal(b->power, POLICY_POWER_ANY);
	assert_int_equal(b->from_min, 5);
	assert_string_equal(b->rule, "");
	policy_files_free(files);
}

/* By any profile, whichever holds. */
TEST(test_filled_rules)
{
	struct policy_files *files = read_text("[rule a]\ncomm = a\n[rule a.b]\ncomm = b\n"
					       "[rule c]\ncomm = c\n[rule d]\ncomm = d\n"
					       "[profile x]\nrule a.b.cap = 10%\n"
					       "class batch.cap = 10%\n"
					       "[profile y]\nrule c.cap = 10%\n");
	struct policy policy;

	apply(files, "y", &policy);
	assert_false(policy.rules[0].is_filled);
	assert_true(policy.rules[1].is_filled);
	assert_true(policy.rules[2].is_filled);
	assert_false(policy.rules[3].is_filled);
	policy_files_free(files);
}

static void expect_refused(const char *text, const char *message)
{
	struct policy_files *files = NULL;
	char path[PATH_SIZE], *found = NULL;
	int r = read_as_file(text, path, &files, &found);

	assert_true(r < 0);
	assert_non_null(found);
	assert_memory_equal(found, path, strlen(path));
	assert_string_equal(found + strlen(path), message);
	free(found);
}

#define WHEN_EXPECTED                                                                         \
	"expected battery or mains, times of day such as 22:00-06:00, rule NAME, or several " \
	"with blanks between that must all hold"

TEST(test_refused)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "[profile x]\nwhen = rule game\n",
		  ":2: [profile x] when: found 'rule game', expected a rule of this policy" },
		{ "[profile x]\nwhen = moon\n",
		  ":2: [profile x] when: found 'moon', " WHEN_EXPECTED },
		{ "[profile x]\nwhen = battery mains\n",
		  ":2: [profile x] when: found 'battery mains', " WHEN_EXPECTED },
		{ "[profile x]\nwhen = 22:00-24:00\n",
		  ":2: [profile x] when: found '22:00-24:00', " WHEN_EXPECTED },
		{ "[profile x]\nwhen = 22:00-22:00\n",
		  ":2: [profile x] when: found '22:00-22:00', " WHEN_EXPECTED },
		{ "[profile x]\nwhen = rule\n",
		  ":2: [profile x] when: found 'rule', " WHEN_EXPECTED },
		{ "[profile balanced]\nwhen = battery\n",
		  ":2: [profile balanced] when: this is the one that holds where no other does" },
		{ "[profile x]\nheadroom = 110%\n",
		  ":2: [profile x] unknown key 'headroom'; expected when, or a key of another "
		  "section such as domain.headroom, domain policy0.max-frequency, rule NAME.cap" },
		{ "[profile x]\nwakegov.backend = limits\n",
		  ":2: [profile x] wakegov.backend: what takes effect when wakegovd starts cannot "
		  "be a profile's" },
		{ "[profile x]\n\ndomain.headroom = 1%\n",
		  ":3: [domain] headroom: found '1%', expected a share from 110% to 400% with its "
		  "unit (%)" },
		{ "[profile x]\ndomain.headroom = 110%\ndomain.headroom = 120%\n",
		  ":3: [profile x] domain.headroom: found the key again, expected it once; the "
		  "first is at line 2" },
		{ "[profile x]\n[profile x]\n",
		  ":2: found section [profile x] again, expected it once in a file; the first is at "
		  "line 1" },
		{ "[profile x]\nprofile y.when = battery\n",
		  ":2: [profile x] unknown key 'profile y.when'; expected when, or a key of another "
		  "section such as domain.headroom, domain policy0.max-frequency, rule NAME.cap" },
		{ "[profile auto]\n",
		  ":1: [profile auto] cannot be: wakegovctl profile auto leaves the choice to "
		  "conditions" },
		{ "[profile a b]\n",
		  ":1: unknown section [profile a b]; expected a name of 1 to 31 letters, digits "
		  "and -_.@: after the blank" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_refused(cases[i].text, cases[i].message);
}

TEST(test_bounds)
{
	char text[1024] = "";
	size_t n = 0;

	for (int i = 0; i < POLICY_PROFILES_MAX - 3 + 1; i++)
		n += sprintf(text + n, "[profile p%d]\n", i);
	expect_refused(text, ":14: found one more [profile NAME], expected at most 16 with those "
			     "that are built in");
}
