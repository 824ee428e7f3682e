// SPDX-License-Identifier: GPL-2.0-only
#include "report/name.h"

#include <string.h>

#include "query/utf8.h"

struct valid_name name_make_valid(const char *comm)
{
	struct valid_name name = { 0 };
	size_t n;

	strncpy(name.text, comm, sizeof(name.text) - 1);
	for (char *c = name.text; *c; c += n) {
		n = utf8_character_length(c);
		if (!n || (unsigned char)*c < ' ' || *c == 0x7f) {
			*c = '?';
			n = 1;
		}
	}
	return name;
}
