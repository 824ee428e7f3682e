# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Loads in Go, built here: what compiles them is 470 MB, and is fetched only where a load is asked for.

# Prints the program of tests/lab/goload.go, which is static, building it when the cache has none of this source.
golang_build() {
	local work=$LAB_CACHE/golang name tree

	name=$work/goload-$(sha256sum <"$LAB_DIR/goload.go" | cut -c 1-16)
	if [ ! -e "$name" ]; then
		tree=$(extras_find golang-go)
		mkdir -p "$work"
		PATH=$tree/usr/bin:$PATH GOCACHE=$work/cache CGO_ENABLED=0 \
			go build -o "$name.new" "$LAB_DIR/goload.go" >&2 || die "goload.go does not build"
		mv "$name.new" "$name"
	fi
	echo "$name"
}
