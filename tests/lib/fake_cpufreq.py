# SPDX-License-Identifier: GPL-2.0-only
"""A made-up cpufreq for a command alone: one domain of all CPUs with turbo, and counters of ACPI's. The CPUs'
maker is none whose turbo frequencies are known, whatever this machine's is.

The command runs in a mount namespace of its own, as root; nobody else sees the tree.
"""

SCRIPT = """
cd /sys/devices/system/cpu && cpus=$(ls -d cpu[0-9]*) && mount -t tmpfs fake . && cd "$PWD" || exit 77
mkdir -p cpufreq/policy0 intel_pstate
for cpu in $cpus; do
    mkdir -p $cpu/acpi_cppc
    ln -s ../cpufreq/policy0 $cpu/cpufreq
    echo ref:0 del:0 >$cpu/acpi_cppc/feedback_ctrs
    echo 100 | tee $cpu/acpi_cppc/reference_perf >$cpu/acpi_cppc/nominal_perf
    echo 1400 >$cpu/acpi_cppc/nominal_freq
done
echo 0 >intel_pstate/no_turbo
echo 'vendor_id : CentaurHauls' >cpuinfo
mount --bind cpuinfo /proc/cpuinfo
cd cpufreq/policy0
echo $cpus | tr -d cpu | tee related_cpus >affected_cpus
echo 1400000 >base_frequency
echo 2800000 | tee cpuinfo_max_freq >scaling_max_freq
echo 400000 | tee cpuinfo_min_freq >scaling_min_freq
echo $1 >scaling_cur_freq
echo intel_pstate >scaling_driver
echo powersave >scaling_governor
echo 0 >cpuinfo_transition_latency
shift
"""


def command(args, khz, before=""):
    """args as a command under the tree, its clock at khz; before is shell that goes first."""
    return ["unshare", "--mount", "sh", "-c", f'{SCRIPT}{before}\nexec "$@"', "sh", str(khz), *args]
