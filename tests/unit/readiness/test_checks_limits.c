/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_limits.c -- LIM-01, LIM-02 and PEER-01: each status from the
 * facts that lead to it.
 */
#include "cases.h"

static void limit(struct facts *f, int64_t bytes)
{
	f->limits.memlock_bytes = bytes;
	f->target.size_bytes = 1LL << 30;
}

CHANGE(enough, limit(f, 1LL << 30))
CHANGE(a_byte_short, limit(f, (1LL << 30) - 1))
CHANGE(short_but_capable, a_byte_short(f), f->limits.may_lock = KNOWN_YES)

static void odp(struct facts *f, uint64_t general, uint32_t rc)
{
	a_byte_short(f);
	f->verbs.odp_known = true;
	f->verbs.odp_general = general;
	f->verbs.odp_rc = rc;
}

/* Bits of <infiniband/verbs.h>: IBV_ODP_SUPPORT, and of RC write 1 << 2, read 1 << 3. */
CHANGE(short_but_odp, odp(f, 1, 0x0c))
CHANGE(odp_of_writes_alone, odp(f, 1, 0x04))
CHANGE(odp_of_no_transport, odp(f, 0, 0x0c))
CHANGE(odp_unknown, short_but_odp(f), f->verbs.odp_known = false)
CHANGE(no_target, limit(f, 1 << 16), f->target.size_bytes = -1, f->target.shape = TARGET_NOT_GIVEN)
CHANGE(no_size, no_target(f), f->target.shape = TARGET_ON_FSDAX,
       f->target.answer.kind = ANSWERS_REGULAR)
CHANGE(directory, no_size(f), f->target.answer.kind = ANSWERS_DIRECTORY)
CHANGE(unread, limit(f, -1), f->limits.open_files = -1)
CHANGE(unread_but_capable, unread(f), f->limits.may_lock = KNOWN_YES)
CHANGE(few_files, f->limits.open_files = 63)
CHANGE(files_for_one, f->limits.open_files = 64)
CHANGE(short_queue, f->verbs.max_qp_wr = 63)
CHANGE(few_entries, f->verbs.max_cqe = 127)
CHANGE(no_reads, f->verbs.max_qp_rd_atom = 0)
CHANGE(silent_device, f->verbs = (struct answers_device){
			      .max_qp_wr = -1, .max_cqe = -1, .max_qp_rd_atom = -1, .why = "busy"})
CHANGE(few_files_and_silent, silent_device(f), few_files(f))

static const struct check_case cases[] = {
	{"LIM-01", READINESS_PASS, NULL},
	{"LIM-01", READINESS_PASS, enough},
	{"LIM-01", READINESS_PASS, short_but_capable},
	{"LIM-01", READINESS_PASS, unread_but_capable},
	{"LIM-01", READINESS_WARN, short_but_odp},
	{"LIM-01", READINESS_FAIL, a_byte_short},
	{"LIM-01", READINESS_FAIL, odp_of_writes_alone},
	{"LIM-01", READINESS_FAIL, odp_of_no_transport},
	{"LIM-01", READINESS_FAIL, odp_unknown},
	{"LIM-01", READINESS_INFO, no_target},
	{"LIM-01", READINESS_INFO, directory},
	{"LIM-01", READINESS_UNKNOWN, no_size},
	{"LIM-01", READINESS_UNKNOWN, unread},
	{"LIM-02", READINESS_PASS, NULL},
	{"LIM-02", READINESS_PASS, files_for_one},
	{"LIM-02", READINESS_FAIL, few_files},
	{"LIM-02", READINESS_FAIL, short_queue},
	{"LIM-02", READINESS_FAIL, few_entries},
	{"LIM-02", READINESS_FAIL, no_reads},
	{"LIM-02", READINESS_FAIL, few_files_and_silent},
	{"LIM-02", READINESS_UNKNOWN, silent_device},
	{"LIM-02", READINESS_UNKNOWN, unread},
};

CASES_OF(checks_limits)

TEST(the_limit_that_is_needed_is_told)
{
	assert_non_null(
		strstr(case_finding(checks_limits, "LIM-01", a_byte_short).fix, "1048576 KiB"));
}

TEST(what_is_too_little_is_told)
{
	assert_string_equal(case_finding(checks_limits, "LIM-02", no_reads).meaning,
			    "max_qp_rd_atom is 0, and one connection needs 1.");
}

TEST(one_host_cannot_see_the_other)
{
	static const struct check_case peer[] = {{"PEER-01", READINESS_INFO, NULL}};

	cases_run(checks_peer, peer, 1);
	cases_cover(checks_peer, peer, 1);
}
