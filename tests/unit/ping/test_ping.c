/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ping.c -- one ping over a scripted librpma: what is posted in which
 * order, and how each way to end is told.
 */
#include <signal.h>

#include "common/base/cli.h"
#include "tests/lib/test.h"
#include "tools/rpma-ping/ping.h"

static struct ping_report r;

#define SIZE   16
#define STRIDE 64
#define LONG   60000000000ULL

/* The memory of both ends, and what the device is to do. */
static struct fake {
	uint8_t memory[3 * STRIDE];
	uint8_t target[SIZE];
	char posts[16];	   /* a letter each */
	uint64_t queue[8]; /* wr_id of the completions to come */
	size_t queued, taken;
	bool silent;	  /* completions do not come yet */
	uint64_t fail_id; /* completes with status */
	enum ibv_wc_status status;
	char refuse; /* the letter of the post that fails */
	bool corrupt;
	bool gone;
	enum ibv_wc_opcode flush_opcode;
} fake;

static int post(char letter, const void *context)
{
	char text[2] = {letter, '\0'};

	if (fake.refuse == letter)
		return RPMA_E_PROVIDER;
	strcat(fake.posts, text);
	fake.queue[fake.queued++ % 8] = (uintptr_t)context;
	return 0;
}

int __wrap_rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
		      const void *op_context)
{
	EQUAL((dst_offset, 0), (len, SIZE), (flags, RPMA_F_COMPLETION_ALWAYS));
	memcpy(fake.target, fake.memory + src_offset, len);
	return post('w', op_context);
}

int __wrap_rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      size_t len, enum rpma_flush_type type, int flags, const void *op_context)
{
	assert_int_equal(len, SIZE);
	return post('f', op_context);
}

int __wrap_rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
		     const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
		     const void *op_context)
{
	assert_int_equal(dst_offset, 2 * STRIDE);
	memcpy(fake.memory + dst_offset, fake.target, len);
	if (fake.corrupt)
		fake.memory[dst_offset + 3] ^= 0x01;
	return post('r', op_context);
}

int __wrap_rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *got)
{
	assert_int_equal(num_entries, 1);
	if (fake.silent || fake.taken == fake.queued)
		return RPMA_E_NO_COMPLETION;
	*wc = (struct ibv_wc){.wr_id = fake.queue[fake.taken++ % 8], .opcode = fake.flush_opcode};
	if (wc->wr_id == fake.fail_id)
		wc->status = fake.status;
	return 0;
}

bool __wrap_connection_alive(struct connection *connection, int timeout_ms)
{
	return !fake.gone;
}

static struct ping made(uint64_t limit_ns)
{
	fake = (struct fake){.flush_opcode = IBV_WC_RDMA_READ};
	cli_signal = 0;
	pattern_fill(fake.memory, STRIDE, 2, SIZE, 7);
	return (struct ping){.memory = fake.memory,
			     .size_bytes = SIZE,
			     .stride_bytes = STRIDE,
			     .turn = {.count = 2},
			     .limit_ns = limit_ns};
}

TEST(a_ping_is_a_write_a_flush_and_a_read)
{
	struct ping ping = made(LONG);

	ping_once(&ping, &r);
	EQUAL((r.end, PING_BACK), (fake.posts, "wfr"),
	      (r.rtt_ns, r.write_ns + r.flush_ns + r.read_ns), (ping.under_way, 0),
	      (ping.native_flush, false));
	ping_once(&ping, &r);
	assert_string_equal(fake.posts, "wfrwfr");
}

TEST(pings_in_turn_write_other_bytes)
{
	struct ping ping = made(LONG);
	uint8_t first[SIZE];

	ping_once(&ping, &r);
	memcpy(first, fake.target, SIZE);
	ping_once(&ping, &r);
	for (size_t i = 0; i < SIZE; i++)
		assert_int_not_equal(first[i], fake.target[i]);
}

TEST(the_completion_tells_which_flush_it_was)
{
	struct ping ping = made(LONG);

	fake.flush_opcode = (enum ibv_wc_opcode)8; /* IBV_WC_FLUSH of newer headers */
	ping_once(&ping, &r);
	assert_true(ping.native_flush);
}

TEST(a_changed_byte_is_corrupt)
{
	struct ping ping = made(LONG);

	fake.corrupt = true;
	ping_once(&ping, &r);
	EQUAL((r.end, PING_CORRUPT), (r.step, STEP_COMPARE), (r.difference.bytes, 1),
	      (r.difference.first, 3), (r.difference.found ^ r.difference.expected, 1));
}

TEST(a_status_names_its_step)
{
	static const enum step steps[] = {STEP_WRITE, STEP_FLUSH, STEP_READ};

	for (size_t i = 0; i < 3; i++) {
		struct ping ping = made(LONG);

		fake.fail_id = steps[i];
		fake.status = IBV_WC_REM_ACCESS_ERR;
		ping_once(&ping, &r);
		EQUAL((r.end, PING_FAILED), (r.step, steps[i]),
		      (r.wc_status, IBV_WC_REM_ACCESS_ERR), (r.code, 0));
	}
}

TEST(a_refused_post_names_its_step)
{
	static const struct {
		char letter;
		enum step step;
	} cases[] = {{'w', STEP_WRITE}, {'f', STEP_FLUSH}, {'r', STEP_READ}};

	for (size_t i = 0; i < 3; i++) {
		struct ping ping = made(LONG);

		fake.refuse = cases[i].letter;
		ping_once(&ping, &r);
		EQUAL((r.end, PING_FAILED), (r.step, cases[i].step), (r.code, RPMA_E_PROVIDER));
	}
}

TEST(a_late_ping_is_drained_by_the_next)
{
	struct ping ping = made(1);

	fake.silent = true;
	ping_once(&ping, &r);
	EQUAL((r.end, PING_LATE), (r.step, STEP_WRITE), (fake.posts, "wf"));
	/* still silent: nothing more is posted, and it is lost too */
	ping_once(&ping, &r);
	EQUAL((r.end, PING_LATE), (fake.posts, "wf"));
	fake.silent = false;
	ping.limit_ns = LONG;
	ping_once(&ping, &r);
	EQUAL((r.end, PING_BACK), (fake.posts, "wfwfr"));
}

/* A busy wait looks at the time now and then only. */
TEST(what_is_back_after_its_time_is_late)
{
	struct ping ping = made(0);

	ping_once(&ping, &r);
	EQUAL((r.end, PING_LATE), (r.step, STEP_WRITE));
	ping.limit_ns = LONG;
	ping_once(&ping, &r);
	EQUAL((r.end, PING_BACK), (fake.posts, "wfwfr"));
}

/* Else a write that never arrives would not show: what is read was there before. */
TEST(a_ping_that_was_not_posted_takes_no_turn)
{
	struct ping ping = made(1);
	uint8_t first[SIZE];

	fake.silent = true;
	ping_once(&ping, &r);
	memcpy(first, fake.target, SIZE);
	ping_once(&ping, &r);
	assert_string_equal(fake.posts, "wf");
	fake.silent = false;
	ping.limit_ns = LONG;
	ping_once(&ping, &r);
	assert_int_equal(r.end, PING_BACK);
	for (size_t i = 0; i < SIZE; i++)
		assert_int_not_equal(first[i], fake.target[i]);
}

TEST(a_peer_that_leaves_ends_it)
{
	struct ping ping = made(LONG);

	fake.silent = true;
	fake.gone = true;
	ping_once(&ping, &r);
	EQUAL((r.end, PING_FAILED), (r.ended, true));
}

TEST(a_signal_ends_it)
{
	struct ping ping = made(LONG);

	fake.silent = true;
	cli_signal = SIGINT;
	ping_once(&ping, &r);
	assert_int_equal(r.end, PING_STOPPED);
}
