/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.h -- multicast groups on one host: which processes have a QP in one.
 *
 * A process that has is told by the name of an unix socket that nothing is ever sent to: the group,
 * the device's address and the port of one of its link listeners. Who sends to the group reads the
 * names that there are.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#define GROUP_PORTS_MAX 256

/* Counted; callers hold the objects lock. 0 or -errno. */
int group_join(const union ibv_gid *group, const union ibv_gid *gid, uint16_t port);
void group_leave(const union ibv_gid *group, const union ibv_gid *gid, uint16_t port);

/* Ports of this device's members, one or more of each process; their number. */
unsigned group_ports(const union ibv_gid *group, const union ibv_gid *gid,
		     uint16_t ports[GROUP_PORTS_MAX]);

struct process_part;
extern const struct process_part groups_part;
