# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Checks of the sources, of what is installed, and by analyzers: suites of tests/run that boot nothing. For
# sourcing; REPO and BUILD are set.

# Of Debian's release; .clang-format is of 14, as each version formats in its own way.
CLANG=$(. /etc/os-release && case $VERSION_ID in 12) echo 14 ;; *) echo 19 ;; esac)
ANALYZERS=("clang-tidy-$CLANG" cppcheck jq valgrind)

# check NAME COMMAND…: one TAP line; what the command printed follows when it fails.
check() {
	local name=$1 output

	shift
	if output=$("$@" 2>&1); then
		echo "ok - $name"
	else
		echo "not ok - $name"
		printf '%s\n' "$output" | tail -n 40 | sed 's/^/# /'
	fi
}

files() {
	git -C "$REPO" ls-files -- "$@"
}

# But where there is no comment, or it would be in the reader's way: .reuse/dep5 is for all.
# REUSE-IgnoreStart
spdx_everywhere() {
	local file bad=0

	while IFS= read -r file; do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' ||
			{ echo "no SPDX line: $file" && bad=1; }
	done < <(files . ':!*.md' ':!*.json' ':!*.csv' ':!*.svg' ':!*.patch' ':!*.table' ':!LICENSE' \
		':!tests/fuzz/corpus' ':!tests/allowed-skips' ':!conf/debian/copyright' \
		':!conf/debian/source/format' ':!LICENSES' ':!.reuse')
	[ $bad = 0 ] && reuse lint
}
# REUSE-IgnoreEnd

top_level() {
	local allowed='^(src|bpf|include|conf|systemd|tests|\.ci|meson\.build|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|LICENSES|\..*)$'

	! git -C "$REPO" ls-tree --name-only HEAD | grep -vE "$allowed"
}

shell_files() {
	local file

	while IFS= read -r file; do
		if head -n 3 "$file" | grep -qE '^#!/bin/(ba)?sh|shellcheck shell='; then
			printf '%s\n' "$file"
		fi
	done < <(files tests .ci)
}

format_is_clean() {
	files '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror
}

shell_is_clean() {
	shell_files | xargs shellcheck -x
}

manual_is_clean() {
	local page warnings named bad=0 date='^\.(TH [A-Z-]+ [1-8] "20[0-9]{2}-[01][0-9]-[0-3][0-9]"|Dd [A-Z][a-z]+ [0-9]+, 20[0-9]{2}$)'

	while IFS= read -r page; do
		warnings=$(man --warnings -l "$page" 2>&1 >/dev/null)
		[ -z "$warnings" ] || { echo "$page: $warnings" && bad=1; }
		grep -qE "$date" "$page" || { echo "$page has no date" && bad=1; }
		while IFS= read -r named; do
			[ -e "$REPO/$named" ] || { echo "$page names $named, which is not there" && bad=1; }
		done < <(grep -oE '\b(src|bpf|include|tests|conf)/[a-z_0-9./-]+\.[ch]\b' "$page" | sort -u)
	done < <(files '*.[1578]')
	return $bad
}

# The tests of these modules of the guest, a line each.
tests_of() {
	(cd "$REPO/$GUEST" && sed -nE 's/^    def (test_[a-z_]+).*/\1/p' "$@" | sort -u)
}

# The manual says who can do what, what happens when something fails, and with which test that was
# tried: none is missing on either side.
promises_have_tests() {
	local said here=(test_trust.py matrix_domains.py matrix_tasks.py test_machine_storms.py
		test_suspend.py)

	said=$(sed -n '/^\.SH WHO CAN DO WHAT/,/^\.SH JOURNAL/p' "$REPO/src/wakegovd.8" |
		grep -oE '\btest_[a-z_]+\b' |
		grep -vE '^test_(trust|service|matrix|machine_storms|placement|idle_latency|storms)$' | sort -u)
	[ -n "$said" ] || return 1
	! comm -23 <(echo "$said") <(tests_of "${here[@]}" test_service.py test_storms.py \
		test_backends.py test_programs.py test_arm.py) | grep . ||
		return 1
	! comm -13 <(echo "$said") <(tests_of "${here[@]}") | grep .
}

# Words that mean something else to a kernel developer, or nothing; and, outside the tests, sentences
# without a subject that does something.
words_of_the_field() {
	local wrong='\b(takeover|ruling|leasing|levers|limiters)_[a-z]|\brivalry\b|manager_(tell|carry)'

	wrong+='|ACTUATOR_(FOREIGN|DOUBTED)|\b(near|far) flights?\b|\bjournal_tell|_is_heard\b|\bunheard\b'
	wrong+='|_mind_[a-z]+\(|\b(levers?|ceilings?|leases?|leasing|rooms)\b|\bcarrie[ds] by\b|\bgive or take\b'
	! git -C "$REPO" grep -nE "$wrong" -- src bpf include conf systemd README.md 'tests/*.[ch]' || return 1
	! git -C "$REPO" grep -nwiE 'nobody|somebody|lift(s|ed)?' -- src bpf include conf systemd README.md
}

# The commits since the last release, of before the first one those since the rule is checked: a line that fits a
# list, and who stands behind it. What is wrong is mended by git rebase -i, reword.
commits_are_signed() {
	local range=HEAD tag

	tag=$(git -C "$REPO" describe --tags --abbrev=0 --match 'v*' 2>/dev/null) && range=$tag..HEAD
	! git -C "$REPO" log --no-merges --format='%at %h %(trailers:key=Signed-off-by,valueonly,separator=%x20)%x09%s' "$range" |
		awk -F '\t' -v since="${1:-$(date -d 2026-11-29T08:00Z +%s)}" '{ split($1, who, " ") }
			who[1] >= since && (length($2) > 72 || who[3] == "") { print who[2], $2 }' | grep .
}

suite_style() {
	cd "$REPO" || return 1
	if [ "$CLANG" = 14 ]; then
		check "C is formatted as .clang-format says" format_is_clean
	else
		echo "ok - C is formatted as .clang-format says # SKIP clang-format-14 is not packaged here"
	fi
	check "shellcheck finds nothing" shell_is_clean
	check "manual pages are free of warnings, have a date, and name files that are there" manual_is_clean
	check "every file carries its SPDX line, and reuse finds nothing" spdx_everywhere
	check "nothing at the top but what belongs there" top_level
	check "words are those of the field" words_of_the_field
	check "what the manual promises has tests" promises_have_tests
	check "commits are signed off, with subjects of at most 72 characters" commits_are_signed
	check "README's figures are those that were measured" tests/bench/readme-figures --agree
	check "hardware.md is of the files that were sent" tests/bench/hardware --check
	tests/unit/test-budget
}

analyzed_by_gcc() {
	local directory=$REPO/build-analyze

	# What leaks is LeakSanitizer's to find: the analyzer takes a struct that is returned for lost.
	[ -e "$directory/build.ninja" ] || meson setup "$directory" "$REPO" -Dwerror=true \
		-Dc_args="-fanalyzer -Wno-analyzer-malloc-leak" >/dev/null || return 1
	ninja --quiet -C "$directory" wakegovd wakegovctl
}

analyzed_by_clang_tidy() {
	files 'src/*.c' | xargs -P "$(nproc)" -n 8 \
		"clang-tidy-$CLANG" -p "$BUILD" --quiet --warnings-as-errors='*' 2>/dev/null
}

# It knows neither macros of libraries nor __attribute__((cleanup)).
analyzed_by_cppcheck() {
	cppcheck --enable=warning,performance --quiet --std=c11 --library=posix --inline-suppr \
		--error-exitcode=1 --suppress=resourceLeak --suppress=memleak \
		-I src -I include -I bpf -I "$BUILD/src/libvarlink.a.p" -I "$BUILD/src/libctl.a.p" \
		'-DLIBBPF_OPTS(type,name,...)=struct type name = { __VA_ARGS__ }' \
		'-Djson_array_foreach(array,i,value)=while (value = json_array_get(array, i = 0))' \
		'-Djson_object_foreach(object,key,value)=while (value = json_object_get(object, key = ""))' src
}

# Of the unit tests those that are programs of ours, not scripts.
# What a thread that still runs at the end has of the C library is "possibly lost".
clean_under_valgrind() {
	meson introspect --tests "$BUILD" |
		jq -r --arg build "$BUILD/tests/unit/" \
			'.[] | select(.cmd[0] | startswith($build)) | .name' |
		xargs meson test -C "$BUILD" --no-rebuild --quiet --timeout-multiplier 0 --wrapper \
			'valgrind --quiet --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=definite'
}

suite_analyze() {
	cd "$REPO" && packages_install "${ANALYZERS[@]}" || return 1
	check "gcc -fanalyzer finds nothing" analyzed_by_gcc
	check "clang-tidy finds nothing" analyzed_by_clang_tidy
	check "cppcheck finds nothing" analyzed_by_cppcheck
	check "valgrind finds nothing in the unit tests" clean_under_valgrind
}

suite_clang() {
	CC=clang check "clang builds without a warning" build_tree "$REPO/build-clang" -Dwerror=true -Doptimization=0
}

installs() {
	local stage=$BUILD/stage file

	rm -rf "$stage"
	DESTDIR=$stage meson install -C "$BUILD" --no-rebuild --quiet || return 1
	for file in usr/sbin/wakegovd usr/bin/wakegovctl usr/lib/systemd/system/wakegovd.service \
		usr/libexec/wakegov{-desktop,-benefit,-measure-power,-suite,_measuring.py} \
		usr/lib/systemd/system/wakegov-desktop.service usr/share/doc/wakegov/examples/laptop.conf \
		usr/share/wakegov/wakegov.conf usr/share/wakegov/fleet/wakegov.rules.yml \
		usr/share/wakegov/fleet/wakegov-dashboard.json usr/share/wakegov/fleet/benefit.jq \
		usr/lib/systemd/system/wakegov-benefit.service usr/lib/systemd/system/wakegov-benefit.timer \
		usr/lib/systemd/system/wakegov-metrics.service usr/lib/systemd/system/wakegov-metrics.timer \
		usr/share/man/man8/wakegovd.8 usr/share/man/man7/wakegov.7 usr/share/man/man7/wakegov-algorithms.7 \
		usr/share/man/man1/wakegovctl.1 \
		usr/share/man/man5/wakegov.conf.5 usr/lib/systemd/catalog/wakegov.catalog \
		usr/share/bash-completion/completions/wakegovctl \
		usr/share/zsh/site-functions/_wakegovctl \
		usr/share/fish/vendor_completions.d/wakegovctl.fish \
		usr/share/bash-completion/completions/wakegovd usr/share/zsh/site-functions/_wakegovd \
		usr/share/fish/vendor_completions.d/wakegovd.fish \
		usr/lib/systemd/system-preset/90-wakegov.preset; do
		[ -s "$stage/$file" ] || { echo "not installed: $file" && return 1; }
	done
	[ ! -e "$stage/etc" ] || { echo "/etc is the administrator's" && return 1; }
	"$stage/usr/sbin/wakegovd" --check-config "$stage/usr/share/wakegov/wakegov.conf"
}

# What the administrator wrote outlasts an update and the removal.
leaves_etc_alone() {
	local stage=$BUILD/stage-etc policy

	policy=$stage/etc/wakegov/wakegov.conf
	rm -rf "$stage"
	install -D -m 600 <(echo "# mine") "$policy" || return 1
	DESTDIR=$stage meson install -C "$BUILD" --no-rebuild --quiet || return 1
	DESTDIR=$stage ninja -C "$BUILD" uninstall || return 1
	find "$stage" -type f
	[ "$(cat "$policy")" = "# mine" ] && [ "$(find "$stage" -type f)" = "$policy" ]
}

# Those that the others depend on need no name.
readme_names_packages() {
	local package missing=0

	for package in "${BUILD_PACKAGES[@]}"; do
		case $package in
		ninja-build | libc6-dev | linux-libc-dev) ;;
		*) grep -qE "(^|[^a-z0-9-])$package([^a-z0-9-]|\$)" "$REPO/README.md" ||
			{ echo "README does not name $package" && missing=1; } ;;
		esac
	done
	return $missing
}

suite_install() {
	check "README names the packages that a build needs" readme_names_packages
	check "installing and removing leaves /etc alone" leaves_etc_alone
	check "meson install puts everything where a distribution expects it" installs
}

