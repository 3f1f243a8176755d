/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_err_text.c -- the sentence of the last failure. That each failing call leaves one is
 * checked by expect(), so by all tests.
 */
#include "every_call_fails.h"

#include <pthread.h>

TEST(text__names_the_argument, setup_conn, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;
	int fd;

	expect(RPMA_E_INVAL, rpma_conn_get_event_fd(NULL, &fd));
	assert_string_equal(rpma_err_text(), "rpma_conn_get_event_fd(): conn is NULL");
	expect(RPMA_E_INVAL, rpma_conn_get_event_fd(w.conn, NULL));
	assert_string_equal(rpma_err_text(), "rpma_conn_get_event_fd(): fd is NULL");
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", NULL, NULL, &req));
	assert_string_equal(rpma_err_text(), "rpma_conn_req_new(): port is NULL");
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", "1", NULL, NULL));
	assert_string_equal(rpma_err_text(), "rpma_conn_req_new(): req_ptr is NULL");
}

TEST(text__has_the_value_and_what_was_expected, setup_req, teardown)
{
	struct rpma_mr_local *mr = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_conn_cfg_set_timeout(w.cfg, -5));
	assert_string_equal(rpma_err_text(),
			    "rpma_conn_cfg_set_timeout(): timeout_ms is -5, expected 0 or more");
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_RETRIES, 9));
	expect_text("is 9, expected at most 7");
	expect(RPMA_E_INVAL, rpma_mr_reg(w.peer, region, 1, 1 << 20, &mr));
	expect_text("usage is 0x100000, expected some of the bits 0x1ff");
	expect(RPMA_E_INVAL, rpma_mr_advise(w.mr, 4000, 97, 0, 0));
	expect_text("offset 4000 and len 97 are not in a region of 4096");
	expect(RPMA_E_INVAL, rpma_wait(NULL, 1, 0, NULL));
	expect_text("items is NULL");
}

TEST(text__of_the_data_path, setup_conn, teardown)
{
	const int flags = RPMA_F_COMPLETION_ALWAYS, inline_data = flags | RPMA_F_INLINE;
	const struct rpma_range ranges[] = {{w.mr, 0, 8}, {NULL, 0, 8}};
	const enum rpma_flush_type unknown = (enum rpma_flush_type)7;
	struct ibv_wc wc;

	expect(RPMA_E_INVAL, rpma_read(w.conn, w.mr, 0, NULL, 0, 8, flags, NULL));
	expect_text("rpma_read(): src is NULL and dst is not, expected both or none");
	expect(RPMA_E_INVAL, rpma_write(w.conn, NULL, 3, NULL, 0, 0, flags, NULL));
	expect_text("rpma_write(): dst_offset is 3, src_offset 0 and len 0 without regions, exp");
	expect(RPMA_E_INVAL, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, 0, NULL));
	expect_text("rpma_write(): flags is 0, expected RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COM");
	expect(RPMA_E_INVAL, rpma_write(w.conn, w.remote, 0, w.mr, 0, 9, inline_data, NULL));
	expect_text("rpma_write(): 9 bytes with RPMA_F_INLINE, expected at most 8");
	expect(RPMA_E_INVAL, rpma_write(w.conn, w.remote, 0, w.mr, 0, 5000000000,
					RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE, NULL));
	expect_text("rpma_write(): len is 5000000000, expected at most 4294967295");
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 1, 0, NULL));
	expect_text("rpma_writev(): flags is 0");
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, ranges, 2, flags, NULL));
	expect_text("rpma_writev(): num_ranges is 2, expected 1 to 1");
	expect(RPMA_E_INVAL, rpma_writev(w.conn, w.remote, 0, &ranges[1], 1, flags, NULL));
	expect_text("rpma_writev(): src[0].mr is NULL");
	expect(RPMA_E_INVAL, rpma_atomic_write(w.conn, w.remote, 4, "1234567", flags, NULL));
	expect_text("rpma_atomic_write(): dst_offset is 4, expected a multiple of 8");
	expect(RPMA_E_INVAL, rpma_atomic_fetch_add(w.conn, w.remote, 0, NULL, 0, 1, flags, NULL));
	expect_text("rpma_atomic_fetch_add(): result is NULL");
	expect(RPMA_E_INVAL, rpma_send(w.conn, NULL, 0, 8, flags, NULL));
	expect_text("rpma_send(): offset is 0 and len 8 without a region");
	expect(RPMA_E_INVAL, rpma_flush(w.conn, w.remote, 0, 8, unknown, flags, NULL));
	expect_text("rpma_flush(): type is 7, expected RPMA_FLUSH_TYPE_");
	expect(RPMA_E_INVAL, rpma_write_flush(w.conn, w.remote, 4090, w.mr, 0, 8, 0, flags, NULL));
	expect_text("rpma_write_flush(): dst_offset 4090 and len 8 are not in a region of 4096");
	expect(RPMA_E_INVAL,
	       rpma_append(w.conn, &(struct rpma_record){w.remote, 0, w.mr, 0, 8, 5000, "1234567"},
			   flags, NULL));
	expect_text("rpma_append(): end_offset is 5000, expected 8 bytes in a region of 4096");
	expect(RPMA_E_INVAL, rpma_cq_get_wc(w.cq, 0, &wc, NULL));
	expect_text("rpma_cq_get_wc(): num_entries is 0, expected 1 or more");
}

TEST(text__has_call_object_and_errno, setup_peer, teardown)
{
	struct rpma_mr_local *mr = UNTOUCHED;
	struct rpma_ep *ep = UNTOUCHED;

	calls_fail_on("ibv_reg_mr", EFAULT);
	expect(RPMA_E_PROVIDER, rpma_mr_reg(w.peer, region, 7, RPMA_MR_USAGE_SEND, &mr));
	expect_text("ibv_reg_mr(scripted0, ");
	expect_text("length=7, usage=0x40): Bad address");
	calls_fail_on("rdma_listen", EADDRINUSE);
	expect(RPMA_E_PROVIDER, rpma_ep_listen(w.peer, "192.0.2.1", "7204", &ep));
	assert_string_equal(rpma_err_text(),
			    "rdma_listen(192.0.2.1:7204, backlog=0): Address already in use");
	calls_fail_on("rdma_bind_addr", EADDRNOTAVAIL);
	expect(RPMA_E_PROVIDER, rpma_ep_listen(w.peer, "192.0.2.1", "7204", &ep));
	expect_text("rdma_bind_addr(192.0.2.1:7204): Cannot assign requested address");
}

TEST(text__tells_what_memory_is_for, setup_nothing, teardown)
{
	struct rpma_conn_cfg *cfg = UNTOUCHED;

	calls_watch_allocations(true);
	calls_fail_on("malloc", ENOMEM);
	int ret = rpma_conn_cfg_new(&cfg);
	calls_watch_allocations(false);
	expect_named(RPMA_E_NOMEM, "rpma_conn_cfg_new", ret);
	expect_text("rpma_conn_cfg_new(): no memory for ");
}

/* Polling must not pay for a sentence when nothing is there yet. */
TEST(text__stays_while_there_is_nothing_to_fetch, setup_conn, teardown)
{
	enum rpma_conn_event event;
	struct ibv_wc wc;
	uint32_t value;

	rpma_conn_cfg_set_timeout(NULL, 1);
	EQUAL((rpma_cq_get_wc(w.cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION),
	      (rpma_conn_next_event(w.conn, &event), RPMA_E_NO_EVENT),
	      (rpma_conn_get_option(w.conn, RPMA_CONN_OPT_CQ_SIZE, &value), 0),
	      (rpma_err_text(), "rpma_conn_cfg_set_timeout(): cfg is NULL"));
}

TEST(text__does_not_need_the_log, setup_peer, teardown)
{
	struct rpma_ep *ep = UNTOUCHED;

	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED));
	calls_fail_on("rdma_listen", EADDRINUSE);
	expect(RPMA_E_PROVIDER, rpma_ep_listen(w.peer, "192.0.2.1", "7204", &ep));
	expect_text("Address already in use");
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], 0);
}

static int errno_of_log;

static void keep_errno(enum rpma_log_level level, const char *file_name, const int line_no,
		       const char *function_name, const char *message_format, ...)
{
	if (level == RPMA_LOG_LEVEL_ERROR)
		errno_of_log = errno;
}

/* A program may look at errno in its log function. */
TEST(text__goes_to_the_log_with_errno, setup_peer, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;

	expect(0, rpma_log_set_function(keep_errno));
	calls_fail_on("rdma_resolve_addr", ENODEV);
	expect(RPMA_E_PROVIDER, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", NULL, &req));
	assert_int_equal(errno_of_log, ENODEV);
	calls_fail_on("ibv_req_notify_cq", ENOSPC); /* which returns it */
	expect(RPMA_E_PROVIDER, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", NULL, &req));
	assert_int_equal(errno_of_log, ENOSPC);
}

TEST(text__is_cut, setup_peer, teardown)
{
	struct rpma_ep *ep = UNTOUCHED;
	char address[1500];

	memset(address, 'x', sizeof(address) - 1);
	address[sizeof(address) - 1] = '\0';
	provider.getaddrinfo_answer = -2;
	expect(RPMA_E_PROVIDER, rpma_ep_listen(w.peer, address, "7204", &ep));
	assert_int_equal(strlen(rpma_err_text()), 1023);
}

static void *fail_elsewhere(void *first)
{
	*(char *)first = *rpma_err_text();
	rpma_conn_cfg_set_timeout(NULL, 1);
	return NULL;
}

TEST(text__is_of_this_thread, setup_nothing, teardown)
{
	char first = 'x';
	pthread_t thread;

	expect(RPMA_E_INVAL, rpma_conn_cfg_delete(NULL));
	EQUAL((pthread_create(&thread, NULL, fail_elsewhere, &first), 0),
	      (pthread_join(thread, NULL), 0), (first, '\0'),
	      (rpma_err_text(), "rpma_conn_cfg_delete(): cfg_ptr is NULL"));
}
