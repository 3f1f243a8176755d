/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cq_conns.c -- a completion queue for several connections: what it refuses, and its failures.
 */
#include "every_call_fails.h"

#include <errno.h>
#include <string.h>

static int new_cq(void)
{
	struct rpma_cq *cq = UNTOUCHED;
	int ret = rpma_cq_new(w.peer, 16, &cq);

	if (ret) {
		assert_ptr_equal(cq, UNTOUCHED);
		return ret;
	}
	ret = rpma_cq_delete(&cq); /* whose failures are among those of the operation */
	assert_null(cq);
	return ret;
}

static void new__survives_every_failing_call(void **unused)
{
	every_call_fails(
		&(struct operation){.function = "rpma_cq_new", .setup = setup_peer, .act = new_cq});
}

static void calls__refuse_bad_arguments(void **unused)
{
	struct rpma_cq *cq = UNTOUCHED, *none = NULL;
	struct rpma_conn *conn = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_cq_new(NULL, 1, &cq));
	expect(RPMA_E_INVAL, rpma_cq_new(w.peer, 1, NULL));
	expect(RPMA_E_INVAL, rpma_cq_new(w.peer, 0, &cq));
	expect(RPMA_E_INVAL, rpma_cq_new(w.peer, (uint32_t)INT32_MAX + 1, &cq));
	assert_ptr_equal(cq, UNTOUCHED);
	expect(RPMA_E_INVAL, rpma_cq_delete(NULL));
	expect(0, rpma_cq_delete(&none));
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_cq(NULL, NULL));
	expect(RPMA_E_INVAL, rpma_cq_get_conn(NULL, 1, &conn));
	/* the queue of a connection is not for others */
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_cq(w.cfg, w.cq));
	expect(RPMA_E_INVAL, rpma_cq_get_conn(w.cq, 1, &conn));
	expect(RPMA_E_INVAL, rpma_cq_delete(&w.cq));
	assert_ptr_equal(conn, UNTOUCHED);
}

static int setup_conn_with_cfg(void **unused)
{
	setup_nothing(unused);
	make_peer();
	make_cfg();
	make_req();
	make_conn();
	return 0;
}

static void cfg__excludes_a_shared_channel(void **unused)
{
	struct rpma_conn_req *req = UNTOUCHED;
	struct rpma_cq *cq = NULL;

	make_cfg();
	expect(0, rpma_cq_new(w.peer, 64, &cq));
	expect(0, rpma_conn_cfg_set_cq(w.cfg, cq));
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &req));
	expect(0, rpma_conn_cfg_set_cq(w.cfg, NULL)); /* a queue each again */
	expect(0, rpma_cq_delete(&cq));
	assert_null(cq);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(new__survives_every_failing_call, setup_nothing),
		TEST(calls__refuse_bad_arguments, setup_conn_with_cfg),
		TEST(cfg__excludes_a_shared_channel, setup_peer),
	};

	return run_library_tests(tests, argc, argv);
}
