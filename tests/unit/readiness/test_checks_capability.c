/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_capability.c -- ODP-01, ODP-02 and CAP-01 to CAP-03: each status
 * from what the verbs say. Bits of device_cap_flags_ex are those of Linux's
 * ib_user_verbs.h, of paging those of <infiniband/verbs.h>: write 4, read 8.
 */
#include "cases.h"

CHANGE(not_answered, memset(&f->verbs, 0, sizeof(f->verbs)), f->verbs.tph_handle = -1,
       snprintf(f->verbs.why, sizeof(f->verbs.why), "uverbs0: Permission denied"))
CHANGE(fsdax, f->target.shape = TARGET_ON_FSDAX)
CHANGE(fsdax_not_answered, fsdax(f), not_answered(f))
CHANGE(fsdax_paging, fsdax(f), f->verbs.odp_general = 1, f->verbs.odp_rc = 0x4 | 0x8)
CHANGE(fsdax_write_alone, fsdax_paging(f), f->verbs.odp_rc = 0x4)
CHANGE(fsdax_read_alone, fsdax_paging(f), f->verbs.odp_rc = 0x8)
CHANGE(fsdax_rc_without_general, fsdax_paging(f), f->verbs.odp_general = 2)
CHANGE(no_target, f->target.shape = TARGET_NOT_GIVEN)
CHANGE(dram, f->target.shape = TARGET_NOT_PMEM)
CHANGE(block, f->target.shape = TARGET_ON_BLOCK)
CHANGE(flush_both, f->verbs.cap_flags_ex = 3ULL << 38)
CHANGE(flush_both_of_rxe, rxe(f), flush_both(f))
CHANGE(flush_both_of_the_soft_device, flush_both_of_rxe(f), f->device.kind = DEVICE_SOFT)
CHANGE(flush_both_but_not_of_fsdax, fsdax_paging(f), flush_both(f))

static void flush_both_of_fsdax(struct facts *f)
{
	flush_both_but_not_of_fsdax(f);
	f->verbs.odp_rc |= 1U << 6; /* IBV_ODP_SUPPORT_FLUSH */
}

CHANGE(flush_both_of_fsdax_not_answered, flush_both_of_fsdax(f), f->verbs.odp_known = false)
CHANGE(flush_global, f->verbs.cap_flags_ex = 1ULL << 38)
CHANGE(flush_persistent, f->verbs.cap_flags_ex = 1ULL << 39)
CHANGE(atomic_write, f->verbs.cap_flags_ex = 1ULL << 40)
CHANGE(handles, f->verbs.tph_handle = 1)
CHANGE(handles_unknown, f->verbs.tph_handle = -1)

static const struct check_case cases[] = {
	{"ODP-01", READINESS_INFO, NULL},
	{"ODP-01", READINESS_INFO, no_target},
	{"ODP-01", READINESS_INFO, dram},
	{"ODP-01", READINESS_INFO, block},
	{"ODP-01", READINESS_PASS, fsdax_paging},
	{"ODP-01", READINESS_FAIL, fsdax},
	{"ODP-01", READINESS_FAIL, fsdax_write_alone},
	{"ODP-01", READINESS_FAIL, fsdax_read_alone},
	{"ODP-01", READINESS_FAIL, fsdax_rc_without_general},
	{"ODP-01", READINESS_UNKNOWN, fsdax_not_answered},
	{"ODP-01", READINESS_INFO, not_answered},
	{"ODP-01", READINESS_SKIP, no_device},
	{"ODP-02", READINESS_WARN, fsdax},
	{"ODP-02", READINESS_WARN, fsdax_paging},
	{"ODP-02", READINESS_SKIP, NULL},
	{"ODP-02", READINESS_SKIP, no_target},
	{"ODP-02", READINESS_SKIP, no_device},
	{"CAP-01", READINESS_PASS, flush_both},
	{"CAP-01", READINESS_INFO, NULL},
	{"CAP-01", READINESS_PASS, flush_both_of_rxe},
	{"CAP-01", READINESS_INFO, flush_both_of_the_soft_device},
	{"CAP-01", READINESS_INFO, flush_both_but_not_of_fsdax},
	{"CAP-01", READINESS_INFO, flush_both_of_fsdax_not_answered},
	{"CAP-01", READINESS_PASS, flush_both_of_fsdax},
	{"CAP-01", READINESS_INFO, flush_global},
	{"CAP-01", READINESS_INFO, flush_persistent},
	{"CAP-01", READINESS_INFO, atomic_write},
	{"CAP-01", READINESS_UNKNOWN, not_answered},
	{"CAP-01", READINESS_SKIP, no_device},
	{"CAP-02", READINESS_INFO, NULL},
	{"CAP-02", READINESS_INFO, atomic_write},
	{"CAP-02", READINESS_UNKNOWN, not_answered},
	{"CAP-02", READINESS_SKIP, no_device},
	{"CAP-03", READINESS_INFO, NULL},
	{"CAP-03", READINESS_INFO, handles},
	{"CAP-03", READINESS_UNKNOWN, handles_unknown},
	{"CAP-03", READINESS_SKIP, no_device},
};

CASES_OF(checks_capability)

TEST(values_name_what_there_is)
{
	CASE_VALUE(checks_capability, "ODP-01", fsdax_paging, "yes, write, read");
	CASE_VALUE(checks_capability, "ODP-01", fsdax_write_alone, "no, write");
	CASE_VALUE(checks_capability, "ODP-01", not_answered, "uverbs0: Permission denied");
	CASE_VALUE(checks_capability, "CAP-01", flush_both, "visibility and persistence");
	CASE_VALUE(checks_capability, "CAP-01", flush_global, "visibility alone");
	CASE_VALUE(checks_capability, "CAP-02", atomic_write, "yes");
	CASE_VALUE(checks_capability, "CAP-02", flush_both, "no");
	CASE_VALUE(checks_capability, "CAP-03", handles, "yes");
}
