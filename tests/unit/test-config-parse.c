// SPDX-License-Identifier: GPL-2.0-only
/* What is between the values: lines, sections, comments, bytes; one fault each, and its message. */
#include <errno.h>
#include <stdio.h>

#include "test-config.h"

struct text_case {
	const char *text;
	const char *message; /* NULL: valid */
};

#define SECTIONS_EXPECTED                                                                     \
	"; expected one of [wakegov], [domain], [utilisation], [io-boost], [caps], [query], " \
	"[domain policyN], [class NAME], [rule NAME], [profile NAME]"
#define DOMAIN_EXPECTED "; expected [domain policyN] with N from 0 to 1023"
#define DOMAIN_KEYS                                                                  \
	"min-frequency, max-frequency, headroom, rate-limit, down-hold, rise-time, " \
	"frequency-reference, energy-preference, opp-power"
#define LINE_EXPECTED "expected key = value, a [section] or a comment"

/* The down-hold is 1ms afterwards, unless the text is refused. */
static const struct text_case lines[] = {
	{ "[domain]\ndown-hold = 1ms\n" },
	{ "[domain]\ndown-hold=1ms" },
	{ "[domain]\r\ndown-hold = 1ms\r\n" },
	{ "\xef\xbb\xbf[domain]\ndown-hold = 1ms\n" },
	{ "  [domain] \t\n\n \t \n\t down-hold \t=\t 1ms \t\n" },
	{ "# caf\xc3\xa9\n; x\n   # indented\n[domain]\n\t; indented\ndown-hold = 1ms\n" },
	{ "[domain] ; why\ndown-hold = 1ms ; because\n" },
	{ "[domain];why\ndown-hold = 1ms\t;because\n" },
	{ "[domain]\nheadroom = 200%\n  down-hold = 1ms\n" },
	{ "[domain]\ndown-hold = 1ms\n[query]\n[domain policy3]\n" },

	{ "[domain]\ndown-hold = 1ms # no comment here\n",
	  ":2: [domain] down-hold: found '1ms # no comment here', expected a duration from 1ms to "
	  "10s with its unit (ns, us, ms, s, min); a comment behind a value begins with a ;" },
	{ "[wakegov]\nbackend = auto # x\n",
	  ":2: [wakegov] backend: found 'auto # x', expected auto, uclamp, setspeed, limits or observe; "
	  "a comment behind a value begins with a ;" },
	{ "[domain]\nheadroom = 60 %\n",
	  ":2: [domain] headroom: found '60 %', expected a share from 110% to 400% with its unit (%); "
	  "write it without a blank: 60%" },
	{ "[profile x]\nwhen = battery # x\n",
	  ":2: [profile x] when: found 'battery # x', expected battery or mains, times of day such as "
	  "22:00-06:00, rule NAME, or several with blanks between that must all hold; a comment "
	  "behind a value begins with a ;" },
	{ "[domain]\ndown-hold = 1ms;x\n",
	  ":2: [domain] down-hold: found '1ms;x', expected a duration from 1ms to 10s with its "
	  "unit (ns, us, ms, s, min)" },
	{ "[domain]\ndown-hold = ; 1ms\n",
	  ":2: [domain] down-hold: found '', expected a duration from 1ms to 10s with its unit "
	  "(ns, us, ms, s, min)" },
	{ "[domain]\ndown-hold = 1ms\n  2ms\n", ":3: found '2ms', " LINE_EXPECTED },
	{ "[domain]\ndown-hold: 1ms\n", ":2: found 'down-hold: 1ms', " LINE_EXPECTED },
	{ "[domain]\ndown-hold: = 1ms\n", ":2: found 'down-hold: = 1ms', " LINE_EXPECTED },
	{ "[domain]\n= 1ms\n", ":2: found '= 1ms', " LINE_EXPECTED },
	{ "[domain]\ndown-hold ;= 1ms\n", ":2: found 'down-hold ;= 1ms', " LINE_EXPECTED },
	{ "[domain]\ndown-hold\n", ":2: found 'down-hold', " LINE_EXPECTED },
	{ "x", ":1: found 'x', " LINE_EXPECTED },
	/* All faults of a file; what stands in a section that is none is not one more. */
	{ "x = 1\ny = 1\n[domain\nz = 1\n[domain]\ndown-hold = 1\nx\nheadroom = 200%\n",
	  ":1: found the key 'x' before any section, expected a [section] first\n" TEST_FILE
	  ":3: found '[domain', expected a [section] alone on its line\n" TEST_FILE
	  ":6: [domain] down-hold: found '1', expected a duration from 1ms to 10s with its unit "
	  "(ns, us, ms, s, min)\n" TEST_FILE ":7: found 'x', " LINE_EXPECTED },

	{ "down-hold = 1ms\n[domain]\n",
	  ":1: found the key 'down-hold' before any section, expected a [section] first" },
	{ "[domain]\nhead-room = 1%\n",
	  ":2: unknown key 'head-room' in [domain]; expected one of " DOMAIN_KEYS
	  "; did you mean 'headroom'?" },
	{ "[domain]\nmix-frequency = 1%\n",
	  ":2: unknown key 'mix-frequency' in [domain]; expected one of " DOMAIN_KEYS
	  "; did you mean 'min-frequency'?" },
	{ "[io-boost]\nfoo = 1\n",
	  ":2: unknown key 'foo' in [io-boost]; expected one of enabled, min-rate, window, hold, "
	  "slack, min-host-time" },
	{ "[io-boost]\nidle-latency = 10us\n",
	  ":2: [io-boost] idle-latency is gone: give it to the readers by a rule or a class: "
	  "idle-latency there" },
	{ "[io-boost]\ncheck-window = 500ms\n",
	  ":2: [io-boost] check-window is gone: whether a boost pays is tried in windows of its own "
	  "(wakegov-algorithms(7)); slack says which gain is worth one" },
	{ "[domain policy3]\nhold = 1ms\n",
	  ":2: unknown key 'hold' in [domain policy3]; expected one of " DOMAIN_KEYS },
	{ "[query]\nDown-Hold = 1ms\n",
	  ":2: unknown key 'Down-Hold' in [query]; expected one of "
	  "readers, read-group, change-group, max-clients, max-hints, "
	  "max-message, client-timeout" },
	{ "[wakegov]\nm\xc3\xa5x-tasks = 16\n",
	  ":2: unknown key 'm\\xc3\\xa5x-tasks' in [wakegov]; expected one of backend, max-tasks, "
	  "max-decisions, max-ruled-tasks, history; did you mean 'max-tasks'?" },
	{ "[domain]\nheadroom = 150%\n\nheadroom = 150%\n",
	  ":4: [domain] headroom: found the key again, expected it once; the first is at line 2" },
	{ "[domain policy3]\nheadroom = 150%\nheadroom = 150%\n",
	  ":3: [domain policy3] headroom: found the key again, expected it once; the first is at "
	  "line 2" },
	{ "[domain policy3]\nheadroom = 1%\n",
	  ":2: [domain policy3] headroom: found '1%', expected a share from 110% to 400% with its "
	  "unit (%)" },

	/* inih would not tell of these: nothing stands in them. */
	{ "[foo]\n", ":1: unknown section [foo]" SECTIONS_EXPECTED },
	{ "[]\n", ":1: unknown section []" SECTIONS_EXPECTED },
	{ "[ domain]\n",
	  ":1: unknown section [ domain]" SECTIONS_EXPECTED "; did you mean [domain]?" },
	{ "[iobost]\n",
	  ":1: unknown section [iobost]" SECTIONS_EXPECTED "; did you mean [io-boost]?" },
	{ "[Query]\n", ":1: unknown section [Query]" SECTIONS_EXPECTED "; did you mean [query]?" },
	{ "[domain ;x]\n", ":1: unknown section [domain ;x]" DOMAIN_EXPECTED },
	{ "[domain]\n[query]\n[domain]\n",
	  ":3: found section [domain] again, expected it once in a file; the first is at line 1" },
	{ "[domain policy3]\n\n[domain policy3]\n",
	  ":3: found section [domain policy3] again, expected it once in a file; the first is at "
	  "line 1" },
	{ "[domain] down-hold = 1ms\n",
	  ":1: found '[domain] down-hold = 1ms', expected a [section] alone on its line" },
	{ "[domain\ndown-hold = 1ms\n",
	  ":1: found '[domain', expected a [section] alone on its line" },
	{ "[domain]]\n", ":1: found '[domain]]', expected a [section] alone on its line" },

	{ "[domain policy]\n", ":1: unknown section [domain policy]" DOMAIN_EXPECTED },
	{ "[domain policy-1]\n", ":1: unknown section [domain policy-1]" DOMAIN_EXPECTED },
	{ "[domain policy01]\n", ":1: unknown section [domain policy01]" DOMAIN_EXPECTED },
	{ "[domain policy1024]\n", ":1: unknown section [domain policy1024]" DOMAIN_EXPECTED },
	{ "[domain policy18446744073709551616]\n",
	  ":1: unknown section [domain policy18446744073709551616]" DOMAIN_EXPECTED },
	{ "[domain policy1 ]\n", ":1: unknown section [domain policy1 ]" DOMAIN_EXPECTED },
	{ "[domain cpu1]\n", ":1: unknown section [domain cpu1]" DOMAIN_EXPECTED },
	{ "[domain  policy1]\n", ":1: unknown section [domain  policy1]" DOMAIN_EXPECTED },

	{ "[domain]\n# caf\xe9\n", ":2: found the byte 0xe9 at column 6, expected text in UTF-8 "
				   "without control characters" },
	{ "\xff\xfe[", ":1: found the byte 0xff at column 1, expected text in UTF-8 without "
		       "control characters" },
	{ "[domain]\n\n\x1b[2J\n", ":3: found the byte 0x1b at column 1, expected text in UTF-8 "
				   "without control characters" },
	{ "[domain]\rdown-hold = 1ms\r", ":1: found the byte 0x0d at column 9, expected text in "
					 "UTF-8 without control characters" },
};

static void expect_line_case(const struct text_case *c)
{
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	char message[512];

	test_draft_init(&draft);
	snprintf(message, sizeof(message), TEST_FILE "%s", c->message ?: "");
	test_policy_expect(&draft, c->text, strlen(c->text), c->message ? message : NULL);
	if (!c->message)
		assert_int_equal(draft.policy.domain.down_hold_ns, 1000000);
}

TEST(test_lines)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		expect_line_case(&lines[i]);
}

TEST(test_nul_byte)
{
	static const char text[] = "[domain]\nheadroom = 150%\0\n";
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
	test_policy_expect(&draft, text, sizeof(text) - 1,
			   TEST_FILE ":2: found the byte 0x00 at column 16, expected text in UTF-8 "
				     "without control characters");
}

/* A value after that many blanks, so that a parser that cuts the line cannot have seen it. */
static char *make_long_line(size_t length, const char *end)
{
	static const char key[] = "headroom =", value[] = "200%";
	static char text[1024];

	memset(text, ' ', sizeof(text));
	memcpy(text, "[domain]\n", 9);
	memcpy(text + 9, key, strlen(key));
	memcpy(text + 9 + length - strlen(value), value, strlen(value));
	strcpy(text + 9 + length, end);
	return text;
}

TEST(test_long_lines)
{
	static const char *const ends[] = { "\n", "\r\n", "" };

	for (size_t i = 0; i < 3; i++) {
		char *text = make_long_line(POLICY_LINE_MAX, ends[i]);
		_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

		test_draft_init(&draft);
		test_policy_expect(&draft, text, strlen(text), NULL);
		assert_int_equal(draft.policy.domain.headroom_percent, 200);

		text = make_long_line(POLICY_LINE_MAX + 1, ends[i]);
		test_draft_init(&draft);
		test_policy_expect(&draft, text, strlen(text),
				   TEST_FILE ":2: found a line of 198 bytes, expected at most 197");
	}
}

TEST(test_echo_is_shortened)
{
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
#define TEXT "[io-boost]\nenabled = 0123456789012345678901234567890123456789yes\n"
	test_policy_expect(&draft, TEXT, strlen(TEXT),
			   TEST_FILE ":2: [io-boost] enabled: found "
				     "'0123456789012345678901234567890123456789...', expected no "
				     "or yes");
#undef TEXT
}

/* Files one after the other into one draft, as with drop-ins; the message of the last one. */
struct files_case {
	const char *files[3];
	const char *message;
	uint32_t policy0_headroom, policy1_headroom;
};

static const struct files_case files_cases[] = {
	{ { "" }, NULL, 125, 125 },
	{ { "[domain]\nheadroom = 200%\n" }, NULL, 200, 200 },
	{ { "[domain policy0]\nheadroom = 300%\n[domain]\nheadroom = 200%\n" }, NULL, 300, 200 },
	{ { "[domain policy0]\nheadroom = 300%\n", "[domain]\nheadroom = 200%\n" },
	  NULL,
	  300,
	  200 },
	{ { "[domain policy0]\nheadroom = 300%\n", "[domain policy0]\nheadroom = 400%\n",
	    "[domain policy0]\ndown-hold = 1ms\n[domain policy1]\nheadroom = 110%" },
	  NULL,
	  400,
	  110 },

	/* A pair can be told to be wrong only where both are of one kind, and both are known. */
	{ { "[domain]\nmin-frequency = 2GHz\nmax-frequency = 2GHz\n" }, NULL, 125, 125 },
	{ { "[domain]\nmin-frequency = 100%\nmax-frequency = 2GHz\n" }, NULL, 125, 125 },
	{ { "[domain]\nmin-frequency = 2GHz\nmax-frequency = 1%\n" }, NULL, 125, 125 },
	{ { "[domain]\nmin-frequency = 2GHz\n", "[domain]\nmax-frequency = 1GHz\n",
	    "[domain]\nmin-frequency = none\n" },
	  NULL,
	  125,
	  125 },
	{ { "[domain]\nmin-frequency = 2GHz\nmax-frequency = 3GHz\n",
	    "[domain policy0]\nmin-frequency = 5GHz\nmax-frequency = none\n" },
	  NULL,
	  125,
	  125 },
	{ { "[domain]\nmin-frequency = 2GHz\n\nmax-frequency = 1999.999MHz\n" },
	  "0:4: [domain] max-frequency: found '1999.999MHz', expected at least the min-frequency "
	  "of 2GHz, given at 0:2" },
	{ { "[domain]\nmax-frequency = 20%\nmin-frequency = 21%\n" },
	  "0:3: [domain] min-frequency: found '21%', expected at most the max-frequency of 20%, "
	  "given at 0:2" },
	{ { "[domain]\nmax-frequency = 2GHz\n", "", "[query]\n[domain]\nmin-frequency = 3GHz\n" },
	  "2:3: [domain] min-frequency: found '3GHz', expected at most the max-frequency of 2GHz, "
	  "given at 0:2" },
	{ { "[domain]\nmax-frequency = 2GHz\n", "[domain policy7]\nmin-frequency = 3GHz\n" },
	  "1:2: [domain policy7] min-frequency: found '3GHz', expected at most the max-frequency "
	  "of 2GHz, given at 0:2" },
	{ { "[domain policy7]\nmin-frequency = 3GHz\n", "[domain]\nmax-frequency = 2GHz\n" },
	  "1:2: [domain] max-frequency: found '2GHz', expected at least the min-frequency of 3GHz, "
	  "given at 0:2" },
};

static void expect_files_case(const struct files_case *c)
{
	static const char *const names[] = { "0", "1", "2" };
	struct policy_domain domain;
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	char *message = NULL;

	test_draft_init(&draft);
	for (int i = 0; i < 3 && c->files[i]; i++) {
		const char *text = c->files[i];

		assert_int_equal(policy_parse(&draft, names[i], text, strlen(text), &message), 0);
	}
	if (c->message) {
		assert_int_equal(policy_draft_check(&draft, &message), -EINVAL);
		assert_string_equal(message, c->message);
		free(message);
		return;
	}
	assert_int_equal(policy_draft_check(&draft, &message), 0);
	policy_domain_for(&draft.policy, "policy0", &domain);
	assert_int_equal(domain.headroom_percent, c->policy0_headroom);
	policy_domain_for(&draft.policy, "policy1", &domain);
	assert_int_equal(domain.headroom_percent, c->policy1_headroom);
}

TEST(test_files)
{
	for (size_t i = 0; i < sizeof(files_cases) / sizeof(files_cases[0]); i++)
		expect_files_case(&files_cases[i]);
}

/* Each key of a domain's own section is marked as given, and goes to that section only. */
TEST(test_override_fields)
{
	static const char text[] = "[domain policy1023]\n"
				   "min-frequency = 10%\nmax-frequency = 3GHz\nheadroom = 300%\n"
				   "rate-limit = 3ms\ndown-hold = 4ms\n[domain policy0]\n";
	struct policy_domain domain, untouched;
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };

	test_draft_init(&draft);
	untouched = draft.policy.domain;
	test_policy_expect(&draft, text, strlen(text), NULL);
	assert_memory_equal(&draft.policy.domain, &untouched, sizeof(untouched));
	assert_int_equal(draft.policy.n_domain_sections, 2);
	assert_int_equal(draft.policy.domain_sections[0].given,
			 POLICY_DOMAIN_BIT(min) | POLICY_DOMAIN_BIT(max) |
				 POLICY_DOMAIN_BIT(headroom_percent) |
				 POLICY_DOMAIN_BIT(rate_limit_ns) |
				 POLICY_DOMAIN_BIT(down_hold_ns));
	assert_int_equal(draft.policy.domain_sections[1].given, 0);

	policy_domain_for(&draft.policy, "policy1023", &domain);
	assert_int_equal(domain.min.kind, POLICY_FREQUENCY_PERCENT);
	assert_int_equal(domain.min.value, 10);
	assert_int_equal(domain.max.kind, POLICY_FREQUENCY_KHZ);
	assert_int_equal(domain.max.value, 3000000);
	assert_int_equal(domain.headroom_percent, 300);
	assert_int_equal(domain.rate_limit_ns, 3000000);
	assert_int_equal(domain.down_hold_ns, 4000000);
}

TEST(test_too_many_overrides)
{
	char text[POLICY_DOMAIN_SECTIONS_MAX * 32 + 64];
	_cleanup_(policy_draft_deinit) struct policy_draft draft = { 0 };
	size_t length = 0;

	for (int i = 0; i < POLICY_DOMAIN_SECTIONS_MAX; i++)
		length += snprintf(text + length, sizeof(text) - length, "[domain policy%d]\n", i);
	test_draft_init(&draft);
	test_policy_expect(&draft, text, length, NULL);
	assert_int_equal(draft.policy.n_domain_sections, POLICY_DOMAIN_SECTIONS_MAX);

	/* Known ones may come again in another file; one more may not. */
	test_policy_expect(&draft, text, length, NULL);
	test_policy_expect(&draft, "[domain policy64]", 17,
			   TEST_FILE ":1: found one more [domain policyN], expected at most 64");
}
