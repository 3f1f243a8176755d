/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- one client of the server: given a slot, and watched until it
 * leaves.
 *
 * The server does nothing for a ping, so all a session waits for is the end.
 */
#ifndef SESSION_H
#define SESSION_H

#include "common/rdma/service.h"
#include "slots.h"

/* The function for service.serve; slots has one for each of the service's clients_max. */
void session_serve(void *slots, struct service_client *client);

#endif /* SESSION_H */
