/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_page_faults.c -- requests on pages of a region that the program has unmapped or protected:
 * an error completion, at the end where the page is, and no signal at either; and on those that it
 * mapped again, or that no thread has touched.
 */
#include "pair.h"

#include <sys/mman.h>

#define FAULT_PAGE 4096

/* The program has unmapped or protected a page of the region. */
static void expect_page_fault(enum ibv_wr_opcode opcode, int protection, bool near,
			      enum ibv_wc_status status)
{
	unsigned char *page = (near ? w.near.memory : w.far_memory) + FAULT_PAGE;

	NOT_ON_RXE("a NIC has pinned the page, and uses it all the same");
	if (protection < 0)
		OK(munmap(page, FAULT_PAGE));
	else
		OK(mprotect(page, FAULT_PAGE, protection));
	post(work(opcode, FAULT_PAGE, 8, FAULT_PAGE));
	EXPECT_WC(w.near.cq, 1, status);
	if (protection < 0)
		assert_ptr_equal(mmap(page, FAULT_PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
				 page);
}

static void write__to_an_unmapped_page_fails(void **unused)
{
	expect_page_fault(IBV_WR_RDMA_WRITE, -1, false, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
}

static void write__to_a_protected_page_fails(void **unused)
{
	expect_page_fault(IBV_WR_RDMA_WRITE, PROT_NONE, false, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
}

static void write__to_a_page_made_read_only_fails(void **unused)
{
	expect_page_fault(IBV_WR_RDMA_WRITE, PROT_READ, false, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
}

static void read__of_an_unmapped_page_fails(void **unused)
{
	expect_page_fault(IBV_WR_RDMA_READ, -1, false, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
}

static void atomic__on_an_unmapped_page_fails(void **unused)
{
	expect_page_fault(IBV_WR_ATOMIC_FETCH_AND_ADD, -1, false, IBV_WC_REM_ACCESS_ERR);
	far_expect_error();
}

static void write__from_an_unmapped_page_fails(void **unused)
{
	expect_page_fault(IBV_WR_RDMA_WRITE, -1, true, IBV_WC_LOC_PROT_ERR);
}

static void read__into_an_unmapped_page_fails(void **unused)
{
	expect_page_fault(IBV_WR_RDMA_READ, -1, true, IBV_WC_LOC_PROT_ERR);
}

static void atomic__into_an_unmapped_page_is_executed_and_fails(void **unused)
{
	expect_page_fault(IBV_WR_ATOMIC_FETCH_AND_ADD, -1, true, IBV_WC_LOC_PROT_ERR);
}

static void renew(unsigned char *page)
{
	assert_ptr_equal(mmap(page, FAULT_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 page);
}

/* BUGS of rpma-soft(1): a NIC would write to the page that was there. */
static void write__reaches_a_page_mapped_anew(void **unused)
{
	NOT_ON_RXE("a NIC has pinned the old page");
	renew(w.far_memory + FAULT_PAGE);
	done(work(IBV_WR_RDMA_WRITE, 0, 8, FAULT_PAGE));
	assert_memory_equal(w.far_memory + FAULT_PAGE, w.near.memory, 8);
}

/* It is there at the first touch, by a thread or by the device. */
static void untouched__pages_are_read_and_written(void **unused)
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

static const struct CMUnitTest tests[] = {
	PAIR_TEST(write__to_an_unmapped_page_fails),
	PAIR_TEST(write__to_a_protected_page_fails),
	PAIR_TEST(write__to_a_page_made_read_only_fails),
	PAIR_TEST(read__of_an_unmapped_page_fails),
	PAIR_TEST(atomic__on_an_unmapped_page_fails),
	PAIR_TEST(write__from_an_unmapped_page_fails),
	PAIR_TEST(read__into_an_unmapped_page_fails),
	PAIR_TEST(atomic__into_an_unmapped_page_is_executed_and_fails),
	PAIR_TEST(write__reaches_a_page_mapped_anew),
	PAIR_TEST(untouched__pages_are_read_and_written),
};

DEVICE_TESTS("page_faults", tests)
