/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_memory.h -- bytes into and out of the memory of the process an operation targets.
 *
 * Memory is reached by process_vm_writev and process_vm_readv, in one call, this process's own as
 * well: a page that is not mapped is an error then, and no signal. Where they may not be called own
 * memory is copied. A reader that polls the last byte of a write never sees it
 * before the bytes that precede it: what lies in the last 64-byte line travels as a part
 * of its own (one `rep movs` does not store in order).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "lock.h"

#define TARGET_MEMORY_LINE 64u

/* 0 is this process. Its own pid is this process as another one. */
typedef pid_t target_process;
/* Like 0; `local` is the device's own memory, so it is there, and is not looked at before. */
#define TARGET_OF_DEVICE INT_MIN /* no process id, and to kill(2) neither a group nor all */

/*
 * Copies all of `local` to `remote` (target_memory_write) or back (target_memory_read), each part's
 * bytes in any order. Both lists have the same sum of bytes, at most SOFT_MAX_SGE parts each. 0, or
 * -errno: EFAULT, a part is not mapped; ESRCH, the process is gone; EPERM.
 */
int target_memory_write(target_process process, const struct iovec *local, unsigned local_count,
			const struct iovec *remote, unsigned remote_count);
int target_memory_read(target_process process, const struct iovec *local, unsigned local_count,
		       const struct iovec *remote, unsigned remote_count);

/* Like target_memory_write() to one range; the last byte arrives last. */
static inline int target_memory_write_ordered(target_process process, const struct iovec *local,
					      unsigned local_count, uint64_t addr, uint64_t length);

/*
 * Like target_memory_write_ordered(), of each in turn, by one call where that goes: how many were
 * done, up to the first that was not. There is one at least.
 */
#define TARGET_WRITES_MAX 16
struct target_write {
	void *from;
	uint64_t to;
	size_t bytes;
};
unsigned target_memory_write_each(target_process process, const struct target_write *writes,
				  unsigned count);

/* 8 aligned bytes, never torn; callers of the atomics hold segment.atomics. 0 or -errno. */
int target_memory_store_8(target_process process, uint64_t addr, uint64_t value);
int target_memory_compare_swap_8(target_process process, uint64_t addr, uint64_t compare,
				 uint64_t swap, uint64_t *before);
int target_memory_fetch_add_8(target_process process, uint64_t addr, uint64_t add,
			      uint64_t *before);

/*
 * Not 0: the two above leave this time between their load and their store, which another processor
 * may use: they are atomic among themselves only, as those of a device with IBV_ATOMIC_HCA.
 */
extern _Thread_local uint32_t target_memory_gap_ns __attribute__((tls_model("initial-exec")));

/* True if all of these parts of this process's memory can be read, or written. */
bool target_memory_is_usable(const struct iovec *parts, unsigned count, bool write);

/* --- the rest is private; inline, as the write is what is to be fast --- */

int target_memory_write_ordered_slow(target_process process, const struct iovec *local,
				     unsigned local_count, uint64_t addr, uint64_t length);

extern _Atomic bool target_memory_by_call; /* this process may use process_vm_* for itself */

/* The thread whose memory a call names: this one for one's own, as the first thread may have ended.
 * Ranges that overlap are copied. */
static inline __attribute__((always_inline)) target_process
target_memory_of(target_process process, const struct iovec *local, const struct iovec *remote)
{
	const uintptr_t one = (uintptr_t)local->iov_base, other = (uintptr_t)remote->iov_base;

	if (process != 0 || !target_memory_by_call ||
	    (one < other + remote->iov_len && other < one + local->iov_len))
		return process;
	return lock_thread();
}

static inline __attribute__((always_inline)) int
target_memory_write_ordered(target_process process, const struct iovec *local, unsigned local_count,
			    uint64_t addr, uint64_t length)
{
	/* how many bytes share the last one's line */
	size_t tail = (addr + length - 1) % TARGET_MEMORY_LINE + 1;
	struct iovec remote = {(void *)(uintptr_t)addr, length}, parts[2];
	const target_process owner = target_memory_of(process, local, &remote);
	const struct iovec *from = local;
	unsigned count = 1;

	if (owner <= 0 || local_count != 1)
		return target_memory_write_ordered_slow(process, local, local_count, addr, length);
	if (tail < length) {
		parts[0] = (struct iovec){local->iov_base, length - tail};
		parts[1] = (struct iovec){(unsigned char *)local->iov_base + (length - tail), tail};
		from = parts;
		count = 2;
	}
	if (process_vm_writev(owner, from, count, &remote, 1, 0) == (ssize_t)length)
		return 0;
	/* finds out why not */
	return target_memory_write_ordered_slow(process, local, 1, addr, length);
}
