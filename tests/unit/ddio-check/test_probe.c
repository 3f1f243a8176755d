/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_probe.c -- the probe of rpma-ddio-check without the hardware it needs:
 * how events are programmed, what its figures may say, and rpma-bench as a
 * child that does all that a child can do.
 */
#include <signal.h>
#include <sys/wait.h>

#include "common/base/cli.h"
#include "readiness/ddio.h"
#include "tests/lib/scratch_root.h"
#include "tools/rpma-ddio-check/probe.h"

static struct probe_traffic traffic;

#define DEVICES "sys/bus/event_source/devices/"

/* --- what perf_event_open is told ------------------------------------------- */

/* The formats of a Cascade Lake memory controller and of an Ice Lake cache unit. */
static void make_units(void)
{
	scratch_write(DEVICES "uncore_imc_0/type", "13\n");
	scratch_write(DEVICES "uncore_imc_0/cpumask", "0\n");
	scratch_write(DEVICES "uncore_imc_0/format/event", "config:0-7\n");
	scratch_write(DEVICES "uncore_imc_0/format/umask", "config:8-15\n");
	scratch_write(DEVICES "uncore_imc_0/format/inv", "config:23\n");
	scratch_write(DEVICES "uncore_cha_0/type", "40\n");
	scratch_write(DEVICES "uncore_cha_0/format/event", "config:0-7\n");
	scratch_write(DEVICES "uncore_cha_0/format/umask", "config:8-15,32-55\n");
	scratch_write(DEVICES "uncore_cha_0/format/filter", "config1:0-26\n");
}

ROOT_TEST(terms_are_laid_into_the_bits_of_their_formats)
{
	struct probe_config config;

	make_units();
	EQUAL((probe_config_parse(&root, "uncore_imc_0", "event=0x04,umask=0x0c", &config), 0),
	      (config.type, 13), (config.config[0], 0x0c04),
	      (probe_config_parse(&root, "uncore_imc_0", "event=4,inv", &config), 0),
	      (config.config[0], 0x800004));
	/* UNC_CHA_TOR_INSERTS.IO_MISS_ITOM: umask 0x04, and 0xcc43fe above bit 32 */
	assert_int_equal(
		probe_config_parse(&root, "uncore_cha_0", "event=0x35,umask=0xcc43fe04", &config),
		0);
	assert_true(config.config[0] == 0x00cc43fe00000435);
	EQUAL((probe_config_parse(&root, "uncore_cha_0", "event=0x35,filter=0x10049", &config), 0),
	      (config.config[1], 0x10049));
}

/*
 * perf of Linux 6.12 has "event=0xa,rdwrmask=2" for umc_cas_cmd.wr; the formats are those of
 * the kernel's arch/x86/events/amd/uncore.c.
 */
ROOT_TEST(the_memory_controllers_of_amd_have_a_mask)
{
	struct probe_config config;

	scratch_write(DEVICES "amd_umc_0/type", "15\n");
	scratch_write(DEVICES "amd_umc_0/format/event", "config:0-7\n");
	scratch_write(DEVICES "amd_umc_0/format/rdwrmask", "config:8-9\n");
	EQUAL((probe_config_parse(&root, "amd_umc_0", "event=0x0a,rdwrmask=0x2", &config), 0),
	      (config.type, 15), (config.config[0], 0x20a));
}

ROOT_TEST(what_does_not_fit_is_refused)
{
	struct probe_config config;

	make_units();
	scratch_write(DEVICES "odd/type", "9\n");
	scratch_write(DEVICES "odd/format/far", "config:60-70\n");
	scratch_write(DEVICES "odd/format/back", "config:7-0\n");
	scratch_write(DEVICES "odd/format/other", "attr:0-7\n");
	scratch_write(DEVICES "odd/format/junk", "config:x\n");
	assert_int_equal(
		probe_config_parse(&root, "uncore_imc_0", "event=0x35,umask=0xcc43fe04", &config),
		-ERANGE);
	EQUAL((probe_config_parse(&root, "uncore_imc_0", "edge=1", &config), -ENOENT),
	      (probe_config_parse(&root, "nowhere", "event=1", &config), -ENOENT),
	      (probe_config_parse(&root, "uncore_imc_0", "event=", &config), -EINVAL),
	      (probe_config_parse(&root, "uncore_imc_0", "event=1x", &config), -EINVAL),
	      (probe_config_parse(&root, "uncore_imc_0", "", &config), -EINVAL),
	      (probe_config_parse(&root, "uncore_imc_0", "../type=1", &config), -EINVAL),
	      (probe_config_parse(&root, "odd", "far=1", &config), -EINVAL),
	      (probe_config_parse(&root, "odd", "back=1", &config), -EINVAL),
	      (probe_config_parse(&root, "odd", "other=1", &config), -EINVAL),
	      (probe_config_parse(&root, "odd", "junk=1", &config), -EINVAL));
}

ROOT_TEST(a_machine_without_such_counters_is_told_of)
{
	struct probe_events events;
	char why[160] = "";

	EQUAL((probe_events_open(&events, &root, why, sizeof(why)), -ENOENT),
	      (why, HAS("uncore_imc*/events/cas_count_write")), (why, HAS("amd_umc*")));
	/* units without the event are no memory controllers */
	make_units();
	assert_int_equal(probe_events_open(&events, &root, why, sizeof(why)), -ENOENT);
	/* a type that the kernel does not have */
	scratch_write(DEVICES "uncore_imc_0/events/cas_count_write", "event=0x04,umask=0x0c\n");
	scratch_write(DEVICES "uncore_imc_0/type", "2000000000\n");
	assert_true(probe_events_open(&events, &root, why, sizeof(why)) < 0);
	assert_int_equal(events.count, 0);
	assert_true(why[0] != '\0');
}

/* Event 0x0a of software is BPF output, which any machine has. */
ROOT_TEST(amd_is_counted_where_intel_has_nothing)
{
	struct probe_events events;
	char why[160] = "";

	scratch_write(DEVICES "amd_umc_0/type", "1\n");
	scratch_write(DEVICES "amd_umc_0/cpumask", "0\n");
	scratch_write(DEVICES "amd_umc_0/format/event", "config:0-7\n");
	/* a unit of another format is not this one */
	assert_int_equal(probe_events_open(&events, &root, why, sizeof(why)), -ENOENT);
	scratch_write(DEVICES "amd_umc_0/format/rdwrmask", "config1:8-9\n");
	if (probe_events_open(&events, &root, why, sizeof(why)) != 0)
		skip(); /* as in a container, where why has the reason */
	EQUAL((events.of_kind[PROBE_WRITE], 1), (events.source, "amd_umc umc_cas_cmd.wr"));
	assert_true(events.counters[0].weight == 64);
	probe_events_close(&events);
}

/* The clock of CPU 0 in place of a memory controller: a counter that any machine has. */
ROOT_TEST(counters_are_added_up_with_their_weight)
{
	struct probe_events events;
	struct probe_sample first, second;
	char why[160] = "";

	make_units();
	scratch_write(DEVICES "uncore_imc_0/type", "1\n");
	scratch_write(DEVICES "uncore_imc_0/events/cas_count_write", "event=0x00\n");
	scratch_write(DEVICES "uncore_imc_0/events/cas_count_write.scale", "6.103515625e-5\n");
	scratch_write(DEVICES "uncore_imc_0/events/cas_count_write.unit", "MiB\n");
	if (probe_events_open(&events, &root, why, sizeof(why)) != 0)
		skip(); /* as in a container, where why has the reason */
	assert_int_equal(events.of_kind[PROBE_WRITE], 1);
	assert_true(events.counters[0].weight == 64);
	EQUAL((probe_events_read(&events, &first), 0), (probe_events_read(&events, &second), 0));
	assert_true(second.sums[PROBE_WRITE] > first.sums[PROBE_WRITE]);
	probe_events_close(&events);
}

/* --- what its figures may say ------------------------------------------------ */

/* Three fast phases and three slow ones of the same shares. */
static struct answers_probe judged(double rdma, double written, double idle_before,
				   double idle_after)
{
	struct probe_figures figures[PROBE_PHASES];
	struct answers_probe probe = {0};

	for (int i = 0; i < PROBE_PHASES; i++) {
		double slower = i % 2 == 0 ? 1 : 4;

		figures[i] = (struct probe_figures){rdma / 6,
						    written / 6,
						    0.5 * slower,
						    {idle_before / slower, idle_after / slower}};
	}
	probe_judge(figures, PROBE_PHASES, &probe);
	assert_true(probe.done == (probe.why[0] == '\0'));
	return probe;
}

TEST(idle_traffic_is_taken_off)
{
	/* 0.1 GB/s for half a second of each fast phase: 0.05 GB of six times */
	struct answers_probe probe = judged(24e9, 24.3e9, 0.1e9, 0.05e9);

	EQUAL((probe.done, true), (probe.rdma_bytes, 24000000000),
	      (probe.memory_write_bytes, 24000000000), (probe.phases, 6));
	assert_in_range(probe.share_low_ppm, 999990, 1000000);
	assert_in_range(probe.share_high_ppm, 999999, 1000010);
	EQUAL((probe.window_bytes, 1 << 20),
	      (judged(20e9, 0.1e9, 0.1e9, 0.1e9).memory_write_bytes, 0));
}

TEST(a_busy_machine_proves_nothing)
{
	/* what others write could pass for device writes that reach memory */
	EQUAL((judged(20e9, 18e9, 6e9, 6e9).done, false), (judged(20e9, 18e9, 0, 6e9).done, false),
	      (judged(20e9, 18e9, 6e9, 0).done, false),
	      (judged(20e9, 18e9, 6e9, 0).why, HAS("6000 MB/s")));
	assert_true(judged(20e9, 30e9, 0, 0).done);
	EQUAL((judged(20e9, 30.1e9, 0, 0).done, false),
	      (judged(20e9, 40e9, 0, 0).why, HAS("2.0 times")));
}

TEST(little_traffic_proves_nothing)
{
	assert_false(judged(100e6, 100e6, 0, 0).done);
	assert_false(judged(1500e6, 1500e6, 0, 0).done); /* less than 256 MB in a phase */
	assert_false(judged(0, 0, 0, 0).done);
}

/* --- a simulated machine ------------------------------------------------------ */

#define RUNS 400

/* When another program writes, and how fast, in bytes per second. */
enum writer {
	NOT_AT_ALL,
	IN_ONE_PHASE,
	WITH_TRAFFIC, /* whenever there is traffic, as fast as the fast phases */
	IN_SILENCE,
	ALWAYS,
	BURSTS, /* half of the time, chosen for each phase */
	WRITERS
};

static bool is_writing(enum writer writer, int phase, bool measured, int chosen, uint64_t *seed)
{
	switch (writer) {
	case IN_ONE_PHASE:
		return measured && phase == chosen;
	case WITH_TRAFFIC:
		return measured;
	case IN_SILENCE:
		return !measured;
	case ALWAYS:
		return true;
	case BURSTS:
		return test_random(seed) % 2 == 0;
	default:
		return false;
	}
}

/* The answer of the probe for a NIC of this speed whose writes reach memory by this share. */
static struct answers_probe simulate(enum writer writer, double own, double speed, uint64_t *seed)
{
	struct probe_figures figures[PROBE_PHASES];
	struct answers_probe probe = {0};
	const double others = speed * (0.2 + (double)(test_random(seed) % 130) / 100);
	const int chosen = (int)(test_random(seed) % PROBE_PHASES);
	double silence = is_writing(writer, 0, false, chosen, seed) ? others : 0;

	for (int i = 0; i < PROBE_PHASES; i++) {
		double fast = i % 2 == 0 ? speed : speed / 4;
		double written = is_writing(writer, i, true, chosen, seed) ? others : 0;

		figures[i] = (struct probe_figures){fast, own * fast + written, 1, {silence, 0}};
		silence = is_writing(writer, i, false, chosen, seed) ? others : 0;
		figures[i].idle_bytes_per_s[1] = silence;
	}
	probe_judge(figures, PROBE_PHASES, &probe);
	return probe;
}

TEST(no_other_writer_passes_for_off)
{
	static const double speeds[] = {1.2e9, 3e9, 12e9, 48e9};
	uint64_t seed = 13;

	for (enum writer writer = NOT_AT_ALL; writer < WRITERS; writer++) {
		for (int run = 0; run < RUNS; run++) {
			/* the cache takes all but two percent */
			struct answers_probe probe = simulate(writer, 0.02, speeds[run % 4], &seed);

			if (ddio_of_probe(&probe) == DDIO_OFF)
				fail_msg("writer %d, run %d: off", writer, run);
		}
	}
}

TEST(what_is_off_is_seen_on_an_idle_machine)
{
	uint64_t seed = 17;

	for (int run = 0; run < RUNS; run++) {
		struct answers_probe probe = simulate(NOT_AT_ALL, 0.97, 12e9, &seed);

		assert_int_equal(ddio_of_probe(&probe), DDIO_OFF);
		probe = simulate(NOT_AT_ALL, 0.02, 12e9, &seed);
		assert_int_equal(ddio_of_probe(&probe), DDIO_ON);
	}
}

TEST(traffic_of_one_speed_proves_nothing)
{
	struct probe_figures figures[PROBE_PHASES];
	struct answers_probe probe = {0};

	for (int i = 0; i < PROBE_PHASES; i++)
		figures[i] = (struct probe_figures){12e9, 12e9, 1, {0, 0}};
	probe_judge(figures, PROBE_PHASES, &probe);
	EQUAL((probe.done, false), (probe.why, HAS("did not change its speed")));
}

/* --- rpma-bench as a child --------------------------------------------------- */

#define RESULT                                                                                     \
	"{\"schema\": \"rpma-bench/1\", \"run\": {\"status\": \"complete\"}, \"points\": ["        \
	"{\"params\": {\"size_bytes\": 65536, \"target_memory\": {\"numa_node\": 1}},"             \
	"\"warmup\": {\"ops\": 10}, \"repeats\": [{\"bytes\": 1000000}]}]}"

static int read_text(const char *text)
{
	return probe_traffic_read(text, strlen(text), &traffic);
}

TEST(writes_of_the_warm_up_are_traffic_too)
{
	EQUAL((read_text(RESULT), 0), (traffic.bytes, 1000000 + 10 * 65536),
	      (traffic.numa_node, 1));
}

/* RESULT with one part of it replaced. */
static void expect_no_result(const char *part, const char *other)
{
	char text[1024];
	const char *at = strstr(RESULT, part);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - RESULT), RESULT, other,
		 at + strlen(part));
	if (read_text(text) != -EINVAL)
		fail_msg("taken: %s", text);
}

TEST(what_is_no_complete_result_is_refused)
{
	expect_no_result("rpma-bench/1", "rpma-bench/2");
	expect_no_result("complete", "interrupted");
	expect_no_result("65536", "0");
	expect_no_result("65536", "-1");
	expect_no_result("10}", "9223372036854775807}");
	expect_no_result("10}", "null}");
	expect_no_result("1000000", "-1");
	expect_no_result("1000000", "1e6");
	expect_no_result("{\"bytes\": 1000000}", "");
	expect_no_result("[{\"params\"", "[{}, {\"params\"");
	EQUAL((read_text(""), -EINVAL), (read_text("[]"), -EINVAL));
}

TEST(an_unknown_node_is_unknown)
{
	char text[] = RESULT;

	*strstr(text, "numa_node") = 'N';
	EQUAL((read_text(text), 0), (traffic.numa_node, -1));
}

/* A program that does this in place of rpma-bench. */
static const char *bench_of(const char *script)
{
	static char path[512];
	char text[2048];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	scratch_write("bench", text);
	snprintf(path, sizeof(path), "%s/bench", scratch);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

static void expect_why(const char *script, const char *words)
{
	char why[160] = "";

	assert_true(probe_traffic_run(bench_of(script), "mlx5_0", PROBE_FULL, &traffic, why,
				      sizeof(why)) < 0);
	if (strstr(why, words) == NULL)
		fail_msg("%s: %s", script, why);
	/* it was reaped */
	EQUAL((waitpid(-1, NULL, WNOHANG), -1), (errno, ECHILD));
}

ROOT_TEST(a_child_gets_the_device_and_gives_a_result)
{
	char why[160] = "";
	const char *bench = bench_of("[ \"$1 $2 $3\" = 'local --device mlx5_0' ] || exit 9\n"
				     "echo noise >&2\ncat << E\n" RESULT "\nE");

	if (probe_traffic_run(bench, "mlx5_0", PROBE_FULL, &traffic, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(traffic.bytes, 1655360);
}

ROOT_TEST(a_child_that_fails_says_why)
{
	expect_why("echo 'one line' >&2; echo 'rpma-bench: no RDMA device has an address' >&2\n"
		   "exit 3",
		   "rpma-bench failed: no RDMA device has an address");
	expect_why("seq 20000 >&2; echo 'the last line' >&2; exit 1",
		   "rpma-bench failed: the last line");
	expect_why("printf '\\n\\n\\n' >&2; exit 4", "ended with 4 and without a result");
	expect_why("exit 7", "ended with 7 and without a result");
	expect_why("exit 0", "without a result");
	expect_why("kill -9 $$", "without a result");
	expect_why("head -c 6000000 /dev/zero", "without a result");
	expect_why("head -c 6000000 /dev/zero | tr '\\0' x >&2; exit 1", "rpma-bench failed: xxx");
}

ROOT_TEST(a_program_that_is_not_there_is_told_of)
{
	char why[160] = "";

	assert_true(probe_traffic_run("/nowhere/rpma-bench", "mlx5_0", PROBE_FULL, &traffic, why,
				      sizeof(why)) < 0);
	assert_true(why[0] != '\0');
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Ends the test's own run with a signal once the child is at work. */
ROOT_TEST(a_signal_ends_the_child)
{
	char why[160] = "";

	assert_int_equal(cli_catch_signals(), 0);
	assert_int_equal(probe_traffic_run(bench_of("kill -TERM $PPID; exec sleep 1000"), "mlx5_0",
					   PROBE_FULL, &traffic, why, sizeof(why)),
			 -ECANCELED);
	EQUAL((cli_signal, SIGTERM), (waitpid(-1, NULL, WNOHANG), -1));
}
