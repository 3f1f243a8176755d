/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * powerfail.c -- the hooks of the power failure: from operations to the journal.
 *
 * They run in the process that executes an operation: a partner of the target on this
 * host, or the target's own agent. The journal is found through the segment; the old
 * contents are read the way the operation will write the new ones. The platform that
 * is modelled (what makes a line durable) is in journal.c.
 */
#include "powerfail.h"

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kill.h"
#include "soft_device/check/check.h"
#include "soft_device/faults/fault.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"

#define CHUNK_LINES 64u /* read at a time */

bool powerfail_any;
bool powerfail_marked;

static struct journal *journal_of(const struct peer *peer)
{
	return segment_at(peer->segment, peer->segment->powerfail);
}

/* A journal without a failure, for a program with checks that has the mark of durable.c. */
#define WATCHED UINT64_MAX

/* Makes the journal, if there is the fault. */
static int begin(struct process *process)
{
	struct fault_power power;
	char error[SOFT_ERROR_MAX];
	uint64_t offset;

	if (fault_power(&process->options, &power, error) != 0)
		return 0; /* the faults have refused a wrong word before */
	if (power.at == 0 && powerfail_marked)
		power.at = WATCHED;
	if (power.at == 0)
		return 0;
	offset = segment_alloc(sizeof(struct journal));
	if (offset == 0)
		return -ENOMEM;
	journal_init(segment_at(process->segment, offset), process->options.seed, &power);
	process->segment->powerfail = offset;
	powerfail_any = true;
	return 0;
}

const struct process_part powerfail_part = {.begin = begin};

static pid_t target_of(const struct peer *peer)
{
	return peer->memory > 0 ? peer->memory : getpid();
}

/* The journal is full, so nothing more is modelled: kills the target, and prints why. */
static void overflow(const struct peer *peer, struct journal *journal)
{
	static _Atomic bool told;

	if (journal->at == WATCHED) {
		if (!atomic_exchange(&told, true))
			process_warn("check: more than %u lines are not durable: more of them are "
				     "not watched",
				     JOURNAL_LINES);
		return;
	}
	process_warn("powerfail: more than %u lines of process %d are not durable, and the journal "
		     "holds no more: the process is killed, nothing of it is rolled back",
		     JOURNAL_LINES, (int)target_of(peer));
	atomic_store(&journal->failed, 1);
	kill(target_of(peer), SIGKILL);
}

/* The bytes of the range in this line. */
static uint64_t mask_of(uint64_t line, uint64_t memory, uint64_t length)
{
	uint64_t mask = UINT64_MAX;

	if (memory > line)
		mask <<= memory - line;
	if (memory + length < line + JOURNAL_LINE)
		mask &= UINT64_MAX >> (line + JOURNAL_LINE - (memory + length));
	return mask;
}

/* The bytes of the range that are in up to CHUNK_LINES lines, as they are now. */
static int read_old(const struct peer *peer, uint64_t from, uint64_t to,
		    unsigned char lines[][JOURNAL_LINE])
{
	struct iovec local = {&lines[0][from % JOURNAL_LINE], to - from};
	struct iovec remote = {(void *)(uintptr_t)from, to - from}; /* NOLINT: the target's */

	return target_memory_read(peer->memory, &local, 1, &remote, 1);
}

void powerfail_before_write_slow(struct peer *peer, uint64_t memory, uint64_t length, uint32_t qpn)
{
	unsigned char lines[CHUNK_LINES][JOURNAL_LINE];
	struct journal *journal = journal_of(peer);
	uint64_t end = memory + length;

	journal_lock(journal);
	while (memory < end && !atomic_load(&journal->failed)) {
		uint64_t first = memory / JOURNAL_LINE * JOURNAL_LINE;
		uint64_t to = first + sizeof(lines) < end ? first + sizeof(lines) : end;

		if (read_old(peer, memory, to, lines))
			break; /* not mapped: what wants to write it fails as well */
		for (uint64_t line = first; line < to; line += JOURNAL_LINE) {
			if (!journal_note(journal, line, mask_of(line, memory, to - memory), qpn,
					  lines[(line - first) / JOURNAL_LINE])) {
				overflow(peer, journal);
				break;
			}
		}
		memory = to;
	}
	journal_unlock(journal);
}

void powerfail_pushed_slow(struct peer *peer, uint32_t qpn)
{
	struct journal *journal = journal_of(peer);

	journal_lock(journal);
	journal_push(journal, qpn);
	journal_unlock(journal);
}

void powerfail_flush_slow(struct peer *peer, uint64_t memory, uint64_t length, uint32_t qpn,
			  bool persistent)
{
	struct journal *journal = journal_of(peer);

	journal_lock(journal);
	journal_flush(journal, memory, length, qpn, persistent);
	journal_unlock(journal);
}

bool powerfail_strikes_slow(struct peer *peer)
{
	struct journal *journal = journal_of(peer);

	if (atomic_load(&journal->failed) == 0 &&
	    atomic_load(&journal->operations) + 1 < journal->at)
		return false;
	journal_lock(journal);
	if (atomic_exchange(&journal->failed, 1) == 0)
		powerfail_now(journal, target_of(peer));
	journal_unlock(journal);
	return true;
}

bool powerfail_executed_slow(struct peer *peer)
{
	struct journal *journal = journal_of(peer);

	atomic_fetch_add(&journal->operations, 1);
	return atomic_load(&journal->failed) == 0;
}
