# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # for machine.sh
# lab run: one boot of the VM for one COMMAND.
#
# No deadline is by this machine's clock: a busy host makes a run longer, and nothing else. What bounds a
# run is the CPU time that QEMU itself has used, in seconds, and that it does something at all.
RUN_BOOT_SECONDS=120 # with few CPUs
RUN_IDLE_LOOKS=1200 # in a row, ten a second, in which it used no CPU time

run_defaults() {
	RUN_CLOCK=virtual RUN_KERNEL=sid RUN_INIT=shell RUN_LLCS=1 RUN_THREADS=1 RUN_PORTS="" RUN_TIMEOUT=1800
	RUN_MACHINE=stock RUN_DRIVER=acpi RUN_DOMAINS="" RUN_TURBO="" RUN_TRANSITION=0 RUN_SEED=1
	RUN_STALLS="" RUN_IDLE_STATES="" RUN_LEAKAGE=100 RUN_UNCORE=0 RUN_PREFCORE="" RUN_CARD=no RUN_CPUFREQ=yes RUN_APPEND="" RUN_BUILD=no RUN_CONSOLE=""
	RUN_PACKAGES="" RUN_SUSPEND=no RUN_CPU_TICKS=0 RUN_ARCH=amd64 RUN_CLUSTERS="" RUN_ROOT=""
	RUN_COMMAND=()
}

run_parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--clock | --kernel | --init | --llcs | --threads | --ports | --console | --timeout | \
			--append | --packages | --machine | --driver | --cpus | --domains | \
			--turbo | --transition | --energy | --seed | --arch | --clusters)
			need_value "$1" $#
			run_set "$1" "$2"
			shift
			;;
		--no-cpufreq) RUN_CPUFREQ=no ;;
		--stalls) RUN_STALLS=yes ;;
		--prefcore) RUN_PREFCORE=yes ;;
		--card) RUN_CARD=yes ;;
		--suspend) RUN_SUSPEND=yes ;;
		--build) RUN_BUILD=yes ;;
		--) shift && break ;;
		-*) die_usage "lab run: unknown option '$1', see lab help" ;;
		*) break ;;
		esac
		shift
	done
	[ $# -gt 0 ] || die_usage "lab run: no COMMAND"
	RUN_COMMAND=("$@")
	run_settle
}

# What follows from several options.
run_settle() {
	local part

	if [ "$RUN_ARCH" = arm64 ]; then
		run_settle_arm64
	elif [ -n "$RUN_CLUSTERS" ]; then
		die_usage "lab run: --clusters needs --arch arm64"
	fi
	# A CPU's highest performance, by which the kernel ranks it, is its highest MHz / 10.
	if [ -n "$RUN_PREFCORE" ]; then
		[[ $RUN_DRIVER == amd* ]] || die_usage "lab run: --prefcore needs --driver amd, amd-passive or amd-guided"
		RUN_DOMAINS=${RUN_DOMAINS:-1x1800,1x1800,1x1400,1x1400}
	fi
	if [ -z "$RUN_DOMAINS" ]; then
		RUN_DOMAINS=2x1800,2x1400
		case $RUN_DRIVER$RUN_THREADS in
		*2) RUN_DOMAINS=2x1800,2x1800 ;;
		*pstate* | hwp* | amd*) RUN_DOMAINS=1x1800,1x1800,1x1800,1x1800 ;;
		esac
	fi
	RUN_CPUS=0
	for part in ${RUN_DOMAINS//,/ }; do
		RUN_CPUS=$((RUN_CPUS + ${part%%x*}))
		((RUN_CPUS % RUN_THREADS == 0)) ||
			die_usage "lab run: --threads: expected domains of whole cores, such as --domains 2x1800,2x1800"
	done
	((RUN_CPUS <= 64 && RUN_CPUS % RUN_LLCS == 0)) ||
		die_usage "lab run: --domains '$RUN_DOMAINS': expected at most 64 CPUs, as many in each LLC"
	[[ $RUN_MACHINE$RUN_PORTS == stock || $RUN_DOMAINS != *,*,*,*,*,*,*,*,* ]] ||
		die_usage "lab run: --ports and the timed machine know eight domains; --domains can have more CPUs in each"
	if [ "$RUN_MACHINE" = timed ]; then
		RUN_CLOCK=own
	elif [ "$RUN_DRIVER$RUN_TURBO$RUN_TRANSITION$RUN_STALLS$RUN_IDLE_STATES$RUN_CARD$RUN_THREADS" != acpi0no1 ]; then
		die_usage "lab run: --driver, --turbo, --transition, --stalls, --card, --energy and --threads need --machine timed"
	fi
}

# Where there is another machine in place of the one that most options are about.
run_settle_arm64() {
	local others=$RUN_DRIVER$RUN_INIT$RUN_LLCS$RUN_THREADS$RUN_SUSPEND$RUN_CPUFREQ

	others+=$RUN_DOMAINS$RUN_PORTS$RUN_STALLS$RUN_IDLE_STATES$RUN_PACKAGES$RUN_CARD
	[ "$RUN_MACHINE $others" = "timed acpishell11noyesno" ] ||
		die_usage "lab run: --arch arm64 needs --machine timed, and knows of the machine's other options" \
			"--clusters, --turbo and --transition"
	[[ $RUN_KERNEL != 6.1* ]] ||
		die_usage "lab run: --kernel $RUN_KERNEL: Debian's for arm64 lacks mediatek-cpufreq-hw; expected 6.12, sid or rt"
	RUN_DOMAINS=${RUN_CLUSTERS:-$ARM_CLUSTERS} RUN_DRIVER=mediatek
}

run_set() {
	case $1=$2 in
	--clock=host | --clock=virtual) RUN_CLOCK=$2 ;;
	--clock=*) die_usage "lab run: --clock '$2': expected host or virtual" ;;
	--machine=stock | --machine=timed) RUN_MACHINE=$2 ;;
	--machine=*) die_usage "lab run: --machine '$2': expected stock or timed" ;;
	--driver=acpi | --driver=msr | --driver=pstate | --driver=pstate-active | --driver=hwp | \
		--driver=hwp-passive | --driver=amd | --driver=amd-passive | --driver=amd-guided) RUN_DRIVER=$2 ;;
	--driver=*)
		die_usage "lab run: --driver '$2': expected acpi, msr, pstate, pstate-active, hwp, hwp-passive, amd, amd-passive or amd-guided"
		;;
	--cpus=[1-9] | --cpus=[1-5][0-9] | --cpus=6[0-4]) RUN_DOMAINS=$(printf '1x1800%.0s,' $(seq "$2") | sed 's/,$//') ;;
	--cpus=*) die_usage "lab run: --cpus '$2': expected 1 to 64" ;;
	--energy=laptop) RUN_IDLE_STATES=85:0:200:0 RUN_UNCORE=500 ;;
	--energy=server) RUN_IDLE_STATES=133:7 RUN_UNCORE=2100 RUN_LEAKAGE=560 ;;
	--energy=*) die_usage "lab run: --energy '$2': expected laptop or server" ;;
	--domains=*)
		[[ $2 =~ ^[1-9][0-9]?x(600|1000|1400|1800)(,[1-9][0-9]?x(600|1000|1400|1800))*$ ]] ||
			die_usage "lab run: --domains '$2': expected CPUs and their highest OPP, such as 2x1800,2x1400"
		RUN_DOMAINS=$2
		;;
	--arch=amd64 | --arch=arm64) RUN_ARCH=$2 ;;
	--arch=*) die_usage "lab run: --arch '$2': expected amd64 or arm64" ;;
	--clusters=*)
		[[ $2 =~ ^[1-8]x(600|1000|1400|1800)x[1-9][0-9]{2,3}(,[1-8]x(600|1000|1400|1800)x[1-9][0-9]{2,3})*$ ]] ||
			die_usage "lab run: --clusters '$2': expected CPUs, their highest OPP and capacity, such as $ARM_CLUSTERS"
		RUN_CLUSTERS=$2
		;;
	--turbo=*)
		[[ $2 =~ ^[0-9]{3,4}(,[0-9]{3,4})*$ ]] ||
			die_usage "lab run: --turbo '$2': expected MHz, such as 1800,1600,1500"
		RUN_TURBO=$2
		;;
	--transition=*) need_number --transition "$2" 0 && RUN_TRANSITION=$2 ;;
	--seed=*)
		need_number --seed "$2" 1 && RUN_SEED=$2
		;;
	--kernel=6.1 | --kernel=6.1-uclamp | --kernel=6.12 | --kernel=sid | --kernel=rt) RUN_KERNEL=$2 ;;
	--kernel=*) die_usage "lab run: --kernel '$2': expected 6.1, 6.1-uclamp, 6.12, sid or rt" ;;
	--init=shell | --init=systemd) RUN_INIT=$2 ;;
	--init=*) die_usage "lab run: --init '$2': expected shell or systemd" ;;
	--llcs=1 | --llcs=2) RUN_LLCS=$2 ;;
	--llcs=*) die_usage "lab run: --llcs '$2': expected 1 or 2" ;;
	--threads=1 | --threads=2) RUN_THREADS=$2 ;;
	--threads=*) die_usage "lab run: --threads '$2': expected 1 or 2" ;;
	--ports=*) RUN_PORTS=$(realpath -m -- "$2") ;;
	--console=*) RUN_CONSOLE=$(realpath -m -- "$2") ;;
	--timeout=*) need_number --timeout "$2" 1 && RUN_TIMEOUT=$2 ;;
	# The kernel takes either spelling; the files have the one that we don't know.
	--append=*) RUN_APPEND+=" $2" ;;
	--packages=*)
		[[ $2 =~ ^[a-z0-9][a-z0-9.+-]*(,[a-z0-9][a-z0-9.+-]*)*$ ]] ||
			die_usage "lab run: --packages '$2': expected a list such as tlp,tuned"
		RUN_PACKAGES=$2
		;;
	esac
}

run_build() {
	local build options=() targets=()

	build=$(lab_build)
	if [ "$RUN_ARCH" = arm64 ]; then
		options=(--cross-file "${RUN_ROOT%/*}/cross.ini")
		targets=("${ARM_TARGETS[@]}")
	fi
	[ -e "$build/build.ninja" ] || meson setup "${options[@]}" "$build" "$LAB_REPO" >&2 || die "meson failed"
	ninja -C "$build" "${targets[@]}" >&2 || die "the build failed"
}

# The directory shared with the guest; see guest/run-command.
run_write_share() {
	local share=$1 release=$2

	mkdir "$share"
	: >"$share/stdout"
	: >"$share/stderr"
	printf '%s\0' "${RUN_COMMAND[@]}" >"$share/command"
	{
		printf 'LAB_REPO=%q\n' "$LAB_REPO"
		printf 'LAB_BUILD=%q\n' "$(lab_build)"
		printf 'LAB_ROOT=%q\n' "$RUN_ROOT"
		printf 'LAB_INIT=%q\n' "$RUN_INIT"
		printf 'LAB_CLOCK=%q\n' "$RUN_CLOCK"
		printf 'LAB_MACHINE=%q\n' "$RUN_MACHINE"
		printf 'LAB_DRIVER=%q\n' "$RUN_DRIVER"
		printf 'LAB_KERNEL=%q\n' "$release"
		printf 'LAB_MODULES=%q\n' "$LAB_RELEASE_DIR/usr/lib/modules/$release"
		printf 'LAB_EXTRAS=%q\n' "$RUN_EXTRAS"
	} >"$share/config"
}

# A folder of the host's, with its options, for the guest to mount. Linux 6.10 and newer leave a
# virtio device as it is while the machine sleeps, if that says that it keeps its state.
run_qemu_folder() {
	local tag=$1 path=$2 bus=""

	if [ "$RUN_SUSPEND" = yes ]; then
		RUN_QEMU+=(-device "pcie-root-port,id=port-$tag,chassis=${#RUN_QEMU[@]}")
		bus=,bus=port-$tag,x-pcie-pm-no-soft-reset=on
	fi
	RUN_QEMU+=(-fsdev "local,id=$tag,security_model=none,path=$path"
		-device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag$bus")
}

# The timed machine where nothing tells it what frequencies the guest asks for: all CPUs have 1000 MHz,
# and an instruction takes two cycles. With turns of up to 100 us in place of 20 four busy CPUs take 0.85
# of this machine's time.
run_qemu_clock() {
	RUN_QEMU+=(
		-icount "shift=0,sleep=off,cpi=2,quantum=100000,domains=${RUN_CPUS}x1000" -seed "$RUN_SEED"
		-rtc "base=2030-01-01,clock=vm" -global virtio-9p-pci.ioeventfd=off
	)
}

# Fills RUN_QEMU with the whole command line of the VM.
run_qemu_command() {
	local dir=$1 initramfs=$2 cpu="" ports=null pstates=""
	# Without that the kernel tests its ciphers: more than half of what CPUs are busy with in a boot.
	local append=" cryptomgr.notests=1$RUN_APPEND"
	# Where CPUs come up at the same time they wait for each other by loops, each a turn for the emulator.
	((RUN_CPUS <= 8)) || append+=" cpuhp.parallel=0"
	# acpi-cpufreq refuses the family of the default AMD model. This Intel model's TSC is constant to
	# the kernel; another's would be given up for the HPET at the first change of frequency, and then
	# every look at the clock costs an exit from the emulation.
	local model=vendor=GenuineIntel,family=6,model=58,stepping=9

	# A Zen 4, whose CPPC is by MSR, and no hypervisor: a TSC that CPUID says is constant is kept.
	[[ $RUN_DRIVER != amd* ]] || model=vendor=AuthenticAMD,family=25,model=17,stepping=1,hypervisor=off
	case $RUN_CLOCK in
	virtual | own) cpu=$(machine_cpu) append+=$(machine_append) ;;
	esac
	RUN_QEMU=(
		"${EMULATOR[@]}" -nodefaults -no-user-config -display none -no-reboot
		# One host thread for all CPUs: with one for each, the kernel patches its own code while
		# another CPU has the old one translated.
		-M q35 -accel "tcg,thread=single" -m 2048 -smp "$RUN_CPUS,sockets=$RUN_LLCS,threads=$RUN_THREADS"
		# With fast strings (ERMS and its kin) the kernel copies and clears by the byte, each of
		# which the emulator executes as an instruction.
		-cpu "max,$model,l3-cache=on,erms=off,fsrm=off,fzrm=off,fsrs=off,fsrc=off$cpu"
		-kernel "$LAB_RELEASE_DIR/vmlinuz" -initrd "$initramfs"
		-append "console=ttyS0 loglevel=5 panic=-1 oops=panic softlockup_panic=1 mitigations=off$append"
		-serial "file:$RUN_CONSOLE"
	)
	run_qemu_folder hostroot /,readonly=on,multidevs=remap
	run_qemu_folder lab "$dir/share"
	if [ "$RUN_SUSPEND" = yes ]; then
		run_qemu_folder after "$dir/share" # for guest/in-ram
		RUN_QEMU+=(-qmp "unix:$dir/qmp,server=on,wait=off")
	fi
	[ -z "$RUN_EXTRAS" ] || run_qemu_folder extras "${RUN_EXTRAS//,/,,},readonly=on"
	# What the guest sends goes out by a timer of the virtual clock, not when the host has time.
	[ "$RUN_CARD" = no ] || RUN_QEMU+=(
		-netdev "hubport,id=outside,hubid=0" -object "filter-asker,id=asker,netdev=outside"
		-device "virtio-net-pci,netdev=outside,ioeventfd=off,tx=timer,x-txtimer=1"
	)
	case $RUN_CLOCK in
	# 2 ns for each instruction of any CPU: see guest/init.
	turns) RUN_QEMU+=(-icount "shift=1,sleep=off") ;;
	virtual) run_qemu_clock ;;
	own) machine_options ;;
	esac
	if [ "$RUN_CPUFREQ" = yes ]; then
		RUN_QEMU+=(-acpitable "file=$(image_acpi_table)")
	fi
	if [ -n "$RUN_PORTS" ]; then
		: >"$RUN_PORTS" || die "can't write $RUN_PORTS"
		ports=file,path=$RUN_PORTS
	fi
	[ "$RUN_CLOCK" != own ] || pstates=,pstates=on
	if [ "$ports$pstates" != null ]; then
		RUN_QEMU+=(-chardev "$ports,id=ports"
			-device "isa-debugcon,iobase=0x5f0,chardev=ports$pstates")
	fi
}

run_cleanup() {
	trap - EXIT INT TERM
	[ -z "${RUN_PID:-}" ] || kill -KILL "$RUN_PID" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$RUN_DIR"
}

run_show_console() {
	say "$1; the last lines of its console:"
	tail -n 30 "$RUN_CONSOLE" 2>/dev/null | tr -d '\r' | sed 's/^/  | /' >&2 || true
	[ ! -s "$RUN_DIR/qemu" ] || sed 's/^/  qemu: /' "$RUN_DIR/qemu" >&2
}

# Sets RUN_CPU_TICKS, of which a second has a hundred, to what QEMU has used: user and system. Fails when it is gone.
run_read_cpu() {
	local stat

	{ read -r stat <"/proc/$RUN_PID/stat"; } 2>/dev/null || return 1
	# The name, in parentheses, may have anything.
	read -ra stat <<<"${stat##*) }"
	RUN_CPU_TICKS=$((stat[11] + stat[12]))
}

# Returns when the VM is gone, took too long or does nothing, or its output has no reader (PRINTER is gone).
run_watch() {
	local share=$1 printer=$2 before=-1 idle=0

	while run_read_cpu && kill -0 "$printer" 2>/dev/null; do
		((RUN_CPU_TICKS < 100 * RUN_TIMEOUT)) || return 0
		[ -e "$share/started" ] || ((RUN_CPU_TICKS < 100 * RUN_BOOT_SECONDS * (1 + RUN_CPUS / 16))) || return 0
		idle=$((RUN_CPU_TICKS == before ? idle + 1 : 0)) before=$RUN_CPU_TICKS
		((idle < RUN_IDLE_LOOKS)) || return 0
		sleep 0.1
	done
}

# The exit status of the run; to be called when the VM is gone.
run_report() {
	local share=$1

	if [ -s "$share/status" ]; then
		return "$(cat "$share/status")"
	fi
	if ((RUN_CPU_TICKS >= 100 * RUN_TIMEOUT)); then
		run_show_console "time-out: no end of COMMAND within $RUN_TIMEOUT s of a CPU, the VM was stopped"
		return "$EXIT_TIMEOUT"
	fi
	if [ -e "$share/started" ]; then
		run_show_console "the VM died while COMMAND ran"
	else
		run_show_console "the VM failed to boot"
	fi
	return "$EXIT_VM"
}

run_vm() {
	local share=$RUN_DIR/share out err wake=""

	"${RUN_QEMU[@]}" </dev/null >"$RUN_DIR/qemu" 2>&1 &
	RUN_PID=$!
	if [ "$RUN_SUSPEND" = yes ]; then
		python3 "$LAB_DIR/lib/wake.py" "$RUN_DIR/qmp" "$RUN_PID" &
		wake=$!
	fi
	# They end by themselves, having printed everything, once the VM is gone.
	tail -c +1 -s 0.1 -f --pid "$RUN_PID" "$share/stdout" &
	out=$!
	tail -c +1 -s 0.1 -f --pid "$RUN_PID" "$share/stderr" >&2 &
	err=$!
	run_watch "$share" "$out"
	kill -KILL "$RUN_PID" 2>/dev/null || true
	wait "$RUN_PID" 2>/dev/null || true
	RUN_PID=""
	[ -z "$wake" ] || wait "$wake" || true
	wait "$err" || true
	wait "$out" || exit $?
	run_report "$share"
}

# Sets EMULATOR. Where the timed machine cannot be built, the stock one has a virtual clock, but all
# its CPUs share one speed, and take turns.
run_find_machine() {
	emulator_find
	[ "$RUN_CLOCK" != host ] || return 0
	machine_find && return
	[ "$RUN_DRIVER" = acpi ] || die "--driver $RUN_DRIVER needs the timed machine"
	say "no timed machine: going on with the stock one, whose CPUs run at one speed"
	RUN_MACHINE=stock RUN_CLOCK=turns RUN_TURBO="" RUN_TRANSITION=0 RUN_STALLS="" RUN_IDLE_STATES=""
}

run_main() {
	local folder release RUN_EXTRAS

	run_defaults
	run_parse "$@"
	folder=$RUN_KERNEL
	need_root
	setup_main
	if [ "$RUN_ARCH" = arm64 ]; then
		arm_use
		arm_find_root
		folder=arm64/$RUN_KERNEL
	fi
	[ "$RUN_BUILD" = no ] || run_build
	release=$(fetch_current "$folder")
	run_find_machine
	RUN_EXTRAS=$(extras_find "$RUN_PACKAGES")
	LAB_RELEASE_DIR=$LAB_CACHE/$folder/$release
	RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/wakegov-lab.XXXXXX")
	RUN_PID="" RUN_CONSOLE=${RUN_CONSOLE:-$RUN_DIR/console}
	trap run_cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	say "kernel $release, init $RUN_INIT, machine $RUN_MACHINE"
	run_write_share "$RUN_DIR/share" "$release"
	if [ "$RUN_ARCH" = arm64 ]; then
		arm_qemu_command "$RUN_DIR" "$(image_initramfs "$release")"
	else
		run_qemu_command "$RUN_DIR" "$(image_initramfs "$release")"
	fi
	run_vm
}
