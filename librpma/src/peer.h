/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.h -- the protection domain that everything of one process hangs on.
 */
#ifndef RPMA_PEER_H
#define RPMA_PEER_H

#include "device.h"

struct rpma_peer {
	struct ibv_pd *pd; /* owned; pd->context is the caller's */
	struct rpma_device_caps caps;
};

#endif /* RPMA_PEER_H */
