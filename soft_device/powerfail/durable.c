/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable.c -- a mark in a program: it takes these bytes of its memory for durable. With checks,
 * the journal of a power failure tells whether they are. The mark for memory of a peer is in
 * verbs/durable_check.c.
 *
 * A program declares the mark as a weak symbol, so that it runs without the device as well. Without
 * checks it does nothing.
 */
#include "durable.h"

#include <stdio.h>

#include "powerfail.h"
#include "soft_device/check/imports.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/process.h"

void rpma_soft_durable(const void *addr, size_t length);

static bool has_mark(void)
{
	return imports_symbol("rpma_soft_durable") || imports_symbol("rpma_soft_durable_at_peer") ||
	       imports_symbol("rpma_soft_commit_word");
}

/* When the first device is opened: a library that was loaded by then may have the mark. */
static int begin(struct process *process)
{
	(void)process;
	powerfail_marked = check_any && check_wants(CHECK_NOT_DURABLE) &&
			   (check_durable_on_send || has_mark());
	return 0;
}

const struct process_part durable_part = {.begin = begin};

static uint32_t lacking(struct journal *journal, const struct durable_claim *claim,
			struct journal_line *first)
{
	uint32_t lines;

	journal_lock(journal);
	lines = journal_not_durable(journal, claim->addr, claim->length, claim->peer_qpn,
				    claim->is_of_left, first);
	journal_unlock(journal);
	return lines;
}

uint32_t durable_lacking(const struct peer *peer, const struct durable_claim *claim,
			 struct journal_line *first)
{
	struct segment *segment = peer->segment;

	if (segment == NULL || segment->powerfail == 0)
		return 0;
	return lacking(segment_at(segment, segment->powerfail), claim, first);
}

uint32_t durable_lacking_here(const struct durable_claim *claim, struct journal_line *first)
{
	struct journal *journal = powerfail_own_journal();

	return journal == NULL ? 0 : lacking(journal, claim, first);
}

/* Empty for memory of its own. */
static const char *describe_owner(const struct durable_claim *claim, char text[64])
{
	text[0] = '\0';
	if (claim->qpn != 0)
		snprintf(text, 64, " of the peer of QP %#x", claim->qpn);
	return text;
}

/* Why a line is not durable. */
static const char *describe_lack(const struct journal_line *line)
{
	if (!line->left)
		return "and nothing came after it that moves it out of the device";
	if (line->visible)
		return "flushed for visibility only: in the caches of the CPU, and not flushed "
		       "from there";
	return "visible only: in the caches of the CPU, and not flushed from there";
}

void durable_put_first(struct check_finding *finding, const struct durable_claim *claim,
		       const struct journal_line *first)
{
	struct object region;

	check_line(finding, "first line", "%#llx, written by %sQP %#x, %s",
		   (unsigned long long)first->addr, claim->qpn != 0 ? "way of the peer's " : "",
		   first->qpn, describe_lack(first));
	if (claim->qpn == 0 && objects_find_memory(first->addr, &region))
		check_line(finding, "region", "%#llx .. %#llx   %llu bytes, rkey %#x",
			   (unsigned long long)region.addr,
			   (unsigned long long)region.addr + region.length,
			   (unsigned long long)region.length, region.number);
}

void durable_report(const struct durable_claim *claim, const struct journal_line *first,
		    uint32_t lines)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;
	char owner[64];

	check_find(&finding, CHECK_NOT_DURABLE, stack,
		   "%llu bytes at %#llx%s are taken for durable, and %u of their 64-byte lines are "
		   "not",
		   (unsigned long long)claim->length, (unsigned long long)claim->addr,
		   describe_owner(claim, owner), lines);
	durable_put_first(&finding, claim, first);
	check_place(&finding, "marked at", stack);
	check_report(&finding);
}

SOFT_EXPORT void rpma_soft_durable(const void *addr, size_t length)
{
	const struct durable_claim claim = {.addr = (uintptr_t)addr, .length = length};
	struct journal_line first;
	uint32_t lines;

	if (!check_any)
		return;
	lines = durable_lacking_here(&claim, &first);
	if (lines > 0)
		durable_report(&claim, &first, lines);
}
