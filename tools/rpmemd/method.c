/* SPDX-License-Identifier: BSD-3-Clause */
/* method.c -- chooses, and gives the reason for the log. */
#include "method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/host/sysroot.h"
#include "readiness/checks.h"

const char *method_name(enum control_method method)
{
	return method == CONTROL_APM ? "APM" : "GPSPM";
}

bool method_needs_verdict(const struct method_facts *facts)
{
	return facts->transport == CONTROL_RDMA && facts->persist_apm && facts->is_pmem &&
	       !facts->is_forced;
}

static void decide(struct method *method, enum control_method how, const char *why,
		   const struct method_facts *facts)
{
	method->method = how;
	snprintf(method->why, sizeof(method->why), "%s%s%s", why,
		 method_needs_verdict(facts) ? ": " : "",
		 method_needs_verdict(facts) ? facts->reason : "");
}

static void decide_unverified(const struct method_facts *facts, struct method *method)
{
	if (facts->is_software)
		decide(method, CONTROL_GPSPM,
		       "the CPU copies what the RDMA device receives, and the platform could not "
		       "be verified",
		       facts);
	else
		decide(method, CONTROL_APM,
		       "persist-apm states that the platform is ready, which could not be verified",
		       facts);
}

static void decide_by_verdict(const struct method_facts *facts, struct method *method)
{
	switch (facts->verdict) {
	case VERDICT_APM_READY:
	case VERDICT_APM_READY_EADR:
		decide(method, CONTROL_APM, "the platform is ready", facts);
		break;
	case VERDICT_NATIVE_FLUSH_READY:
		method->native = true;
		decide(method, CONTROL_APM, "the device flushes natively", facts);
		break;
	case VERDICT_UNDETERMINED:
		decide_unverified(facts, method);
		break;
	default:
		decide(method, CONTROL_GPSPM, "the platform is not ready for APM", facts);
	}
}

void method_choose(const struct method_facts *facts, struct method *method)
{
	*method = (struct method){.method = CONTROL_GPSPM};
	if (facts->transport == CONTROL_TCP)
		decide(method, CONTROL_GPSPM, "lanes over TCP have no APM", facts);
	else if (!facts->persist_apm)
		decide(method, CONTROL_GPSPM, "persist-apm is not set", facts);
	else if (!facts->is_pmem)
		decide(method, CONTROL_GPSPM, "the pool is not in persistent memory", facts);
	else if (facts->is_forced)
		decide(method, CONTROL_APM,
		       "PMEM_IS_PMEM_FORCE=1 states that the pool is in persistent memory", facts);
	else
		decide_by_verdict(facts, method);
}

/* The more, the less is allowed: after UNDETERMINED a client may flush by a read, too. */
static int strictness(enum readiness_verdict verdict)
{
	static const int levels[] = {
		[VERDICT_APM_READY] = 1,    [VERDICT_APM_READY_EADR] = 1,
		[VERDICT_UNDETERMINED] = 2, [VERDICT_NATIVE_FLUSH_READY] = 3,
		[VERDICT_GPSPM_ONLY] = 4,   [VERDICT_NOT_READY] = 5,
	};

	return levels[verdict];
}

struct inspection {
	const char *device;
	struct readiness readiness; /* one part at a time */
	int strictest;
	char reason[1536];
};

static void inspect_part(struct inspection *i, const char *part, struct method_facts *facts)
{
	const struct readiness_cfg cfg = {
		.root = &sysroot_machine, .device = i->device, .target = part};
	struct readiness *r = &i->readiness;
	enum readiness_verdict verdict = VERDICT_UNDETERMINED;
	const bool known = readiness_inspect(r, &cfg) == 0;
	char because[512] = "";

	if (known) {
		verdict = r->row->verdict;
		facts->is_software = checks_placement(&r->facts) == ADAPTER_BY_CPU;
		readiness_because(r, because, sizeof(because));
	}
	if (strictness(verdict) > i->strictest) {
		i->strictest = strictness(verdict);
		facts->verdict = verdict;
		snprintf(i->reason, sizeof(i->reason), "%s for %s with %s: %s%s%s",
			 readiness_verdict_name(verdict), part, i->device,
			 known ? r->row->reason : failure_get()->text,
			 because[0] != '\0' ? " " : "", because);
	}
	readiness_free(r);
}

static void inspect_parts(struct inspection *i, const struct pool *pool, struct method_facts *facts)
{
	facts->reason = i->reason;
	for (size_t part = 0; part < pool_parts(pool); part++)
		inspect_part(i, pool_part_path(pool, part), facts);
}

void method_find(const struct pool *pool, enum control_transport transport, const char *device,
		 bool persist_apm, struct method *method)
{
	const char *force = getenv("PMEM_IS_PMEM_FORCE");
	struct method_facts facts = {
		.persist_apm = persist_apm,
		.transport = transport,
		.is_pmem = pool_is_pmem(pool),
		.is_forced = force != NULL && strcmp(force, "1") == 0,
		.verdict = VERDICT_UNDETERMINED,
		.reason = "the platform could not be examined",
	};
	struct inspection *inspection = NULL;

	if (method_needs_verdict(&facts) && device != NULL &&
	    (inspection = calloc(1, sizeof(*inspection))) != NULL) {
		inspection->device = device;
		inspect_parts(inspection, pool, &facts);
	}
	method_choose(&facts, method);
	free(inspection);
}
