/* SPDX-License-Identifier: BSD-3-Clause */
/* ud.h -- ends with a UD queue pair, ready to send and to receive, and datagrams between them. */
#pragma once

#include "end.h"

#define GRH 40 /* bytes before the payload */

void ud_open(struct end *end, unsigned seed);
/* Takes the caller's own options. */
void ud_open_with(struct end *end, const struct end_options *options, unsigned seed);

struct ibv_ah_attr ud_path(const struct end *from, const union ibv_gid *gid);
struct ibv_ah *ud_ah(const struct end *from, const union ibv_gid *gid);

/* A signaled send of LENGTH bytes at the start of FROM's memory; wr_id is 1. To change and post. */
struct ibv_send_wr *ud_work(struct end *from, struct ibv_ah *ah, uint32_t qpn, uint32_t length);
void ud_post(struct end *from, struct ibv_send_wr *wr);
/* Posts it, and it is sent. */
void ud_send(struct end *from, struct ibv_send_wr *wr);

/* The next completion is this receive's, and it has the first LENGTH bytes of FROM's memory. */
struct ibv_wc ud_arrived(struct end *to, uint64_t wr_id, size_t offset, const struct end *from,
			 uint32_t length);

/* Nothing that FROM sent before is under way: what it sends to OVER has arrived. */
void ud_settle(struct end *from, struct end *over);
