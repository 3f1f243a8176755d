/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checks_cxl.c -- each status of PM-12. */
#include "cases.h"

CHANGE(in_use,
       f->target.cxl = (struct facts_cxl){.pmem_bytes = 1LL << 38,
					  .devices = 2,
					  .regions = 1,
					  .committed = 1,
					  .bridge = true},
       snprintf(f->target.regions[0].provider, sizeof(f->target.regions[0].provider), "CXL"))
CHANGE(beside, in_use(f),
       snprintf(f->target.regions[0].provider, sizeof(f->target.regions[0].provider), "ACPI.NFIT"))
CHANGE(of_host, beside(f), f->target.shape = TARGET_NOT_GIVEN)
CHANGE(not_committed, in_use(f), f->target.cxl.committed = 0)
CHANGE(locked, in_use(f), f->target.cxl.locked = 1)
CHANGE(no_bridge, in_use(f), f->target.cxl.bridge = false)
CHANGE(unread, in_use(f), f->target.cxl.pmem_bytes = -1)
CHANGE(on_cxl_that_is_not_seen, in_use(f), f->target.cxl = (struct facts_cxl){0})

static const struct check_case cases[] = {
	{"PM-12", READINESS_SKIP, NULL},
	{"PM-12", READINESS_SKIP, beside},
	{"PM-12", READINESS_UNKNOWN, on_cxl_that_is_not_seen},
	{"PM-12", READINESS_INFO, in_use},
	{"PM-12", READINESS_INFO, of_host},
	{"PM-12", READINESS_WARN, not_committed},
	{"PM-12", READINESS_WARN, locked},
	{"PM-12", READINESS_WARN, no_bridge},
	{"PM-12", READINESS_UNKNOWN, unread},
};

CASES_OF(checks_cxl)
