/* SPDX-License-Identifier: BSD-3-Clause */
/* responder_ud.h -- delivers datagrams to the QPs of any process whose segment is mapped. */
#pragma once

#include <stdint.h>

#include "soft_device/transport/peer.h"
#include "soft_device/transport/request.h"

/* In place of a QP number: all QPs that are attached to the group request->to. */
#define MULTICAST_QPN 0xffffffu

/*
 * Delivers a datagram to QP `qpn` of device `gid` in the peer's segment: the GRH and the payload
 * into its next receive. OUTCOME_RNR: it has none. OUTCOME_ABSENT: there is no such QP, or it does
 * not take this one (type, state, Q_Key). A receive that is too short stays posted. To a group: it
 * is delivered to those that have a receive, and the outcome is good.
 */
struct outcome responder_datagram(struct peer *peer, const union ibv_gid *gid, uint32_t qpn,
				  const struct request *request, const struct local_memory *local);
