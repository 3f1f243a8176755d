/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_connection_reply.h -- what a server answered, judged: within connection only.
 */
#ifndef FIO_JOB_CONNECTION_REPLY_H
#define FIO_JOB_CONNECTION_REPLY_H

#include "job_connection.h"

/* The connection stands: takes reply and region, or refuses them with the error message set. */
int job_connection_take_reply(struct job_connection *connection);

#endif /* FIO_JOB_CONNECTION_REPLY_H */
