// SPDX-License-Identifier: GPL-2.0-only
#include "config/parse.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "config/draft.h"
#include "config/opp_power.h"
#include "config/rules.h"
#include "config/section.h"
#include "config/text.h"
#include "config/value.h"
#include "shared/cleanup.h"
#include "shared/suggest.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* "io-boost" or "domain policy4". */
struct section_name {
	char text[sizeof("domain ") + DOMAIN_NAME_SIZE];
};

static struct section_name name_open_section(const struct policy_draft *draft,
					     const struct policy_sections *sections)
{
	bool is_domain_section = sections->domain_section != POLICY_NO_DOMAIN_SECTION;
	struct section_name name;

	snprintf(name.text, sizeof(name.text), "%s%s%s", policy_section_name(sections->current),
		 is_domain_section ? " " : "",
		 is_domain_section ? draft->policy.domain_sections[sections->domain_section].name
				   : "");
	return name;
}

/* Keys of earlier versions that have no meaning any more. */
static const char *why_gone(enum policy_section section, const char *name)
{
	if (section != POLICY_SECTION_IO_BOOST)
		return NULL;
	if (!strcmp(name, "check-window") || !strcmp(name, "back-off-min") ||
	    !strcmp(name, "back-off-max"))
		return "whether a boost pays is tried in windows of its own (wakegov(7)); slack "
		       "says which gain is worth one";
	return NULL;
}

static int refuse_unknown(enum policy_section section, const char *section_name,
			  struct policy_place place, const char *name, char **ret_message)
{
	const char *closest = NULL, *gone = why_gone(section, name);
	const struct policy_key *keys;
	char list[256] = "";
	size_t n;

	if (gone)
		return policy_error_set(ret_message, -EINVAL, place, "[%s] %s is gone: %s",
					section_name, name, gone);
	keys = policy_keys_get(&n);
	for (size_t i = 0; i < n; i++) {
		if (keys[i].section != section)
			continue;
		strcat(strcat(list, list[0] ? ", " : ""), keys[i].name);
		suggest_closest(name, keys[i].name, &closest);
	}
	if (section == POLICY_SECTION_DOMAIN) {
		strcat(list, ", " POLICY_OPP_POWER_KEY);
		suggest_closest(name, POLICY_OPP_POWER_KEY, &closest);
	}
	return policy_error_set_unknown_key(ret_message, place, section_name, name, list, closest);
}

static int refuse_value(const char *section_name, const struct policy_key *key,
			struct policy_place place, const char *text, char **ret_message)
{
	_cleanup_free_ char *expected = policy_value_describe(key);
	char shown[POLICY_TEXT_SIZE];

	if (!expected)
		return -ENOMEM;
	policy_text_escape(text, shown);
	return policy_error_set(ret_message, -EINVAL, place, "[%s] %s: found '%s', expected %s",
				section_name, key->name, shown, expected);
}

static int store_key(struct policy_draft *draft, struct policy_sections *sections,
		     struct policy_place place, const char *name, const char *text,
		     char **ret_message)
{
	struct section_name section;
	const struct policy_key *key;
	struct policy_value value;
	unsigned int *first_line;
	size_t n;

	if (sections->profile)
		return policy_profile_assign(sections->profile, place, name, text, ret_message);
	if (sections->rule || sections->class)
		return policy_rules_assign(sections, place, name, text, ret_message);
	section = name_open_section(draft, sections);
	if (sections->current == POLICY_SECTION_DOMAIN && !strcmp(name, POLICY_OPP_POWER_KEY))
		return policy_opp_power_assign(draft, sections, place, section.text, text,
					       ret_message);
	key = policy_keys_find(sections->current, name);
	if (!key)
		return refuse_unknown(sections->current, section.text, place, name, ret_message);

	first_line = &sections->key_lines[key - policy_keys_get(&n)];
	if (*first_line)
		return policy_error_set(ret_message, -EINVAL, place,
					"[%s] %s: found the key again, expected it once; the first "
					"is at line %u",
					section.text, name, *first_line);
	*first_line = place.line;

	if (policy_value_parse(key, text, &value) < 0)
		return refuse_value(section.text, key, place, text, ret_message);
	policy_draft_set(draft, key, sections->domain_section, &value, text, place);
	return 0;
}

/* "rule backup" */
static void name_section(const struct policy_draft *draft, const struct policy_sections *sections,
			 char *ret, size_t size)
{
	if (sections->profile)
		snprintf(ret, size, "profile %s", sections->profile->name);
	else if (sections->rule)
		snprintf(ret, size, "rule %s", sections->rule->name);
	else if (sections->class)
		snprintf(ret, size, "class %s", sections->class->name);
	else
		snprintf(ret, size, "%s", name_open_section(draft, sections).text);
}

/* Puts "name = text" of a file into the draft; needs an open section. */
static int assign_key(struct policy_draft *draft, struct policy_sections *sections,
		      struct policy_place place, const char *name, const char *text,
		      char **ret_message)
{
	bool is_more = sections->has_powers && !strcmp(name, POLICY_OPP_POWER_KEY);
	char section[sizeof("profile ") + POLICY_NAME_SIZE];
	int r = store_key(draft, sections, place, name, text, ret_message);

	if (r < 0 || !draft->origins || sections->rule == &sections->left_out)
		return r;
	name_section(draft, sections, section, sizeof(section));
	return policy_origins_note(draft->origins, section, name, text, place, is_more);
}

int policy_parse_setting(struct policy_draft *draft, const struct policy_setting *setting,
			 char **ret_message)
{
	struct policy_sections sections = { .domain_section = POLICY_NO_DOMAIN_SECTION };
	const char *dot = strrchr(setting->name, '.');
	_cleanup_free_ char *header = NULL;
	int r;

	if (asprintf(&header, "[%.*s]", (int)(dot - setting->name), setting->name) < 0) {
		header = NULL;
		return -ENOMEM;
	}
	r = policy_section_open(&sections, draft, setting->place, header, ret_message);
	if (r == 0)
		r = assign_key(draft, &sections, setting->place, dot + 1, setting->value,
			       ret_message);
	return r;
}

/*
 * inih as Debian builds it cuts lines at 200 bytes, joins an indented line to the value before it,
 * ignores empty sections and text behind a ']', gives the handler no line numbers and goes on after
 * an error. So read_line() checks each line before inih gets it.
 */
struct parser {
	struct policy_draft *draft;
	struct policy_sections sections;
	struct policy_place place;
	const char *next, *end;
	int error;     /* of the first fault */
	char *message; /* of the fault that is being reported */
	char *faults;  /* a line for each */
};

/* Parses the whole text, to report all faults at once. */
static void note(struct parser *parser, int r)
{
	if (r >= 0)
		return;
	policy_error_append(&parser->faults, take_ptr(parser->message));
	parser->error = parser->error ?: r;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next line without its end, which is LF or CRLF; false after the last. */
static bool take_line(struct parser *parser, const char **ret_line, size_t *ret_length)
{
	const char *line = parser->next, *end;

	if (line == parser->end)
		return false;
	end = memchr(line, '\n', parser->end - line);
	parser->next = end ? end + 1 : parser->end;
	if (!end)
		end = parser->end;
	if (end > line && end[-1] == '\r')
		end--;

	parser->place.line++;
	*ret_line = line;
	*ret_length = end - line;
	return true;
}

static int check_text(struct parser *parser, const char *line, size_t length)
{
	const char *bad;

	if (length > POLICY_LINE_MAX)
		return policy_error_set(&parser->message, -EINVAL, parser->place,
					"found a line of %zu bytes, expected at most %d", length,
					POLICY_LINE_MAX);
	bad = policy_text_find_bad_byte(line, length);
	if (bad)
		return policy_error_set(&parser->message, -EILSEQ, parser->place,
					"found the byte 0x%02x at column %zu, expected text in "
					"UTF-8 without control characters",
					(unsigned char)*bad, (size_t)(bad - line) + 1);
	return 0;
}

/* inih would take "key: value" too, and a ';' before the '=' for a comment. */
static int check_assignment(struct parser *parser, const char *line)
{
	size_t key_length = strcspn(line, "=:;");
	char shown[POLICY_TEXT_SIZE];

	if (key_length > 0 && line[key_length] == '=')
		return 0;
	policy_text_escape(line, shown);
	return policy_error_set(&parser->message, -EINVAL, parser->place,
				"found '%s', expected key = value, a [section] or a comment",
				shown);
}

static int check_line(struct parser *parser, const char *line)
{
	int r;

	if (line[0] == '[') {
		r = policy_section_open(&parser->sections, parser->draft, parser->place, line,
					&parser->message);
		parser->sections.is_refused = r < 0;
		return r;
	}
	if (line[0] && line[0] != '#' && line[0] != ';')
		return check_assignment(parser, line);
	return 0;
}

/* Strips blanks at both ends, so that inih sees no continuation line. */
static int copy_line(struct parser *parser, const char *line, size_t length, char *buffer, int size)
{
	int r = check_text(parser, line, length);

	if (r < 0)
		return r;
	for (; length && is_blank(line[0]); line++)
		length--;
	while (length && is_blank(line[length - 1]))
		length--;
	/* POLICY_LINE_MAX, a newline and the NUL fit every build of inih. */
	if (length + 2 > (size_t)size)
		return policy_error_set(&parser->message, -ENOBUFS, parser->place,
					"found a line of %zu bytes, expected at most %d with this "
					"build of inih",
					length, size - 2);
	memcpy(buffer, line, length);
	buffer[length] = '\0';
	r = check_line(parser, buffer);
	strcpy(buffer + length, "\n");
	return r;
}

/* An ini_reader of the valid lines. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct parser *parser = stream;
	const char *line;
	size_t length;
	int r;

	do {
		if (!take_line(parser, &line, &length))
			return NULL;
		r = copy_line(parser, line, length, buffer, size);
		note(parser, r);
	} while (r < 0);
	return buffer;
}

/* An ini_handler. Keys in an unknown section are no faults of their own. */
static int handle_key(void *user, const char *section, const char *name, const char *value)
{
	struct parser *parser = user;
	char shown[POLICY_TEXT_SIZE];

	if (parser->sections.is_refused)
		return 1;
	if (parser->sections.is_open) {
		note(parser, assign_key(parser->draft, &parser->sections, parser->place, name,
					value, &parser->message));
		return 1;
	}
	parser->sections.is_refused = true;
	policy_text_escape(name, shown);
	note(parser, policy_error_set(&parser->message, -EINVAL, parser->place,
				      "found the key '%s' before any section, expected a [section] "
				      "first",
				      shown));
	return 1;
}

int policy_parse(struct policy_draft *draft, const char *file, const char *text, size_t size,
		 char **ret_message)
{
	struct parser parser = {
		.draft = draft,
		.sections.domain_section = POLICY_NO_DOMAIN_SECTION,
		.place.file = file,
		.next = text,
		.end = text + size,
	};
	size_t mark = strlen(BYTE_ORDER_MARK);
	int r;

	if (size >= mark && !memcmp(text, BYTE_ORDER_MARK, mark))
		parser.next += mark;

	r = ini_parse_stream(read_line, &parser, handle_key, &parser);
	if (parser.error == 0 && r != 0)
		parser.error = r == -2 ? -ENOMEM : -EINVAL;
	if (parser.error < 0)
		*ret_message = parser.faults;
	return parser.error;
}
