/* SPDX-License-Identifier: BSD-3-Clause */
/* test_connection.c -- the configuration of queues, over a librpma that may be older. */
#include "common/base/failure.h"
#include "common/rdma/connection.h"
#include "common/rdma/librpma_1_4.h"
#include "tests/lib/test.h"

struct librpma_1_4 __real_librpma_1_4_calls(void);

static bool is_old;

struct librpma_1_4 __wrap_librpma_1_4_calls(void)
{
	return is_old ? (struct librpma_1_4){.ep_get_port = NULL} : __real_librpma_1_4_calls();
}

static int configure(uint32_t batch)
{
	const struct connection_queues queues = {
		.sq_size = 8, .cq_size = 8, .rq_size = 1, .batch = batch};
	const struct connection_cfg cfg = {.stop_fd = -1, .queues = &queues};
	struct rpma_conn_cfg *made = NULL;
	int ret = connection_conn_cfg(&cfg, &made);

	rpma_conn_cfg_delete(&made);
	return ret;
}

TEST(a_batch_needs_librpma_1_4)
{
	is_old = false;
	EQUAL((configure(0), 0), (configure(8), 0));
	is_old = true;
	assert_int_equal(configure(0), 0);
	assert_int_not_equal(configure(8), 0);
	EQUAL((failure_get()->code, EXIT_RUN_FAILED), (failure_get()->text, HAS("older than 1.4")));
}
