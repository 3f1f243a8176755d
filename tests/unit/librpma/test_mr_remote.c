/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mr_remote.c -- decoding a peer's description of its memory. */
#include "every_call_fails.h"

#define FLUSH_TYPES (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

static int decode(uint64_t addr, uint64_t len, int usage, size_t desc_size)
{
	unsigned char desc[DESCRIPTOR_SIZE + 8] = {0};

	write_descriptor(desc, addr, len, 0xabcd, usage);
	return rpma_mr_remote_from_descriptor(desc, desc_size, &w.remote);
}

TEST(from_descriptor__takes_old_new_and_longer_ones, setup_nothing, teardown)
{
	size_t size;

	for (size_t desc_size = DESCRIPTOR_SIZE; desc_size < DESCRIPTOR_SIZE + 8; desc_size++) {
		assert_int_equal(decode(0x1000, 77, RPMA_MR_USAGE_WRITE_DST, desc_size), 0);
		expect(0, rpma_mr_remote_get_size(w.remote, &size));
		assert_int_equal(size, 77);
		expect(0, rpma_mr_remote_delete(&w.remote));
	}
}

TEST(from_descriptor__refuses_a_short_one, setup_nothing, teardown)
{
	unsigned char desc[DESCRIPTOR_SIZE];
	struct rpma_mr_remote *mr = UNTOUCHED;

	write_descriptor(desc, 0x1000, 1, 1, RPMA_MR_USAGE_READ_SRC);
	for (size_t size = 0; size < DESCRIPTOR_SIZE; size++)
		expect(RPMA_E_INVAL, rpma_mr_remote_from_descriptor(desc, size, &mr));
	assert_ptr_equal(mr, UNTOUCHED);
}

TEST(from_descriptor__refuses_what_is_no_region, setup_nothing, teardown)
{
	static const struct {
		uint64_t addr, len;
		int usage;
		int reference;
	} cases[] = {
		{0x1000, 16, 0, RPMA_E_INVAL}, /* its manual, too, has NOSUPP */
		{0x1000, 0, RPMA_MR_USAGE_READ_SRC, 0},
		{UINT64_MAX, 2, RPMA_MR_USAGE_READ_SRC, 0}, /* wraps */
		{2, UINT64_MAX, RPMA_MR_USAGE_READ_SRC, 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		unsigned char desc[DESCRIPTOR_SIZE];

		write_descriptor(desc, cases[i].addr, cases[i].len, 1, cases[i].usage);
		expect(DIFFERS(RPMA_E_NOSUPP, cases[i].reference, "it takes what no region can be"),
		       rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote));
		rpma_mr_remote_delete(&w.remote);
	}
}

TEST(from_descriptor__takes_a_region_up_to_the_last_byte, setup_nothing, teardown)
{
	assert_int_equal(decode(UINT64_MAX - 15, 16, RPMA_MR_USAGE_READ_SRC, DESCRIPTOR_SIZE), 0);
}

TEST(get_flush_type__gives_the_usage_bits, setup_nothing, teardown)
{
	static const int usages[] = {
		RPMA_MR_USAGE_WRITE_DST,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
		ALL_USAGES,
	};

	for (size_t i = 0; i < ARRAY_LENGTH(usages); i++) {
		int flush_type = -1;

		assert_int_equal(decode(0x1000, 1, usages[i], DESCRIPTOR_SIZE), 0);
		expect(0, rpma_mr_remote_get_flush_type(w.remote, &flush_type));
		assert_int_equal(flush_type, usages[i] & FLUSH_TYPES);
		expect(0, rpma_mr_remote_delete(&w.remote));
	}
}

TEST(null__is_refused, setup_mr, teardown)
{
	unsigned char desc[DESCRIPTOR_SIZE] = {0};
	struct rpma_mr_remote *mr = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_mr_remote_from_descriptor(NULL, sizeof(desc), &mr));
	expect(RPMA_E_INVAL, rpma_mr_remote_from_descriptor(desc, sizeof(desc), NULL));
	REFUSES_NULL(rpma_mr_remote_get_size, w.remote, size_t);
	REFUSES_NULL(rpma_mr_remote_get_flush_type, w.remote, int);
	expect(RPMA_E_INVAL, rpma_mr_remote_delete(NULL));
	assert_ptr_equal(mr, UNTOUCHED);
}

static int decode_region(void)
{
	unsigned char desc[DESCRIPTOR_SIZE];
	struct rpma_mr_remote *mr = UNTOUCHED;
	int ret;

	write_descriptor(desc, 0x1000, 1, 1, RPMA_MR_USAGE_READ_SRC);
	ret = rpma_mr_remote_from_descriptor(desc, sizeof(desc), &mr);
	keep_made(ret, mr, w.remote);
	return ret;
}

SURVIVES(from_descriptor, .function = "rpma_mr_remote_from_descriptor", .setup = setup_nothing,
	 .act = decode_region)
