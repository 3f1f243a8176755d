/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable.c -- a mark in a program: it takes these bytes of its memory for durable. With checks,
 * the journal of a power failure tells whether they are.
 *
 * A program declares the mark as a weak symbol, so that it runs without the device as well. Without
 * checks it does nothing.
 */
#include "journal.h"
#include "powerfail.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/process.h"

void rpma_soft_durable(const void *addr, size_t length);

static void tell(const void *addr, size_t length, const struct journal_line *first, uint32_t count)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;
	struct object region;

	check_find(&finding, CHECK_NOT_DURABLE, stack,
		   "of %zu bytes at %p that are taken for durable, some of %u lines are not",
		   length, addr, count);
	check_line(&finding, "first line", "%#llx, written by QP %#x, %s",
		   (unsigned long long)first->addr, first->qpn,
		   first->left ? "in the caches of the CPU, and not flushed from there"
			       : "and nothing came after it that moves it out of the device");
	if (objects_find_memory(first->addr, &region))
		check_line(&finding, "region", "%#llx .. %#llx   %llu bytes, rkey %#x",
			   (unsigned long long)region.addr,
			   (unsigned long long)region.addr + region.length,
			   (unsigned long long)region.length, region.number);
	check_place(&finding, "marked at", stack);
	check_report(&finding);
}

SOFT_EXPORT void rpma_soft_durable(const void *addr, size_t length)
{
	struct journal *journal = powerfail_own_journal();
	struct journal_line first;
	uint32_t count;

	if (journal == NULL || !check_any)
		return;
	journal_lock(journal);
	count = journal_not_durable(journal, (uintptr_t)addr, length, &first);
	journal_unlock(journal);
	if (count > 0)
		tell(addr, length, &first, count);
}
