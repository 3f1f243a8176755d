/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h -- bytes into and out of the memory of the process an operation targets.
 *
 * This process's own memory is copied; another's is reached by process_vm_writev and
 * process_vm_readv, in one call. Whoever polls the last byte of a write never sees it
 * before the bytes that precede it: what lies in the last 64-byte line travels as a part
 * of its own (one `rep movs` does not store in order).
 */
#ifndef SOFT_MEMORY_H
#define SOFT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* 0 is this process, by plain copies. Its own pid is this process by process_vm_*. */
typedef pid_t memory_of;

/*
 * Copies all of `local` to `remote` (memory_write) or back (memory_read), each part's bytes in any
 * order. Both lists have the same sum of bytes, at most SOFT_MAX_SGE parts each. 0, or -errno:
 * EFAULT, a part is not mapped; ESRCH, the process is gone; EPERM.
 */
int memory_write(memory_of process, const struct iovec *local, unsigned local_count,
		 const struct iovec *remote, unsigned remote_count);
int memory_read(memory_of process, const struct iovec *local, unsigned local_count,
		const struct iovec *remote, unsigned remote_count);

/* As memory_write() to one place; the last byte arrives last. */
int memory_write_ordered(memory_of process, const struct iovec *local, unsigned local_count,
			 uint64_t addr, uint64_t length);

/* 8 aligned bytes, never torn; callers of the atomics hold segment.atomics. 0 or -errno. */
int memory_store_8(memory_of process, uint64_t addr, uint64_t value);
int memory_compare_swap_8(memory_of process, uint64_t addr, uint64_t compare, uint64_t swap,
			  uint64_t *before);
int memory_fetch_add_8(memory_of process, uint64_t addr, uint64_t add, uint64_t *before);

/* Whether all of these parts of this process's memory can be read; slow. */
bool memory_is_readable(const struct iovec *parts, unsigned count);

#endif /* SOFT_MEMORY_H */
