/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pings.h -- the pings of one client, one after the other.
 */
#ifndef PINGS_H
#define PINGS_H

#include "client.h"

/*
 * Until the count, the deadline counted from begun_ns, a signal (-ECANCELED), or a ping
 * after which there can be no other, which is diagnosed. -EPIPE: standard output is gone.
 */
int pings_send(struct client *client, uint64_t begun_ns);

#endif /* PINGS_H */
