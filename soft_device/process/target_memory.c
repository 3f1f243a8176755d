/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_memory.c -- see target_memory.h.
 *
 * At the end of a part of either list the kernel begins a new string operation; the stores of two
 * of them are seen in order on x86-64. So the ordered write cuts its source in two: the bytes up
 * to the last 64-byte line of the target, and those in it. (Cutting the source costs 4 % of a 4 KiB
 * write; cutting the target, whose pages are looked up again for each part, 30 %.)
 */
#include "target_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mapping.h"
#include "segment.h"

_Atomic bool target_memory_by_call = true;
_Thread_local uint32_t target_memory_gap_ns;

/* A position in a list of parts. */
struct cursor {
	const struct iovec *part;
	size_t offset;
};

/* Walks over the next bytes that are contiguous, at most `most`, of which the parts have one. */
static void *cursor_next(struct cursor *cursor, size_t most, size_t *got)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.*): the analyzer does not know that they have one */
	while (cursor->offset == cursor->part->iov_len) {
		cursor->part++;
		cursor->offset = 0;
	}
	size_t left = cursor->part->iov_len - cursor->offset;
	void *at = (unsigned char *)cursor->part->iov_base + cursor->offset;

	*got = left < most ? left : most;
	cursor->offset += *got;
	return at;
}

static size_t total(const struct iovec *parts, unsigned count)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	return bytes;
}

static int result_of(ssize_t moved, size_t wanted)
{
	if (moved < 0)
		return -errno;
	return (size_t)moved == wanted ? 0 : -EFAULT;
}

/* target_memory_of() of lists. */
static target_process owner_of(target_process process, const struct iovec *local,
			       unsigned local_count, const struct iovec *remote,
			       unsigned remote_count)
{
	target_process owner = process;

	for (unsigned i = 0; process == 0 && i < local_count; i++)
		for (unsigned j = 0; j < remote_count; j++) {
			owner = target_memory_of(process, &local[i], &remote[j]);
			if (owner == 0)
				return 0;
		}
	return owner;
}

typedef ssize_t vm_call(pid_t, const struct iovec *, unsigned long, const struct iovec *,
			unsigned long, unsigned long);

/* True: *result is that of the call. False: own memory is to be copied, as a sandbox may refuse to
 * have it reached so. */
static bool is_moved_by(vm_call *call, target_process process, const struct iovec *local,
			unsigned local_count, const struct iovec *remote, unsigned remote_count,
			int *result)
{
	const target_process owner = owner_of(process, local, local_count, remote, remote_count);

	if (owner <= 0)
		return false;
	*result = result_of(call(owner, local, local_count, remote, remote_count, 0),
			    total(local, local_count));
	if (process != 0 || *result == 0 || *result == -EFAULT)
		return true;
	target_memory_by_call = false;
	return false;
}

/*
 * Own memory that is copied is touched by a system call first, so that a part that is not mapped is
 * an error there, too. 0 or -EFAULT.
 */
static int present(const struct iovec *parts, unsigned count, bool write)
{
	int error = 0;

	for (unsigned i = 0; i < count && error == 0; i++)
		if (parts[i].iov_len != 0)
			error = mapping_populate((uintptr_t)parts[i].iov_base, parts[i].iov_len,
						 write);
	return error;
}

static bool local_is_missing(target_process process, const struct iovec *parts, unsigned count,
			     bool write)
{
	return process != TARGET_OF_DEVICE && present(parts, count, write) != 0;
}

/* Between parts of different shape, in order. Areas may overlap. */
static void copy(struct cursor *to, struct cursor *from, size_t bytes)
{
	while (bytes != 0) {
		struct cursor ahead = *from;
		size_t from_bytes = 0, to_bytes = 0;
		void *source = cursor_next(from, bytes, &from_bytes);
		void *target = cursor_next(to, from_bytes, &to_bytes);

		if (to_bytes < from_bytes) {
			*from = ahead;
			cursor_next(from, to_bytes, &from_bytes);
		}
		memmove(target, source, to_bytes);
		bytes -= to_bytes;
	}
}

/* Up to a line of bytes, the last one last. */
static void store_tail(unsigned char *to, const unsigned char *line, size_t bytes)
{
	if (bytes == 8 && (uintptr_t)to % 8 == 0) {
		uint64_t word;

		memcpy(&word, line, sizeof(word));
		__atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
		return;
	}
	memcpy(to, line, bytes - 1);
	__atomic_store_n(to + bytes - 1, line[bytes - 1], __ATOMIC_RELEASE);
}

/* Keeps the tail first: it may lie where the bytes before it go. */
static void copy_ordered(unsigned char *to, const struct iovec *local, size_t bytes, size_t tail)
{
	unsigned char line[TARGET_MEMORY_LINE];
	const struct iovec whole = {to, bytes}, kept = {line, tail};
	struct cursor from = {local, 0};
	size_t got;

	for (size_t left = bytes - tail; left > 0; left -= got)
		cursor_next(&from, left, &got);
	copy(&(struct cursor){&kept, 0}, &from, tail);
	copy(&(struct cursor){&whole, 0}, &(struct cursor){local, 0}, bytes - tail);
	atomic_thread_fence(memory_order_release);
	store_tail(to + (bytes - tail), line, tail);
}

int target_memory_write(target_process process, const struct iovec *local, unsigned local_count,
			const struct iovec *remote, unsigned remote_count)
{
	size_t bytes = total(local, local_count);
	int result;

	if (is_moved_by(process_vm_writev, process, local, local_count, remote, remote_count,
			&result))
		return result;
	if (local_is_missing(process, local, local_count, false) ||
	    present(remote, remote_count, true) != 0)
		return -EFAULT;
	copy(&(struct cursor){remote, 0}, &(struct cursor){local, 0}, bytes);
	return 0;
}

int target_memory_read(target_process process, const struct iovec *local, unsigned local_count,
		       const struct iovec *remote, unsigned remote_count)
{
	size_t bytes = total(local, local_count);
	int result;

	if (is_moved_by(process_vm_readv, process, local, local_count, remote, remote_count,
			&result))
		return result;
	if (local_is_missing(process, local, local_count, true) ||
	    present(remote, remote_count, false) != 0)
		return -EFAULT;
	copy(&(struct cursor){local, 0}, &(struct cursor){remote, 0}, bytes);
	return 0;
}

/* Cuts the list in two at `at`, which lies within; the number of parts, at most one more. */
static unsigned cut(const struct iovec *parts, unsigned count, size_t at, struct iovec *out)
{
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++) {
		struct iovec part = parts[i];

		if (at != 0 && at < part.iov_len) {
			out[used++] = (struct iovec){part.iov_base, at};
			part.iov_base = (unsigned char *)part.iov_base + at;
			part.iov_len -= at;
			at = 0;
		} else if (at != 0) {
			at -= part.iov_len;
		}
		out[used++] = part;
	}
	return used;
}

int target_memory_write_ordered_slow(target_process process, const struct iovec *local,
				     unsigned local_count, uint64_t addr, uint64_t length)
{
	struct iovec remote = {(void *)(uintptr_t)addr, length}, parts[SOFT_MAX_SGE + 1];
	/* how many bytes share the last one's line */
	uint64_t tail = (addr + length - 1) % TARGET_MEMORY_LINE + 1;
	int result;

	if (length == 0)
		return 0;
	if (tail < length) {
		local_count = cut(local, local_count, length - tail, parts);
		local = parts;
	}
	if (is_moved_by(process_vm_writev, process, local, local_count, &remote, 1, &result))
		return result;
	if (local_is_missing(process, local, local_count, false) || present(&remote, 1, true) != 0)
		return -EFAULT;
	copy_ordered(remote.iov_base, local, length, tail < length ? tail : length);
	return 0;
}

/* A list of writes as parts: each source in two, as above. How many parts. */
static unsigned cut_each(const struct target_write *writes, unsigned count, struct iovec *local,
			 struct iovec *remote)
{
	unsigned parts = 0, i = 0;

	do {
		const struct iovec whole = {writes[i].from, writes[i].bytes};
		const size_t tail = (writes[i].to + whole.iov_len - 1) % TARGET_MEMORY_LINE + 1;

		remote[i] = (struct iovec){(void *)(uintptr_t)writes[i].to, whole.iov_len};
		if (tail < whole.iov_len)
			parts += cut(&whole, 1, whole.iov_len - tail, local + parts);
		else
			local[parts++] = whole;
	} while (++i < count);
	return parts;
}

unsigned target_memory_write_each(target_process process, const struct target_write *writes,
				  unsigned count)
{
	struct iovec local[2 * TARGET_WRITES_MAX], remote[TARGET_WRITES_MAX];
	unsigned done = 0;

	if (process > 0) {
		const unsigned parts = cut_each(writes, count, local, remote);
		ssize_t left = process_vm_writev(process, local, parts, remote, count, 0);

		while (done < count && left >= (ssize_t)writes[done].bytes)
			left -= (ssize_t)writes[done++].bytes;
		return done;
	}
	while (done < count) {
		const struct target_write *one = &writes[done];
		const struct iovec source = {one->from, one->bytes};

		if (target_memory_write_ordered(process, &source, 1, one->to, one->bytes) != 0)
			break;
		done++;
	}
	return done;
}

static void leave_gap(void)
{
	const struct timespec gap = {.tv_nsec = (long)target_memory_gap_ns};

	if (target_memory_gap_ns != 0)
		nanosleep(&gap, NULL);
}

static int load_8(target_process process, uint64_t addr, uint64_t *value)
{
	struct iovec remote = {(void *)(uintptr_t)addr, sizeof(*value)};
	struct iovec local = {value, sizeof(*value)};

	*value = 0;
	if (process <= 0) {
		if (present(&remote, 1, true) != 0)
			return -EFAULT;
		*value = __atomic_load_n((uint64_t *)(uintptr_t)addr, __ATOMIC_SEQ_CST);
		return 0;
	}
	return result_of(process_vm_readv(process, &local, 1, &remote, 1, 0), sizeof(*value));
}

int target_memory_store_8(target_process process, uint64_t addr, uint64_t value)
{
	struct iovec remote = {(void *)(uintptr_t)addr, sizeof(value)};
	struct iovec local = {&value, sizeof(value)};

	if (process > 0)
		return result_of(process_vm_writev(process, &local, 1, &remote, 1, 0),
				 sizeof(value));
	if (present(&remote, 1, true) != 0)
		return -EFAULT;
	__atomic_store_n((uint64_t *)(uintptr_t)addr, value, __ATOMIC_SEQ_CST);
	return 0;
}

int target_memory_compare_swap_8(target_process process, uint64_t addr, uint64_t compare,
				 uint64_t swap, uint64_t *before)
{
	if (process <= 0 && target_memory_gap_ns == 0) {
		if (mapping_populate(addr, sizeof(swap), true) != 0)
			return -EFAULT;
		*before = compare;
		__atomic_compare_exchange_n((uint64_t *)(uintptr_t)addr, before, swap, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		return 0;
	}
	int error = load_8(process, addr, before);

	if (error != 0 || *before != compare)
		return error;
	leave_gap();
	return target_memory_store_8(process, addr, swap);
}

int target_memory_fetch_add_8(target_process process, uint64_t addr, uint64_t add, uint64_t *before)
{
	if (process <= 0 && target_memory_gap_ns == 0) {
		if (mapping_populate(addr, sizeof(add), true) != 0)
			return -EFAULT;
		*before = __atomic_fetch_add((uint64_t *)(uintptr_t)addr, add, __ATOMIC_SEQ_CST);
		return 0;
	}
	int error = load_8(process, addr, before);

	if (error != 0)
		return error;
	leave_gap();
	return target_memory_store_8(process, addr, *before + add);
}

bool target_memory_is_usable(const struct iovec *parts, unsigned count, bool write)
{
	return present(parts, count, write) == 0;
}
