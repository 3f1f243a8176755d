/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ddio_evidence.c -- what a probe and an operator add to the registers. */
#include "made_ddio.h"

static struct ddio ddio;

/* bytes to memory, of 1000 MB by RDMA */
TEST(the_probe_goes_by_the_share)
{
	static const struct {
		int64_t rdma, memory, window;
		enum ddio_state state;
	} cases[] = {
		{1000000000, 0, 1 << 20, DDIO_ON},
		{1000000000, 199000000, 1 << 20, DDIO_ON},
		{1000000000, 200000000, 1 << 20, DDIO_UNKNOWN},
		{1000000000, 800000000, 1 << 20, DDIO_UNKNOWN},
		{1000000000, 801000000, 1 << 20, DDIO_OFF},
		{1000000000, 1070000000, 1 << 20, DDIO_OFF},
		{1000000000, 1500000000, 1 << 20, DDIO_OFF},
		{1000000000, 1501000000, 1 << 20, DDIO_UNKNOWN},       /* others wrote too */
		{1000000000, 1000000000, (1 << 20) + 1, DDIO_UNKNOWN}, /* spills anyway */
		{1000000000, 1000000000, -1, DDIO_UNKNOWN},
		{1000000000, 100000000, 1 << 30, DDIO_ON}, /* it does not even spill */
		{0, 0, 1 << 20, DDIO_UNKNOWN},
		{256000000, 256000000, 1 << 20, DDIO_OFF},
		{255999999, 255999999, 1 << 20, DDIO_UNKNOWN}, /* too little to be seen */
		{255999999, 0, 1 << 20, DDIO_UNKNOWN},
		{1, 1, 1, DDIO_UNKNOWN},
		{-1, 1000000000, 1 << 20, DDIO_UNKNOWN},
		{1000000000, -1, 1 << 20, DDIO_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct answers_probe probe =
			made_probe(cases[i].rdma, cases[i].memory, cases[i].window);

		if (ddio_of_probe(&probe) != cases[i].state)
			fail_msg("case %zu", i);
		probe.done = false;
		assert_int_equal(ddio_of_probe(&probe), DDIO_UNKNOWN);
	}
}

enum seen { NOT_PROBED, SAW_ON, SAW_OFF };

static void claim(struct facts *facts, enum known said, enum seen seen)
{
	facts->claims.ddio_assumed = said;
	facts->claims.probe = made_probe(1000000000, seen == SAW_OFF ? 1000000000 : 10, 1 << 20);
	facts->claims.probe.done = seen != NOT_PROBED;
}

static void assert_decided(size_t number, const struct facts *facts, enum ddio_state state,
			   enum ddio_evidence evidence)
{
	ddio_decide(facts, &ddio);
	if (ddio.state != state || ddio.evidence != evidence)
		fail_msg("case %zu: %s by %s", number, ddio_state_name(ddio.state),
			 ddio_evidence_name(ddio.evidence));
}

/* Registers, statement and probe: what is decided, and by what. */
TEST(evidence_is_weighed)
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
		/* a switch for the whole processor, which is not read, or a false probe */
		{DDIO_ON, KNOWN_NOT, SAW_OFF, DDIO_ON_POSSIBLE, DDIO_PROBE},
		{DDIO_ON, KNOWN_NO, SAW_OFF, DDIO_OFF, DDIO_STATEMENT},
		{DDIO_ON, KNOWN_NO, NOT_PROBED, DDIO_ON, DDIO_REGISTERS},
		{DDIO_ON, KNOWN_NO, SAW_ON, DDIO_ON, DDIO_REGISTERS},
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

		made_state(&facts->pci.chains[0], cases[i].registers);
		claim(facts, cases[i].said, cases[i].seen);
		assert_decided(i, facts, cases[i].state, cases[i].evidence);
		made_free(facts);
	}
}

/* Said of both NICs, and seen below one root port: the doubt of either stays. */
TEST(what_is_open_of_one_nic_no_other_closes)
{
	static const struct {
		enum ddio_state first, second;
		enum known said;
		enum seen seen;
		enum ddio_state state;
		enum ddio_evidence evidence;
	} cases[] = {
		{DDIO_ON_POSSIBLE, DDIO_UNKNOWN, KNOWN_NO, NOT_PROBED, DDIO_ON_POSSIBLE,
		 DDIO_REGISTERS},
		{DDIO_OFF_WARN, DDIO_UNKNOWN, KNOWN_NO, NOT_PROBED, DDIO_OFF_WARN, DDIO_REGISTERS},
		{DDIO_OFF, DDIO_UNKNOWN, KNOWN_NO, NOT_PROBED, DDIO_OFF, DDIO_STATEMENT},
		{DDIO_UNKNOWN, DDIO_UNKNOWN, KNOWN_NO, NOT_PROBED, DDIO_OFF, DDIO_STATEMENT},
		{DDIO_OFF, DDIO_UNKNOWN, KNOWN_NOT, SAW_OFF, DDIO_UNKNOWN, DDIO_NO_EVIDENCE},
		{DDIO_UNKNOWN, DDIO_UNKNOWN, KNOWN_NOT, SAW_OFF, DDIO_UNKNOWN, DDIO_NO_EVIDENCE},
		{DDIO_UNKNOWN, DDIO_UNKNOWN, KNOWN_NO, SAW_OFF, DDIO_OFF, DDIO_STATEMENT},
		{DDIO_OFF_WARN, DDIO_OFF, KNOWN_NOT, SAW_OFF, DDIO_OFF_WARN, DDIO_REGISTERS},
		{DDIO_OFF, DDIO_UNKNOWN, KNOWN_NOT, SAW_ON, DDIO_ON, DDIO_PROBE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts *facts = made_facts();

		made_state(&facts->pci.chains[0], cases[i].first);
		made_state(made_another(facts), cases[i].second);
		claim(facts, cases[i].said, cases[i].seen);
		assert_decided(i, facts, cases[i].state, cases[i].evidence);
		made_free(facts);
	}
}

HOST_TEST(a_probe_shows_nothing_of_nics_that_were_not_looked_at)
{
	host->pci.cut = true;
	claim(host, KNOWN_NOT, SAW_OFF);
	ddio_decide(host, &ddio);
	assert_int_equal(ddio.state, DDIO_UNKNOWN);
}

/* Two functions of one card have the same root port. */
HOST_TEST(a_probe_shows_all_of_one_root_port)
{
	made_state(&host->pci.chains[0], DDIO_UNKNOWN);
	made_another(host)->functions[0] = host->pci.chains[0].functions[0];
	claim(host, KNOWN_NOT, SAW_OFF);
	ddio_decide(host, &ddio);
	EQUAL((ddio.state, DDIO_OFF), (ddio.evidence, DDIO_PROBE));
}

/* An operator may confirm a register that is little documented. */
HOST_TEST(a_doubt_about_the_register_can_be_lifted)
{
	host->platform.model = 0x4f;
	made_port(host)->device = 0x6f02;
	ddio_decide(host, &ddio);
	assert_true(ddio.low_confidence);
	host->claims.ddio_assumed = KNOWN_NO;
	ddio_decide(host, &ddio);
	EQUAL((ddio.state, DDIO_OFF), (ddio.evidence, DDIO_STATEMENT));
	host->claims.probe = made_probe(256000000, 256000000, 4096);
	ddio_decide(host, &ddio);
	EQUAL((ddio.evidence, DDIO_PROBE), (ddio.low_confidence, false));
}

/* Neither statement nor probe make a copy by the CPU anything else. */
HOST_TEST(software_is_not_decided)
{
	rxe(host);
	host->claims.ddio_assumed = KNOWN_NO;
	host->claims.probe = made_probe(256000000, 256000000, 4096);
	ddio_decide(host, &ddio);
	EQUAL((ddio.state, DDIO_UNKNOWN), (ddio.evidence, DDIO_NO_EVIDENCE));
}
