/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_qps.c -- see fake_qps.h. Linked with --wrap for what it replaces. */
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "tools/rpma-bench/measure/loop_single.h"

/* behind those whose parameters have the names of a test's own */
#include "fake_qps.h"

#define BEGIN_NS 5000000000

struct fake fake;
struct histogram fake_latency;
struct histogram fake_read_latency;
struct histogram fake_response;
atomic_int fake_stop;

static struct clock clock_of_the_test; /* clock_gettime */
static struct qp qps[FAKE_QPS];
static uint32_t depth_of_the_test;

static uint64_t next_due_ns(void)
{
	uint64_t due = FAKE_NEVER;

	for (int i = 0; i < FAKE_QPS; i++) {
		const struct fake_qp *l = &fake.qps[i];

		if (l->pending_count > 0 && l->pending[0].due_ns < due)
			due = l->pending[0].due_ns;
	}
	return due;
}

/* A completion that has become due since then makes an event of its queue, if that is armed. */
static void arrive(void)
{
	for (int i = 0; i < FAKE_QPS; i++) {
		struct fake_qp *l = &fake.qps[i];

		for (uint32_t k = 0; k < l->pending_count; k++) {
			const struct fake_completion *c = &l->pending[k];

			if (c->signal && c->due_ns <= fake.now_ns && c->due_ns > l->arrived_ns &&
			    l->armed) {
				l->event = true;
				l->armed = false;
			}
		}
		l->arrived_ns = fake.now_ns;
	}
}

static void pass_until(uint64_t until_ns, uint64_t most_ns)
{
	uint64_t left = until_ns > fake.now_ns ? until_ns - fake.now_ns : 0;

	fake.now_ns += left < most_ns ? left : most_ns;
	arrive();
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	now->tv_sec = (time_t)(fake.now_ns / 1000000000);
	now->tv_nsec = (long)(fake.now_ns % 1000000000);
	/* a loop that has work needs no more looks than these from one operation to the next */
	if (fake.posted == fake.finished && ++fake.idle_looks > 3)
		pass_until(FAKE_NEVER, fake.idle_ns);
	return 0;
}

/* Sorted by time; of the same time, in the order they were added. */
static void add(struct fake_qp *l, struct fake_completion c)
{
	uint32_t at = l->pending_count++;

	assert_true(at < FAKE_PENDING);
	for (; at > 0 && l->pending[at - 1].due_ns > c.due_ns; at--)
		l->pending[at] = l->pending[at - 1];
	l->pending[at] = c;
}

static void count_doorbells(struct fake_qp *l, int flags)
{
	l->waiting++;
	if (flags & RPMA_F_MORE)
		return;
	if (l->waiting > fake.most_waited)
		fake.most_waited = l->waiting;
	l->waiting = 0;
	fake.doorbells++;
}

static int begin(struct qp *qp, uint32_t slot, int flags, enum ibv_wc_opcode opcode)
{
	const bool signal = (flags & RPMA_F_COMPLETION_ALWAYS) == RPMA_F_COMPLETION_ALWAYS;

	struct fake_qp *l = &fake.qps[qp->index];
	struct fake_completion c = {.op = fake.posted, .slot = slot, .signal = signal};
	uint64_t latency_ns = fake.latency_ns(qp->index, fake.posted);

	if (fake.posted == fake.post_fails_at)
		return RPMA_E_PROVIDER;
	assert_int_equal(slot, l->posted % depth_of_the_test);
	if (opcode == IBV_WC_RECV) {
		assert_true(l->posted - l->finished < depth_of_the_test);
		assert_true(l->posted < l->armed_receives);
		c.due_ns = fake.now_ns + fake.request_ns;
		c.opcode = IBV_WC_SEND;
		add(l, c);
	}
	c.due_ns = latency_ns == FAKE_NEVER ? FAKE_NEVER : fake.now_ns + latency_ns;
	c.opcode = opcode;
	/* work of one queue completes in order */
	if (opcode != IBV_WC_RECV && l->pending_count > 0 &&
	    l->pending[l->pending_count - 1].due_ns > c.due_ns)
		c.due_ns = l->pending[l->pending_count - 1].due_ns;
	add(l, c);
	if (fake.posted == fake.twice_at)
		add(l, c);
	l->last_signal = signal;
	l->posted++;
	fake.posted++;
	count_doorbells(l, flags);
	fake.idle_looks = 0;
	if (l->posted - l->finished > fake.most_in_flight)
		fake.most_in_flight = l->posted - l->finished;
	return 0;
}

static int post_write(struct qp *qp, uint32_t slot, int flags)
{
	return begin(qp, slot, flags, fake.opcode);
}

static int post_read(struct qp *qp, uint32_t slot, int flags)
{
	return begin(qp, slot, flags, IBV_WC_RDMA_READ);
}

static int post_answered(struct qp *qp, uint32_t slot, int flags)
{
	assert_int_equal(flags & ~RPMA_F_MORE, RPMA_F_COMPLETION_ALWAYS);
	return begin(qp, slot, flags, IBV_WC_RECV);
}

static int arm(struct qp *qp, uint32_t slot)
{
	struct fake_qp *l = &fake.qps[qp->index];

	assert_int_equal(slot, (l->first_receive + l->armed_receives++) % depth_of_the_test);
	return 0;
}

static const char *refusal(const struct qp *qp, uint32_t slot, uint32_t at, uint32_t bytes)
{
	return bytes == 8 ? NULL : "it is not what was asked";
}

static int single(struct loop *loop)
{
	return measure_single(loop, post_write);
}

struct operation fake_operation = {.op = BENCH_WRITE, .post = post_write, .single = single};
struct operation fake_reads = {.op = BENCH_READ, .post = post_read};
struct operation fake_answered = {
	.op = BENCH_SEND, .answered = true, .post = post_answered, .arm = arm, .refusal = refusal};

static void finish(struct fake_qp *l, const struct fake_completion *c, struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = c->slot;
	wc->opcode = c->opcode;
	wc->byte_len = c->op == fake.refuse_at ? 7 : 8;
	if (c->opcode == IBV_WC_RECV)
		wc->wr_id = (l->first_receive + l->received++) % depth_of_the_test;
	if (c->op == fake.fail_at)
		wc->status = fake.fail_with;
	if (c->op == fake.signal_at)
		cli_signal = SIGINT;
	if (c->op == fake.stop_at)
		atomic_store(&fake_stop, 1);
}

/* The next one that has arrived; unsignalled ones finish silently. */
static bool take(struct fake_qp *l, struct ibv_wc *wc)
{
	while (l->pending_count > 0 && l->pending[0].due_ns <= fake.now_ns) {
		struct fake_completion c = l->pending[0];

		memmove(l->pending, l->pending + 1, --l->pending_count * sizeof(c));
		if (c.opcode != IBV_WC_SEND) {
			l->finished++;
			fake.finished++;
		}
		finish(l, &c, wc);
		if (c.signal || wc->status != IBV_WC_SUCCESS)
			return true;
	}
	return false;
}

int __wrap_rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *got)
{
	struct fake_qp *l = &fake.qps[(uintptr_t)cq - 1];

	int found = 0;

	/* what waits for another one would wait forever */
	assert_int_equal(l->waiting, 0);
	if (fake.posted > fake.poll_fails_at) {
		fake.poll_fails_at = UINT64_MAX;
		return RPMA_E_PROVIDER;
	}
	while (found < num_entries && take(l, &wc[found]))
		found++;
	if (got != NULL)
		*got = found;
	if (found > 0)
		return 0;
	pass_until(next_due_ns(), fake.step_ns);
	return RPMA_E_NO_COMPLETION;
}

int __wrap_rpma_cq_wait(struct rpma_cq *cq)
{
	struct fake_qp *l = &fake.qps[(uintptr_t)cq - 1];

	assert_true(l->event);
	l->event = false;
	pass_until(FAKE_NEVER, fake.wait_ns);
	l->armed = true;
	return 0;
}

static int ready(struct pollfd *fds, nfds_t count)
{
	int found = 0;

	for (nfds_t i = 0; i < count; i++) {
		fds[i].revents = fake.qps[fds[i].fd].event ? POLLIN : 0;
		found += fake.qps[fds[i].fd].event;
	}
	return found;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	uint64_t end_ns =
		fake.now_ns + (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;

	fake.waits++;
	while (ready(fds, count) == 0 && fake.now_ns < end_ns) {
		uint64_t due = next_due_ns();

		/* what has arrived makes no event any more: it would be slept through */
		assert_true(due > fake.now_ns);
		pass_until(due < end_ns ? due : end_ns, FAKE_NEVER);
	}
	return ready(fds, count);
}

bool __wrap_connection_alive(struct connection *connection, int timeout_ms)
{
	if (fake.peer_gone)
		failure_set(EXIT_RUN_FAILED, "connection", "gone");
	return !fake.peer_gone;
}

const char *__wrap_connection_peer_name(const struct connection *connection)
{
	return "server X";
}

uint64_t fake_ten_us(uint32_t qp, uint64_t op)
{
	return 10000;
}

static void reset_qps(uint32_t depth)
{
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		qps[i] = (struct qp){
			.cq = (struct rpma_cq *)(uintptr_t)(i + 1),
			.cq_fd = (int)i,
			.index = i,
			.size_bytes = 64,
		};
		fake.qps[i].armed = true;
		fake.qps[i].armed_receives = depth;
		fake.qps[i].arrived_ns = BEGIN_NS;
	}
}

struct measure_cfg fake_setup(uint64_t (*latency_ns)(uint32_t, uint64_t), uint32_t depth,
			      uint64_t duration_ns)
{
	memset(&fake, 0, sizeof(fake));
	fake.now_ns = fake.begin_ns = BEGIN_NS;
	fake.step_ns = 1000000;
	fake.latency_ns = latency_ns;
	fake.fail_at = fake.post_fails_at = fake.poll_fails_at = fake.signal_at = fake.stop_at =
		UINT64_MAX;
	fake.fail_with = IBV_WC_REM_ACCESS_ERR;
	fake.refuse_at = fake.twice_at = UINT64_MAX;
	fake.opcode = IBV_WC_RDMA_WRITE;
	fake_operation.flushes = false;
	fake_operation.atomic_writes = false;
	depth_of_the_test = depth;
	reset_qps(depth);
	cli_signal = 0;
	atomic_store(&fake_stop, 0);
	histogram_reset(&fake_latency);
	histogram_reset(&fake_read_latency);
	histogram_reset(&fake_response);
	return (struct measure_cfg){
		.operation = &fake_operation,
		.qps = qps,
		.qps_count = 1,
		.clock = &clock_of_the_test,
		.depth = depth,
		.batch = 1,
		.signal_every = 1,
		.duration_ns = duration_ns,
		.limit_ns = duration_ns,
		.latency = &fake_latency,
		.stop = &fake_stop,
	};
}

int fake_run(const struct measure_cfg *of, struct measured *measured)
{
	struct measure_slots *slots = measure_slots_new(of->qps_count, of->depth);
	int ret;

	assert_non_null(slots);
	ret = measure_run(of, slots, measured);
	measure_slots_delete(slots);
	return ret;
}

const char *__wrap_connection_device(const struct connection *connection)
{
	return "";
}
