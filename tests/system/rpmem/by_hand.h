/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_hand.h -- a write and a flush as an application of librpma makes them, over a
 * lane that librpmem does not use: what lanes_persist() is compared with.
 */
#pragma once

#include "common/rdma/dial.h"
#include "common/rdma/region.h"
#include "librpmem/src/lane.h"

struct by_hand {
	struct dial dial;
	struct connection *connection;
	struct rpma_mr_local *mr;
	struct region_remote remote;
	enum rpma_flush_type type;
};

/* 0 or a negative errno with the sentence stored. */
int by_hand_open(struct by_hand *by_hand, const struct lanes_cfg *cfg, uint32_t lane);
void by_hand_close(struct by_hand *by_hand);
/* rpma_write(), rpma_flush(), and its completion. */
int by_hand_persist(struct by_hand *by_hand, size_t offset, size_t length);
