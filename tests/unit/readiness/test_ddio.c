/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ddio.c -- the decision on cache allocation, branch by branch: where the
 * registers are, what their bits mean, and what a probe and an operator add.
 *
 * Bit 7 of the dword at 0x180 allows allocation, bit 3 No Snoop writes to
 * allocate; bit 9 of the dword at 0x184 makes the port ignore TPH.
 */
#include "common/readiness/ddio.h"
#include "made_facts.h"

#define BIT_3	 0x8U
#define BIT_7	 0x80U
#define BIT_9	 0x200U

#define NO_SNOOP 0x0800 /* of device control */

static struct ddio registers_of(struct facts *facts)
{
	struct ddio ddio;

	ddio_of_registers(facts, &ddio);
	return ddio;
}

static void assert_state(struct facts *facts, enum ddio_state state, const char *why)
{
	struct ddio ddio = registers_of(facts);

	if (ddio.state != state || strstr(ddio.why, why) == NULL)
		fail_msg("%s, \"%s\" in place of %s, \"...%s...\"", ddio_state_name(ddio.state),
			 ddio.why, ddio_state_name(state), why);
	if (state == DDIO_UNKNOWN) {
		assert_int_equal(ddio.evidence, DDIO_NO_EVIDENCE);
		assert_false(ddio.read);
	}
}

static void add_tph(struct facts_function *nic, uint32_t bits)
{
	made_extended(nic, 0x140, 0x17);
	made_put(nic, 0x140 + 8, bits << 8, 4);
}

/* bit 7, bit 3, TPHDIS x the NIC's No Snoop, TPH bits 9:8, pci=notph */
static void each_combination_of_bits(void **s)
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
		{0, 0, 0, 0, false, DDIO_OFF},	       /* TPH is there, but off */
		{0, 0, 0, 1, false, DDIO_ON_POSSIBLE},
		{0, 0, 0, 3, false, DDIO_ON_POSSIBLE},
		{0, 0, 0, 1, true, DDIO_OFF},
		{0, BIT_9, 0, 1, false, DDIO_OFF},
		{0, 0x100, 0, 1, false, DDIO_ON_POSSIBLE}, /* bit 8 is another bit */
		{BIT_3, 0, 0, -1, false, DDIO_OFF_WARN},
		{BIT_3, BIT_9, 0, 1, false, DDIO_OFF_WARN},
		{BIT_3, 0, NO_SNOOP, -1, false, DDIO_ON_POSSIBLE},
		{BIT_3, BIT_9, NO_SNOOP, -1, false, DDIO_ON_POSSIBLE},
		{BIT_3, 0, 0, 1, false, DDIO_ON_POSSIBLE}, /* TPH: no lenience */
		{BIT_3, 0, 0, 1, true, DDIO_OFF_WARN},
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
		assert_true(ddio.read);
		assert_int_equal(ddio.perfctrlsts[0], cases[i].zero);
		assert_int_equal(ddio.perfctrlsts[1], cases[i].one);
		assert_int_equal(ddio.evidence, DDIO_REGISTERS);
		assert_string_equal(ddio.port, "0000:16:00.0");
		made_free(facts);
	}
}

/* What makes the register unreadable, or something else: never off. */

static void without_privilege(struct facts *f)
{
	made_port(f)->config.len = 64;
}

static void without_extended_space(struct facts *f)
{
	made_port(f)->config.len = 256;
}

static void without_a_file(struct facts *f)
{
	made_port(f)->config.len = 0;
}

static void vanished(struct facts *f)
{
	memset(made_port(f)->config.bytes, 0xff, PCI_CONFIG_BYTES);
}

static void register_of_ones(struct facts *f)
{
	made_registers(made_port(f), UINT32_MAX, 0);
}

static void second_register_of_ones(struct facts *f)
{
	made_registers(made_port(f), 0, UINT32_MAX);
}

static void header_at_180(struct facts *f)
{
	made_extended(made_port(f), 0x180, 0x000b);
}

static void header_at_184(struct facts *f)
{
	made_extended(made_port(f), 0x184, 0x000d);
}

/* the header is there, but no list leads to it */
static void header_not_in_the_list(struct facts *f)
{
	made_registers(made_port(f), 0x1901000b, 0);
}

static void list_is_a_circle(struct facts *f)
{
	made_extended(made_port(f), 0x140, 0x000d);
	made_put(made_port(f), 0x140, 0x1001000d, 4);
}

static void ice_lake(struct facts *f)
{
	f->platform.model = 0x6a;
	f->platform.stepping = 6;
	made_port(f)->device = 0x347a;
	made_extended(made_port(f), 0x180, 0x000b);
	made_put(made_port(f), 0x180, 0x1901000b, 4);
	made_put(made_port(f), 0x190, 0x00010001, 4);
}

/* a port whose bits would say "off" on a processor that is not known to have them */
static void sapphire_rapids(struct facts *f)
{
	f->platform.model = 0x8f;
}

static void model_of_another_family(struct facts *f)
{
	f->platform.family = 15;
}

static void amd(struct facts *f)
{
	snprintf(f->platform.vendor, sizeof(f->platform.vendor), "AuthenticAMD");
}

static void arm(struct facts *f)
{
	snprintf(f->platform.vendor, sizeof(f->platform.vendor), "Arm 0x41");
	f->platform.family = f->platform.model = -1;
}

static void processor_unknown(struct facts *f)
{
	f->platform.vendor[0] = '\0';
	f->platform.family = f->platform.model = -1;
}

static void port_of_the_chipset(struct facts *f)
{
	made_port(f)->device = 0xa190;
}

static void port_of_qemu(struct facts *f)
{
	made_port(f)->vendor = 0x1b36;
	made_port(f)->device = 0x000c;
}

static void in_a_guest(struct facts *f)
{
	snprintf(f->platform.emulated, sizeof(f->platform.emulated), "QEMU");
}

static void no_root_port(struct facts *f)
{
	struct facts_chain *chain = &f->pci.chains[0];

	chain->functions[0] = chain->functions[1];
	chain->count = 1;
}

static void top_is_a_switch(struct facts *f)
{
	made_function(made_port(f), "0000:16:00.0", 0x8086, 0x2030, MADE_UPSTREAM);
}

static void top_is_no_bridge(struct facts *f)
{
	made_put(made_port(f), 0x0a, 0x0600, 2);
}

static void path_too_long(struct facts *f)
{
	f->pci.chains[0].cut = true;
}

static void no_path(struct facts *f)
{
	f->pci.count = 0;
}

static void more_nics_than_room(struct facts *f)
{
	f->pci.cut = true;
}

static void rxe(struct facts *f)
{
	f->device.kind = DEVICE_RXE;
	f->pci.count = 0;
}

static void siw(struct facts *f)
{
	f->device.kind = DEVICE_SIW;
	f->pci.count = 0;
}

static void soft(struct facts *f)
{
	f->device.kind = DEVICE_SOFT;
	f->pci.count = 0;
}

static void no_device(struct facts *f)
{
	f->device.found = false;
}

static void every_doubt_is_unknown(void **s)
{
	static const struct {
		void (*change)(struct facts *facts);
		const char *why;
	} cases[] = {
		{without_privilege, "needs root"},
		{without_extended_space, "ends at byte 256"},
		{without_a_file, "cannot be read"},
		{vanished, "all ones"},
		{register_of_ones, "all ones"},
		{second_register_of_ones, "all ones"},
		{header_at_180, "header of an extended capability"},
		{header_at_184, "header of an extended capability"},
		{header_not_in_the_list, "header of an extended capability"},
		{list_is_a_circle, "broken list"},
		{ice_lake, "0x1901000b"},
		{sapphire_rapids, "model 0x8f"},
		{model_of_another_family, "family 15"},
		{amd, "AuthenticAMD"},
		{arm, "Arm 0x41"},
		{processor_unknown, "processor is unknown"},
		{port_of_the_chipset, "8086:a190"},
		{port_of_qemu, "1b36:000c"},
		{in_a_guest, "hypervisor (QEMU)"},
		{no_root_port, "no root port above it"},
		{top_is_a_switch, "says that it is no root port"},
		{top_is_no_bridge, "says that it is no root port"},
		{path_too_long, "longer than can be followed"},
		{no_path, "no PCI parent"},
		{more_nics_than_room, "more NICs"},
		{rxe, "software transport"},
		{siw, "software transport"},
		{soft, "software transport"},
		{no_device, "no device"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();

		cases[i].change(facts);
		assert_state(facts, DDIO_UNKNOWN, cases[i].why);
		made_free(facts);
	}
}

/* A NIC that cannot be read may send anything. */
static void an_unreadable_nic_is_never_off(void **s)
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

static void a_nic_that_vanished_is_never_off(void **s)
{
	struct facts *facts = made_facts();

	memset(made_nic(facts)->config.bytes, 0xff, PCI_CONFIG_BYTES);
	assert_state(facts, DDIO_ON_POSSIBLE, "cannot be read");
	made_free(facts);
}

/* Haswell and Broadwell: decided, and marked. */
static void little_documented_ports_are_marked(void **s)
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

static void a_port_on_skylake_is_not_marked(void **s)
{
	struct facts *facts = made_facts();

	for (int device = 0x2030; device <= 0x2033; device++) {
		made_port(facts)->device = device;
		assert_state(facts, DDIO_OFF, "");
		assert_false(registers_of(facts).low_confidence);
	}
	made_free(facts);
}

/* Bridges between are passed by; the port above them decides. */
static void switches_between_do_not_matter(void **s)
{
	struct facts *facts = made_facts();
	struct facts_chain *chain = &facts->pci.chains[0];

	chain->functions[3] = chain->functions[1];
	made_function(&chain->functions[1], "0000:17:00.0", 0x10b5, 0x8747, MADE_UPSTREAM);
	made_function(&chain->functions[2], "0000:18:08.0", 0x10b5, 0x8747, MADE_DOWNSTREAM);
	/* what a switch has at 0x180 is not looked at */
	made_registers(&chain->functions[1], BIT_7, 0);
	chain->count = 4;
	assert_state(facts, DDIO_OFF, "");
	made_registers(&chain->functions[0], BIT_7, 0);
	assert_state(facts, DDIO_ON, "");
	made_free(facts);
}

/* No Snoop is that of the physical function, TPH that of either. */
static void a_virtual_function_goes_by_both(void **s)
{
	struct facts *facts = made_facts();
	struct facts_chain *chain = &facts->pci.chains[0];
	struct facts_function *physical = &chain->functions[1], *virtual = &chain->functions[2];

	made_function(virtual, "0000:17:00.2", 0x15b3, 0x1018, MADE_ENDPOINT);
	made_put(virtual, 0, UINT32_MAX, 4);
	chain->count = 3;
	chain->nics = 2;
	assert_state(facts, DDIO_OFF, "");
	made_registers(&chain->functions[0], BIT_3, 0);
	assert_state(facts, DDIO_OFF_WARN, "");
	made_control(physical, NO_SNOOP);
	assert_state(facts, DDIO_ON_POSSIBLE, "No Snoop");
	made_registers(&chain->functions[0], 0, 0);
	add_tph(virtual, 1);
	assert_state(facts, DDIO_ON_POSSIBLE, "TPH");
	made_put(virtual, 0x140 + 8, 0, 4);
	assert_state(facts, DDIO_OFF, "");
	add_tph(physical, 1);
	assert_state(facts, DDIO_ON_POSSIBLE, "TPH");
	made_free(facts);
}

static void change_to(struct facts_chain *chain, enum ddio_state state)
{
	switch (state) {
	case DDIO_ON:
		made_registers(&chain->functions[0], BIT_7, 0);
		break;
	case DDIO_UNKNOWN:
		chain->functions[0].config.len = 64;
		break;
	case DDIO_ON_POSSIBLE:
		add_tph(&chain->functions[1], 1);
		break;
	case DDIO_OFF_WARN:
		made_registers(&chain->functions[0], BIT_3, 0);
		break;
	case DDIO_OFF:
		break;
	}
}

/* In the order of how bad they are: of two, the worse one is that of both. */
static void the_worst_of_several_nics_counts(void **s)
{
	static const enum ddio_state order[] = {DDIO_OFF, DDIO_OFF_WARN, DDIO_ON_POSSIBLE,
						DDIO_UNKNOWN, DDIO_ON};

	for (int a = 0; a < 5; a++) {
		for (int b = 0; b < 5; b++) {
			struct facts *facts = made_facts();

			change_to(&facts->pci.chains[0], order[a]);
			change_to(made_another(facts), order[b]);
			assert_int_equal(registers_of(facts).state, order[a > b ? a : b]);
			if (a != b)
				assert_string_equal(registers_of(facts).port,
						    a > b ? "0000:16:00.0" : "0000:64:00.0");
			made_free(facts);
		}
	}
}

static void on_is_on_even_where_not_all_nics_were_seen(void **s)
{
	struct facts *facts = made_facts();

	facts->pci.cut = true;
	made_registers(made_port(facts), BIT_7, 0);
	assert_state(facts, DDIO_ON, "");
	made_free(facts);
}

/* bytes to memory, of 1000 by RDMA */
static void the_probe_goes_by_the_share(void **s)
{
	static const struct {
		int64_t rdma, memory, window;
		enum ddio_state state;
	} cases[] = {
		{1000, 0, 1 << 20, DDIO_ON},
		{1000, 199, 1 << 20, DDIO_ON},
		{1000, 200, 1 << 20, DDIO_UNKNOWN},
		{1000, 800, 1 << 20, DDIO_UNKNOWN},
		{1000, 801, 1 << 20, DDIO_OFF},
		{1000, 1070, 1 << 20, DDIO_OFF},
		{1000, 2001, 1 << 20, DDIO_UNKNOWN},
		{1000, 1000, (1 << 20) + 1, DDIO_UNKNOWN}, /* spills anyway */
		{1000, 1000, -1, DDIO_UNKNOWN},
		{1000, 100, 1 << 30, DDIO_ON}, /* it does not even spill */
		{0, 0, 1 << 20, DDIO_UNKNOWN},
		{-1, 1000, 1 << 20, DDIO_UNKNOWN},
		{1000, -1, 1 << 20, DDIO_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct answers_probe probe = {.done = true,
					      .rdma_bytes = cases[i].rdma,
					      .memory_write_bytes = cases[i].memory,
					      .window_bytes = cases[i].window};

		if (ddio_of_probe(&probe) != cases[i].state)
			fail_msg("case %zu", i);
		probe.done = false;
		assert_int_equal(ddio_of_probe(&probe), DDIO_UNKNOWN);
	}
}

enum seen { NOT_PROBED, SAW_ON, SAW_OFF };

/* Registers, statement and probe: what is decided, and by what. */
static void evidence_is_weighed(void **s)
{
	static const struct {
		enum ddio_state registers;
		enum known said; /* KNOWN_NO: off */
		enum seen seen;
		enum ddio_state state;
		enum ddio_evidence evidence;
	} cases[] = {
		{DDIO_OFF, KNOWN_NOT, NOT_PROBED, DDIO_OFF, DDIO_REGISTERS},
		{DDIO_OFF, KNOWN_NO, SAW_OFF, DDIO_OFF, DDIO_REGISTERS},
		{DDIO_OFF, KNOWN_NOT, SAW_ON, DDIO_ON, DDIO_PROBE},
		{DDIO_OFF, KNOWN_YES, NOT_PROBED, DDIO_ON, DDIO_STATEMENT},
		{DDIO_ON, KNOWN_NOT, NOT_PROBED, DDIO_ON, DDIO_REGISTERS},
		{DDIO_ON, KNOWN_NO, SAW_OFF, DDIO_ON, DDIO_REGISTERS},
		{DDIO_UNKNOWN, KNOWN_NOT, NOT_PROBED, DDIO_UNKNOWN, DDIO_NO_EVIDENCE},
		{DDIO_UNKNOWN, KNOWN_NO, NOT_PROBED, DDIO_OFF, DDIO_STATEMENT},
		{DDIO_UNKNOWN, KNOWN_YES, NOT_PROBED, DDIO_ON, DDIO_STATEMENT},
		{DDIO_UNKNOWN, KNOWN_NOT, SAW_ON, DDIO_ON, DDIO_PROBE},
		{DDIO_UNKNOWN, KNOWN_NOT, SAW_OFF, DDIO_OFF, DDIO_PROBE},
		{DDIO_UNKNOWN, KNOWN_NO, SAW_OFF, DDIO_OFF, DDIO_PROBE},
		{DDIO_UNKNOWN, KNOWN_NO, SAW_ON, DDIO_ON, DDIO_PROBE},
		{DDIO_UNKNOWN, KNOWN_YES, SAW_OFF, DDIO_ON, DDIO_STATEMENT},
		{DDIO_ON_POSSIBLE, KNOWN_NO, NOT_PROBED, DDIO_ON_POSSIBLE, DDIO_REGISTERS},
		{DDIO_ON_POSSIBLE, KNOWN_NOT, SAW_OFF, DDIO_ON_POSSIBLE, DDIO_REGISTERS},
		{DDIO_ON_POSSIBLE, KNOWN_NOT, SAW_ON, DDIO_ON, DDIO_PROBE},
		{DDIO_OFF_WARN, KNOWN_NO, NOT_PROBED, DDIO_OFF_WARN, DDIO_REGISTERS},
		{DDIO_OFF_WARN, KNOWN_NOT, SAW_OFF, DDIO_OFF, DDIO_PROBE},
		{DDIO_OFF_WARN, KNOWN_NOT, SAW_ON, DDIO_ON, DDIO_PROBE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();
		struct ddio ddio;

		change_to(&facts->pci.chains[0], cases[i].registers);
		facts->claims.ddio_assumed = cases[i].said;
		facts->claims.probe.done = cases[i].seen != NOT_PROBED;
		facts->claims.probe.rdma_bytes = 1000;
		facts->claims.probe.window_bytes = 1 << 20;
		facts->claims.probe.memory_write_bytes = cases[i].seen == SAW_OFF ? 1000 : 10;
		ddio_decide(facts, &ddio);
		if (ddio.state != cases[i].state || ddio.evidence != cases[i].evidence)
			fail_msg("case %zu: %s by %s", i, ddio_state_name(ddio.state),
				 ddio_evidence_name(ddio.evidence));
		made_free(facts);
	}
}

/* What is little documented, others may make sure of. */
static void a_doubt_about_the_register_can_be_lifted(void **s)
{
	struct facts *facts = made_facts();
	struct ddio ddio;

	facts->platform.model = 0x4f;
	made_port(facts)->device = 0x6f02;
	ddio_decide(facts, &ddio);
	assert_true(ddio.low_confidence);
	facts->claims.ddio_assumed = KNOWN_NO;
	ddio_decide(facts, &ddio);
	assert_int_equal(ddio.state, DDIO_OFF);
	assert_int_equal(ddio.evidence, DDIO_STATEMENT);
	facts->claims.probe = (struct answers_probe){
		.done = true, .rdma_bytes = 10, .memory_write_bytes = 10, .window_bytes = 4096};
	ddio_decide(facts, &ddio);
	assert_int_equal(ddio.evidence, DDIO_PROBE);
	assert_false(ddio.low_confidence);
	made_free(facts);
}

/* Neither statement nor probe make a copy by the CPU anything else. */
static void software_is_not_decided(void **s)
{
	struct facts *facts = made_facts();
	struct ddio ddio;

	rxe(facts);
	facts->claims.ddio_assumed = KNOWN_NO;
	facts->claims.probe = (struct answers_probe){
		.done = true, .rdma_bytes = 10, .memory_write_bytes = 10, .window_bytes = 4096};
	ddio_decide(facts, &ddio);
	assert_int_equal(ddio.state, DDIO_UNKNOWN);
	assert_int_equal(ddio.evidence, DDIO_NO_EVIDENCE);
	made_free(facts);
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

/* Whatever else there is: off never with bit 7 or 3, on never without bit 7. */
static void noise_is_never_taken_for_off(void **s)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_combination_of_bits),
		cmocka_unit_test(every_doubt_is_unknown),
		cmocka_unit_test(an_unreadable_nic_is_never_off),
		cmocka_unit_test(a_nic_that_vanished_is_never_off),
		cmocka_unit_test(little_documented_ports_are_marked),
		cmocka_unit_test(a_port_on_skylake_is_not_marked),
		cmocka_unit_test(switches_between_do_not_matter),
		cmocka_unit_test(a_virtual_function_goes_by_both),
		cmocka_unit_test(the_worst_of_several_nics_counts),
		cmocka_unit_test(on_is_on_even_where_not_all_nics_were_seen),
		cmocka_unit_test(the_probe_goes_by_the_share),
		cmocka_unit_test(evidence_is_weighed),
		cmocka_unit_test(a_doubt_about_the_register_can_be_lifted),
		cmocka_unit_test(software_is_not_decided),
		cmocka_unit_test(noise_is_never_taken_for_off),
	};

	return cmocka_run_group_tests_name("readiness.ddio", tests, NULL, NULL);
}
