# SPDX-License-Identifier: GPL-2.0-only
# A text as a C string literal, line by line.
s/["\\]/\\&/g
s/.*/"&\\n"/
