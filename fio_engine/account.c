/* SPDX-License-Identifier: BSD-3-Clause */
/* account.c -- see account.h. */
#include "account.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum reached account_reached(const struct account *account)
{
	if (account->io.covered == 0)
		return REACHED_NOTHING;
	return account->persistent ? REACHED_PERSISTENCE : REACHED_VISIBILITY;
}

/* Writes that no flush covered and no later one can: they were before a sync that failed. */
static uint64_t account_lost(const struct account *account)
{
	if (account->policy == FLUSH_NONE)
		return 0;
	return account->io.writes - account->io.covered - account->io.pending;
}

__attribute__((format(printf, 2, 3))) static void append(char text[ACCOUNT_TEXT_BYTES],
							 const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, ACCOUNT_TEXT_BYTES - used, format, args);
	va_end(args);
}

/* "1 write", "2 writes" */
static void append_count(char text[ACCOUNT_TEXT_BYTES], uint64_t count, const char *singular)
{
	const char *plural = strcmp(singular, "flush") == 0 ? "es" : "s";

	append(text, "%" PRIu64 " %s%s", count, singular, count == 1 ? "" : plural);
}

static void append_none(const struct account *account, char text[ACCOUNT_TEXT_BYTES])
{
	const struct sync_counts *syncs = &account->syncs;

	append(text, ", none flushed");
	if (account->policy == FLUSH_NONE)
		append(text, ": flush=none");
	else if (syncs->flushed + syncs->empty + syncs->failed == 0)
		append(text, ": fio called no fsync");
}

static void append_flushed(const struct account *account, char text[ACCOUNT_TEXT_BYTES])
{
	const struct io_queue_counts *io = &account->io;

	if (io->covered == io->writes)
		append(text, ", all");
	else
		append(text, ", %" PRIu64, io->covered);
	append(text, " flushed to %s by ", account->persistent ? "persistence" : "visibility only");
	append_count(text, io->flushes, "flush");
	if (io->pending > 0)
		append(text, ", %" PRIu64 " after the last flush not flushed", io->pending);
}

void account_print(const struct account *account, char text[ACCOUNT_TEXT_BYTES])
{
	const struct sync_counts *syncs = &account->syncs;

	text[0] = '\0';
	if (account->io.writes == 0)
		return;
	append_count(text, account->io.writes, "write");
	if (account->io.covered == 0)
		append_none(account, text);
	else
		append_flushed(account, text);
	if (account_lost(account) > 0)
		append(text, ", %" PRIu64 " before a failed fsync may be lost",
		       account_lost(account));
	if (account->policy == FLUSH_FSYNC && syncs->empty > 0)
		append(text,
		       "; %" PRIu64 " of %" PRIu64
		       " fsyncs had nothing to flush: fio's sync latencies include them",
		       syncs->empty, syncs->flushed + syncs->empty + syncs->failed);
}
