/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_register.h -- the server's side of the test register: how long it takes
 * to register memory of a target, and to deregister it.
 */
#pragma once

#include <jansson.h>

#include "server_state.h"
#include "tools/rpma-bench/protocol/message.h"

struct registration;

/* Measures in a thread of its own, for as long as begin sets; cpu -1: not bound. */
int registration_start(struct registration **registration, struct server_state *server,
		       const struct message_begin *begin, int cpu);
/* Readable when it is over. */
int registration_done_fd(const struct registration *registration);
bool registration_is_done(const struct registration *registration);
/* The figures of one that is done; NULL with the error message set. */
json_t *registration_figures(struct registration *registration);
/* Ends it wherever it is; NULL is fine. */
void registration_stop(struct registration **registration);
