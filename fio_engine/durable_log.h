/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable_log.h -- the log of one client: what it writes, before it is posted, and what
 * it reports as durable, before fio sees it. rpma-fio-check reads it after a failure.
 *
 * Entries are kept until durable_log_commit(), which returns when they are on the
 * disk of this host. An error of the file is kept as well, and reported there.
 */
#pragma once

#include <stdint.h>

#include "durable_log_record.h"

struct durable_log;

/* Replaces the file. -EIO with the error message set: it cannot be made, or a job has it. */
int durable_log_open(struct durable_log **log, const char *path, const struct log_header *header);
void durable_log_close(struct durable_log **log);

/* content NULL: zeros. Gives the number of the write. */
uint64_t durable_log_write(struct durable_log *log, uint64_t begin, const uint8_t *content,
			   uint32_t bytes);
void durable_log_done(struct durable_log *log, uint64_t number, bool claimed);
void durable_log_sync(struct durable_log *log);
/* No later sync claims what was written so far, done or under way. */
void durable_log_failed_sync(struct durable_log *log);

/* -EIO with the error message set: from now on nothing is logged. */
int durable_log_commit(struct durable_log *log);
/* So many flushes completed; nothing follows. And as durable_log_commit(). */
int durable_log_end(struct durable_log *log, uint64_t flushes, enum reached reached);
