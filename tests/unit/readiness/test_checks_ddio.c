/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_ddio.c -- DDIO-01 to DDIO-06: each status from the processor,
 * the registers, the statement and the probe that lead to it.
 */
#include "made_ddio.h"

CHANGE(ice_lake, f->platform.model = 0x6a)
CHANGE(amd, snprintf(f->platform.vendor, sizeof(f->platform.vendor), "AuthenticAMD"),
       f->platform.family = 25, f->platform.model = 17, f->platform.ddio_ways_msr = -1,
       f->platform.ddio_ways_source[0] = '\0',
       snprintf(f->platform.l3_io_alloc, sizeof(f->platform.l3_io_alloc), "enabled"))
CHANGE(arm, snprintf(f->platform.vendor, sizeof(f->platform.vendor), "Arm 0x41"),
       f->platform.arm_dcpop = KNOWN_YES)
CHANGE(processor_unknown, memset(&f->platform, 0, sizeof(f->platform)),
       f->platform.family = f->platform.model = -1, f->platform.ddio_ways_msr = -1)
CHANGE(no_msr, f->platform.ddio_ways_msr = -1)
CHANGE(no_resctrl, f->platform.l3_shareable_bits[0] = '\0')
CHANGE(on, made_registers(made_port(f), 0x00183091, 0))
CHANGE(off_warn, made_registers(made_port(f), 0x8, 0))
CHANGE(on_possible, made_registers(made_port(f), 0x8, 0), made_control(made_nic(f), 0x0800))
CHANGE(little_documented, f->platform.model = 0x4f, made_port(f)->device = 0x6f02)
CHANGE(unreadable, made_port(f)->config.len = 64)
CHANGE(said_off, f->claims.ddio_assumed = KNOWN_NO,
       snprintf(f->claims.why, sizeof(f->claims.why), "set in the menu"))
CHANGE(said_on, f->claims.ddio_assumed = KNOWN_YES)
CHANGE(said_off_of_unreadable, unreadable(f), said_off(f))
CHANGE(said_off_though_steered, said_off_of_unreadable(f), add_tph(made_nic(f), 1))
CHANGE(said_off_though_on, on(f), said_off(f))
CHANGE(said_on_of_on, on(f), said_on(f))
CHANGE(said_off_of_rxe, rxe(f), said_off(f))

static void probe(struct facts *f, int64_t memory)
{
	f->claims.probe = made_probe(1000000000, memory, 1 << 20);
}

CHANGE(saw_off, probe(f, 1050000000))
CHANGE(saw_on, unreadable(f), probe(f, 20000000))
CHANGE(saw_on_of_on, on(f), probe(f, 20000000))
CHANGE(saw_on_of_on_possible, on_possible(f), probe(f, 20000000))
CHANGE(saw_off_of_ice_lake, ice_lake(f), probe(f, 1050000000))
CHANGE(saw_off_of_one_of_two, made_another(f), probe(f, 1050000000))
CHANGE(saw_off_though_on, on(f), probe(f, 1050000000))
CHANGE(saw_off_though_on_as_said, saw_off_though_on(f), said_off(f))
CHANGE(saw_one_byte, probe(f, 1), f->claims.probe.rdma_bytes = 1)
CHANGE(saw_on_though_off, probe(f, 20000000))
CHANGE(saw_on_though_said_off, unreadable(f), said_off(f), probe(f, 20000000))
CHANGE(saw_off_though_said_on, unreadable(f), said_on(f), probe(f, 1050000000))
CHANGE(saw_off_and_said_off, unreadable(f), said_off(f), probe(f, 1050000000))
CHANGE(saw_half, probe(f, 500000000))
CHANGE(could_not_probe, snprintf(f->claims.probe.why, sizeof(f->claims.probe.why),
				 "perf_event_open(): Operation not permitted"))
CHANGE(probed_rxe, rxe(f), probe(f, 20000000))

static const struct check_case cases[] = {
	{"DDIO-01", READINESS_INFO, NULL},
	{"DDIO-01", READINESS_INFO, ice_lake},
	{"DDIO-01", READINESS_INFO, amd},
	{"DDIO-01", READINESS_INFO, arm},
	{"DDIO-01", READINESS_INFO, no_device},
	{"DDIO-01", READINESS_UNKNOWN, processor_unknown},
	{"DDIO-01", READINESS_SKIP, rxe},
	{"DDIO-02", READINESS_INFO, NULL},
	{"DDIO-02", READINESS_SKIP, no_msr},
	{"DDIO-02", READINESS_SKIP, amd},
	{"DDIO-02", READINESS_SKIP, rxe},
	{"DDIO-02", READINESS_SKIP, no_device},
	{"DDIO-03", READINESS_INFO, NULL},
	{"DDIO-03", READINESS_INFO, amd},
	{"DDIO-03", READINESS_SKIP, no_resctrl},
	{"DDIO-03", READINESS_SKIP, rxe},
	{"DDIO-04", READINESS_PASS, NULL},
	{"DDIO-04", READINESS_WARN, on},
	{"DDIO-04", READINESS_WARN, on_possible},
	{"DDIO-04", READINESS_WARN, off_warn},
	{"DDIO-04", READINESS_WARN, little_documented},
	{"DDIO-04", READINESS_UNKNOWN, unreadable},
	{"DDIO-04", READINESS_UNKNOWN, ice_lake},
	{"DDIO-04", READINESS_UNKNOWN, amd},
	{"DDIO-04", READINESS_UNKNOWN, said_off_of_unreadable}, /* a statement is no register */
	{"DDIO-04", READINESS_SKIP, rxe},
	{"DDIO-04", READINESS_SKIP, no_device},
	{"DDIO-05", READINESS_SKIP, NULL},
	{"DDIO-05", READINESS_ASSUMED, said_off},
	{"DDIO-05", READINESS_ASSUMED, said_off_of_unreadable},
	{"DDIO-05", READINESS_ASSUMED, said_on_of_on},
	{"DDIO-05", READINESS_ASSUMED, said_off_of_rxe},
	{"DDIO-05", READINESS_ASSUMED, saw_off_and_said_off},
	{"DDIO-05", READINESS_WARN, said_off_though_steered},
	{"DDIO-05", READINESS_FAIL, said_off_though_on},
	{"DDIO-05", READINESS_FAIL, said_on},
	{"DDIO-05", READINESS_FAIL, saw_on_though_said_off},
	{"DDIO-05", READINESS_FAIL, saw_off_though_said_on},
	{"DDIO-06", READINESS_SKIP, NULL},
	{"DDIO-06", READINESS_SKIP, probed_rxe},
	{"DDIO-06", READINESS_PASS, saw_off},
	{"DDIO-06", READINESS_PASS, saw_off_of_ice_lake},
	{"DDIO-06", READINESS_PASS, saw_off_and_said_off},
	{"DDIO-06", READINESS_WARN, saw_on},
	{"DDIO-06", READINESS_WARN, saw_on_of_on},
	{"DDIO-06", READINESS_WARN, saw_on_of_on_possible},
	{"DDIO-06", READINESS_UNKNOWN, saw_off_though_on},
	{"DDIO-06", READINESS_PASS, saw_off_though_on_as_said},
	{"DDIO-05", READINESS_ASSUMED, saw_off_though_on_as_said},
	{"DDIO-06", READINESS_UNKNOWN, saw_one_byte},
	{"DDIO-06", READINESS_FAIL, saw_on_though_off},
	{"DDIO-06", READINESS_FAIL, saw_on_though_said_off},
	{"DDIO-06", READINESS_FAIL, saw_off_though_said_on},
	{"DDIO-06", READINESS_UNKNOWN, saw_half},
	{"DDIO-06", READINESS_UNKNOWN, could_not_probe},
	{"DDIO-06", READINESS_UNKNOWN, saw_off_of_one_of_two},
};

CASES_OF(checks_ddio)

TEST(processors_have_their_names)
{
	static const struct {
		int model;
		const char *name;
	} rows[] = {
		{0x55, "Cascade Lake"},	     {0x3f, "Haswell"},	       {0x4f, "Broadwell"},
		{0x6a, "Ice Lake-SP"},	     {0x6c, "Ice Lake-D"},     {0x8f, "Sapphire Rapids"},
		{0xcf, "Emerald Rapids"},    {0xad, "Granite Rapids"}, {0xaf, "Sierra Forest"},
		{0x9e, "Intel, family 6, "},
	};
	struct readiness_finding finding;
	struct facts *facts = made_facts();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		facts->platform.model = rows[i].model;
		case_check(checks_ddio, "DDIO-01")->inspect(facts, &finding);
		assert_non_null(strstr(finding.value, rows[i].name));
	}
	made_free(facts);
}

TEST(ways_are_counted)
{
	assert_string_equal(case_finding(checks_ddio, "DDIO-02", NULL).value, "0x600: 2 ways");
}

TEST(the_raw_registers_are_shown)
{
	struct readiness_finding finding = case_finding(checks_ddio, "DDIO-04", on);

	assert_non_null(strstr(finding.value, "ON: perfctrlsts 0x00183091 0x00000000"));
	assert_non_null(strstr(finding.source, "0000:16:00.0/config"));
	assert_non_null(strstr(finding.fix, "setpci -s 0000:16:00.0"));
}

/* Only a known register may be written to. */
TEST(no_command_is_given_for_an_unknown_port)
{
	assert_null(strstr(case_finding(checks_ddio, "DDIO-04", ice_lake).fix, "setpci"));
	assert_null(strstr(case_finding(checks_ddio, "DDIO-04", unreadable).fix, "setpci"));
}

TEST(who_may_not_read_is_told_who_may)
{
	assert_non_null(strstr(case_finding(checks_ddio, "DDIO-04", unreadable).fix, "root"));
	assert_null(strstr(case_finding(checks_ddio, "DDIO-04", ice_lake).fix, "Run as root"));
}

/* It has no such register, and DDIO is Intel's. */
TEST(amd_is_not_told_of_intels_registers)
{
	struct readiness_finding finding = case_finding(checks_ddio, "DDIO-04", amd);

	assert_null(strstr(finding.value, "0x180"));
	assert_null(strstr(finding.source, "0x180"));
	assert_null(strstr(finding.fix, "DDIO in"));
}

TEST(the_statement_is_recorded_with_its_reason)
{
	assert_string_equal(case_finding(checks_ddio, "DDIO-05", said_off).value,
			    "off: set in the menu");
}

TEST(what_stopped_the_probe_is_said)
{
	assert_non_null(strstr(case_finding(checks_ddio, "DDIO-06", could_not_probe).value,
			       "Operation not permitted"));
}
