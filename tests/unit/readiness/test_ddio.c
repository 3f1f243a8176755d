/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ddio.c -- what the registers of root ports say of cache allocation, for
 * each combination of their bits and of the NICs below them.
 */
#include "made_ddio.h"

/* bit 7, bit 3, TPHDIS x the NIC's No Snoop, TPH bits 9:8, pci=notph */
TEST(each_combination_of_bits)
{
	static const struct {
		uint32_t zero, one;
		uint16_t control;
		int tph; /* -1: no capability */
		bool notph;
		enum ddio_state state;
	} cases[] = {
		{BIT_7, 0, 0, -1, false, DDIO_ON},
		{BIT_7, BIT_9, 0, -1, true, DDIO_ON},
		{BIT_7 | BIT_3, BIT_9, 0, -1, false, DDIO_ON},
		{0x00183091, 0, 0, -1, false, DDIO_ON},	 /* the lab note, before */
		{0x00183011, 0, 0, -1, false, DDIO_OFF}, /* and after */
		{0, 0, 0, -1, false, DDIO_OFF},
		{0, 0, NO_SNOOP, -1, false, DDIO_OFF}, /* without bit 3 it does not matter */
		{0, 0, 0, 0, false, DDIO_OFF_WARN},    /* TPH is there: software can enable it */
		{0, 0, 0, 1, false, DDIO_ON_POSSIBLE},
		{0, 0, 0, 3, false, DDIO_ON_POSSIBLE},
		{0, 0, 0, 0, true, DDIO_OFF_WARN},
		{0, BIT_9, 0, 0, false, DDIO_OFF},
		{BIT_3, 0, 0, 0, false, DDIO_OFF_WARN},
		{0, 0, 0, 1, true, DDIO_ON_POSSIBLE}, /* on is on, whatever was stated */
		{0, BIT_9, 0, 1, false, DDIO_OFF},
		{0, 0x100, 0, 1, false, DDIO_ON_POSSIBLE}, /* bit 8 is another bit */
		{BIT_3, 0, 0, -1, false, DDIO_OFF_WARN},
		{BIT_3, BIT_9, 0, 1, false, DDIO_OFF_WARN},
		{BIT_3, 0, NO_SNOOP, -1, false, DDIO_ON_POSSIBLE},
		{BIT_3, BIT_9, NO_SNOOP, -1, false, DDIO_ON_POSSIBLE},
		{BIT_3, 0, 0, 1, false, DDIO_ON_POSSIBLE}, /* TPH: no lenience */
		{BIT_3, 0, 0, 1, true, DDIO_ON_POSSIBLE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();
		struct ddio ddio;

		made_registers(made_port(facts), cases[i].zero, cases[i].one);
		made_control(made_nic(facts), cases[i].control);
		if (cases[i].tph >= 0)
			add_tph(made_nic(facts), (uint32_t)cases[i].tph);
		facts->platform.tph_disabled = cases[i].notph ? KNOWN_YES : KNOWN_NO;
		ddio = registers_of(facts);
		if (ddio.state != cases[i].state)
			fail_msg("case %zu: %s in place of %s: %s", i, ddio_state_name(ddio.state),
				 ddio_state_name(cases[i].state), ddio.why);
		EQUAL((ddio.read, true), (ddio.perfctrlsts[0], cases[i].zero),
		      (ddio.perfctrlsts[1], cases[i].one), (ddio.evidence, DDIO_REGISTERS),
		      (ddio.port, "0000:16:00.0"));
		made_free(facts);
	}
}

/* A NIC that cannot be read may send anything. */
TEST(an_unreadable_nic_is_never_off)
{
	static const struct {
		size_t len;
		uint32_t zero, one;
		enum ddio_state state;
	} cases[] = {
		{64, 0, 0, DDIO_ON_POSSIBLE}, {256, 0, 0, DDIO_ON_POSSIBLE}, /* TPH is beyond */
		{0, 0, 0, DDIO_ON_POSSIBLE},  {64, BIT_3, BIT_9, DDIO_ON_POSSIBLE},
		{64, 0, BIT_9, DDIO_OFF}, /* nothing of the NIC matters then */
		{64, BIT_7, 0, DDIO_ON},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();

		made_registers(made_port(facts), cases[i].zero, cases[i].one);
		made_nic(facts)->config.len = cases[i].len;
		assert_state(facts, cases[i].state, "");
		made_free(facts);
	}
}

HOST_TEST(a_nic_that_vanished_is_never_off)
{
	memset(made_nic(host)->config.bytes, 0xff, PCI_CONFIG_BYTES);
	assert_state(host, DDIO_ON_POSSIBLE, "cannot be read");
}

/* Haswell and Broadwell: decided, and marked. */
TEST(little_documented_ports_are_marked)
{
	static const struct {
		int model;
		int device;
	} cases[] = {{0x3f, 0x2f02}, {0x3f, 0x2f08}, {0x4f, 0x6f02}, {0x4f, 0x6f0a}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();

		facts->platform.model = cases[i].model;
		made_port(facts)->device = cases[i].device;
		assert_state(facts, DDIO_OFF, "");
		assert_true(registers_of(facts).low_confidence);
		made_registers(made_port(facts), BIT_7, 0);
		assert_state(facts, DDIO_ON, "");
		made_port(facts)->device = 0x2030;
		assert_state(facts, DDIO_UNKNOWN, "8086:2030");
		made_free(facts);
	}
}

HOST_TEST(a_port_on_skylake_is_not_marked)
{
	for (int device = 0x2030; device <= 0x2033; device++) {
		made_port(host)->device = device;
		assert_state(host, DDIO_OFF, "");
		assert_false(registers_of(host).low_confidence);
	}
}

/* Bridges between are passed by; the port above them decides. */
HOST_TEST(switches_between_do_not_matter)
{
	struct facts_chain *chain = &host->pci.chains[0];

	chain->functions[3] = chain->functions[1];
	made_function(&chain->functions[1], "0000:17:00.0", 0x10b5, 0x8747, MADE_UPSTREAM);
	made_function(&chain->functions[2], "0000:18:08.0", 0x10b5, 0x8747, MADE_DOWNSTREAM);
	/* what a switch has at 0x180 is not looked at */
	made_registers(&chain->functions[1], BIT_7, 0);
	chain->count = 4;
	assert_state(host, DDIO_OFF, "");
	made_registers(&chain->functions[0], BIT_7, 0);
	assert_state(host, DDIO_ON, "");
}

/* No Snoop is that of the physical function, TPH that of either. */
HOST_TEST(a_virtual_function_goes_by_both)
{
	struct facts_chain *chain = &host->pci.chains[0];
	struct facts_function *physical = &chain->functions[1], *virtual = &chain->functions[2];

	made_function(virtual, "0000:17:00.2", 0x15b3, 0x1018, MADE_ENDPOINT);
	made_put(virtual, 0, UINT32_MAX, 4);
	chain->count = 3;
	chain->nics = 2;
	assert_state(host, DDIO_OFF, "");
	made_registers(&chain->functions[0], BIT_3, 0);
	assert_state(host, DDIO_OFF_WARN, "");
	made_control(physical, NO_SNOOP);
	assert_state(host, DDIO_ON_POSSIBLE, "No Snoop");
	made_registers(&chain->functions[0], 0, 0);
	add_tph(virtual, 1);
	assert_state(host, DDIO_ON_POSSIBLE, "TPH");
	made_put(virtual, 0x140 + 8, 0, 4);
	assert_state(host, DDIO_OFF_WARN, "TPH");
	add_tph(physical, 1);
	assert_state(host, DDIO_ON_POSSIBLE, "TPH");
}

/* In the order of how bad they are: of two, the worse one is that of both. */
TEST(the_worst_of_several_nics_counts)
{
	static const enum ddio_state order[] = {DDIO_OFF, DDIO_OFF_WARN, DDIO_ON_POSSIBLE,
						DDIO_UNKNOWN, DDIO_ON};

	for (int a = 0; a < 5; a++) {
		for (int b = 0; b < 5; b++) {
			struct facts *facts = made_facts();

			made_state(&facts->pci.chains[0], order[a]);
			made_state(made_another(facts), order[b]);
			assert_int_equal(registers_of(facts).state, order[a > b ? a : b]);
			if (a != b)
				assert_string_equal(registers_of(facts).port,
						    a > b ? "0000:16:00.0" : "0000:64:00.0");
			made_free(facts);
		}
	}
}

HOST_TEST(on_is_on_even_where_not_all_nics_were_seen)
{
	host->pci.cut = true;
	made_registers(made_port(host), BIT_7, 0);
	assert_state(host, DDIO_ON, "");
}

/* A port and a NIC of which all but what makes them one is noise. */
static void make_noise(struct facts *facts, uint64_t *seed)
{
	for (size_t i = 0; i < 2; i++) {
		struct facts_function *f = &facts->pci.chains[0].functions[i];

		/* seldom, so that most lists still lead somewhere */
		for (size_t at = 0x50; at < PCI_CONFIG_BYTES; at++) {
			if (test_random(seed) % 64 == 0)
				f->config.bytes[at] = (uint8_t)test_random(seed);
		}
	}
	made_registers(made_port(facts), (uint32_t)test_random(seed) & 0x000fffff,
		       (uint32_t)test_random(seed) & 0x3ff);
}

/* Off never with bit 7 or 3, on never without bit 7, whatever else there is. */
TEST(noise_is_never_taken_for_off)
{
	size_t seen[5] = {0};
	uint64_t seed = 1;

	for (int i = 0; i < 4000; i++) {
		struct facts *facts = made_facts();
		struct ddio ddio;
		uint32_t zero;

		make_noise(facts, &seed);
		ddio = registers_of(facts);
		zero = made_port(facts)->config.bytes[0x180];
		seen[ddio.state]++;
		if (ddio.state == DDIO_OFF)
			assert_int_equal(zero & (BIT_7 | BIT_3), 0);
		if (ddio.state == DDIO_OFF_WARN || ddio.state == DDIO_ON_POSSIBLE)
			assert_int_equal(zero & BIT_7, 0);
		if (ddio.state == DDIO_ON)
			assert_int_equal(zero & BIT_7, BIT_7);
		made_free(facts);
	}
	assert_true(seen[DDIO_UNKNOWN] > 0 && seen[DDIO_ON] > 0 && seen[DDIO_OFF] > 0);
}
