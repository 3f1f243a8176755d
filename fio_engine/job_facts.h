/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_facts.h -- what the figures of a client stand for, in fio's own results:
 * one more of the "job options" that its JSON has for each job.
 */
#ifndef JOB_FACTS_H
#define JOB_FACTS_H

#include "job.h"

/*
 * Makes room for them: before fio starts the job, or by the job where it is a
 * thread. False: no memory, and fio's results are without them.
 */
bool facts_open(struct thread_data *td);
/* Sets them; a job that is a process may, too. Nothing happens where there is no room. */
void facts_set(struct thread_data *td, const char *text);

#endif /* JOB_FACTS_H */
