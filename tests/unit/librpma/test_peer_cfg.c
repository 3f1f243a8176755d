/* SPDX-License-Identifier: BSD-3-Clause */
/* test_peer_cfg.c -- the peer configuration and its one-byte descriptor. */
#include "every_call_fails.h"

SETUP(setup_pcfg, setup_nothing, expect(0, rpma_peer_cfg_new(&w.pcfg)))

static bool direct_write(void)
{
	bool supported = false;

	expect(0, rpma_peer_cfg_get_direct_write_to_pmem(w.pcfg, &supported));
	return supported;
}

TEST(set_direct_write__is_what_get_gives, setup_pcfg, teardown)
{
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, true));
	assert_true(direct_write());
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, false));
	assert_false(direct_write());
}

TEST(descriptor__is_one_byte_0_or_1, setup_pcfg, teardown)
{
	unsigned char desc[2] = {0xee, 0xee};
	size_t size = 0;

	expect(0, rpma_peer_cfg_get_descriptor_size(w.pcfg, &size));
	assert_int_equal(size, 1);
	expect(0, rpma_peer_cfg_get_descriptor(w.pcfg, desc));
	assert_int_equal(desc[0], 0);
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, true));
	expect(0, rpma_peer_cfg_get_descriptor(w.pcfg, desc));
	EQUAL((desc[0], 1), (desc[1], 0xee));
}

TEST(from_descriptor__reads_the_first_byte, setup_nothing, teardown)
{
	static const struct {
		unsigned char desc[2];
		size_t size;
		bool supported;
	} cases[] = {
		{{0, 0xff}, 1, false}, {{1, 0xff}, 1, true},
		{{0x80, 0}, 1, true},  {{0, 0xff}, 2, false}, /* a tail is ignored */
		{{1, 0}, 2, true},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		expect(0, rpma_peer_cfg_from_descriptor(cases[i].desc, cases[i].size, &w.pcfg));
		assert_int_equal(direct_write(), cases[i].supported);
		expect(0, rpma_peer_cfg_delete(&w.pcfg));
	}
}

TEST(from_descriptor__encodes_any_truth_as_1, setup_nothing, teardown)
{
	unsigned char desc = 0x80;

	expect(0, rpma_peer_cfg_from_descriptor(&desc, 1, &w.pcfg));
	expect(0, rpma_peer_cfg_get_descriptor(w.pcfg, &desc));
	assert_int_equal(desc, 1);
}

TEST(from_descriptor__refuses_an_empty_descriptor, setup_nothing, teardown)
{
	struct rpma_peer_cfg *pcfg = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_peer_cfg_from_descriptor("", 0, &pcfg));
	assert_ptr_equal(pcfg, UNTOUCHED);
}

TEST(null__is_refused, setup_pcfg, teardown)
{
	struct rpma_peer_cfg *pcfg = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_peer_cfg_new(NULL));
	expect(RPMA_E_INVAL, rpma_peer_cfg_delete(NULL));
	expect(RPMA_E_INVAL, rpma_peer_cfg_set_direct_write_to_pmem(NULL, true));
	REFUSES_NULL(rpma_peer_cfg_get_direct_write_to_pmem, w.pcfg, bool);
	REFUSES_NULL(rpma_peer_cfg_get_descriptor, w.pcfg, char);
	REFUSES_NULL(rpma_peer_cfg_get_descriptor_size, w.pcfg, size_t);
	expect(RPMA_E_INVAL, rpma_peer_cfg_from_descriptor(NULL, 1, &pcfg));
	expect(RPMA_E_INVAL, rpma_peer_cfg_from_descriptor("", 1, NULL));
	assert_ptr_equal(pcfg, UNTOUCHED);
}

MAKES(new_pcfg, struct rpma_peer_cfg, w.pcfg, rpma_peer_cfg_new(&made))

MAKES(decode_pcfg, struct rpma_peer_cfg, w.pcfg, rpma_peer_cfg_from_descriptor("\1", 1, &made))

TEST(constructors__survive_every_failing_call, setup_nothing, teardown)
{
	every_call_fails(&(struct operation){
		.function = "rpma_peer_cfg_new", .setup = setup_nothing, .act = new_pcfg});
	every_call_fails(&(struct operation){.function = "rpma_peer_cfg_from_descriptor",
					     .setup = setup_nothing,
					     .act = decode_pcfg});
}
