/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pd_mr.c -- protection domains and the registration of memory. */
#include "device_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4
#define PAGE  4096

static struct ibv_context *context;
static struct ibv_pd *pd;
static unsigned char *memory; /* PAGES pages */

static int setup_pd(void **unused)
{
	context = open_device();
	pd = ibv_alloc_pd(context);
	assert_non_null(pd);
	/* far below where mmap() puts what others allocate: a page that is unmapped stays so */
	memory = mmap((void *)(1UL << 45), PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	return 0;
}

static int teardown_pd(void **unused)
{
	OK(munmap(memory, PAGES * PAGE));
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
	return 0;
}

TEST(reg_mr__tells_what_was_registered, setup_pd, teardown_pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory + 10, 100, IBV_ACCESS_LOCAL_WRITE);

	assert_non_null(mr);
	assert_ptr_equal(mr->addr, memory + 10);
	assert_int_equal(mr->length, 100);
	assert_ptr_equal(mr->pd, pd);
	assert_ptr_equal(mr->context, context);
	OK(ibv_dereg_mr(mr));
}

TEST(reg_mr__takes_every_sensible_access, setup_pd, teardown_pd)
{
	static const unsigned accesses[] = {
		0,
		IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING,
	};

	for (size_t i = 0; i < ARRAY_LENGTH(accesses); i++) {
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, PAGE, accesses[i]);

		if (mr == NULL)
			fail_msg("access 0x%x: %s", accesses[i], strerror(errno));
		OK(ibv_dereg_mr(mr));
	}
}

/* ibv_reg_mr(3): "If IBV_ACCESS_REMOTE_WRITE or IBV_ACCESS_REMOTE_ATOMIC is set,
 * then IBV_ACCESS_LOCAL_WRITE must be set too." */
TEST(reg_mr__refuses_remote_changes_without_local_write, setup_pd, teardown_pd)
{
	NONE(EINVAL, ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_REMOTE_WRITE));
	NONE(EINVAL, ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_REMOTE_ATOMIC));
	NONE(EINVAL,
	     ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
}

TEST(reg_mr__refuses_accesses_it_does_not_know, setup_pd, teardown_pd)
{
	NONE(EINVAL, ibv_reg_mr(pd, memory, PAGE, 1U << 19));
}

TEST(reg_mr__refuses_memory_that_is_not_there, setup_pd, teardown_pd)
{
	OK(munmap(memory + PAGE, PAGE));
	NONE(EFAULT, ibv_reg_mr(pd, memory + PAGE, PAGE, IBV_ACCESS_LOCAL_WRITE));
	NONE(EFAULT, ibv_reg_mr(pd, memory, PAGES * PAGE, IBV_ACCESS_LOCAL_WRITE));
}

TEST(reg_mr__refuses_a_range_around_the_end_of_addresses, setup_pd, teardown_pd)
{
	assert_null(ibv_reg_mr(pd, memory, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE));
	assert_true(errno == EINVAL || errno == EFAULT || errno == ENOMEM);
}

/* The device writes to it, so the mapping has to allow that. */
TEST(reg_mr__refuses_local_write_on_memory_that_is_read_only, setup_pd, teardown_pd)
{
	OK(mprotect(memory, PAGE, PROT_READ));
	NONE(EFAULT, ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
}

TEST(reg_mr__takes_a_file, setup_pd, teardown_pd)
{
	int fd = memfd_create("target", MFD_CLOEXEC);
	void *file = MAP_FAILED;

	assert_true(fd >= 0);
	OK(ftruncate(fd, PAGE));
	file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	struct ibv_mr *mr = ibv_reg_mr(pd, file, PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	OK(ibv_dereg_mr(mr));
	OK(munmap(file, PAGE));
	close(fd);
}

/* A mapping goes on behind the end of its file; those pages are not there. */
TEST(reg_mr__refuses_a_file_that_has_become_shorter, setup_pd, teardown_pd)
{
	int fd = memfd_create("target", MFD_CLOEXEC);
	void *file = MAP_FAILED;

	assert_true(fd >= 0);
	OK(ftruncate(fd, 2 * PAGE));
	file = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	OK(ftruncate(fd, PAGE));
	NONE(EFAULT, ibv_reg_mr(pd, file, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE));
	OK(munmap(file, 2 * PAGE));
	close(fd);
}

static long resident_pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	long size, resident;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%ld %ld", &size, &resident), 2);
	fclose(statm);
	return resident;
}

TEST(reg_mr__touches_no_page, setup_pd, teardown_pd)
{
	const size_t length = (size_t)100 << 30;
	struct ibv_mr *mr;
	long before;
	void *large;

	NOT_ON_RXE("a NIC pins all pages");
	large = mmap(NULL, length, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	SKIP_UNLESS(large != MAP_FAILED, "no 100 GiB of addresses");
	before = resident_pages();
	mr = ibv_reg_mr(pd, large, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(mr);
	assert_true(resident_pages() - before < 4096);
	OK(ibv_dereg_mr(mr));
	OK(munmap(large, length));
}

TEST(reg_mr__registers_the_same_memory_often, setup_pd, teardown_pd)
{
	struct ibv_mr *mrs[64];

	for (size_t i = 0; i < ARRAY_LENGTH(mrs); i++) {
		mrs[i] = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE);
		assert_non_null(mrs[i]);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(mrs[i]->lkey, mrs[j]->lkey);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(mrs); i++)
		OK(ibv_dereg_mr(mrs[i]));
}

TEST(reg_mr__gives_no_key_again_at_once, setup_pd, teardown_pd)
{
	struct ibv_mr *mr =
		ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	uint32_t rkey = mr->rkey;

	OK(ibv_dereg_mr(mr));
	mr = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	assert_int_not_equal(mr->rkey, rkey);
	OK(ibv_dereg_mr(mr));
}

TEST(reg_mr_iova__has_addresses_of_its_own, setup_pd, teardown_pd)
{
	struct ibv_mr *mr = ibv_reg_mr_iova(pd, memory, PAGE, 0x10000, IBV_ACCESS_LOCAL_WRITE);

	SKIP_UNLESS(mr != NULL || errno != EOPNOTSUPP, "the device has no regions with an iova");
	assert_non_null(mr);
	assert_ptr_equal(mr->addr, memory);
	OK(ibv_dereg_mr(mr));
}

TEST(rereg_mr__changes_the_access_or_is_not_supported, setup_pd, teardown_pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE);
	int result = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);

	if (result != 0) {
		assert_int_equal(result, IBV_REREG_MR_ERR_CMD);
		assert_true(errno == EOPNOTSUPP || errno == ENOSYS);
	}
	OK(ibv_dereg_mr(mr));
}

TEST(rereg_mr__refuses_wrong_arguments, setup_pd, teardown_pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE);

	assert_int_equal(ibv_rereg_mr(mr, 1 << 10, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, PAGE, 0),
			 IBV_REREG_MR_ERR_INPUT);
	OK(ibv_dereg_mr(mr));
}

TEST(dealloc_pd__is_busy_while_a_region_is_there, setup_pd, teardown_pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE);

	FAILS(EBUSY, ibv_dealloc_pd(pd));
	OK(ibv_dereg_mr(mr));
}

TEST(dealloc_pd__is_busy_while_a_queue_is_there, setup_pd, teardown_pd)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);

	assert_non_null(srq);
	FAILS(EBUSY, ibv_dealloc_pd(pd));
	OK(ibv_destroy_srq(srq));
}

TEST(pds__are_many, setup_pd, teardown_pd)
{
	struct ibv_pd *many[32];

	for (size_t i = 0; i < ARRAY_LENGTH(many); i++) {
		many[i] = ibv_alloc_pd(context);
		assert_non_null(many[i]);
		assert_ptr_equal(many[i]->context, context);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(many); i++)
		OK(ibv_dealloc_pd(many[i]));
}

/* A program that asks for as many as it was told there may be. */
TEST(pds__are_as_many_as_the_device_tells, setup_pd, teardown_pd)
{
	struct ibv_device_attr attr;
	struct ibv_pd **all;
	int made = 0;

	OK(ibv_query_device(context, &attr));
	SKIP_UNLESS(attr.max_pd <= 1 << 17, "the device has too many to try");
	all = calloc((size_t)attr.max_pd, sizeof(struct ibv_pd *));
	assert_non_null(all);
	while (made < attr.max_pd && (all[made] = ibv_alloc_pd(context)) != NULL)
		made++;
	assert_int_equal(made, attr.max_pd - 1); /* `pd` is one */
	NONE(ENOMEM, ibv_alloc_pd(context));
	while (made > 0)
		OK(ibv_dealloc_pd(all[--made]));
	free(all);
}
