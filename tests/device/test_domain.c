/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_domain.c -- parent domains and thread domains: ibv_alloc_parent_domain(3), ibv_alloc_td(3).
 * rxe has neither.
 */
#include "pair.h"

static struct ibv_pd *parent;

/* The calls of the allocator below, and its answer. */
static struct {
	unsigned allocated;
	unsigned freed;
	size_t bytes;
	struct ibv_pd *pd;
	enum { OWN, DEVICES, NONE_AT_ALL } answer;
} asked;

static void *allocate(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		      uint64_t resource_type)
{
	void *memory = NULL;

	(void)resource_type;
	assert_ptr_equal(pd_context, &asked);
	asked.pd = pd;
	if (asked.answer == NONE_AT_ALL)
		return NULL;
	if (asked.answer == DEVICES)
		return IBV_ALLOCATOR_USE_DEFAULT;
	asked.allocated++;
	asked.bytes = size;
	assert_int_equal(posix_memalign(&memory, alignment, size), 0);
	memset(memory, 0, size); /* "initialized with zeros" */
	return memory;
}

static void release(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type)
{
	(void)resource_type;
	assert_ptr_equal(pd, asked.pd);
	assert_ptr_equal(pd_context, &asked);
	asked.freed++;
	free(ptr);
}

static int setup_domain(void **unused)
{
	memset(&asked, 0, sizeof(asked));
	return setup_pair(unused);
}

static struct ibv_parent_domain_init_attr of(struct ibv_pd *pd)
{
	return (struct ibv_parent_domain_init_attr){.pd = pd};
}

static struct ibv_parent_domain_init_attr with_allocator(struct ibv_pd *pd)
{
	return (struct ibv_parent_domain_init_attr){
		.pd = pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = allocate,
		.free = release,
		.pd_context = &asked,
	};
}

static void make_parent(struct ibv_parent_domain_init_attr attr)
{
	NOT_ON_RXE("it has no parent domains");
	parent = ibv_alloc_parent_domain(w.near.context, &attr);
	assert_non_null(parent);
}

/* Puts the near queue pair into the domain. */
static void move_near_to(struct ibv_pd *pd)
{
	struct ibv_pd *plain = w.near.pd;

	OK(ibv_destroy_qp(w.near.qp));
	w.near.pd = pd;
	w.near.qp = end_make_qp(&w.near);
	w.near.pd = plain;
	assert_non_null(w.near.qp);
}

static struct ibv_qp *target;

static void connect_near(void)
{
	end_to_init(&w.near);
	target = end_to_another(&w.near);
}

static void write_near(uint32_t lkey, uint32_t rkey)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->sg_list->lkey = lkey;
	wr->wr.rdma.remote_addr = (uintptr_t)w.near.memory + 4096;
	wr->wr.rdma.rkey = rkey;
	done(wr);
	assert_memory_equal(w.near.memory, w.near.memory + 4096, 64);
}

static void end_parent(void)
{
	OK(ibv_destroy_qp(target));
	OK(ibv_destroy_qp(w.near.qp));
	w.near.qp = NULL;
	OK(ibv_dealloc_pd(parent));
}

/* "pd Reference to the protection domain that this parent domain uses." */
TEST(parent__is_the_same_domain_for_keys, setup_domain, teardown_pair)
{
	struct ibv_mr *mr;

	make_parent(of(w.near.pd));
	assert_ptr_equal(parent->context, w.near.context);
	move_near_to(parent);
	assert_ptr_equal(w.near.qp->pd, parent);
	connect_near();
	mr = ibv_reg_mr(parent, w.near.memory, END_MEMORY, END_ACCESS);
	assert_non_null(mr);
	write_near(w.near.mr->lkey, mr->rkey);
	fill(w.near.memory, 64, 7);
	write_near(mr->lkey, w.near.mr->rkey);
	OK(ibv_dereg_mr(mr));
	end_parent();
}

TEST(parent__keeps_its_pd_busy, setup_domain, teardown_pair)
{
	struct ibv_pd *pd;

	NOT_ON_RXE("it has no parent domains");
	pd = ibv_alloc_pd(w.near.context);
	make_parent(of(pd));
	FAILS(EBUSY, ibv_dealloc_pd(pd));
	OK(ibv_dealloc_pd(parent));
	OK(ibv_dealloc_pd(pd));
}

TEST(parent__is_busy_while_a_region_is_in_it, setup_domain, teardown_pair)
{
	struct ibv_mr *mr;

	make_parent(of(w.near.pd));
	mr = ibv_reg_mr(parent, w.near.memory, 64, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	FAILS(EBUSY, ibv_dealloc_pd(parent));
	OK(ibv_dereg_mr(mr));
	OK(ibv_dealloc_pd(parent));
}

TEST(parent__is_busy_while_a_queue_uses_it, setup_domain, teardown_pair)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};
	struct ibv_cq_ex *cq;

	make_parent(of(w.near.pd));
	attr.parent_domain = parent;
	cq = ibv_create_cq_ex(w.near.context, &attr);
	assert_non_null(cq);
	FAILS(EBUSY, ibv_dealloc_pd(parent));
	OK(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	OK(ibv_dealloc_pd(parent));
}

TEST(allocator__gives_memory_and_gets_it_back, setup_domain, teardown_pair)
{
	make_parent(with_allocator(w.near.pd));
	move_near_to(parent);
	assert_int_equal(asked.allocated, 1);
	assert_ptr_equal(asked.pd, parent);
	assert_true(asked.bytes > 0);
	connect_near();
	for (unsigned i = 0; i < 40; i++)
		write_near(w.near.mr->lkey, w.near.mr->rkey);
	assert_int_equal(asked.freed, 0);
	end_parent();
	assert_int_equal(asked.freed, asked.allocated);
}

TEST(allocator__may_leave_it_to_the_device, setup_domain, teardown_pair)
{
	make_parent(with_allocator(w.near.pd));
	asked.answer = DEVICES;
	move_near_to(parent);
	assert_ptr_equal(asked.pd, parent);
	connect_near();
	write_near(w.near.mr->lkey, w.near.mr->rkey);
	end_parent();
	assert_int_equal(asked.freed, 0);
}

TEST(allocator__without_memory_fails_the_call, setup_domain, teardown_pair)
{
	struct ibv_qp_init_attr init;

	make_parent(with_allocator(w.near.pd));
	asked.answer = NONE_AT_ALL;
	init = (struct ibv_qp_init_attr){.send_cq = w.near.cq,
					 .recv_cq = w.near.cq,
					 .cap = w.near.options.cap,
					 .qp_type = IBV_QPT_RC};
	NONE(ENOMEM, ibv_create_qp(parent, &init));
	OK(ibv_dealloc_pd(parent));
}

static void refused(int error, struct ibv_parent_domain_init_attr attr)
{
	NONE(error, ibv_alloc_parent_domain(w.near.context, &attr));
}

TEST(parent__refuses_wrong_attributes, setup_domain, teardown_pair)
{
	struct ibv_parent_domain_init_attr attr;

	make_parent(of(w.near.pd));
	refused(EINVAL, of(NULL));
	refused(EINVAL, of(parent));
	attr = of(w.near.pd);
	attr.comp_mask = 1u << 20;
	refused(EINVAL, attr);
	attr = with_allocator(w.near.pd);
	attr.free = NULL;
	refused(EINVAL, attr);
	OK(ibv_dealloc_pd(parent));
}

TEST(create_cq_ex__takes_no_plain_pd, setup_domain, teardown_pair)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};

	NOT_ON_RXE("it has no parent domains");
	attr.parent_domain = w.near.pd;
	NONE(EINVAL, ibv_create_cq_ex(w.near.context, &attr));
	attr.parent_domain = NULL;
	NONE(EINVAL, ibv_create_cq_ex(w.near.context, &attr));
}

TEST(td__is_busy_while_a_parent_domain_uses_it, setup_domain, teardown_pair)
{
	struct ibv_td_init_attr attr = {0};
	struct ibv_parent_domain_init_attr with_td;
	struct ibv_td *td;

	NOT_ON_RXE("it has no thread domains");
	td = ibv_alloc_td(w.near.context, &attr);
	assert_non_null(td);
	assert_ptr_equal(td->context, w.near.context);
	with_td = of(w.near.pd);
	with_td.td = td;
	make_parent(with_td);
	FAILS(EBUSY, ibv_dealloc_td(td));
	OK(ibv_dealloc_pd(parent));
	OK(ibv_dealloc_td(td));
}

TEST(td__refuses_unknown_attributes, setup_domain, teardown_pair)
{
	struct ibv_td_init_attr attr = {.comp_mask = 1};

	NOT_ON_RXE("it has no thread domains");
	NONE(EINVAL, ibv_alloc_td(w.near.context, &attr));
}
