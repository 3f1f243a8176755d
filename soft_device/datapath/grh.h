/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grh.h -- the 40 bytes in front of a datagram at its receiver: where it came from. No I/O.
 *
 * On RoCE v2 they are what the network carried: an IPv6 header or, after 20 bytes that tell
 * nothing, an IPv4 header (IBTA annex A17.4.5.2).
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define GRH_BYTES 40u

struct grh {
	union ibv_gid from;
	union ibv_gid to;
	uint32_t payload; /* bytes of the message */
	uint32_t flow_label;
	uint8_t traffic_class;
	uint8_t hop_limit;
};

/* The numbers are those of mlx5. */
enum grh_kind { GRH_IPV6 = 1, GRH_IPV4 = 2 };
enum grh_kind grh_kind(const union ibv_gid *from, const union ibv_gid *to);

bool grh_gid_is_multicast(const union ibv_gid *gid);

void grh_put(unsigned char bytes[GRH_BYTES], const struct grh *grh);
/* False: neither an IPv6 header nor an IPv4 one with a sound checksum. `payload` is not told. */
bool grh_get(const unsigned char bytes[GRH_BYTES], struct grh *grh);
