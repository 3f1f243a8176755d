/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_result.h -- what result= asks for: a file of JSON that tells what the figures in
 * fio's own output stand for. Its contract is doc/schema/fio-sidecar-1.schema.json.
 *
 * Commits are what the job was told is durable, or visible: writes with their flush, or
 * fsyncs that had something to flush.
 */
#pragma once

#include "job.h"
#include "job_client.h"

/*
 * Explains the figures of a client in fio's own results: one more of the "job options" that its
 * JSON has for each job. Makes room for them: before fio starts the job, or by the job where it is
 * a thread. False: no memory, and fio's results are without them.
 */
bool facts_open(struct thread_data *td);
/* Sets them; a job that is a process may, too. Nothing happens where there is no room. */
void facts_set(struct thread_data *td, const char *text);

/* Before the job connects: whether the file can be written. -EIO with the message set. */
int job_result_open(struct client *client);
/* Writes it, when the job has ended. */
int job_result_save(const struct client *client);

/* The same in all jobs of this run of fio, and by chance in no other: joins file and fio's own. */
const char *job_result_run_id(void);
