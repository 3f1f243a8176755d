/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.h -- fio's hooks, for each role of a job.
 *
 * engine.c gives fio one function a hook and calls the one of the job's role.
 * Nothing is shared among jobs: what a hook needs hangs on td->io_ops_data.
 */
#pragma once

#include "fio_headers.h"

extern struct fio_option rpma_option_table[];

int client_setup(struct thread_data *td);
int client_init(struct thread_data *td);
int client_post_init(struct thread_data *td);
enum fio_q_status client_queue(struct thread_data *td, struct io_u *io_u);
int client_commit(struct thread_data *td);
int client_getevents(struct thread_data *td, unsigned min, unsigned max,
		     const struct timespec *timeout);
struct io_u *client_event(struct thread_data *td, int number);
char *client_errdetails(const struct io_u *io_u);
void client_cleanup(struct thread_data *td);

int server_setup(struct thread_data *td);
int server_init(struct thread_data *td);
enum fio_q_status server_queue(struct thread_data *td, struct io_u *io_u);
void server_cleanup(struct thread_data *td);

/* On stderr: fio's own log is in the file of the results too, where it is not JSON. */
void job_say(const struct thread_data *td, const char *text);
/* FILE, or FILE.N for the Nth of several jobs of a section. -ENAMETOOLONG. */
int job_file_name(const struct thread_data *td, const char *file, char *name, size_t size);
/* Prints the error message; returns what a hook returns for a job that cannot go on. */
int job_failed(struct thread_data *td);
/*
 * True if fio has told the job to end; for those who wait on its behalf, several times a second:
 * fio's report of a run (--status-interval, SIGUSR1) waits until each job has answered it, too, and
 * ends jobs that wait behind it.
 */
bool job_stopped(void *td);
