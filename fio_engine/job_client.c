/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_client.c -- a job that does I/O to the region of a server.
 */
#include <errno.h>

#include "../tools/common/failure.h"
#include "job.h"

int client_setup(struct thread_data *td)
{
	failure_set(EXIT_INTERNAL, "client", "not there yet");
	return job_failed(td);
}

int client_init(struct thread_data *td)
{
	failure_set(EXIT_INTERNAL, "client", "not there yet");
	return job_failed(td);
}

int client_post_init(struct thread_data *td)
{
	(void)td;
	return 0;
}

int client_io_u_init(struct thread_data *td, struct io_u *io_u)
{
	(void)td;
	(void)io_u;
	return 0;
}

enum fio_q_status client_queue(struct thread_data *td, struct io_u *io_u)
{
	(void)td;
	io_u->error = EIO;
	return FIO_Q_COMPLETED;
}

int client_commit(struct thread_data *td)
{
	(void)td;
	return 0;
}

int client_getevents(struct thread_data *td, unsigned min, unsigned max,
		     const struct timespec *timeout)
{
	(void)td;
	(void)min;
	(void)max;
	(void)timeout;
	return -EIO;
}

struct io_u *client_event(struct thread_data *td, int number)
{
	(void)td;
	(void)number;
	return NULL;
}

char *client_errdetails(const struct io_u *io_u)
{
	(void)io_u;
	return NULL;
}

void client_cleanup(struct thread_data *td)
{
	(void)td;
}
