/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_mr_more.c -- regions that move, begin at 0, hold all of the address space or nothing at
 * all; advice about them; device memory. Two queue pairs of one end use them.
 */
#include "pair.h"

#include <limits.h>
#include <sys/mman.h>

#define PAGE 4096u

static struct end *const end = &w.near;

static struct ibv_qp *target;

/* A region of the first page; the others are there to move to. */
static int setup_end(void **unused)
{
	struct end_options options = end_defaults();

	end_open(end, &options, -1);
	target = end_to_another(end);
	fill(end->memory, END_MEMORY, 3);
	return 0;
}

static int teardown_end(void **unused)
{
	OK(ibv_destroy_qp(target));
	end_close(end);
	return 0;
}

static struct ibv_mr *reg(size_t offset, size_t length, unsigned access)
{
	struct ibv_mr *mr = ibv_reg_mr(end->pd, end->memory + offset, length, access);

	assert_non_null(mr);
	return mr;
}

/* Writes `length` bytes from one region to the other, by the addresses that they have. */
static void write_between(const struct ibv_mr *from, uint64_t from_addr, const struct ibv_mr *to,
			  uint64_t to_addr, uint32_t length, enum ibv_wc_status status)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, length, 0);

	wr->sg_list->addr = from_addr;
	wr->sg_list->lkey = from->lkey;
	wr->wr.rdma.remote_addr = to_addr;
	wr->wr.rdma.rkey = to->rkey;
	post(wr);
	EXPECT_WC(end->cq, 1, status);
}

static uint64_t at(size_t offset)
{
	return (uintptr_t)end->memory + offset;
}

/* --- ibv_rereg_mr(3) --- */

TEST(rereg__moves_a_region, setup_end, teardown_end)
{
	struct ibv_mr *mr;

	NOT_ON_RXE("it changes no translation");
	mr = reg(0, PAGE, END_ACCESS);
	OK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end->memory + 4 * PAGE, 100, 0));
	assert_ptr_equal(mr->addr, end->memory + 4 * PAGE);
	assert_int_equal(mr->length, 100);
	write_between(end->mr, at(0), mr, at(4 * PAGE), 100, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + 4 * PAGE, end->memory, 100);
	write_between(mr, at(4 * PAGE), end->mr, at(8 * PAGE), 100, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + 8 * PAGE, end->memory, 100);
	OK(ibv_dereg_mr(mr));
}

TEST(rereg__leaves_the_old_memory, setup_end, teardown_end)
{
	struct ibv_mr *mr;

	NOT_ON_RXE("it changes no translation");
	mr = reg(0, PAGE, END_ACCESS);
	OK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end->memory + PAGE, PAGE, 0));
	write_between(end->mr, at(8 * PAGE), mr, at(0), 8, IBV_WC_REM_ACCESS_ERR);
	OK(ibv_dereg_mr(mr));
}

TEST(rereg__moves_and_changes_access_and_domain, setup_end, teardown_end)
{
	struct ibv_pd *other;
	struct ibv_mr *mr;
	const int flags = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS |
			  IBV_REREG_MR_CHANGE_PD;

	NOT_ON_RXE("it changes no translation");
	other = ibv_alloc_pd(end->context);
	mr = ibv_reg_mr(other, end->memory, PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	OK(ibv_rereg_mr(mr, flags, end->pd, end->memory + PAGE, PAGE, END_ACCESS));
	assert_ptr_equal(mr->pd, end->pd);
	OK(ibv_dealloc_pd(other));
	write_between(end->mr, at(0), mr, at(PAGE), PAGE, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + PAGE, end->memory, PAGE);
	OK(ibv_dereg_mr(mr));
}

/* Pages that are mapped again belong to the region again. */
TEST(rereg__after_munmap_takes_what_is_there, setup_end, teardown_end)
{
	struct ibv_mr *mr;
	void *again;

	NOT_ON_RXE("it changes no translation");
	mr = reg(4 * PAGE, PAGE, END_ACCESS);
	OK(munmap(end->memory + 4 * PAGE, PAGE));
	again = mmap(end->memory + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(again, end->memory + 4 * PAGE);
	OK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end->memory + 4 * PAGE, PAGE,
			0));
	write_between(end->mr, at(0), mr, at(4 * PAGE), 8, IBV_WC_SUCCESS);
	OK(ibv_dereg_mr(mr));
}

TEST(rereg__to_memory_that_is_not_there_fails, setup_end, teardown_end)
{
	struct ibv_mr *mr;
	void *hole;

	NOT_ON_RXE("it changes no translation");
	hole = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(hole, MAP_FAILED);
	mr = reg(0, PAGE, END_ACCESS);
	errno = 0;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, hole, PAGE, 0),
			 IBV_REREG_MR_ERR_CMD);
	assert_int_equal(errno, EFAULT);
	OK(ibv_dereg_mr(mr));
	OK(munmap(hole, PAGE));
}

/* --- IBV_ACCESS_ZERO_BASED --- */

/* ibv_reg_mr(3): "Use byte offset from beginning of MR to access this MR" */
TEST(zero_based__region_has_offsets_for_addresses, setup_end, teardown_end)
{
	struct ibv_mr *mr;

	NOT_ON_RXE("it refuses the flag");
	mr = reg(4 * PAGE + 100, 1000, END_ACCESS | IBV_ACCESS_ZERO_BASED);
	write_between(end->mr, at(0), mr, 0, 600, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + 4 * PAGE + 100, end->memory, 600);
	write_between(mr, 200, end->mr, at(8 * PAGE), 400, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + 8 * PAGE, end->memory + 200, 400);
	write_between(end->mr, at(0), mr, 600, 401, IBV_WC_REM_ACCESS_ERR);
	OK(ibv_dereg_mr(mr));
}

TEST(zero_based__region_stays_so_when_it_moves, setup_end, teardown_end)
{
	struct ibv_mr *mr;

	NOT_ON_RXE("it refuses the flag");
	mr = reg(4 * PAGE, 1000, END_ACCESS | IBV_ACCESS_ZERO_BASED);
	OK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, end->memory + 5 * PAGE, 10, 0));
	write_between(end->mr, at(0), mr, 0, 10, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + 5 * PAGE, end->memory, 10);
	OK(ibv_dereg_mr(mr));
}

/* --- on-demand paging --- */

static bool has_odp(uint64_t general)
{
	struct ibv_device_attr_ex attr = {0};

	OK(ibv_query_device_ex(end->context, NULL, &attr));
	return (attr.odp_caps.general_caps & general) == general;
}

TEST(implicit__region_reaches_all_memory, setup_end, teardown_end)
{
	static unsigned char bytes[64];
	struct ibv_mr *mr;

	SKIP_UNLESS(has_odp(IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT),
		    "the device has no implicit regions");
	mr = ibv_reg_mr(end->pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	fill(bytes, sizeof(bytes), 9);
	write_between(mr, (uintptr_t)bytes, end->mr, at(0), sizeof(bytes), IBV_WC_SUCCESS);
	assert_memory_equal(end->memory, bytes, sizeof(bytes));
	OK(ibv_dereg_mr(mr));
}

TEST(implicit__region_needs_on_demand_paging, setup_end, teardown_end)
{
	assert_null(ibv_reg_mr(end->pd, NULL, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE));
}

static int advise(int advice, struct ibv_mr *mr, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {addr, length, mr->lkey};

	return ibv_advise_mr(end->pd, (enum ibv_advise_mr_advice)advice, IBV_ADVISE_MR_FLAG_FLUSH,
			     &sge, 1);
}

static struct ibv_mr *reg_on_demand(size_t offset, size_t length, unsigned access)
{
	SKIP_UNLESS(has_odp(IBV_ODP_SUPPORT), "the device has no on-demand paging");
	NOT_ON_RXE("it takes advice since Linux 6.15 alone");
	return reg(offset, length, access | IBV_ACCESS_ON_DEMAND);
}

static bool is_resident(size_t offset)
{
	unsigned char page = 0;

	OK(mincore(end->memory + offset, PAGE, &page));
	return (page & 1) != 0;
}

TEST(advice__brings_the_pages, setup_end, teardown_end)
{
	struct ibv_mr *mr = reg_on_demand(4 * PAGE, 4 * PAGE, END_ACCESS);

	OK(madvise(end->memory + 4 * PAGE, 4 * PAGE, MADV_DONTNEED));
	assert_false(is_resident(5 * PAGE));
	OK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, mr, at(5 * PAGE), PAGE));
	EQUAL((is_resident(5 * PAGE), true), (is_resident(6 * PAGE), false));
	OK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, mr, at(6 * PAGE), 1));
	OK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, mr, at(7 * PAGE), PAGE));
	assert_false(is_resident(7 * PAGE));
	OK(ibv_dereg_mr(mr));
}

TEST(advice__is_refused_with_the_reason, setup_end, teardown_end)
{
	struct ibv_mr *mr = reg_on_demand(0, PAGE, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *fixed = reg(0, PAGE, 0), *read_only = reg_on_demand(0, PAGE, 0);
	const int write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct ibv_pd *other = ibv_alloc_pd(end->context);
	struct ibv_mr *foreign =
		ibv_reg_mr(other, end->memory, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	struct ibv_sge sge = {at(0), PAGE, mr->lkey};

	FAILS(EFAULT, advise(write, mr, at(1), PAGE)); /* "out of the MR bounds" */
	FAILS(EPERM, advise(write, read_only, at(0), 8));
	FAILS(EPERM, advise(write, foreign, at(0), 8)); /* "outside the caller's security scope" */
	FAILS(ENOENT, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, fixed, at(0), 8));
	FAILS(EOPNOTSUPP, advise(17, mr, at(0), 8));
	FAILS(EINVAL, ibv_advise_mr(end->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 1u << 9, &sge, 1));
	FAILS(EINVAL, ibv_advise_mr(end->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 0));
	OK(ibv_dereg_mr(foreign));
	OK(ibv_dealloc_pd(other));
	OK(ibv_dereg_mr(read_only));
	OK(ibv_dereg_mr(fixed));
	OK(ibv_dereg_mr(mr));
}

/* --- ibv_alloc_null_mr(3) --- */

static struct ibv_mr *null_mr(void)
{
	struct ibv_mr *mr = ibv_alloc_null_mr(end->pd);

	SKIP_UNLESS(mr != NULL || (errno != EOPNOTSUPP && errno != ENOSYS),
		    "the device has no null regions");
	assert_non_null(mr);
	return mr;
}

TEST(null__region_discards_what_comes_and_gives_zeros, setup_end, teardown_end)
{
	static const unsigned char zeros[3000];
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_READ, 0, 100, 0);
	struct ibv_mr *mr = null_mr();

	wr->sg_list->addr = 0;
	wr->sg_list->lkey = mr->lkey;
	wr->wr.rdma.remote_addr = at(0);
	wr->wr.rdma.rkey = end->mr->rkey;
	done(wr);
	/* any address will do */
	write_between(mr, 0x1234567, end->mr, at(PAGE), sizeof(zeros), IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + PAGE, zeros, sizeof(zeros));
	OK(ibv_dereg_mr(mr));
}

/* It takes a part of a message that the receiver does not want. */
TEST(null__region_takes_the_middle_of_a_receive, setup_end, teardown_end)
{
	struct ibv_mr *mr = null_mr();
	struct ibv_sge parts[3] = {{at(4 * PAGE), 10, end->mr->lkey},
				   {0, 80, mr->lkey},
				   {at(4 * PAGE) + 10, 10, end->mr->lkey}};
	struct ibv_recv_wr wr = {.wr_id = 5, .sg_list = parts, .num_sge = 3}, *bad = NULL;
	struct ibv_send_wr *send = work(IBV_WR_SEND, 0, 100, 0);

	OK(ibv_post_recv(target, &wr, &bad));
	send->send_flags = 0;
	post(send);
	EXPECT_WC(end->cq, 5, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + 4 * PAGE, end->memory, 10);
	assert_memory_equal(end->memory + 4 * PAGE + 10, end->memory + 90, 10);
	OK(ibv_dereg_mr(mr));
}

/* "only the lkey is valid, the MR is not exposed as an rkey" */
TEST(null__region_is_for_no_peer, setup_end, teardown_end)
{
	struct ibv_mr *mr = null_mr();
	struct ibv_mr as_if = {.rkey = mr->lkey};

	write_between(end->mr, at(0), &as_if, 0, 8, IBV_WC_REM_ACCESS_ERR);
	OK(ibv_dereg_mr(mr));
}

/* "The use of ibv_rereg_mr() or ibv_bind_mw() with this MR is invalid." */
TEST(null__region_stays_what_it_is, setup_end, teardown_end)
{
	struct ibv_mr *mr = null_mr();

	assert_int_not_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, END_ACCESS), 0);
	assert_int_equal(errno, EINVAL);
	OK(ibv_dereg_mr(mr));
}

/* --- ibv_alloc_dm(3) --- */

#define DM_BYTES 4096u

static struct ibv_dm *alloc_dm(void)
{
	struct ibv_alloc_dm_attr attr = {.length = DM_BYTES};
	struct ibv_device_attr_ex device = {0};
	struct ibv_dm *dm;

	OK(ibv_query_device_ex(end->context, NULL, &device));
	SKIP_UNLESS(device.max_dm_size >= DM_BYTES, "the device has no memory");
	dm = ibv_alloc_dm(end->context, &attr);
	assert_non_null(dm);
	return dm;
}

TEST(dm__is_copied_to_and_from, setup_end, teardown_end)
{
	struct ibv_dm *dm = alloc_dm();
	unsigned char back[64];

	OK(ibv_memcpy_to_dm(dm, 128, end->memory, sizeof(back)));
	OK(ibv_memcpy_from_dm(back, dm, 128, sizeof(back)));
	assert_memory_equal(back, end->memory, sizeof(back));
	assert_int_not_equal(ibv_memcpy_to_dm(dm, DM_BYTES, back, 4), 0);
	assert_int_not_equal(ibv_memcpy_from_dm(back, dm, DM_BYTES - 4, 8), 0);
	OK(ibv_free_dm(dm));
}

TEST(dm__region_begins_at_0, setup_end, teardown_end)
{
	struct ibv_dm *dm = alloc_dm();
	unsigned char back[64];
	struct ibv_mr *mr = ibv_reg_dm_mr(end->pd, dm, 1024, 1024,
					  (unsigned)END_ACCESS | (unsigned)IBV_ACCESS_ZERO_BASED);

	assert_non_null(mr);
	write_between(end->mr, at(0), mr, 64, 64, IBV_WC_SUCCESS);
	OK(ibv_memcpy_from_dm(back, dm, 1024 + 64, sizeof(back)));
	assert_memory_equal(back, end->memory, sizeof(back));
	write_between(mr, 64, end->mr, at(PAGE), 64, IBV_WC_SUCCESS);
	assert_memory_equal(end->memory + PAGE, end->memory, 64);
	FAILS(EBUSY, ibv_free_dm(dm));
	write_between(end->mr, at(0), mr, 1000, 25, IBV_WC_REM_ACCESS_ERR);
	OK(ibv_dereg_mr(mr));
	OK(ibv_free_dm(dm));
}

TEST(dm__refuses_wrong_arguments, setup_end, teardown_end)
{
	struct ibv_dm *dm = alloc_dm();
	struct ibv_alloc_dm_attr attr = {.length = DM_BYTES, .comp_mask = 1};
	struct ibv_device_attr_ex device = {0};

	NONE(EINVAL, ibv_alloc_dm(end->context, &attr));
	OK(ibv_query_device_ex(end->context, NULL, &device));
	attr = (struct ibv_alloc_dm_attr){.length = device.max_dm_size + 1};
	assert_null(ibv_alloc_dm(end->context, &attr));
	NONE(EINVAL, ibv_reg_dm_mr(end->pd, dm, 0, 64, IBV_ACCESS_LOCAL_WRITE));
	NONE(EINVAL, ibv_reg_dm_mr(end->pd, dm, 4, DM_BYTES, IBV_ACCESS_ZERO_BASED));
	NONE(EINVAL,
	     ibv_reg_dm_mr(end->pd, dm, 0, 64,
			   (unsigned)IBV_ACCESS_ZERO_BASED | (unsigned)IBV_ACCESS_REMOTE_WRITE));
	OK(ibv_free_dm(dm));
}
