/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_counters.c -- in the engine of a build that counts coverage. fio ends the process of a job
 * by _exit(), which writes no counters: the last hook of a job does.
 */
#include <gcov.h>

struct thread_data;

void __real_client_cleanup(struct thread_data *td);
void __real_server_cleanup(struct thread_data *td);
void __wrap_client_cleanup(struct thread_data *td);
void __wrap_server_cleanup(struct thread_data *td);

/* A job that is a thread goes on to count from 0. */
static void write_counters(void)
{
	__gcov_dump();
	__gcov_reset();
}

void __wrap_client_cleanup(struct thread_data *td)
{
	__real_client_cleanup(td);
	write_counters();
}

void __wrap_server_cleanup(struct thread_data *td)
{
	__real_server_cleanup(td);
	write_counters();
}
