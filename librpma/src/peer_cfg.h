/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_cfg.h -- what one side declares about its platform.
 */
#ifndef RPMA_PEER_CFG_H
#define RPMA_PEER_CFG_H

#include <stdatomic.h>
#include <stdbool.h>

struct rpma_peer_cfg {
	atomic_bool direct_write_to_pmem;
};

#endif /* RPMA_PEER_CFG_H */
