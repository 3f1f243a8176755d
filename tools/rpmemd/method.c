/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * method.c -- chooses, and gives the reason for the log.
 */
#include "method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/base/failure.h"
#include "tools/common/host/sysroot.h"

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
		decide(method, CONTROL_APM,
		       "persist-apm states that the platform is ready, which could not be "
		       "verified",
		       facts);
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

/* Asks the platform; `reason` has room for the facts' error message. */
static void inspect(struct method_facts *facts, const char *target, char *reason, size_t size)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	struct sysroot root;
	const struct readiness_cfg cfg = {.root = &root, .target = target};
	char because[512];

	facts->verdict = VERDICT_UNDETERMINED;
	facts->reason = reason;
	if (readiness == NULL || sysroot_open(&root, "/") != 0) {
		snprintf(reason, size, "the platform could not be examined");
		free(readiness);
		return;
	}
	if (readiness_inspect(readiness, &cfg) == 0) {
		readiness_because(readiness, because, sizeof(because));
		facts->verdict = readiness->row->verdict;
		snprintf(reason, size, "%s %s%s%s", readiness_verdict_name(facts->verdict),
			 readiness->row->reason, because[0] != '\0' ? " " : "", because);
	} else {
		snprintf(reason, size, "%s", failure_get()->text);
	}
	readiness_free(readiness);
	free(readiness);
	sysroot_close(&root);
}

void method_find(const struct pool *pool, enum control_transport transport, bool persist_apm,
		 struct method *method)
{
	const char *force = getenv("PMEM_IS_PMEM_FORCE");
	struct method_facts facts = {
		.persist_apm = persist_apm,
		.transport = transport,
		.is_pmem = pool_is_pmem(pool),
		.is_forced = force != NULL && strcmp(force, "1") == 0,
		.reason = "",
	};
	char reason[1024];

	if (method_needs_verdict(&facts))
		inspect(&facts, pool_path(pool), reason, sizeof(reason));
	method_choose(&facts, method);
}
