/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_cxl.c -- each status of PM-12.
 */
#include "cases.h"

static void in_use(struct facts *f)
{
	f->target.cxl = (struct facts_cxl){.pmem_bytes = 1LL << 38,
					   .devices = 2,
					   .regions = 1,
					   .committed = 1,
					   .bridge = true};
	snprintf(f->target.regions[0].provider, sizeof(f->target.regions[0].provider), "CXL");
}

static void beside(struct facts *f)
{
	in_use(f);
	snprintf(f->target.regions[0].provider, sizeof(f->target.regions[0].provider), "ACPI.NFIT");
}

static void of_host(struct facts *f)
{
	beside(f);
	f->target.shape = TARGET_NOT_GIVEN;
}

static void not_committed(struct facts *f)
{
	in_use(f);
	f->target.cxl.committed = 0;
}

static void locked(struct facts *f)
{
	in_use(f);
	f->target.cxl.locked = 1;
}

static void no_bridge(struct facts *f)
{
	in_use(f);
	f->target.cxl.bridge = false;
}

static void unread(struct facts *f)
{
	in_use(f);
	f->target.cxl.pmem_bytes = -1;
}

static void on_cxl_that_is_not_seen(struct facts *f)
{
	in_use(f);
	f->target.cxl = (struct facts_cxl){0};
}

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
