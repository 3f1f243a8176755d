/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_server.c -- a job that is a server: all of its run is one call of its
 * queue hook, and fio takes it for a job that does no I/O of its own.
 *
 * What fio would do to a job in its own name, like verifying what was written
 * or pacing it, is meant for the clients even where it is given to all jobs;
 * so it is taken from this one.
 */
#include <errno.h>
#include <stdlib.h>

#include "../tools/common/failure.h"
#include "host.h"
#include "job.h"
#include "options.h"

int server_setup(struct thread_data *td)
{
	(void)td;
	return 0;
}

int server_init(struct thread_data *td)
{
	failure_set(EXIT_INTERNAL, "server", "not there yet");
	return job_failed(td);
}

enum fio_q_status server_queue(struct thread_data *td, struct io_u *io_u)
{
	(void)io_u;
	td->done = 1;
	return FIO_Q_COMPLETED;
}

void server_cleanup(struct thread_data *td)
{
	(void)td;
}
