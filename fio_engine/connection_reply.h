/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_reply.h -- what a server answered, judged: within connection only.
 */
#ifndef FIO_CONNECTION_REPLY_H
#define FIO_CONNECTION_REPLY_H

#include "connection.h"

/* The connection stands: takes reply and region, or refuses them with the error message set. */
int connection_take_reply(struct connection *connection);

#endif /* FIO_CONNECTION_REPLY_H */
