#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# version.sh RELEASE: prints the version of this tree. A tree without git, as that of an archive or of a
# package, has it in .version. At the release's tag it is the release; else the number of commits and the last one
# follow, which apt takes for older than the release.
# --dist RELEASE writes it into the archive that meson makes.
set -eu
if [ "$1" = --dist ]; then
	exec "$0" "$2" >"${MESON_DIST_ROOT:?}/.version"
fi
cd "$(dirname "$0")/../.."
if [ -e .version ]; then
	cat .version
elif ! [ -e .git ]; then
	echo "$1"
elif [ "$(git describe --exact-match --tags --match "v$1" 2>/dev/null)" = "v$1" ]; then
	echo "$1"
else
	echo "$1~git$(git rev-list --count HEAD).$(git rev-parse --short HEAD)"
fi
