/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mr_check.c -- whether a key opens a range: tables of what is in a region and what is not. */
#include <sys/mman.h>

#include "soft_device/datapath/mr_check.h"
#include "tests/lib/test.h"

#define INDEX  500u
#define KEY    (INDEX << 8 | 9)
#define PD     3u
#define MEMORY UINT64_C(0x7f0000001000)
#define IOVA   UINT64_C(0x10000)
#define BYTES  UINT64_C(8192)
#define ACCESS ((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE))

static struct segment *segment;

/* One region in an otherwise empty table. */
static int setup(void **unused)
{
	segment = mmap(NULL, sizeof(*segment), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (segment == MAP_FAILED)
		return -1;
	struct shared_mr *mr = &segment->mr[INDEX];

	mr->pd = PD;
	mr->access = ACCESS;
	mr->addr = MEMORY;
	mr->iova = IOVA;
	mr->length = BYTES;
	mr->last = (uint8_t)KEY;
	atomic_store(&mr->key, KEY);
	return 0;
}

static int teardown(void **unused)
{
	return munmap(segment, sizeof(*segment));
}

TEST(range__in_the_region_is_translated, setup, teardown)
{
	static const struct {
		uint64_t offset;
		uint64_t length;
	} ranges[] = {{0, BYTES}, {0, 1}, {BYTES - 1, 1}, {4096, 4096}, {0, 0}, {BYTES, 0}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		uint64_t memory = 0;

		assert_ptr_equal(mr_check(segment, KEY, PD, IOVA + ranges[i].offset,
					  ranges[i].length, ACCESS, &memory),
				 &segment->mr[INDEX]);
		assert_int_equal(memory, MEMORY + ranges[i].offset);
	}
}

TEST(range__not_in_the_region_is_refused, setup, teardown)
{
	static const struct {
		uint64_t addr;
		uint64_t length;
	} ranges[] = {
		{IOVA, BYTES + 1},	{IOVA + 1, BYTES},	    {IOVA - 1, 1},
		{IOVA - 1, BYTES},	{IOVA + BYTES, 1},	    {0, 1},
		{UINT64_MAX, 1},	{UINT64_MAX, UINT64_MAX},   {IOVA, UINT64_MAX},
		{IOVA + 1, UINT64_MAX}, {IOVA + 1, UINT64_MAX - 1}, {MEMORY, 1},
		{0, UINT64_MAX},
	};
	uint64_t memory = 0;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		assert_null(mr_check(segment, KEY, PD, ranges[i].addr, ranges[i].length, ACCESS,
				     &memory));
	assert_int_equal(memory, 0);
}

TEST(key__of_no_region_is_refused, setup, teardown)
{
	static const uint32_t keys[] = {
		0,	  1,	      KEY + 1, KEY - 1, KEY + 256, KEY & ~255u, SEGMENT_MRS << 8,
		1u << 31, UINT32_MAX,
	};
	uint64_t memory;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_null(mr_check(segment, keys[i], PD, IOVA, 1, 0, &memory));
		assert_null(mr_check(segment, keys[i], 0, 0, 0, 0, &memory));
	}
}

TEST(access__has_to_be_granted_whole, setup, teardown)
{
	uint64_t memory;

	assert_non_null(mr_check(segment, KEY, PD, IOVA, 1, 0, &memory));
	assert_non_null(mr_check(segment, KEY, PD, IOVA, 1, IBV_ACCESS_REMOTE_WRITE, &memory));
	assert_null(mr_check(segment, KEY, PD, IOVA, 1, IBV_ACCESS_REMOTE_READ, &memory));
	assert_null(mr_check(segment, KEY, PD, IOVA, 1, ACCESS | IBV_ACCESS_REMOTE_READ, &memory));
}

/* The checks in their order, each with what fails at it first. */
TEST(reason__names_the_check_that_failed, setup, teardown)
{
	static const struct {
		uint32_t key, pd;
		uint64_t addr, length;
		uint32_t access;
		enum vendor_err why;
	} cases[] = {
		{0, PD, IOVA, 1, 0, VENDOR_KEY_UNKNOWN},
		{SEGMENT_MRS << 8 | 1, PD, IOVA, 1, 0, VENDOR_KEY_UNKNOWN},
		{KEY + 256, PD, IOVA, 1, 0, VENDOR_KEY_UNKNOWN},
		{KEY + 1, PD, IOVA, 1, 0, VENDOR_KEY_UNKNOWN}, /* yet to come */
		{KEY - 1, PD, IOVA, 1, 0, VENDOR_KEY_STALE},
		{INDEX << 8, PD, IOVA, 1, 0, VENDOR_KEY_UNKNOWN}, /* no generation is 0 */
		{KEY, PD + 1, 0, 1, IBV_ACCESS_REMOTE_READ, VENDOR_KEY_PD},
		{KEY, PD, 0, 1, IBV_ACCESS_REMOTE_READ, VENDOR_KEY_RIGHT},
		{KEY, PD, IOVA + 1, BYTES, ACCESS, VENDOR_KEY_RANGE},
		{KEY, PD, IOVA, BYTES, ACCESS, VENDOR_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(mr_reason(segment, cases[i].key, cases[i].pd, cases[i].addr,
					   cases[i].length, cases[i].access),
				 cases[i].why);
	atomic_store(&segment->mr[INDEX].key, 0);
	assert_int_equal(mr_reason(segment, KEY, PD, IOVA, 1, 0), VENDOR_KEY_STALE);
	atomic_store(&segment->mr[INDEX].key, KEY);
}

#define WINDOW	   (7u << 8 | 0xf1)
#define WINDOW_AT  (IOVA + 1000)
#define WINDOW_END (IOVA + 3000)

/* Bound to a part of the region; type 2 for this queue pair. */
static struct shared_qp *bind_window(uint8_t type)
{
	struct shared_mr *window = &segment->mr[WINDOW >> 8];
	struct shared_qp *qp = &segment->qp[300];

	qp->pd = PD;
	atomic_store(&qp->life, shared_qp_word(5, IBV_QPS_RTS));
	*window = (struct shared_mr){.pd = PD | MR_WINDOW,
				     .access = IBV_ACCESS_REMOTE_WRITE,
				     .window = type,
				     .addr = MEMORY + 1000,
				     .length = 2000,
				     .iova = WINDOW_AT};
	segment->window[WINDOW >> 8] = (struct shared_window){KEY, shared_qp_name(segment, qp)};
	atomic_store(&window->key, WINDOW);
	return qp;
}

static bool window_opens(const struct shared_qp *qp, uint64_t addr, uint64_t length)
{
	uint64_t memory = 0;

	if (mr_check_window(segment, qp, WINDOW, addr, length, IBV_ACCESS_REMOTE_WRITE, &memory) !=
	    &segment->mr[INDEX])
		return false;
	assert_int_equal(memory, MEMORY + addr - IOVA);
	return true;
}

TEST(window__says_what_is_wrong_with_its_use, setup, teardown)
{
	bind_window(IBV_MW_TYPE_1);
	assert_int_equal(mr_reason(segment, WINDOW, PD, WINDOW_AT, 8, 0), VENDOR_WINDOW_USE);
	assert_int_equal(mr_reason(segment, WINDOW + 1, PD, WINDOW_AT, 8, 0),
			 VENDOR_WINDOW_UNBOUND);
}

TEST(window__shows_no_page_that_is_unmapped, setup, teardown)
{
	const struct shared_qp *qp = bind_window(IBV_MW_TYPE_1);

	segment->mr[INDEX].pd = PD | MR_UNMAPPED;
	atomic_store(&segment->unmapped[0].from, MEMORY);
	atomic_store(&segment->unmapped[0].to, MEMORY + 2000);
	atomic_store(&segment->unmapped[0].key, KEY);
	atomic_store(&segment->unmapped_used, 1);
	assert_false(window_opens(qp, WINDOW_AT, 8));
	assert_true(window_opens(qp, WINDOW_END - 8, 8));
	atomic_store(&segment->mr[INDEX].key, 0);
	assert_false(window_opens(qp, WINDOW_END - 8, 8));
}

TEST(window__of_type_2_is_for_its_queue_pair, setup, teardown)
{
	struct shared_qp *qp = bind_window(IBV_MW_TYPE_2), *other = &segment->qp[301];

	other->pd = PD;
	atomic_store(&other->life, shared_qp_word(5, IBV_QPS_RTS));
	assert_true(window_opens(qp, WINDOW_AT, 8));
	assert_false(window_opens(other, WINDOW_AT, 8));
	assert_false(mr_invalidate_window(segment, other, WINDOW));
	atomic_store(&qp->life, shared_qp_word(6, IBV_QPS_RTS)); /* another one in its entry */
	assert_false(window_opens(qp, WINDOW_AT, 8));
	assert_false(mr_invalidate_window(segment, qp, WINDOW));
}

TEST(window__of_type_2_is_invalidated_by_its_key, setup, teardown)
{
	static const uint32_t others[] = {0, KEY, WINDOW + 1, SEGMENT_MRS << 8, UINT32_MAX};
	const struct shared_qp *qp = bind_window(IBV_MW_TYPE_2);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(mr_invalidate_window(segment, qp, others[i]));
	assert_true(mr_invalidate_window(segment, qp, WINDOW));
	assert_false(window_opens(qp, WINDOW_AT, 8));
	assert_false(mr_invalidate_window(segment, qp, WINDOW));
	bind_window(IBV_MW_TYPE_1);
	assert_false(mr_invalidate_window(segment, qp, WINDOW));
}

/* The second page of two; a note of another region is of no concern. */
TEST(page__that_is_unmapped_is_refused, setup, teardown)
{
	static const struct {
		uint64_t offset;
		uint64_t length;
		bool is_there;
	} ranges[] = {
		{0, 4096, true},   {0, 4097, false}, {4095, 1, true},  {4096, 1, false},
		{0, BYTES, false}, {8191, 1, false}, {BYTES, 0, true}, {4097, 0, true},
	};
	uint64_t memory;

	segment->mr[INDEX].pd |= MR_UNMAPPED;
	segment->unmapped[0].from = MEMORY;
	segment->unmapped[0].to = MEMORY + BYTES;
	atomic_store(&segment->unmapped[0].key, KEY + 1);
	segment->unmapped[1].from = MEMORY + 4096;
	segment->unmapped[1].to = MEMORY + (BYTES * 2);
	atomic_store(&segment->unmapped[1].key, KEY);
	atomic_store(&segment->unmapped_used, UINT32_MAX); /* a peer may say anything */
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		const struct shared_mr *mr = mr_check(segment, KEY, PD, IOVA + ranges[i].offset,
						      ranges[i].length, ACCESS, &memory);

		assert_int_equal(mr != NULL, ranges[i].is_there);
		assert_null(mr_check_quick(segment, KEY, PD, IOVA + ranges[i].offset,
					   ranges[i].length, ACCESS, &memory));
	}
	assert_null(mr_check(segment, KEY, PD + 1, IOVA, 1, 0, &memory));
}
