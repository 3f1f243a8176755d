/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_pool.h -- a pool and lanes that only note what was called; the answers are given. */
#pragma once

#include <librpmem.h>

struct fake_pool {
	char calls[512];
	int create_answer, open_answer, lanes_answer;
	int busy_tries, busy_wait_ms;
	uint32_t most;
	struct rpmem_pool_attr attr;
};

extern struct fake_pool fake;
