// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints replies as text: fields, paragraphs, and tables whose columns are formatted by the unit
 * in the key's name.
 */
#include "ctl/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "shared/cleanup.h"
#include "shared/text.h"

bool field_is_word(const json_t *object, const char *key, const char *word)
{
	const char *text = field_text(object, key);

	return text && !strcmp(text, word);
}

bool style_is_used(FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return fileno(file) >= 0 && isatty(fileno(file)) && !(no_color && *no_color) && terminal &&
	       *terminal && strcmp(terminal, "dumb") != 0;
}

const char *style_bold(FILE *file)
{
	return style_is_used(file) ? "\033[1m" : "";
}

const char *style_plain(FILE *file)
{
	return style_is_used(file) ? "\033[0m" : "";
}

size_t print_width(FILE *file, size_t most)
{
	struct winsize size;

	if (fileno(file) < 0 || ioctl(fileno(file), TIOCGWINSZ, &size) < 0 || !size.ws_col ||
	    size.ws_col > most)
		return most;
	return size.ws_col;
}

/* How many bytes fit into so many columns, up to a space if there is one. */
static int length_of_line(const char *text, int columns)
{
	int width = 0, fits = 0;

	for (int i = 0; text[i]; i++) {
		if (text[i] == ' ' && width <= columns)
			fits = i;
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	if (width <= columns)
		return (int)strlen(text);
	return fits ? fits : (int)strcspn(text, " ");
}

void paragraph_print(FILE *file, const char *title, const char *text)
{
	_cleanup_free_ char *clean = format_clean(text);
	const char *rest = clean ? clean : "?";
	int columns = (int)print_width(file, TABLE_LINE) - PARAGRAPH_TITLE;

	while (*rest) {
		int length = length_of_line(rest, columns);

		fprintf(file, "%-*s%.*s\n", PARAGRAPH_TITLE, title, length, rest);
		title = "";
		rest += length;
		rest += strspn(rest, " ");
	}
}

static char *show_own(uint64_t pid)
{
	return format_print("%" PRIu64 "%s", pid, format_own(pid));
}

/* Other names are not looked up, which could take long. */
static char *show_user(uint64_t uid)
{
	return uid ? format_print("user %" PRIu64, uid) : format_print("root");
}

static char *show_monotonic(uint64_t us)
{
	const struct moment now = moment_now();

	return format_time(us, &now);
}

static char *show_ago(uint64_t realtime_us)
{
	uint64_t now_us = moment_now().realtime_us;

	return format_duration(now_us > realtime_us ? now_us - realtime_us : 0);
}

static const struct unit {
	const char *end;		/* of the key; the first that fits counts */
	char *(*show)(uint64_t number); /* NULL: as follows */
	const char *before, *after;
	double divisor;
	int decimals;
} units[] = {
	{ ":mhz", NULL, "", "", 1000, 0 },
	{ ":left", format_left },
	{ ":ago", show_ago },
	{ ":own", show_own },
	{ ":seconds", NULL, "", "", 1e6, 3 },
	{ ":seconds6", NULL, "", "", 1e6, 6 },
	{ ":bytes", NULL, "", "", 1.0 / 1024, 0 },
	{ ":mega", NULL, "", "", 1e6, 2 },
	{ ":percent1", NULL, "", " %", 10, 1 },
	{ ":percent2", NULL, "", " %", 10000, 2 },
	{ "_khz", format_frequency },
	{ "khz", format_frequency },
	{ "uid", show_user },
	{ "realtime_us", format_wall_time },
	{ "monotonic_us", show_monotonic },
	{ "_us", format_duration },
	{ "_kib", format_size },
	{ "_gain_permille", NULL, "+", " %", 10, 0 },
	{ "_permille", NULL, "", " %", 10, 0 },
	{ "_milli", NULL, "", "", 1000, 1 },
	{ "_millidegrees", NULL, "", " °C", 1000, 1 },
	{ "_milliwatts", NULL, "", " W", 1000, 1 },
	{ "_cap", NULL, "", " %", 10.24, 0 },
	{ "", NULL, "", "", 1, 0 },
};

static const struct unit *unit_of(const char *key)
{
	const struct unit *unit = units;
	size_t length = strlen(key);

	while (length < strlen(unit->end) || strcmp(key + length - strlen(unit->end), unit->end))
		unit++;
	return unit;
}

/* "turbo yes, temperature 61.4 °C": names without their units. */
static char *show_all(const json_t *object)
{
	char *text = NULL;
	const char *key;
	json_t *value;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	json_object_foreach((json_t *)object, key, value) {
		_cleanup_free_ char *shown = value_text(value, key);

		fputs(ftell(out) ? ", " : "", out);
		for (size_t i = 0; i < strlen(key) - strlen(unit_of(key)->end); i++)
			fputc(key[i] == '_' ? ' ' : key[i], out);
		fprintf(out, " %s", shown ?: "-");
	}
	fclose(out);
	return text;
}

char *value_text(const json_t *value, const char *key)
{
	double number = fmax(json_number_value(value), 0);
	const struct unit *unit = unit_of(key);
	char *text;

	if (json_is_object(value))
		return !strcmp(key, ":all") ? show_all(value) : NULL;
	if (json_is_boolean(value))
		return format_print("%s", json_is_true(value) ? "yes" : "no");
	if (json_is_string(value)) {
		text = (!strcmp(key, ":level") ? format_level : format_clean)(
			json_string_length(value) ? json_string_value(value) : NULL);
		if (text && key[0] == ':' && isdigit((unsigned char)key[1])) {
			_cleanup_free_ char *narrow = text;

			text = format_print("%-*s", atoi(key + 1), narrow);
		}
		return text;
	}
	if (!json_is_number(value))
		return NULL;
	if (json_is_real(value))
		return format_print("%.1f", number);
	if (unit->show)
		return unit->show((uint64_t)number);
	if (unit->divisor == 1)
		return format_print("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	/* Halves round up. */
	return format_print("%s%.*f%s", unit->before, unit->decimals, number / unit->divisor + 1e-9,
			    unit->after);
}
