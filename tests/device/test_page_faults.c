/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_page_faults.c -- requests on pages of a region that the program has unmapped or protected:
 * an error completion, at the end where the page is, and no signal at either.
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

static const struct CMUnitTest tests[] = {
	PAIR_TEST(write__to_an_unmapped_page_fails),
	PAIR_TEST(write__to_a_protected_page_fails),
	PAIR_TEST(write__to_a_page_made_read_only_fails),
	PAIR_TEST(read__of_an_unmapped_page_fails),
	PAIR_TEST(atomic__on_an_unmapped_page_fails),
	PAIR_TEST(write__from_an_unmapped_page_fails),
	PAIR_TEST(read__into_an_unmapped_page_fails),
};

DEVICE_TESTS("page_faults", tests)
