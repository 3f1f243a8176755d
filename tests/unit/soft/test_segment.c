/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_segment.c -- the heap of a segment, the files that pass for one, and how a QP is
 * found in it.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft_device/process/process.h"
#include "soft_device/process/segment.h"
#include "tests/lib/test.h"

#define HEAP (SEGMENT_BYTES - offsetof(struct segment, heap))

struct process *process_current; /* segment.c asks it for the segment */

static struct process process;

static int setup(void **unused)
{
	process_current = &process;
	return segment_create(&process.segment, &process.segment_fd);
}

static int teardown(void **unused)
{
	segment_unmap(process.segment);
	return close(process.segment_fd);
}

static void *at(uint64_t offset)
{
	return segment_at(process.segment, offset);
}

TEST(create__makes_what_map_takes, setup, teardown)
{
	struct segment *second;

	assert_int_equal(segment_map(process.segment_fd, &second), 0);
	assert_int_equal(second->identity, process.segment->identity);
	assert_int_equal(second->pid, getpid());
	second->mr[7].addr = 42;
	assert_int_equal(process.segment->mr[7].addr, 42);
	segment_unmap(second);
}

TEST(create__gives_a_file_that_cannot_shrink, setup, teardown)
{
	assert_int_equal(ftruncate(process.segment_fd, 4096), -1);
	assert_int_equal(errno, EPERM);
}

static int file_of(size_t bytes, int seals)
{
	int fd = memfd_create("no segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

TEST(map__refuses_other_files, setup, teardown)
{
	struct segment *mapped = NULL;
	const struct {
		size_t bytes;
		int seals;
	} files[] = {{4096, F_SEAL_SHRINK}, {SEGMENT_BYTES, F_SEAL_SHRINK}, {SEGMENT_BYTES, 0}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = file_of(files[i].bytes, files[i].seals);

		assert_int_equal(segment_map(fd, &mapped), -EPROTO);
		close(fd);
	}
	assert_null(mapped);
}

TEST(map__refuses_another_layout, setup, teardown)
{
	struct segment *mapped = NULL;

	process.segment->layout++;
	assert_int_equal(segment_map(process.segment_fd, &mapped), -EPROTO);
	assert_null(mapped);
}

TEST(alloc__gives_memory_of_zeroes_again, setup, teardown)
{
	const size_t bytes = 10000;
	uint64_t first = segment_alloc(bytes);
	unsigned char zeroes[10000] = {0};

	assert_true(first != 0);
	assert_memory_equal(at(first), zeroes, bytes);
	memset(at(first), 0xff, bytes);
	segment_free(first, bytes);
	assert_int_equal(segment_alloc(bytes), first);
	assert_memory_equal(at(first), zeroes, bytes);
}

TEST(alloc__gives_nothing_twice, setup, teardown)
{
	uint64_t offsets[100];

	for (unsigned i = 0; i < 100; i++) {
		offsets[i] = segment_alloc(100 * (i + 1));
		assert_true(offsets[i] >= offsetof(struct segment, heap));
		memset(at(offsets[i]), (int)i, 100 * (i + 1));
	}
	for (unsigned i = 0; i < 100; i++) {
		const unsigned char *bytes = at(offsets[i]);

		for (unsigned j = 0; j < 100 * (i + 1); j++)
			assert_int_equal(bytes[j], i);
	}
}

TEST(alloc__gives_all_there_is_and_no_more, setup, teardown)
{
	uint64_t all = segment_alloc(HEAP);

	assert_true(all != 0);
	assert_int_equal(segment_alloc(1), 0);
	segment_free(all, HEAP);
	assert_int_equal(segment_alloc(HEAP + 1), 0);
	assert_int_equal(segment_alloc(HEAP), all);
}

TEST(alloc__refuses_nothing_and_too_much, setup, teardown)
{
	assert_int_equal(segment_alloc(0), 0);
	assert_int_equal(segment_alloc(SIZE_MAX), 0);
	assert_int_equal(segment_alloc(SIZE_MAX / 2), 0);
}

/* In each order in which four neighbours can go, what was theirs is one piece again. */
TEST(free__joins_neighbours, setup, teardown)
{
	static const unsigned char orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3},
						  {1, 3, 0, 2}, {2, 0, 3, 1}, {1, 2, 3, 0}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		uint64_t pieces[4];

		for (unsigned j = 0; j < 4; j++)
			pieces[j] = segment_alloc(4096);
		for (unsigned j = 0; j < 4; j++)
			segment_free(pieces[orders[i][j]], 4096);
		uint64_t all = segment_alloc(HEAP);

		assert_true(all != 0);
		segment_free(all, HEAP);
	}
}

static blkcnt_t blocks_in_use(void)
{
	struct stat stat;

	assert_int_equal(fstat(process.segment_fd, &stat), 0);
	return stat.st_blocks;
}

TEST(free__gives_the_pages_back, setup, teardown)
{
	const size_t bytes = 8 << 20;
	blkcnt_t before = blocks_in_use();
	uint64_t offset = segment_alloc(bytes);

	memset(at(offset), 1, bytes);
	assert_true(blocks_in_use() >= before + (blkcnt_t)(bytes / 512));
	segment_free(offset, bytes);
	assert_int_equal(blocks_in_use(), before);
}

TEST(qp__is_found_by_address_and_number, setup, teardown)
{
	struct segment *segment = process.segment;
	union ibv_gid ours = {.raw = {1}};
	union ibv_gid other = {.raw = {2}};
	const uint32_t qpn = 5000u << 8 | 7;

	segment->block[3].gid = ours;
	atomic_store(&segment->block[3].port, 5000);
	atomic_store(&segment->qp[3 * 256 + 7].qpn, qpn);
	assert_ptr_equal(segment_qp(segment, &ours, qpn), &segment->qp[3 * 256 + 7]);
	assert_null(segment_qp(segment, &other, qpn));
	assert_null(segment_qp(segment, &ours, qpn + 1));
	assert_null(segment_qp(segment, &ours, 5001u << 8 | 7));
}

TEST(qp__of_any_number_is_none, setup, teardown)
{
	const uint32_t numbers[] = {0, 1, 255, 0xffffff, 0x1000000, UINT32_MAX};
	union ibv_gid zero = {.raw = {0}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_null(segment_qp(process.segment, &zero, numbers[i]));
}
