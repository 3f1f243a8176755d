/* SPDX-License-Identifier: BSD-3-Clause */
/* test_srq_cfg.c -- the configuration of shared receive queues. */
#include "every_call_fails.h"

SETUP(setup_srq_cfg, setup_nothing, expect(0, rpma_srq_cfg_new(&w.srq_cfg)))

TEST(new__starts_with_20_and_20, setup_srq_cfg, teardown)
{
	uint32_t rq_size = 0, rcq_size = 0;

	expect(0, rpma_srq_cfg_get_rq_size(w.srq_cfg, &rq_size));
	expect(0, rpma_srq_cfg_get_rcq_size(w.srq_cfg, &rcq_size));
	EQUAL((rq_size, 20), (rcq_size, 20));
}

TEST(sizes__are_kept_apart, setup_srq_cfg, teardown)
{
	uint32_t rq_size = 0, rcq_size = 0;

	expect(0, rpma_srq_cfg_set_rq_size(w.srq_cfg, UINT32_MAX));
	expect(0, rpma_srq_cfg_set_rcq_size(w.srq_cfg, 1));
	expect(0, rpma_srq_cfg_get_rq_size(w.srq_cfg, &rq_size));
	expect(0, rpma_srq_cfg_get_rcq_size(w.srq_cfg, &rcq_size));
	EQUAL((rq_size, UINT32_MAX), (rcq_size, 1));
}

TEST(null__is_refused, setup_srq_cfg, teardown)
{
	expect(RPMA_E_INVAL, rpma_srq_cfg_new(NULL));
	expect(RPMA_E_INVAL, rpma_srq_cfg_delete(NULL));
	expect(RPMA_E_INVAL, rpma_srq_cfg_set_rq_size(NULL, 1));
	expect(RPMA_E_INVAL, rpma_srq_cfg_set_rcq_size(NULL, 1));
	REFUSES_NULL(rpma_srq_cfg_get_rq_size, w.srq_cfg, uint32_t);
	REFUSES_NULL(rpma_srq_cfg_get_rcq_size, w.srq_cfg, uint32_t);
}

MAKES(new_srq_cfg, struct rpma_srq_cfg, w.srq_cfg, rpma_srq_cfg_new(&made))

SURVIVES(new, .function = "rpma_srq_cfg_new", .setup = setup_nothing, .act = new_srq_cfg)
