/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mr.c -- local memory regions: registration, descriptor, advice. */
#include "every_call_fails.h"

TEST(reg__gives_the_device_what_the_usage_needs, setup_nothing, teardown)
{
	static const struct {
		int usage;
		enum ibv_transport_type transport;
		int access;
	} cases[] = {
#define R IBV_ACCESS_REMOTE_READ
#define W IBV_ACCESS_REMOTE_WRITE
#define L IBV_ACCESS_LOCAL_WRITE
		{RPMA_MR_USAGE_READ_SRC, IBV_TRANSPORT_IB, R},
		{RPMA_MR_USAGE_READ_DST, IBV_TRANSPORT_IB, L},
		{RPMA_MR_USAGE_READ_DST, IBV_TRANSPORT_IWARP, L | W},
		{RPMA_MR_USAGE_WRITE_SRC, IBV_TRANSPORT_IB, L},
		{RPMA_MR_USAGE_WRITE_DST, IBV_TRANSPORT_IB, L | W},
		{RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, IBV_TRANSPORT_IB, R},
		{RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, IBV_TRANSPORT_IB, R},
		{RPMA_MR_USAGE_SEND, IBV_TRANSPORT_IB, 0},
		{RPMA_MR_USAGE_RECV, IBV_TRANSPORT_IB, L},
		{ALL_USAGES, IBV_TRANSPORT_IB, R | W | L},
#undef R
#undef W
#undef L
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		*provider.transport = cases[i].transport;
		make_peer();
		expect(0, rpma_mr_reg(w.peer, region, 100, cases[i].usage, &w.mr));
		assert_ptr_equal(provider.reg_mr.addr, region);
		EQUAL((provider.reg_mr.length, 100), (provider.reg_mr.access, cases[i].access));
		expect(0, rpma_mr_dereg(&w.mr));
		expect(0, rpma_peer_delete(&w.peer));
	}
}

TEST(reg__refuses_bad_arguments, setup_peer, teardown)
{
	struct rpma_mr_local *mr = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_mr_reg(NULL, region, 1, ALL_USAGES, &mr));
	expect(RPMA_E_INVAL, rpma_mr_reg(w.peer, NULL, 1, ALL_USAGES, &mr));
	expect(RPMA_E_INVAL, rpma_mr_reg(w.peer, region, 0, ALL_USAGES, &mr));
	expect(RPMA_E_INVAL, rpma_mr_reg(w.peer, region, 1, 0, &mr));
	expect(RPMA_E_INVAL, rpma_mr_reg(w.peer, region, 1, 0x200, &mr));
	expect(RPMA_E_INVAL, rpma_mr_reg(w.peer, region, 1, ALL_USAGES, NULL));
	assert_ptr_equal(mr, UNTOUCHED);
	assert_int_equal(calls_count("ibv_reg_mr"), 0);
}

/* A device that pages on demand, as far as RC reads and writes go. */
static int setup_odp_peer(void **unused)
{
	setup_nothing(unused);
	provider.device_attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
	provider.device_attr.odp_caps.per_transport_caps.rc_odp_caps =
		IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	make_peer();
	return 0;
}

TEST(reg__falls_back_to_paging_on_demand, setup_odp_peer, teardown)
{
	provider.reg_mr_errno_without_odp = EOPNOTSUPP;
	expect(0, rpma_mr_reg(w.peer, region, 1, RPMA_MR_USAGE_READ_SRC, &w.mr));
	EQUAL((provider.reg_mr.access, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND),
	      (calls_count("ibv_reg_mr"), 2));
}

TEST(reg__retries_only_what_paging_could_cure, setup_odp_peer, teardown)
{
	provider.reg_mr_errno_without_odp = EIO;
	expect(RPMA_E_PROVIDER, rpma_mr_reg(w.peer, region, 1, ALL_USAGES, &w.mr));
	assert_int_equal(calls_count("ibv_reg_mr"), 1);
}

TEST(reg__does_not_retry_without_paging, setup_peer, teardown)
{
	provider.reg_mr_errno_without_odp = EOPNOTSUPP;
	expect(RPMA_E_PROVIDER, rpma_mr_reg(w.peer, region, 1, ALL_USAGES, &w.mr));
	assert_int_equal(calls_count("ibv_reg_mr"), 1);
}

/* test_abi.py builds this with Debian's header and library, as programs were before 1.4 */
#ifdef BUILT_FOR_1_0
#define OUR_DESCRIPTOR_SIZE 21
#else
#define OUR_DESCRIPTOR_SIZE 22
#endif

TEST(descriptor__has_the_wire_format, setup_mr, teardown)
{
	unsigned char want[DESCRIPTOR_SIZE], desc[32] = {0};
	size_t size = 0;

	expect(0, rpma_mr_get_descriptor_size(w.mr, &size));
	assert_int_equal(size, DIFFERS(OUR_DESCRIPTOR_SIZE, 21,
				       "it cannot tell how the region was registered"));
	/* unaligned, as behind a user's header */
	memset(desc, 0xee, sizeof(desc));
	expect(0, rpma_mr_get_descriptor(w.mr, desc + 1));
	write_descriptor(want, (uintptr_t)region, REGION_SIZE, 0x20000, ALL_USAGES);
	assert_memory_equal(desc + 1, want, DESCRIPTOR_SIZE);
	EQUAL((desc[0], 0xee), (desc[1 + size], 0xee));
}

TEST(getters__give_what_was_registered, setup_mr, teardown)
{
	void *ptr = NULL;
	size_t size = 0;

	expect(0, rpma_mr_get_ptr(w.mr, &ptr));
	expect(0, rpma_mr_get_size(w.mr, &size));
	assert_ptr_equal(ptr, region);
	assert_int_equal(size, REGION_SIZE);
}

TEST(getters__refuse_null, setup_mr, teardown)
{
	REFUSES_NULL(rpma_mr_get_ptr, w.mr, void *);
	REFUSES_NULL(rpma_mr_get_size, w.mr, size_t);
	REFUSES_NULL(rpma_mr_get_descriptor, w.mr, size_t);
	REFUSES_NULL(rpma_mr_get_descriptor_size, w.mr, size_t);
}

TEST(advise__hands_the_range_to_the_device, setup_mr, teardown)
{
	expect(0, rpma_mr_advise(w.mr, 64, 128, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				 IBV_ADVISE_MR_FLAG_FLUSH));
	EQUAL((provider.advise_mr.advice, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE),
	      (provider.advise_mr.flags, IBV_ADVISE_MR_FLAG_FLUSH), (provider.advise_mr.num_sge, 1),
	      (provider.advise_mr.sge.addr, (uintptr_t)region + 64),
	      (provider.advise_mr.sge.length, 128), (provider.advise_mr.sge.lkey, 0x10000));
}

TEST(advise__maps_the_device_s_errno, setup_mr, teardown)
{
	static const struct {
		int errnum, result;
	} cases[] = {
		{EOPNOTSUPP, RPMA_E_NOSUPP}, {ENOTSUP, RPMA_E_NOSUPP}, {EFAULT, RPMA_E_INVAL},
		{EINVAL, RPMA_E_INVAL},	     {EIO, RPMA_E_PROVIDER},   {ENOMEM, RPMA_E_PROVIDER},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		calls_fail_on("ibv_advise_mr", cases[i].errnum);
		expect(cases[i].result, rpma_mr_advise(w.mr, 0, 1, 0, 0));
	}
}

TEST(advise__refuses_null, setup_nothing, teardown)
{
	OURS_ONLY("it crashes");
	expect(RPMA_E_INVAL, rpma_mr_advise(NULL, 0, 1, 0, 0));
}

TEST(advise__stays_inside_the_region, setup_mr, teardown)
{
	static const struct {
		size_t offset, len;
	} outside[] = {
		{0, REGION_SIZE + 1},	   {1, REGION_SIZE}, {REGION_SIZE + 1, 0},
		{SIZE_MAX, 2 /* wraps */}, {0, SIZE_MAX},
	};

	expect(0, rpma_mr_advise(w.mr, REGION_SIZE, 0, 0, 0));
	for (size_t i = 0; i < ARRAY_LENGTH(outside); i++)
		expect(DIFFERS(RPMA_E_INVAL, 0, "it leaves the check to the device"),
		       rpma_mr_advise(w.mr, outside[i].offset, outside[i].len, 0, 0));
}

TEST(advise__refuses_what_32_bits_cannot_say, setup_peer, teardown)
{
	expect(0, rpma_mr_reg(w.peer, region, UINT32_MAX + (size_t)1, ALL_USAGES, &w.mr));
	expect(DIFFERS(RPMA_E_INVAL, 0, "it cuts the length to 32 bits"),
	       rpma_mr_advise(w.mr, 0, UINT32_MAX + (size_t)1, 0, 0));
	expect(0, rpma_mr_advise(w.mr, 0, UINT32_MAX, 0, 0));
}

MAKES(reg_mr, struct rpma_mr_local, w.mr, rpma_mr_reg(w.peer, region, 1, ALL_USAGES, &made))

ENDS(dereg_mr, w.mr, rpma_mr_dereg(&w.mr))

TEST(reg_and_dereg__survive_every_failing_call, setup_nothing, teardown)
{
	every_call_fails(
		&(struct operation){.function = "rpma_mr_reg", .setup = setup_peer, .act = reg_mr});
	every_call_fails(&(struct operation){
		.function = "rpma_mr_dereg", .setup = setup_mr, .act = dereg_mr});
}
