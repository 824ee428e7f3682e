// SPDX-License-Identifier: GPL-2.0-only
/* Platform files and workload SPECs: one fault each, and its message. */
#include "test-sim.h"

struct fault {
	const char *text;
	const char *message; /* behind the file's name; NULL: good */
};

#define DISK	"[device disk]\nlatency = 60us\nservice = 40us\nchannels = 1\n"
#define DOMAIN	"[domain a]\ncpus = 0-1\nopp = 1GHz 1V\ncapacitance = 1nF\n"
#define MACHINE "[platform]\nio-cycles = 1\n"

static const struct fault platforms[] = {
	{ MACHINE DOMAIN DISK },
	{ "# comment\n\n" MACHINE "  ; indented\n" DOMAIN DISK "interrupt = 1" },
	{ "", ": expected io-cycles, a [domain NAME] and a [device NAME]" },
	{ MACHINE DOMAIN, ": expected io-cycles, a [domain NAME] and a [device NAME]" },
	{ "io-cycles = 1\n",
	  ":1: found the section [], expected [platform], [domain NAME] or [device NAME] with a NAME "
	  "of at most 15 small letters, digits, - and _" },
	{ "[platform]\nio-cycle = 1\n",
	  ":2: found the key 'io-cycle', which [platform] does not have" },
	{ "[platform]\nio-cycles = 0\n",
	  ":2: io-cycles: found '0', expected a whole number from 1 to 100000000" },
	{ "[platform]\nio-cycles = many\n",
	  ":2: io-cycles: found 'many', expected a whole number from 1 to 100000000" },
	{ "[platform]\ntick = 4\n",
	  ":2: tick: found '4', expected a duration from 100us to 100ms with its unit (ns, us, ms, "
	  "s, min)" },
	{ "[platform]\ninterrupt-share = 101%\n",
	  ":2: interrupt-share: found '101%', expected a share from 0% to 100% with its unit (%)" },
	{ "[platform]\nnew-threads = any\n",
	  ":2: new-threads: found 'any', expected best-first or small-first" },
	{ "[cpu]\nx = 1\n",
	  ":2: found the section [cpu], expected [platform], [domain NAME] or [device "
	  "NAME] with a NAME of at most 15 small letters, digits, - and _" },
	{ "[domain A]\nx = 1\n",
	  ":2: found the section [domain A], expected [platform], [domain NAME] or [device NAME] "
	  "with a NAME of at most 15 small letters, digits, - and _" },
	{ "[platform\n", ":1: expected key = value, a [section] or a comment" },
	{ "[platform]\nx\n", ":2: expected key = value, a [section] or a comment" },
	{ MACHINE "[domain a]\ncpus = 0\n" DISK, ": [domain a]: expected cpus and opp" },
	{ MACHINE DOMAIN "[device d]\nlatency = 1us\n", ": [device d]: expected channels" },
	{ MACHINE "[domain a]\ncpus = 1-0\n",
	  ":4: cpus: found '1-0', expected CPUs from 0 to 63 such as 0-3 or 0,2" },
	{ MACHINE "[domain a]\ncpus = 64\n",
	  ":4: cpus: found '64', expected CPUs from 0 to 63 such as 0-3 or 0,2" },
	{ MACHINE DOMAIN "[domain b]\ncpus = 1-2\n",
	  ":8: cpus: found '1-2', expected CPUs that are not in [domain a] already" },
	{ MACHINE "[domain a]\nopp = 1GHz\n",
	  ":4: opp: found '1GHz', expected a frequency up to 10GHz and a voltage up to 3V, such as "
	  "408MHz 825mV" },
	{ MACHINE "[domain a]\nopp = 1GHz 1V\nopp = 1GHz 1V\n",
	  ":5: opp: found '1GHz 1V', expected a frequency over that of the OPP before" },
	{ MACHINE DOMAIN DISK "interrupt = 2\n",
	  ": [device disk] interrupt: found CPU 2, expected one of 0 to 1" },
	{ MACHINE DOMAIN DISK "interrupt = all\n",
	  ":11: interrupt: found 'all', expected submitter or a CPU from 0 to 63" },
	{ MACHINE "[domain a]\ncpus = 1\nopp = 1GHz 1V\ncapacitance = 1nF\n" DISK,
	  ": CPU 0 is in no domain, expected CPUs without a gap from 0 on" },
};

TEST(test_platforms)
{
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++) {
		struct platform platform = { .n_cpus = 77 };
		char path[32], expected[512], *message = NULL;
		int r;

		test_sim_write(platforms[i].text, strlen(platforms[i].text), path);
		r = platform_load(path, &platform, &message);
		unlink(path);
		if (!platforms[i].message) {
			assert_int_equal(r, 0);
			assert_int_equal(platform.n_cpus, 2);
			continue;
		}
		assert_true(r < 0);
		snprintf(expected, sizeof(expected), "%s%s", path, platforms[i].message);
		assert_string_equal(message, expected);
		assert_int_equal(platform.n_cpus, 77);
		free(message);
	}
}

TEST(test_unreadable)
{
	struct platform platform;
	char *message = NULL;

	assert_true(platform_load("/nonexistent.ini", &platform, &message) < 0);
	assert_string_equal(message, "/nonexistent.ini: cannot be read: No such file or directory");
	free(message);
}

static const struct fault specs[] = {
	{ "psync" },
	{ "psyncx4" },
	{ "io_uring6x128" },
	{ "libaio1x32:cycles=100,batch-cycles=0,cpus=0/1,device=disk" },
	{ "chain4x2:cycles=100,first-cycles=200,period=12ms" },
	{ "chain2x1:look=3us+forkx2:cycles=100,first-cycles=200" },
	{ "busyx2:think=1ms+psync:flush-every=1s,flush-for=20ms" },
	{ "sync", "found 'sync', expected psync, io_uring, libaio, busy, chain or fork" },
	{ "", "found '', expected psync, io_uring, libaio, busy, chain or fork" },
	{ "psyncx4+", "found '', expected psync, io_uring, libaio, busy, chain or fork" },
	{ "psync4", "found 'psync4', expected psyncxTHREADS" },
	{ "psync1x4", "found 'psync1x4', expected psyncxTHREADS" },
	{ "io_uring128", "found 'io_uring128', expected io_uringTHREADSxDEPTH" },
	{ "io_uringx128", "found 'io_uringx128', expected io_uringTHREADSxDEPTH" },
	{ "chainx2", "found 'chainx2', expected chainTHREADSxDEPTH" },
	{ "psyncx0", "threads: found '0', expected a whole number from 1 to 1024" },
	{ "io_uring1x1025", "depth: found '1025', expected a whole number from 1 to 1024" },
	{ "psync:depth=2", "depth: found 2, expected 1 for psync" },
	{ "psyncx1000+psyncx1000", "found 2000 threads, expected at most 1024" },
	{ "psync:think", "found 'think', expected KEY=VALUE" },
	{ "psync:thread=4",
	  "found the key 'thread', expected threads, depth, cycles, first-cycles, batch-cycles, think, "
	  "period, look, cpus, device, flush-every, flush-for, thermal-every, thermal-for or thermal-limit" },
	{ "psync:think=1", "think: found '1', expected a duration from 0ns to 60s with its unit "
			   "(ns, us, ms, s, min)" },
	{ "psync:cpus=2", "cpus: found '2', expected CPUs from 0 to 1 such as 0/2-3" },
	{ "psync:device=tape", "device: found 'tape', expected one of the platform file, such as "
			       "disk" },
	{ "psync:flush-every=1s",
	  "expected both flush-every and flush-for, and flush-for to be less" },
	{ "psync:thermal-every=1s,thermal-for=2s",
	  "expected both thermal-every and thermal-for, and thermal-for to be less" },
	{ "a+b+c+d+e+f+g+h+i", "found 'a', expected psync, io_uring, libaio, busy, chain or fork" },
	{ "busy+busy+busy+busy+busy+busy+busy+busy+busy",
	  "found one more group, expected at most 8" },
};

TEST(test_specs)
{
	struct platform platform;

	test_sim_platform(MACHINE DOMAIN DISK, &platform);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct workload workload = { .n_groups = 77 };
		char *message = NULL;
		int r = workload_parse(specs[i].text, &platform, &workload, &message);

		assert_int_equal(r < 0, specs[i].message != NULL);
		if (r == 0)
			continue;
		assert_string_equal(message, specs[i].message);
		assert_int_equal(workload.n_groups, 77);
		free(message);
	}
}

TEST(test_workload_values)
{
	struct platform platform;
	struct workload workload;

	test_sim_platform(MACHINE DOMAIN DISK, &platform);
	test_sim_workload(&platform,
			  "io_uring6x128:cycles=9+"
			  "busyx2:think=1ms,period=4ms,cpus=1",
			  &workload);
	assert_int_equal(workload.n_groups, 2);
	assert_int_equal(workload.groups[0].threads, 6);
	assert_int_equal(workload.groups[0].depth, 128);
	assert_int_equal(workload.groups[0].cycles, 9);
	assert_int_equal(workload.groups[0].cpus, 3);
	assert_int_equal(workload.groups[1].threads, 2);
	assert_int_equal(workload.groups[1].depth, 0);
	assert_int_equal(workload.groups[1].think_ns, 1000000);
	assert_int_equal(workload.groups[1].period_ns, 4000000);
	assert_int_equal(workload.groups[1].cpus, 2);
}
