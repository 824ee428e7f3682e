// SPDX-License-Identifier: GPL-2.0-only
/* wakegovd --show-config: every key with the line that gave it, as a policy that says the same. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test-config.h"

#include "config/load.h"
#include "fake-files.h"
#include "shared/cleanup.h"

static char main_path[96], dropin_dir[96], dropin[128];

static int set_up(void **state)
{
	if (fake_files_set_up(state) < 0)
		return -1;
	snprintf(main_path, sizeof(main_path), "%s/w.conf", fake_root);
	snprintf(dropin_dir, sizeof(dropin_dir), "%s/w.conf.d", fake_root);
	snprintf(dropin, sizeof(dropin), "%s/10.conf", dropin_dir);
	return mkdir(dropin_dir, 0755);
}

/* The caller frees it. */
static char *show(const char *path)
{
	char *text = NULL, *message = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (policy_show(path, true, dropin_dir, out, &message) < 0)
		fail_msg("%s", message);
	fclose(out);
	return text;
}

/* "key = value" in the section, given by where. */
static void expect(const char *shown, const char *section, const char *setting, const char *where)
{
	const char *from = strstr(shown, section), *end, *line;

	if (!from)
		fail_msg("no %s in:\n%s", section, shown);
	end = strstr(from, "\n\n") ?: from + strlen(from);
	line = strstr(from, setting);
	if (!line || line > end)
		fail_msg("no '%s' in %s of:\n%s", setting, section, shown);
	line = strstr(line, " ; ") + strlen(" ; ");
	if (strncmp(line, where, strlen(where)) != 0 || line[strlen(where)] != '\n')
		fail_msg("%s is not by %s in:\n%s", setting, where, shown);
}

TEST(test_origins)
{
	char first[160], second[160], *shown;

	test_write(main_path, "[domain]\nheadroom = 150%\ndown-hold = 30ms\n"
			      "opp-power = 1GHz 1W\nopp-power = 2GHz 3W\n"
			      "[rule a]\ncomm = x*\ncap = 30%\n[rule b]\ncomm = y\ncap = 10%\n"
			      "[class batch]\nfloor = 1%\n"
			      "[domain policy3]\nmax-frequency = 1GHz\n[profile own]\n"
			      "io-boost.slack = 3%\n");
	test_write(dropin, "[domain]\nheadroom = 160%\nopp-power = 3GHz 4W\n[rule a]\n"
			   "comm = z\n[profile quiet]\nwhen = battery\nio-boost.slack = 20%\n"
			   "[class tail-latency]\nresponse = 2ms\n");
	snprintf(first, sizeof(first), "%s:3", main_path);
	snprintf(second, sizeof(second), "%s:2", dropin);
	shown = show(main_path);
	expect(shown, "[domain]", "headroom = 160% ", second);
	expect(shown, "[domain]", "down-hold = 30ms ", first);
	expect(shown, "[domain]", "rise-time = 24ms ", "built in");
	assert_null(strstr(shown, "150%"));
	assert_null(strstr(shown, "opp-power = 2GHz"));
	second[strlen(second) - 1] = '3';
	expect(shown, "[domain]", "opp-power = 3GHz 4W ", second);
	second[strlen(second) - 1] = '5';
	expect(shown, "[rule a]", "comm = z ", second);
	first[strlen(first) - 1] = '8';
	expect(shown, "[rule a]", "cap = 30% ", first);
	assert_true(strstr(shown, "[rule a]") < strstr(shown, "[rule b]"));
	expect(shown, "[class batch]", "cap = 80% ", "built in");
	assert_non_null(strstr(shown, "[class batch]\ncap = 80%"));
	assert_non_null(strstr(shown, "[class tail-latency]\ninherit = no"));
	expect(shown, "[domain policy3]", "max-frequency = 1GHz ",
	       strcat(strcpy(first, main_path), ":15"));
	expect(shown, "[profile quiet]", "domain.max-frequency = 60% ", "built in");
	second[strlen(second) - 1] = '8';
	expect(shown, "[profile quiet]", "io-boost.slack = 20% ", second);
	free(shown);
}

/* Read again, it says the same, but for where. */
TEST(test_again)
{
	char copy[96], *shown = show(main_path), *again;

	unlink(dropin);
	snprintf(copy, sizeof(copy), "%s", main_path);
	test_write(copy, shown);
	again = show(copy);
	for (char *text = shown, *other = again; *text; text++, other++) {
		assert_int_equal(*text, *other);
		if (*text == ';') {
			text += strcspn(text, "\n");
			other += strcspn(other, "\n");
		}
	}
	free(shown);
	free(again);
}

TEST(test_refused)
{
	char *message = NULL, *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	test_write(main_path, "[domain]\nheadroom = 1%\n");
	assert_int_equal(policy_show(main_path, false, NULL, out, &message), -EINVAL);
	assert_non_null(strstr(message, "w.conf:2: [domain] headroom: found '1%'"));
	fclose(out);
	assert_int_equal(size, 0);
	free(text);
	free(message);
}

int main(void)
{
	return tests_run(set_up, fake_files_tear_down);
}
