/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_native.c -- devices with the atomic write and flush verbs, whether or not
 * the installed headers know them. Nothing here is asked of the reference: Debian
 * built it without either.
 */
#define _GNU_SOURCE /* dlvsym(), RTLD_DEFAULT */
#include "every_call_fails.h"

#include <dlfcn.h>

#define CONTEXT UNTOUCHED
#define ALWAYS	RPMA_F_COMPLETION_ALWAYS

/* ACCESS_FLUSH_*, IBV_FLUSH_*: verbs.h of rdma-core 45 */
#define ACCESS_FLUSH_GLOBAL	(1u << 8)
#define ACCESS_FLUSH_PERSISTENT (1u << 9)
#define FLUSH_GLOBAL		1u
#define FLUSH_PERSISTENT	2u
#define FLUSH_RANGE		0u
#define FLUSH_MR		1u

#ifdef HEADERS_HAVE_FLUSH
_Static_assert(ACCESS_FLUSH_GLOBAL == IBV_ACCESS_FLUSH_GLOBAL &&
		       ACCESS_FLUSH_PERSISTENT == IBV_ACCESS_FLUSH_PERSISTENT,
	       "access flags");
_Static_assert(FLUSH_GLOBAL == IBV_FLUSH_GLOBAL && FLUSH_PERSISTENT == IBV_FLUSH_PERSISTENT &&
		       FLUSH_RANGE == IBV_FLUSH_RANGE && FLUSH_MR == IBV_FLUSH_MR,
	       "placement types and levels");
_Static_assert(QP_EX_WITH_FLUSH == IBV_QP_EX_WITH_FLUSH &&
		       QP_EX_WITH_ATOMIC_WRITE == IBV_QP_EX_WITH_ATOMIC_WRITE,
	       "operations of a QP");
_Static_assert(offsetof(struct ibv_qp_ex, wr_atomic_write) ==
			       offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void *) &&
		       offsetof(struct ibv_qp_ex, wr_flush) ==
			       offsetof(struct ibv_qp_ex, wr_abort) + 2 * sizeof(void *),
	       "the layout of struct ibv_qp_ex");
#endif

#define ATOMIC_WRITE_OP (RPMA_NATIVE ? QP_EX_WITH_ATOMIC_WRITE : 0)
#define FLUSH_OP	(RPMA_NATIVE ? QP_EX_WITH_FLUSH : 0)

/* The other operations that a list may have. */
#define LIST_OPS                                                                                   \
	((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |               \
		    IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |                           \
		    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                 \
		    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD))

TEST(qp__has_the_operations_of_the_device, setup_nothing, teardown)
{
	static const struct {
		uint64_t caps, ops;
	} cases[] = {
		{0, 0},
		{CAP_ATOMIC_WRITE, ATOMIC_WRITE_OP},
		{CAP_FLUSH, FLUSH_OP},
		{CAP_FLUSH | CAP_ATOMIC_WRITE, FLUSH_OP | ATOMIC_WRITE_OP},
		/* flushing one way only would need a second way for the other */
		{CAP_FLUSH_GLOBAL, 0},
		{CAP_FLUSH_PERSISTENT, 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		bool asked;

		setup_device(cases[i].caps);
		make_peer();
		make_req();
		asked = provider.create_qp.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		EQUAL((asked, cases[i].ops != 0),
		      (provider.create_qp.send_ops_flags,
		       cases[i].ops != 0 ? cases[i].ops | LIST_OPS : 0));
		teardown(NULL);
	}
}

#if RPMA_NATIVE

static int setup_native_device(void **unused)
{
	setup_device(CAP_FLUSH | CAP_ATOMIC_WRITE);
	return 0;
}

SETUP(setup_native_conn, setup_native_device, make_peer(); make_mr(); make_req(); make_conn())

static const char eight[8] = "8 bytes";

TEST(qp__does_without_if_the_provider_refuses, setup_native_device, teardown)
{
	provider.qp_ops_unknown = QP_EX_WITH_FLUSH | QP_EX_WITH_ATOMIC_WRITE;
	make_peer();
	make_mr();
	make_req();
	make_conn();
	EQUAL((provider.create_qp.comp_mask, IBV_QP_INIT_ATTR_PD),
	      (provider.create_qp.send_ops_flags, 0));
	expect(0, rpma_atomic_write(w.conn, w.remote, 0, eight, ALWAYS, NULL));
	expect(0, rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	EQUAL((provider.send.posted, 2), (provider.native.completed, 0));
}

/* The provider of rdma-core 44 over a kernel that has both. */
TEST(qp__keeps_the_operation_that_an_older_provider_knows, setup_native_device, teardown)
{
	provider.qp_ops_unknown = QP_EX_WITH_FLUSH;
	make_peer();
	make_mr();
	make_req();
	make_conn();
	assert_int_equal(provider.create_qp.send_ops_flags, QP_EX_WITH_ATOMIC_WRITE | LIST_OPS);
	expect(0, rpma_atomic_write(w.conn, w.remote, 0, eight, ALWAYS, NULL));
	assert_int_equal(provider.native.completed, 1);
	expect(0, rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	EQUAL((provider.native.completed, 1), (provider.send.posted, 1));
	expect_logged(RPMA_LOG_LEVEL_WARNING, "scripted0");
}

TEST(flush__needs_a_flag, setup_native_conn, teardown)
{
	expect(RPMA_E_INVAL,
	       rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, 0, NULL));
	assert_int_equal(provider.send.posted, 0);
}

TEST(atomic_write__uses_the_verb, setup_native_conn, teardown)
{
	expect(0, rpma_atomic_write(w.conn, w.remote, 64, eight, ALWAYS, CONTEXT));
	EQUAL((provider.send.posted, 0), (calls_count("ibv_wr_atomic_write"), 1),
	      (provider.native.completed, 1), (provider.native.wr_id, (uintptr_t)CONTEXT));
	/* behind a flush by read, too */
	EQUAL((provider.native.wr_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE),
	      (provider.native.rkey, 0x20000),
	      (provider.native.remote_addr, (uintptr_t)region + 64));
	assert_memory_equal(provider.native.atomic_data, eight, sizeof(eight));
}

TEST(atomic_write__completes_as_the_flags_say, setup_native_conn, teardown)
{
	expect(0, rpma_atomic_write(w.conn, w.remote, 0, eight, RPMA_F_COMPLETION_ON_ERROR, NULL));
	assert_int_equal(provider.native.wr_flags, IBV_SEND_FENCE);
}

TEST(atomic_write__reports_a_full_queue, setup_native_conn, teardown)
{
	calls_fail_on("ibv_wr_complete", ENOMEM);
	expect(RPMA_E_PROVIDER, rpma_atomic_write(w.conn, w.remote, 0, eight, ALWAYS, NULL));
}

/* The remote side wrote this descriptor. */
static void make_remote(int usage, size_t desc_size, bool native)
{
	unsigned char desc[32] = {0};

	write_descriptor(desc, 0x10000, 64, 0xabcd, usage);
	desc[21] = native;
	expect(0, rpma_mr_remote_delete(&w.remote));
	expect(0, rpma_mr_remote_from_descriptor(desc, desc_size, &w.remote));
}

TEST(reg__lets_both_kinds_of_peers_flush, setup_native_device, teardown)
{
	static const struct {
		int usage;
		unsigned access;
		bool native;
	} cases[] = {
#define V RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY
#define P RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
		{V, IBV_ACCESS_REMOTE_READ | ACCESS_FLUSH_GLOBAL, true},
		{P, IBV_ACCESS_REMOTE_READ | ACCESS_FLUSH_PERSISTENT, true},
		{V | P, IBV_ACCESS_REMOTE_READ | ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT,
		 true},
		{RPMA_MR_USAGE_READ_SRC, IBV_ACCESS_REMOTE_READ, false},
#undef V
#undef P
	};

	make_peer();
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		unsigned char desc[22];

		expect(0, rpma_mr_reg(w.peer, region, 64, cases[i].usage, &w.mr));
		assert_int_equal(provider.reg_mr.access, cases[i].access);
		expect(0, rpma_mr_get_descriptor(w.mr, desc));
		assert_int_equal(desc[21], cases[i].native);
		expect(0, rpma_mr_dereg(&w.mr));
	}
}

/* rxe refuses the persistent kind for memory that is none */
TEST(reg__does_without_if_the_device_refuses, setup_native_device, teardown)
{
	unsigned char desc[22];

	make_peer();
	calls_fail_on("ibv_reg_mr", EINVAL);
	expect(0, rpma_mr_reg(w.peer, region, 64, ALL_USAGES, &w.mr));
	assert_int_equal(provider.reg_mr.access,
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	expect(0, rpma_mr_get_descriptor(w.mr, desc));
	assert_int_equal(desc[21], 0);
}

/* A region that lacks the native flush for want of memory would be refused flushes later. */
TEST(reg__fails_for_what_has_nothing_to_do_with_flushing, setup_native_device, teardown)
{
	static const int errnos[] = {ENOMEM, EPERM, EFAULT};

	make_peer();
	for (size_t i = 0; i < ARRAY_LENGTH(errnos); i++) {
		calls_fail_on("ibv_reg_mr", errnos[i]);
		expect(RPMA_E_PROVIDER, rpma_mr_reg(w.peer, region, 64, ALL_USAGES, &w.mr));
		assert_int_equal(errno, errnos[i]);
	}
}

#ifndef LIBRPMA_IS_STATIC /* which has the newest versions alone */
/* Programs that were linked with an older release have room for 21 bytes. */
TEST(descriptor_of_1_0__says_how_to_flush, setup_native_device, teardown)
{
	static const struct {
		int usage;
		int refused; /* errno of the native registration, or 0 */
		int usage_in_descriptor;
	} cases[] = {
#define V RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY
#define P RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
#define R RPMA_MR_USAGE_READ_SRC
#define W RPMA_MR_USAGE_WRITE_DST
		{W | P, 0, W | P},
		{W | V | R, 0, W | V},
		{W | V | P | R, 0, W | V | P},
		{W | P, EINVAL, W | P | R},
		{W | V | P | R, EINVAL, W | V | P | R},
		{W | R, 0, W | R},
		{W, 0, W},
#undef V
#undef P
#undef R
#undef W
	};
	int (*get)(const struct rpma_mr_local *, void *);
	void *symbol = dlvsym(RTLD_DEFAULT, "rpma_mr_get_descriptor", "LIBRPMA_1.0");

	assert_non_null(symbol);
	memcpy(&get, &symbol, sizeof(get));
	make_peer();
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		unsigned char desc[22] = {0};

		if (cases[i].refused)
			calls_fail_on("ibv_reg_mr", cases[i].refused);
		expect(0, rpma_mr_reg(w.peer, region, 64, cases[i].usage, &w.mr));
		expect(0, get(w.mr, desc));
		EQUAL((desc[20], cases[i].usage_in_descriptor), (desc[21], 0));
		expect(0, rpma_mr_dereg(&w.mr));
	}
}

#endif

TEST(flush__uses_the_verb, setup_native_conn, teardown)
{
	static const struct {
		enum rpma_flush_type type;
		unsigned placement;
	} cases[] = {
		{RPMA_FLUSH_TYPE_VISIBILITY, FLUSH_GLOBAL},
		{RPMA_FLUSH_TYPE_PERSISTENT, FLUSH_PERSISTENT},
	};

	expect(0, rpma_peer_cfg_new(&w.pcfg));
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, true));
	expect(0, rpma_conn_apply_remote_peer_cfg(w.conn, w.pcfg));
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		expect(0, rpma_flush(w.conn, w.remote, 64, 128, cases[i].type, ALWAYS, CONTEXT));
		EQUAL((provider.native.completed, i + 1),
		      (provider.native.wr_id, (uintptr_t)CONTEXT),
		      (provider.native.wr_flags & IBV_SEND_SIGNALED, IBV_SEND_SIGNALED),
		      (provider.native.rkey, 0x20000),
		      (provider.native.remote_addr, (uintptr_t)region + 64),
		      (provider.native.flush_len, 128),
		      (provider.native.flush_type, cases[i].placement),
		      (provider.native.flush_level, FLUSH_RANGE));
	}
	assert_int_equal(provider.send.posted, 0);
}

TEST(flush__goes_the_way_the_region_was_registered_for, setup_native_conn, teardown)
{
	static const struct {
		const char *peer;
		int usage;
		size_t desc_size;
		bool flag;
		bool native;
	} cases[] = {
#define V RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY
#define R RPMA_MR_USAGE_READ_SRC
		{"ours, native", V, 22, true, true},
		{"ours, native, readable", V | R, 22, true, true},
		{"ours, no such device", V, 22, false, false},
		{"1.2 or 1.3, readable", V | R, 21, false, false},
		{"1.3, flush only", V, 21, false, true},
		{"1.3 in a larger field: the tail is not ours", V, 24, true, true},
		{"1.2 in a larger field: the tail is not ours", V | R, 24, true, false},
#undef V
#undef R
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		unsigned by_read = provider.send.posted;
		unsigned native = provider.native.completed;

		print_message("peer: %s\n", cases[i].peer);
		make_remote(cases[i].usage, cases[i].desc_size, cases[i].flag);
		expect(0, rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS,
				     NULL));
		EQUAL((provider.native.completed - native, cases[i].native),
		      (provider.send.posted - by_read, !cases[i].native));
	}
}

static unsigned warnings;

static void count_warnings(enum rpma_log_level level, const char *file_name, const int line_no,
			   const char *function_name, const char *message_format, ...)
{
	warnings += level == RPMA_LOG_LEVEL_WARNING;
}

/* It may be of librpma 1.3, whose initiators flush natively. */
TEST(flush__warns_once_of_a_region_that_may_be_of_1_3, setup_native_conn, teardown)
{
	const int usage = RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_READ_SRC;
	static const struct {
		size_t desc_size;
		enum rpma_flush_type type;
		unsigned warnings;
	} cases[] = {
		{22, RPMA_FLUSH_TYPE_PERSISTENT, 0},
		{21, RPMA_FLUSH_TYPE_VISIBILITY, 0},
		{21, RPMA_FLUSH_TYPE_PERSISTENT, 1},
		{21, RPMA_FLUSH_TYPE_PERSISTENT, 1},
	};

	expect(0, rpma_peer_cfg_new(&w.pcfg));
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, true));
	expect(0, rpma_conn_apply_remote_peer_cfg(w.conn, w.pcfg));
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING));
	expect(0, rpma_log_set_function(count_warnings));
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		make_remote(usage, cases[i].desc_size, false);
		expect(0, rpma_flush(w.conn, w.remote, 0, 8, cases[i].type, ALWAYS, NULL));
		assert_int_equal(warnings, cases[i].warnings);
	}
	expect(0, rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
}

/* 32 bits on the wire; flushing more than asked is the safe side */
TEST(flush__takes_the_whole_region_for_a_range_too_long, setup_native_conn, teardown)
{
	unsigned char desc[22];

	write_descriptor(desc, 0, UINT64_MAX, 1, ALL_USAGES);
	desc[21] = 1;
	expect(0, rpma_mr_remote_delete(&w.remote));
	expect(0, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote));
	expect(0, rpma_flush(w.conn, w.remote, 0, UINT32_MAX, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS,
			     NULL));
	EQUAL((provider.native.flush_level, FLUSH_RANGE), (provider.native.flush_len, UINT32_MAX));
	expect(0, rpma_flush(w.conn, w.remote, 0, UINT32_MAX + (size_t)1,
			     RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	assert_int_equal(provider.native.flush_level, FLUSH_MR);
}

TEST(flush__reports_a_full_queue, setup_native_conn, teardown)
{
	calls_fail_on("ibv_wr_complete", ENOMEM);
	expect(RPMA_E_PROVIDER,
	       rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
}

#endif /* RPMA_NATIVE */
