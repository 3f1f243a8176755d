/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_page_faults.c -- requests on pages of a region that the program has unmapped or protected:
 * an error completion, at the end where the page is, and no signal at either; and on those that it
 * mapped again, or that no thread has touched.
 */
#include "pair.h"

#include <sys/mman.h>

#define FAULT_PAGE 4096

/* The program has unmapped (-1) or protected a page of the region. */
static void expect_page_fault(enum ibv_wr_opcode opcode, int protection, bool near)
{
	unsigned char *page = (near ? w.near.memory : w.far_memory) + FAULT_PAGE;
	uint64_t before, after;

	memcpy(&before, w.far_memory + FAULT_PAGE, sizeof(before));
	if (protection < 0)
		OK(munmap(page, FAULT_PAGE));
	else
		OK(mprotect(page, FAULT_PAGE, protection));
	post(work(opcode, FAULT_PAGE, 8, FAULT_PAGE));
	expect_code(EXPECT_WC(w.near.cq, 1, near ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR), 7);
	if (protection < 0)
		assert_ptr_equal(mmap(page, FAULT_PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
				 page);
	if (!near) {
		far_expect_error();
		return;
	}
	memcpy(&after, w.far_memory + FAULT_PAGE, sizeof(after));
	if (opcode == IBV_WR_ATOMIC_WRITE)
		assert_int_equal(after, before);
}

OWN_PAIR_TEST(page__that_is_unmapped_or_protected_fails_the_request)
{
	/* an atomic whose own memory is gone is executed all the same */
	static const struct {
		enum ibv_wr_opcode opcode;
		int protection;
		bool near;
	} cases[] = {
		{IBV_WR_RDMA_WRITE, -1, false},
		{IBV_WR_RDMA_WRITE, PROT_NONE, false},
		{IBV_WR_RDMA_WRITE, PROT_READ, false},
		{IBV_WR_RDMA_READ, -1, false},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, -1, false},
		{IBV_WR_RDMA_WRITE, -1, true},
		{IBV_WR_RDMA_WRITE, PROT_NONE, true},
		{IBV_WR_ATOMIC_WRITE, PROT_NONE, true},
		{IBV_WR_RDMA_READ, -1, true},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, -1, true},
	};
	NOT_ON_RXE("a NIC has pinned the page, and uses it all the same");
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		print_message("case %zu\n", i);
		PAIR_MAKE();
		expect_page_fault(cases[i].opcode, cases[i].protection, cases[i].near);
		OK(teardown_pair(NULL));
	}
}

/* Its first pages may be written, as by packets that came before. */
OWN_PAIR_TEST(large__write_across_an_unmapped_page_fails)
{
	const size_t bytes = 512 * 1024;
	NOT_ON_RXE("a NIC has pinned the page, and uses it all the same");
	PAIR_MAKE(o.memory_size = bytes);
	unsigned char *page = w.far_memory + 40 * FAULT_PAGE;

	OK(munmap(page, FAULT_PAGE));
	post(work(IBV_WR_RDMA_WRITE, 0, bytes, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
	assert_ptr_equal(mmap(page, FAULT_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 page);
}

/* New memory at the address of a page of the region, made in one of these ways. */
static unsigned char *far_page(void)
{
	return w.far_memory + FAULT_PAGE;
}

static void *map_at(void *at, int flags)
{
	return mmap(at, FAULT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
		    0);
}

static void map_over(unsigned char *page)
{
	assert_ptr_equal(map_at(page, MAP_FIXED), page);
}

static void unmap_and_map(unsigned char *page)
{
	OK(munmap(page, FAULT_PAGE));
	assert_ptr_equal(map_at(page, MAP_FIXED_NOREPLACE), page);
}

static void move_away_and_map(unsigned char *page)
{
	void *away = mmap(NULL, FAULT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_equal(mremap(page, FAULT_PAGE, FAULT_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, away),
			 away);
	assert_ptr_equal(map_at(page, MAP_FIXED_NOREPLACE), page);
}

static void move_over(unsigned char *page)
{
	void *other = map_at(NULL, 0);

	assert_ptr_equal(mremap(other, FAULT_PAGE, FAULT_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page),
			 page);
}

static void discard(unsigned char *page)
{
	OK(madvise(page, FAULT_PAGE, MADV_DONTNEED));
}

static void (*const renewals[])(unsigned char *page) = {
	map_over, unmap_and_map, move_away_and_map, move_over, discard,
};

static void expect_untouched(const unsigned char *page)
{
	for (int i = 0; i < FAULT_PAGE; i++)
		assert_int_equal(page[i], 0);
}

/* A NIC writes to the page that was there. */
OWN_PAIR_TEST(write__never_reaches_a_page_mapped_anew)
{
	for (unsigned i = 0; i < sizeof(renewals) / sizeof(renewals[0]); i++) {
		PAIR_MAKE();
		memset(w.near.memory, 0x5a, FAULT_PAGE);
		renewals[i](far_page());
		post(work(IBV_WR_RDMA_WRITE, 0, FAULT_PAGE, FAULT_PAGE));
		EXPECT_WC(w.near.cq, 1, on_rxe() ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
		expect_untouched(far_page());
		OK(teardown_pair(NULL));
	}
}

PAIR_TEST(read__never_gets_a_page_mapped_anew)
{
	memset(w.near.memory, 0, 8);
	map_over(far_page());
	memset(far_page(), 0x77, FAULT_PAGE);
	post(work(IBV_WR_RDMA_READ, 0, 8, FAULT_PAGE));
	EXPECT_WC(w.near.cq, 1, on_rxe() ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	assert_int_not_equal(w.near.memory[0], 0x77);
}

PAIR_TEST(write__from_a_page_mapped_anew_fails)
{
	NOT_ON_RXE("it sends what the old page has");
	map_over(w.near.memory + FAULT_PAGE);
	post(work(IBV_WR_RDMA_WRITE, FAULT_PAGE, 8, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_LOC_PROT_ERR);
}

/* The sender, a process of its own, looks at what the receiver has noted. */
TWO_PROCESSES_TEST(receive__never_reaches_a_page_mapped_anew)
{
	map_over(w.near.memory + FAULT_PAGE);
	recv_near(7, FAULT_PAGE, 64);
	far_send(8, 0, 64);
	if (on_rxe())
		EXPECT_WC(w.near.cq, 7, IBV_WC_SUCCESS);
	else
		EXPECT_WC(w.near.cq, 7, IBV_WC_LOC_PROT_ERR);
	expect_untouched(w.near.memory + FAULT_PAGE);
}

/* Pages before and behind it, and what was not unmapped as the call failed. */
PAIR_TEST(write__reaches_what_is_left_of_a_region)
{
	unsigned char *page = far_page();
	int error;

	map_over(page);
	done(work(IBV_WR_RDMA_WRITE, 0, FAULT_PAGE, 0));
	done(work(IBV_WR_RDMA_WRITE, 0, 8, 2 * FAULT_PAGE));
	assert_memory_equal(w.far_memory + 2 * FAULT_PAGE, w.near.memory, 8);
	assert_ptr_equal(
		mmap(page + FAULT_PAGE, FAULT_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0),
		MAP_FAILED);
	error = errno;
	assert_int_equal(error, EBADF);
	done(work(IBV_WR_RDMA_WRITE, 0, 8, 2 * FAULT_PAGE));
}

/* Writes 8 bytes of `byte` from there, by a region with this access. */
static void write_from(unsigned char *memory, struct ibv_mr *mr, int byte)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);

	memset(memory, byte, 8);
	*wr->sg_list = (struct ibv_sge){(uintptr_t)memory, 8, mr->lkey};
	done(wr);
	EQUAL((w.far_memory[0], byte), (w.far_memory[7], byte));
}

PAIR_TEST(write__sends_what_a_region_of_the_new_memory_has)
{
	unsigned char *page = w.near.memory + FAULT_PAGE;
	struct ibv_mr *mr;

	map_over(page);
	mr = ibv_reg_mr(w.near.pd, page, FAULT_PAGE, END_ACCESS);
	assert_non_null(mr);
	write_from(page, mr, 0x21);
	OK(ibv_dereg_mr(mr));
}

PAIR_TEST(write__follows_the_mapping_of_a_region_on_demand)
{
	unsigned char *page = map_at(NULL, 0);
	struct ibv_mr *mr;

	NOT_ON_RXE("not all kernels have on-demand paging for it");
	mr = ibv_reg_mr(w.near.pd, page, FAULT_PAGE, END_ACCESS | IBV_ACCESS_ON_DEMAND);
	assert_non_null(mr);
	map_over(page);
	write_from(page, mr, 0x22);
	OK(ibv_dereg_mr(mr));
	OK(munmap(page, FAULT_PAGE));
}

/* MADV_DONTNEED leaves shared memory as it is. */
PAIR_TEST(write__sends_shared_memory_that_was_discarded)
{
	unsigned char *page =
		mmap(NULL, FAULT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(w.near.pd, page, FAULT_PAGE, END_ACCESS);

	assert_non_null(mr);
	discard(page);
	write_from(page, mr, 0x23);
	OK(ibv_dereg_mr(mr));
	OK(munmap(page, FAULT_PAGE));
}

/* It stays where it can grow; else all of it moves. */
PAIR_TEST(write__reaches_a_region_that_grows_in_place)
{
	unsigned char *page = mmap(NULL, 2 * FAULT_PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(w.near.pd, page, FAULT_PAGE, END_ACCESS);

	assert_non_null(mr);
	OK(munmap(page + FAULT_PAGE, FAULT_PAGE));
	assert_ptr_equal(mremap(page, FAULT_PAGE, 2 * FAULT_PAGE, MREMAP_MAYMOVE), page);
	write_from(page, mr, 0x24);
	OK(ibv_dereg_mr(mr));
	OK(munmap(page, 2 * FAULT_PAGE));
}

/* A device may keep its regions in a table, of which a program may use any place. */
PAIR_TEST(write__from_a_page_mapped_anew_fails_for_the_5000th_region)
{
	unsigned char *page = map_at(NULL, 0);
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	struct ibv_mr *mr;

	NOT_ON_RXE("it sends what the old page has");
	for (int i = 0; i < 5000; i++) {
		mr = ibv_reg_mr(w.near.pd, page, FAULT_PAGE, END_ACCESS);
		assert_non_null(mr);
		OK(ibv_dereg_mr(mr));
	}
	mr = ibv_reg_mr(w.near.pd, page, FAULT_PAGE, END_ACCESS);
	assert_non_null(mr);
	map_over(page);
	*wr->sg_list = (struct ibv_sge){(uintptr_t)page, 8, mr->lkey};
	post(wr);
	EXPECT_WC(w.near.cq, 1, IBV_WC_LOC_PROT_ERR);
	OK(ibv_dereg_mr(mr));
	OK(munmap(page, FAULT_PAGE));
}

/* It is there at the first touch, by a thread or by the device. */
PAIR_TEST(untouched__pages_are_read_and_written)
{
	static const unsigned char zeros[8];
	const size_t length = 3 * FAULT_PAGE;
	unsigned char *fresh = mmap(NULL, length, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(w.near.pd, fresh, length, END_ACCESS);
	struct ibv_send_wr *wr;

	assert_non_null(mr);
	wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	*wr->sg_list = (struct ibv_sge){(uintptr_t)fresh, 8, mr->lkey};
	done(wr);
	assert_memory_equal(w.far_memory, zeros, 8);
	wr = work(IBV_WR_RDMA_READ, 0, 8, 64);
	*wr->sg_list = (struct ibv_sge){(uintptr_t)fresh + FAULT_PAGE, 8, mr->lkey};
	done(wr);
	assert_memory_equal(fresh + FAULT_PAGE, w.far_memory + 64, 8);
	OK(ibv_dereg_mr(mr));
	OK(munmap(fresh, length));
}
