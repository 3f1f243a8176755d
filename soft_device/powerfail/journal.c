/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.c -- the undo journal of undurable lines, and the rules by which a
 * line becomes durable.
 *
 * Lines stand close together, line[0] to line[count - 1], found by address through a hash.
 * The holder of the lock may be killed at any instruction: `count` defines which lines
 * exist, and the next holder rebuilds the hash.
 *
 * A QP may have changed a line twice: before something pushed it out of the NIC (left) and
 * after. These are two lines here, as the CPU's flush covers the first alone. Bytes that
 * several QPs changed are durable once any of these changes is: who writes the
 * same bytes by several QPs has no order to rely on.
 */
#include "journal.h"

#include <string.h>

#include "names/random.h"

void journal_init(struct journal *journal, uint64_t seed, const struct fault_power *power)
{
	shared_lock_init(&journal->lock);
	journal->seed = seed;
	journal->at = power->at;
	journal->eadr = power->eadr;
	journal->ddio = !power->no_ddio;
}

static uint32_t *bucket_of(struct journal *journal, uint64_t addr)
{
	return &journal->bucket[random_mix(addr / JOURNAL_LINE) % JOURNAL_BUCKETS];
}

static void link_line(struct journal *journal, uint32_t index)
{
	uint32_t *bucket = bucket_of(journal, journal->line[index].addr);

	journal->line[index].next = *bucket;
	*bucket = index + 1;
}

static void unlink_line(struct journal *journal, uint32_t index)
{
	uint32_t *from = bucket_of(journal, journal->line[index].addr);

	while (*from != index + 1)
		from = &journal->line[*from - 1].next;
	*from = journal->line[index].next;
}

void journal_lock(struct journal *journal)
{
	if (!shared_lock_take(&journal->lock))
		return;
	memset(journal->bucket, 0, sizeof(journal->bucket));
	journal->in_nic = 0;
	for (uint32_t i = 0; i < journal->count; i++) {
		link_line(journal, i);
		journal->in_nic += !journal->line[i].left;
	}
}

void journal_unlock(struct journal *journal)
{
	shared_lock_release(&journal->lock);
}

static struct journal_line *find_line(struct journal *journal, uint64_t addr, uint32_t qpn,
				      bool left)
{
	for (uint32_t i = *bucket_of(journal, addr); i != 0; i = journal->line[i - 1].next) {
		struct journal_line *line = &journal->line[i - 1];

		if (line->addr == addr && line->qpn == qpn && line->left == left)
			return line;
	}
	return NULL;
}

/* Adds bytes to a line; those it has already keep what is older. */
static void add_bytes(struct journal_line *line, uint64_t mask, const unsigned char *old)
{
	for (unsigned i = 0; i < JOURNAL_LINE; i++) {
		if ((mask & ~line->mask) >> i & 1)
			line->old[i] = old[i];
	}
	line->mask |= mask;
}

static void remove_line(struct journal *journal, uint32_t index)
{
	uint32_t last = journal->count - 1;

	journal->in_nic -= !journal->line[index].left;
	unlink_line(journal, index);
	if (index != last) {
		unlink_line(journal, last);
		journal->line[index] = journal->line[last];
		link_line(journal, index);
	}
	journal->count = last;
}

bool journal_note(struct journal *journal, uint64_t addr, uint64_t mask, uint32_t qpn,
		  const unsigned char old[JOURNAL_LINE])
{
	struct journal_line *line = find_line(journal, addr, qpn, false);

	if (line == NULL) {
		if (journal->count == JOURNAL_LINES)
			return false;
		line = &journal->line[journal->count];
		*line = (struct journal_line){.addr = addr, .qpn = qpn};
		link_line(journal, journal->count);
		journal->count++;
		journal->in_nic++;
	}
	add_bytes(line, mask, old);
	return true;
}

/*
 * These bytes of the line are durable, and so in every line of the journal with this
 * address; but not what the same QP changed after this line had left.
 */
static void make_durable(struct journal *journal, const struct journal_line *durable, uint64_t mask)
{
	uint64_t addr = durable->addr;
	uint32_t qpn = durable->qpn;
	bool left = durable->left;

	for (uint32_t i = *bucket_of(journal, addr); i != 0; i = journal->line[i - 1].next) {
		struct journal_line *line = &journal->line[i - 1];

		if (line->addr == addr && !(left && line->qpn == qpn && !line->left))
			line->mask &= ~mask;
	}
}

/* Removes what has become durable as a whole. */
static void sweep(struct journal *journal)
{
	for (uint32_t i = journal->count; i-- > 0;) {
		if (journal->line[i].mask == 0)
			remove_line(journal, i);
	}
}

/* In the CPU's caches all is safe on eADR; without DDIO it goes on to the memory's ADR domain. */
static bool left_is_durable(const struct journal *journal)
{
	return journal->eadr || !journal->ddio;
}

/* The line has left the NIC: it joins what left before. */
static void leave(struct journal *journal, uint32_t index)
{
	struct journal_line *line = &journal->line[index];
	struct journal_line *before;

	if (left_is_durable(journal)) {
		make_durable(journal, line, line->mask);
		return;
	}
	before = find_line(journal, line->addr, line->qpn, true);
	if (before == NULL) {
		line->left = true;
		journal->in_nic--;
		return;
	}
	add_bytes(before, line->mask, line->old);
	before->visible |= line->visible;
	remove_line(journal, index);
}

/* New lines are the last ones: most often few are looked at. */
void journal_push(struct journal *journal, uint32_t qpn)
{
	for (uint32_t i = journal->count; i-- > 0 && journal->in_nic > 0;) {
		if (journal->line[i].qpn == qpn && !journal->line[i].left)
			leave(journal, i);
	}
	if (left_is_durable(journal))
		sweep(journal);
}

/* The bytes of the line at `addr` that are in the range. */
static uint64_t mask_in_range(uint64_t line, uint64_t addr, uint64_t length)
{
	uint64_t first = addr > line ? addr - line : 0;
	uint64_t end = addr + length - line; /* may be beyond, or wrap when before */

	if (length == 0 || addr + length <= line || first >= JOURNAL_LINE)
		return 0;
	if (end < JOURNAL_LINE)
		return (UINT64_C(1) << end) - (UINT64_C(1) << first);
	return UINT64_MAX << first;
}

void journal_flush(struct journal *journal, uint64_t addr, uint64_t length, uint32_t qpn,
		   bool persistent)
{
	for (uint32_t i = journal->count; i-- > 0;) {
		struct journal_line *line = &journal->line[i];
		uint64_t mask = line->mask & mask_in_range(line->addr, addr, length);

		if (line->qpn != qpn || mask == 0)
			continue;
		if (persistent) {
			make_durable(journal, line, mask);
		} else if (mask == line->mask) {
			line->visible = true;
			if (!line->left)
				leave(journal, i);
		}
	}
	sweep(journal);
}

void journal_cpu_flush(struct journal *journal, uint64_t addr, uint64_t length, int32_t thread)
{
	for (uint32_t i = 0; i < journal->count; i++) {
		struct journal_line *line = &journal->line[i];

		if (line->left && mask_in_range(line->addr, addr, length) != 0)
			line->flusher = thread;
	}
}

void journal_cpu_drain(struct journal *journal, int32_t thread)
{
	for (uint32_t i = 0; i < journal->count; i++) {
		struct journal_line *line = &journal->line[i];

		if (line->flusher == thread)
			make_durable(journal, line, line->mask);
	}
	sweep(journal);
}

uint32_t journal_not_durable(const struct journal *journal, uint64_t addr, uint64_t length,
			     uint32_t qpn, bool left, struct journal_line *first)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < journal->count; i++) {
		const struct journal_line *line = &journal->line[i];

		if ((line->mask & mask_in_range(line->addr, addr, length)) == 0 ||
		    (qpn != 0 && line->qpn != qpn) || (left && !line->left))
			continue;
		if (count == 0 || line->addr < first->addr)
			*first = *line;
		count++;
	}
	return count;
}

bool journal_loses(const struct journal *journal, uint32_t index)
{
	/* the seed is mixed first: of neighbouring seeds none is another's shifted by a line */
	return random_mix(random_mix(journal->seed) + index) & 1;
}
