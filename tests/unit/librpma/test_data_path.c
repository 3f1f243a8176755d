/* SPDX-License-Identifier: BSD-3-Clause */
/* test_data_path.c -- what moves data allocates nothing. (test_abi.py: and takes no lock.) */
#include "world.h"

static int setup_srq_conn(void **unused)
{
	setup_mr(unused);
	make_srq(5);
	make_cfg();
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	make_req();
	make_conn();
	return 0;
}

static unsigned allocations(void)
{
	return calls_count("malloc") + calls_count("calloc") + calls_count("mmap");
}

static void use_the_connection(void)
{
	const int flags = RPMA_F_COMPLETION_ALWAYS;
	struct ibv_wc wc;

	expect(0, rpma_read(w.conn, w.mr, 0, w.remote, 0, 8, flags, NULL));
	expect(0, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, flags, NULL));
	expect(0, rpma_write_with_imm(w.conn, w.remote, 0, w.mr, 0, 8, flags, 1, NULL));
	expect(0, rpma_atomic_write(w.conn, w.remote, 0, region, flags, NULL));
	expect(0, rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, flags, NULL));
	expect(0, rpma_send(w.conn, w.mr, 0, 8, flags, NULL));
	expect(0, rpma_send_with_imm(w.conn, w.mr, 0, 8, flags, 1, NULL));
	expect(0, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	expect(0, rpma_srq_recv(w.srq, w.mr, 0, 8, NULL));
	provider_queue_cq_event(provider.cqs[0]);
	expect(0, rpma_cq_wait(w.cq));
	provider_queue_wc(provider.cqs[0], &(struct ibv_wc){.wr_id = 1});
	expect(0, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
}

TEST(data_path__allocates_nothing, setup_srq_conn, teardown)
{
	calls_watch_allocations(true);
	use_the_connection();
	assert_int_equal(allocations(), 0);
}
