/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_source.c -- the bytes that a request sends, for `rpma-soft --check`: a sum of them at
 * the post and at the execution tells whether they were changed meanwhile.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mr_check.h"
#include "soft_device/check/sum.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "sq_check.h"
#include "sq_watch.h"

#define PAGE 4096u

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* A call of the kernel's, as the device's own madvise() looks for regions first. */
static bool is_readable(const unsigned char *from, size_t bytes)
{
	const uint64_t start = (uintptr_t)from & ~(uint64_t)(PAGE - 1);
	const struct iovec piece = {(void *)(uintptr_t)from, bytes};

	return syscall(SYS_madvise, start, (uintptr_t)from + bytes - start, MADV_POPULATE_READ) ==
		       0 ||
	       target_memory_is_usable(&piece, 1, false);
}

/* The two halves that check_sum() reads. */
static __attribute__((noinline)) bool has_readable_ends(const unsigned char *from, size_t bytes)
{
	const size_t half = CHECK_SUM_BYTES / 2;

	return is_readable(from, half) && is_readable(from + bytes - half, half);
}

static inline bool sum_piece(const void *from, size_t bytes, uint64_t *sum)
{
	if (!(bytes <= CHECK_SUM_BYTES ? is_readable(from, bytes) : has_readable_ends(from, bytes)))
		return false;
	*sum = check_sum(from, bytes);
	return true;
}

/* Any request. */
static __attribute__((noinline)) bool sum_pieces(const struct send_queue *sq,
						 struct send_work *work, uint64_t *sum)
{
	struct local_memory local;
	uint64_t one;

	*sum = 0;
	if (sq_make_request(sq, work, &local) != IBV_WC_SUCCESS)
		return false;
	for (unsigned i = 0; i < local.count; i++) {
		if (!sum_piece(local.parts[i].iov_base, local.parts[i].iov_len, &one))
			return false;
		*sum = local.count == 1 ? one : check_sum_of(*sum, one);
	}
	return local.count > 0;
}

/* Operations that send bytes of the program's memory, not copied by the post. */
static bool sends_memory(const struct send_work *work)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];

	return opcode->takes_inline && (work->flags & IBV_SEND_INLINE) == 0 && work->num_sge > 0;
}

bool sq_source_sum(const struct send_queue *sq, struct send_work *work, uint64_t *sum)
{
	const struct ibv_sge *sge = work->sge;
	uint64_t from;

	if (!sends_memory(work))
		return false;
	if (work->num_sge == 1 && !sq_opcodes[work->opcode].eight && sge->length > 0 &&
	    mr_check_quick(process_current->segment, sge->lkey, sq->pd, sge->addr, sge->length, 0,
			   &from) != NULL)
		return sum_piece((const void *)(uintptr_t)from, sge->length, sum);
	return sum_pieces(sq, work, sum);
}

static bool overlap(const struct send_work *one, const struct send_work *other)
{
	for (uint32_t i = 0; i < one->num_sge; i++)
		for (uint32_t j = 0; j < other->num_sge; j++)
			if (one->sge[i].addr < other->sge[j].addr + other->sge[j].length &&
			    other->sge[j].addr < one->sge[i].addr + one->sge[i].length)
				return true;
	return false;
}

bool sq_source_is_brought(const struct send_queue *sq, const struct send_work *work)
{
	for (uint32_t number = sq->completed; number != sq->posted; number++) {
		const struct send_work *before = &sq_slot(sq, number)->work;

		if (sq_opcodes[before->opcode].local_access != 0 && overlap(before, work))
			return true;
	}
	return false;
}

/* The second piece, and those behind it. */
static void put_more(struct check_finding *finding, const struct send_work *work)
{
	static const char *const names[] = {"piece 2", "piece 3", "piece 4", "piece 5"};
	const uint32_t most = sizeof(names) / sizeof(names[0]);

	for (uint32_t i = 1; i < work->num_sge && i <= most; i++)
		check_line(finding, names[i - 1], "%#llx .. %#llx   lkey %#x",
			   (unsigned long long)work->sge[i].addr,
			   (unsigned long long)work->sge[i].addr + work->sge[i].length,
			   work->sge[i].lkey | CHECK_LKEY);
	if (work->num_sge > most + 1)
		check_line(finding, "and", "%u more pieces", work->num_sge - most - 1);
}

/* One sum is kept of all pieces, so each may be the one. */
void sq_source_tell(const struct send_queue *sq, const struct send_work *work, uint32_t stack)
{
	struct check_finding finding;

	check_find(&finding, CHECK_SOURCE_CHANGED, stack,
		   "the %llu bytes of a request were changed between its post and its execution",
		   (unsigned long long)sq_length(work));
	check_line(&finding, "source", "%#llx .. %#llx   lkey %#x, wr_id %#llx, QP %#x",
		   (unsigned long long)work->sge[0].addr,
		   (unsigned long long)work->sge[0].addr + work->sge[0].length,
		   work->sge[0].lkey | CHECK_LKEY, (unsigned long long)work->wr_id, sq->qpn);
	put_more(&finding, work);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}
