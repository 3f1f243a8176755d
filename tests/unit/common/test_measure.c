/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_measure.c -- the measuring loop with a time and completions of our own.
 *
 * Time stands still but for what the fake device takes: each completion is
 * due a scripted latency after its post, and a poll lets time pass until then
 * or, if nothing is due, by one step.
 */
#include <errno.h>
#include <librpma.h>
#include <string.h>

#include "common/cli.h"
#include "common/failure.h"
#include "rpma-bench/measure.h"
#include "test.h"

#define DEPTH_MAX 64
#define NEVER	  UINT64_MAX

static struct {
	uint64_t now_ns;
	uint64_t (*latency_ns)(uint64_t op); /* of operation number op, from 0 */
	uint64_t posted;
	uint64_t completed;
	uint64_t due_ns[DEPTH_MAX];
	uint64_t most_in_flight;
	uint64_t fail_at;	/* the operation whose completion fails */
	uint64_t post_fails_at; /* the operation whose post fails */
	uint64_t signal_at;	/* the operation that brings a signal */
	bool peer_gone;
	enum ibv_wc_opcode opcode;
} device;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	now->tv_sec = (time_t)(device.now_ns / 1000000000);
	now->tv_nsec = (long)(device.now_ns % 1000000000);
	return 0;
}

static int post(struct lane *lane, uint32_t slot)
{
	uint64_t latency_ns = device.latency_ns(device.posted);

	if (device.posted == device.post_fails_at)
		return RPMA_E_PROVIDER;
	assert_int_equal(slot, device.posted % DEPTH_MAX % lane->remote_stride);
	device.due_ns[device.posted % DEPTH_MAX] =
		latency_ns == NEVER ? NEVER : device.now_ns + latency_ns;
	device.posted++;
	if (device.posted - device.completed > device.most_in_flight)
		device.most_in_flight = device.posted - device.completed;
	return 0;
}

int __wrap_rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *got);

int __wrap_rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *got)
{
	uint64_t due = device.due_ns[device.completed % DEPTH_MAX];

	assert_true(device.completed < device.posted);
	if (due == NEVER) {
		device.now_ns += 1000;
		return RPMA_E_NO_COMPLETION;
	}
	if (due > device.now_ns)
		device.now_ns = due;
	memset(wc, 0, sizeof(*wc));
	wc->opcode = device.opcode;
	if (device.completed == device.fail_at)
		wc->status = IBV_WC_REM_ACCESS_ERR;
	if (device.completed == device.signal_at)
		cli_signal = SIGINT;
	device.completed++;
	*got = 1;
	return 0;
}

bool __wrap_link_alive(struct link *link, int timeout_ms);
struct rpma_cq *__wrap_link_cq(const struct link *link);
const char *__wrap_link_peer_name(const struct link *link);

bool __wrap_link_alive(struct link *link, int timeout_ms)
{
	if (device.peer_gone)
		failure_set(EXIT_RUN_FAILED, "connection", "gone");
	return !device.peer_gone;
}

struct rpma_cq *__wrap_link_cq(const struct link *link)
{
	return NULL;
}

const char *__wrap_link_peer_name(const struct link *link)
{
	return "server X";
}

static uint64_t ten_us(uint64_t op)
{
	return 10000;
}

static uint64_t rising(uint64_t op)
{
	return 1000 * (op + 1);
}

static uint64_t never(uint64_t op)
{
	return op < 100 ? 1000 : NEVER;
}

static struct operation operation = {.op = BENCH_WRITE, .latency_kind = "test", .post = post};
static struct histogram latency;
static struct clock clock_of_the_test; /* clock_gettime */
static uint64_t stamps[DEPTH_MAX];
static struct lane lane;

static struct measure_cfg setup(uint64_t (*latency_ns)(uint64_t), uint32_t depth,
				uint64_t duration_ns)
{
	memset(&device, 0, sizeof(device));
	device.now_ns = 5000000000;
	device.latency_ns = latency_ns;
	device.fail_at = device.post_fails_at = device.signal_at = UINT64_MAX;
	cli_signal = 0;
	histogram_reset(&latency);
	/* slots are used in turn: the fake lane keeps their number here */
	lane.remote_stride = depth;
	operation.flushes = 0;
	return (struct measure_cfg){
		.operation = &operation,
		.lane = &lane,
		.clock = &clock_of_the_test,
		.depth = depth,
		.duration_ns = duration_ns,
		.limit_ns = duration_ns,
		.latency = &latency,
		.posted = stamps,
	};
}

/* 10 us each, one after the other, for 1 ms: exactly 100. */
static void operations_are_counted_and_timed(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 1, 1000000);
	struct measured m;

	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(m.ops, 100);
	assert_int_equal(m.elapsed_ns, 1000000);
	assert_int_equal(latency.count, 100);
	assert_int_equal(latency.min_ns, 10000);
	assert_int_equal(latency.max_ns, 10000);
	assert_false(m.interrupted);
}

/* 1, 2, 3 ... us until 5.05 ms are over: 1 to 100, mean 50.5 us. */
static void every_sample_is_recorded_exactly(void **state)
{
	struct measure_cfg cfg = setup(rising, 1, 5050000);
	struct measured m;

	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(m.ops, 100);
	assert_int_equal(m.elapsed_ns, 5050000);
	assert_int_equal(latency.min_ns, 1000);
	assert_int_equal(latency.max_ns, 100000);
	assert_int_equal(latency.sum_ns, 5050000);
	for (uint64_t us = 1; us <= 100; us++)
		assert_true(latency.buckets[histogram_index(us * 1000)] > 0);
}

static void the_depth_is_kept_and_drained(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 8, 1000000);
	struct measured m;

	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(device.most_in_flight, 8);
	assert_int_equal(device.completed, device.posted);
	assert_int_equal(m.ops, device.posted);
	/* eight in flight, each 10 us: eight times as many, and the last ones drained */
	assert_in_range(m.ops, 800, 808);
}

static void a_warm_up_waits_for_its_operations(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 1, 1000000);
	struct measured m;

	cfg.min_ops = 250;
	cfg.limit_ns = 4000000;
	cfg.latency = NULL;
	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(m.ops, 250);
	/* but not for more than it may take */
	cfg = setup(ten_us, 1, 1000000);
	cfg.min_ops = 1000;
	cfg.limit_ns = 4000000;
	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(m.ops, 400);
}

/* 1.05 s of 10 us each: ten whole windows of 100 ms with 10,000 operations. */
static void windows_are_counted(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 1, 1050000000);
	struct measured m;

	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(m.windows_used, 10);
	for (unsigned i = 0; i < 10; i++)
		assert_true(m.windows[i] > 9999 && m.windows[i] < 10001);
}

static void a_signal_ends_it_in_good_order(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 4, 1000000000);
	struct measured m;

	device.signal_at = 42;
	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_true(m.interrupted);
	assert_int_equal(device.completed, device.posted);
	assert_int_equal(m.ops, device.posted);
	assert_in_range(m.ops, 43, 50);
}

static void a_failed_completion_names_its_status(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 4, 1000000000);
	struct measured m;

	device.fail_at = 42;
	assert_int_not_equal(measure_run(&cfg, &m), 0);
	assert_int_equal(failure_get()->code, EXIT_RUN_FAILED);
	assert_non_null(strstr(failure_get()->text, "server X"));
	assert_non_null(strstr(failure_get()->text, "REM_ACCESS_ERR"));
}

static void a_failed_post_is_told(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 4, 1000000000);
	struct measured m;

	device.post_fails_at = 42;
	assert_int_not_equal(measure_run(&cfg, &m), 0);
	assert_non_null(strstr(failure_get()->text, "posting a write"));
}

static void a_peer_that_went_is_noticed(void **state)
{
	struct measure_cfg cfg = setup(never, 1, 1000000000);
	struct measured m;

	device.peer_gone = true;
	assert_int_not_equal(measure_run(&cfg, &m), 0);
	assert_string_equal(failure_get()->text, "gone");
	/* looked for after 100 ms without a completion, in steps of 4096 polls */
	assert_in_range(device.now_ns, 5100000000, 5110000000);
}

static void a_silent_device_is_given_up(void **state)
{
	struct measure_cfg cfg = setup(never, 1, 1000000000);
	struct measured m;

	assert_int_not_equal(measure_run(&cfg, &m), 0);
	assert_non_null(strstr(failure_get()->text, "no completion within 10 s"));
	assert_in_range(device.now_ns, 15000000000, 15010000000);
}

static void the_kind_of_flush_is_seen(void **state)
{
	struct measure_cfg cfg = setup(ten_us, 1, 1000000);
	struct measured m;

	operation.flushes = 1;
	device.opcode = IBV_WC_RDMA_READ;
	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_false(m.native_flush);
	cfg = setup(ten_us, 1, 1000000);
	operation.flushes = 1;
	device.opcode = IBV_WC_RDMA_WRITE; /* anything but a read */
	assert_int_equal(measure_run(&cfg, &m), 0);
	assert_true(m.native_flush);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_counted_and_timed),
		cmocka_unit_test(every_sample_is_recorded_exactly),
		cmocka_unit_test(the_depth_is_kept_and_drained),
		cmocka_unit_test(a_warm_up_waits_for_its_operations),
		cmocka_unit_test(windows_are_counted),
		cmocka_unit_test(a_signal_ends_it_in_good_order),
		cmocka_unit_test(a_failed_completion_names_its_status),
		cmocka_unit_test(a_failed_post_is_told),
		cmocka_unit_test(a_peer_that_went_is_noticed),
		cmocka_unit_test(a_silent_device_is_given_up),
		cmocka_unit_test(the_kind_of_flush_is_seen),
	};

	return cmocka_run_group_tests_name("bench.measure", tests, NULL, NULL);
}
