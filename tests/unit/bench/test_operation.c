/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_operation.c -- which work each operation posts: how much of it, where
 * to, and what of it completes. librpma's calls only take notes here.
 */
#include "common/rdma/gpspm.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/measure/op/table.h"
#include "tools/rpma-bench/measure/remote_pool.h"

#define WORK_MAX 8
#define DEPTH	 4
#define TARGET	 65536

struct work {
	const char *what;
	size_t offset; /* at the target; of messages in their memory */
	size_t len;
	int flags;
	const void *context;
};

static struct work work[WORK_MAX];
static uint32_t work_count;
static uint8_t source[TARGET]; /* stands for all local memory */
static struct rpma_mr_local *const memory = (struct rpma_mr_local *)source;

static int note(const char *what, size_t offset, size_t len, int flags, const void *context)
{
	assert_true(work_count < WORK_MAX);
	work[work_count++] = (struct work){what, offset, len, flags, context};
	return 0;
}

int __wrap_rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
		      const void *op_context)
{
	assert_true(src_offset + len <= TARGET);
	return note("write", dst_offset, len, flags, op_context);
}

int __wrap_rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst,
			       size_t dst_offset, const struct rpma_mr_local *src,
			       size_t src_offset, size_t len, int flags, uint32_t imm,
			       const void *op_context)
{
	return note("write-imm", dst_offset, len, flags, op_context);
}

int __wrap_rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
		     const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
		     const void *op_context)
{
	return note("read", src_offset, len, flags, op_context);
}

int __wrap_rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      size_t len, enum rpma_flush_type type, int flags, const void *op_context)
{
	assert_int_equal(type, RPMA_FLUSH_TYPE_VISIBILITY);
	return note("flush", dst_offset, len, flags, op_context);
}

int __wrap_rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			     const char src[8], int flags, const void *op_context)
{
	return note("atomic-write", dst_offset, 8, flags, op_context);
}

int __wrap_rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		     size_t len, int flags, const void *op_context)
{
	return note("send", offset, len, flags, op_context);
}

int __wrap_rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
		     const void *op_context)
{
	return note("recv", offset, len, RPMA_F_COMPLETION_ALWAYS, op_context);
}

int __wrap_rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr)
{
	*ptr = source;
	return 0;
}

int __wrap_remote_pool_persist(const struct remote_pool *pool, uint32_t qp, uint64_t offset,
			       uint64_t bytes, bool relaxed)
{
	assert_ptr_equal(pool, memory);
	assert_int_equal(qp, 7);
	return note(relaxed ? "relaxed" : "persist", offset, bytes, 0, NULL);
}

static struct params params_of(enum bench_op op, enum bench_persist persist)
{
	return (struct params){
		.test = BENCH_BW,
		.op = op,
		.persist = persist,
		.size_bytes = op == BENCH_ATOMIC_WRITE ? 8 : 100,
		.depth = persist == BENCH_RPMEM || persist == BENCH_RPMEM_RELAXED ? 1 : DEPTH,
		.threads = 1,
		.connections = 1,
		.batch = 1,
		.signal_every = 1,
	};
}

static struct qp qp_of(const struct params *params)
{
	struct qp qp = {
		.source = memory,
		.sink = memory,
		.sink_stride = 128,
		.size_bytes = params->size_bytes,
		.leading = RPMA_F_COMPLETION_ON_ERROR,
		.flush_type = RPMA_FLUSH_TYPE_VISIBILITY,
		.notes = memory,
		.notes_offset = 4096,
	};

	access_init(&qp.access, params, TARGET, 0, 1);
	qp.reads = qp.access;
	work_count = 0;
	return qp;
}

TEST(each_combination_that_may_be_asked_for_is_there)
{
	for (int op = 0; op < BENCH_OPS; op++) {
		for (int persist = 0; persist < BENCH_PERSISTS; persist++) {
			const struct params p =
				params_of((enum bench_op)op, (enum bench_persist)persist);
			const struct operation *o = operation_find(p.op, p.persist);

			assert_int_equal(o != NULL, params_conflict(&p) == NULL);
			if (o != NULL) {
				EQUAL((o->op, op), (o->persist, persist),
				      (o->answered, params_answered(&p)));
			}
		}
	}
}

static const struct {
	enum bench_op op;
	enum bench_persist persist;
	const char *kind;
	const char *work[5];
} rows[] = {
	{BENCH_WRITE, BENCH_NONE, "post_to_cqe", {"write"}},
	{BENCH_WRITE, BENCH_APM, "write_flush", {"write", "flush"}},
	{BENCH_WRITE, BENCH_NATIVE, "write_flush_native", {"write", "flush"}},
	{BENCH_WRITE, BENCH_GPSPM, "gpspm_rtt", {"write", "send"}},
	{BENCH_WRITE, BENCH_GPSPM_RT, "gpspm_rtt", {"write", "send"}},
	{BENCH_WRITE,
	 BENCH_APPEND,
	 "atomic_write_commit",
	 {"write", "flush", "atomic-write", "flush"}},
	{BENCH_READ, BENCH_NONE, "read", {"read"}},
	{BENCH_SEND, BENCH_NONE, "send_rtt", {"send"}},
	{BENCH_WRITE_IMM, BENCH_NONE, "post_to_cqe", {"write-imm"}},
	{BENCH_ATOMIC_WRITE, BENCH_NONE, "post_to_cqe", {"atomic-write"}},
};

TEST(only_the_last_work_completes_and_only_when_asked_to)
{
	static const int flags[] = {RPMA_F_COMPLETION_ON_ERROR, RPMA_F_COMPLETION_ALWAYS};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t f = 0; f < 2; f++) {
			const struct params p = params_of(rows[i].op, rows[i].persist);
			const struct operation *o = operation_find(p.op, p.persist);
			struct qp qp = qp_of(&p);
			unsigned atomic = 0;

			EQUAL((o->latency_kind, rows[i].kind), (o->post(&qp, 3, flags[f]), 0),
			      (work_count, o->work_requests));
			for (uint32_t k = 0; k < work_count; k++) {
				bool last = k + 1 == work_count;

				atomic |= strcmp(work[k].what, "atomic-write") == 0 ? OP_ATOMIC : 0;
				assert_string_equal(work[k].what, rows[i].work[k]);
				assert_ptr_equal(work[k].context, operation_context(3));
				assert_int_equal(work[k].flags,
						 last ? flags[f] : RPMA_F_COMPLETION_ON_ERROR);
			}
			assert_null(rows[i].work[work_count]);
			assert_int_equal(params_facts(&p) & OP_ATOMIC, atomic);
		}
	}
}

TEST(in_a_batch_only_the_last_work_of_all_is_posted_at_once)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct params p = params_of(rows[i].op, rows[i].persist);
		const struct operation *o = operation_find(p.op, p.persist);
		struct qp qp = qp_of(&p);

		p.batch = 2;
		assert_int_equal(qp_queues(o, NULL, &p).batch, 2 * o->work_requests);
		qp.leading |= RPMA_F_MORE;
		EQUAL((o->post(&qp, 0, RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE), 0),
		      (o->post(&qp, 1, RPMA_F_COMPLETION_ALWAYS), 0),
		      (work_count, 2 * o->work_requests));
		for (uint32_t k = 0; k + 1 < work_count; k++)
			assert_int_equal(work[k].flags, RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE);
		assert_int_equal(work[work_count - 1].flags, RPMA_F_COMPLETION_ALWAYS);
	}
}

TEST(what_is_flushed_is_what_was_written)
{
	const struct params p = params_of(BENCH_WRITE, BENCH_APM);
	struct qp qp = qp_of(&p);

	for (uint32_t i = 0; i < 3; i++) {
		work_count = 0;
		operation_find(p.op, p.persist)->post(&qp, i, RPMA_F_COMPLETION_ALWAYS);
		EQUAL((work[0].offset, i * 128), (work[1].offset, i * 128), (work[0].len, 100),
		      (work[1].len, 100));
	}
}

TEST(a_log_moves_its_tail_after_the_record)
{
	const struct params p = params_of(BENCH_WRITE, BENCH_APPEND);
	struct qp qp = qp_of(&p);

	operation_find(p.op, p.persist)->post(&qp, 0, RPMA_F_COMPLETION_ALWAYS);
	EQUAL((work[0].offset, ACCESS_LINE), (work[1].offset, ACCESS_LINE), (work[2].offset, 0),
	      (work[3].offset, 0), (work[3].len, 8));
}

TEST(an_append_can_end_at_its_atomic_write)
{
	const struct params p = params_of(BENCH_WRITE, BENCH_APPEND);
	const struct operation *o = operation_find(p.op, p.persist)->up_to_atomic_write;
	struct qp qp = qp_of(&p);

	EQUAL((o->atomic_writes, true), (o->post(&qp, 0, RPMA_F_COMPLETION_ALWAYS), 0),
	      (work_count, 3), (work[2].what, "atomic-write"),
	      (work[1].flags, RPMA_F_COMPLETION_ON_ERROR),
	      (work[2].flags, RPMA_F_COMPLETION_ALWAYS));
}

TEST(a_request_names_what_is_to_be_persistent)
{
	const struct params p = params_of(BENCH_WRITE, BENCH_GPSPM);
	struct qp qp = qp_of(&p);
	struct persist_request request;

	operation_find(p.op, p.persist)->post(&qp, 2, RPMA_F_COMPLETION_ALWAYS);
	work_count = 0;
	operation_find(p.op, p.persist)->post(&qp, 3, RPMA_F_COMPLETION_ALWAYS);
	EQUAL((work[1].offset, 4096 + 3 * OPERATION_NOTE_BYTES),
	      (persist_decode_request(source + work[1].offset, work[1].len, &request), 0),
	      (request.slot, 3), (request.offset, work[0].offset), (request.length, 100));
}

TEST(an_answer_is_believed_if_it_fits)
{
	static const struct {
		uint32_t slot;
		enum persist_status status;
		uint32_t bytes;
		const char *refusal;
	} cases[] = {
		{3, PERSIST_DONE, PERSIST_ANSWER_BYTES, NULL},
		{1, PERSIST_DONE, PERSIST_ANSWER_BYTES, HAS("something else")},
		{3, PERSIST_DONE, PERSIST_ANSWER_BYTES - 1, HAS("something else")},
		{3, PERSIST_OUTSIDE, PERSIST_ANSWER_BYTES, HAS("outside its target")},
		{3, PERSIST_FAILED, PERSIST_ANSWER_BYTES, HAS("could not")},
	};
	const struct params p = params_of(BENCH_WRITE, BENCH_GPSPM);
	struct qp qp = qp_of(&p);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct persist_answer answer = {cases[i].slot, cases[i].status};

		persist_encode_answer(&answer,
				      source + 4096 + OPERATION_NOTE_BYTES + OPERATION_NOTE_ANSWER);
		EQUAL((operation_find(p.op, p.persist)->refusal(&qp, 3, 1, cases[i].bytes),
		       cases[i].refusal));
	}
}

TEST(a_call_of_librpmem_is_one_persist_of_the_next_slot)
{
	static const struct {
		enum bench_persist persist;
		const char *what;
	} cases[] = {{BENCH_RPMEM, "persist"}, {BENCH_RPMEM_RELAXED, "relaxed"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct params p = params_of(BENCH_WRITE, cases[i].persist);
		const struct operation *o = operation_find(p.op, p.persist);
		struct qp qp = qp_of(&p);

		qp.pool = (const void *)memory;
		qp.index = 7;
		assert_string_equal(o->latency_kind, "rpmem_persist");
		assert_non_null(o->single);
		for (uint32_t k = 0; k < 2; k++) {
			EQUAL((o->post(&qp, 0, RPMA_F_COMPLETION_ALWAYS), 0),
			      (work[k].what, cases[i].what), (work[k].offset, k * 128),
			      (work[k].len, 100));
		}
		assert_int_equal(work_count, 2);
	}
}

TEST(an_echo_has_the_size_of_its_message)
{
	const struct params p = params_of(BENCH_SEND, BENCH_NONE);
	struct qp qp = qp_of(&p);

	assert_null(operation_find(p.op, p.persist)->refusal(&qp, 0, 0, 100));
	assert_non_null(operation_find(p.op, p.persist)->refusal(&qp, 0, 0, 99));
}

TEST(each_slot_is_armed_once)
{
	static const struct {
		enum bench_op op;
		enum bench_persist persist;
		uint32_t receives;
		size_t first;
		size_t stride;
		size_t len;
	} cases[] = {
		{BENCH_WRITE, BENCH_APM, 0, 0, 0, 0},
		{BENCH_SEND, BENCH_NONE, DEPTH, 0, 128, 100},
		{BENCH_WRITE, BENCH_GPSPM_RT, DEPTH, 4096 + OPERATION_NOTE_ANSWER,
		 OPERATION_NOTE_BYTES, PERSIST_ANSWER_BYTES},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct params p = params_of(cases[i].op, cases[i].persist);
		struct qp qp = qp_of(&p);

		operation_arm(operation_find(p.op, p.persist), &qp, DEPTH);
		assert_int_equal(work_count, cases[i].receives);
		for (uint32_t k = 0; k < work_count; k++) {
			EQUAL((work[k].offset, cases[i].first + k * cases[i].stride),
			      (work[k].len, cases[i].len));
			assert_ptr_equal(work[k].context, operation_context(k));
		}
	}
}
