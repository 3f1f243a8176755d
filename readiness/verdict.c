/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verdict.c -- one verdict over all findings: an ordered table.
 *
 * A wrong "ready" loses data. Which unknown or doubtful findings keep the
 * verdict from being ready is a column of the checks; they match a row above
 * all rows that are ready. rpma-ddio-check(1) has the same table.
 */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "common/base/failure.h"

struct judged {
	const struct facts *facts;
	const struct readiness_finding *findings;
	struct ddio ddio;
	bool lenient;
};

#define MEMORY_CONTROLLER "memory_controller"
#define CPU_CACHE	  "cpu_cache"

/* The condition of a row: the same for matching and for telling why. */

static bool counts_device(const struct readiness_check *check, enum readiness_status status)
{
	return strcmp(check->id, "DEV-01") == 0 &&
	       (status == READINESS_FAIL || status == READINESS_UNKNOWN);
}

static bool counts_conflict(const struct readiness_check *check, enum readiness_status status)
{
	return status == READINESS_FAIL && strncmp(check->id, "DDIO-", 5) == 0;
}

static bool counts_failed(const struct readiness_check *check, enum readiness_status status)
{
	(void)check;
	return status == READINESS_FAIL;
}

static bool counts_unproven(const struct readiness_check *check, enum readiness_status status)
{
	return (status == READINESS_UNKNOWN && check->if_unknown == READINESS_BLOCKS) ||
	       (status == READINESS_WARN && check->if_warn == READINESS_BLOCKS);
}

static bool any(const struct judged *judged,
		bool (*counts)(const struct readiness_check *check, enum readiness_status status))
{
	const struct readiness_check *check;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		if (counts(check, judged->findings[i].status))
			return true;
	}
	return false;
}

/* The value that all regions behind the target have; empty if they differ, or none is known. */
static const char *domain_of(const struct facts_target *target)
{
	const char *domain = target->regions_count > 0 ? target->regions[0].persistence_domain : "";

	for (size_t i = 1; i < target->regions_count; i++) {
		if (strcmp(target->regions[i].persistence_domain, domain) != 0)
			return "";
	}
	return domain;
}

static bool cpu_copies(const struct judged *judged)
{
	return judged->facts->device.found && checks_placement(judged->facts) == ADAPTER_BY_CPU;
}

static bool flushes_natively(const struct judged *judged)
{
	return readiness_find(judged->findings, "CAP-01")->status == READINESS_PASS;
}

static bool is_lenient_off(const struct judged *judged)
{
	const struct ddio *ddio = &judged->ddio;

	return ddio->state == DDIO_OFF_WARN || (ddio->state == DDIO_OFF && ddio->low_confidence);
}

static bool no_device(const struct judged *judged)
{
	return any(judged, counts_device);
}

static bool conflict(const struct judged *judged)
{
	return any(judged, counts_conflict);
}

static bool failed(const struct judged *judged)
{
	return any(judged, counts_failed);
}

static bool no_target(const struct judged *judged)
{
	return judged->facts->target.shape == TARGET_NOT_GIVEN;
}

static bool unproven(const struct judged *judged)
{
	return any(judged, counts_unproven);
}

static bool eadr(const struct judged *judged)
{
	return strcmp(domain_of(&judged->facts->target), CPU_CACHE) == 0;
}

/* Data in the memory controller survives; no row of another domain is ready. */
static bool adr(const struct judged *judged)
{
	return strcmp(domain_of(&judged->facts->target), MEMORY_CONTROLLER) == 0;
}

/* The CPU copies the data into its cache, whatever is read, measured or stated of DDIO. */
static bool software(const struct judged *judged)
{
	return cpu_copies(judged) && !flushes_natively(judged);
}

static bool ddio_off(const struct judged *judged)
{
	const struct ddio *ddio = &judged->ddio;

	return adr(judged) && !cpu_copies(judged) && ddio->state == DDIO_OFF &&
	       !ddio->low_confidence &&
	       (ddio->evidence == DDIO_REGISTERS || ddio->evidence == DDIO_PROBE);
}

static bool ddio_off_lenient(const struct judged *judged)
{
	return adr(judged) && !cpu_copies(judged) && judged->lenient && is_lenient_off(judged) &&
	       judged->ddio.evidence == DDIO_REGISTERS;
}

static bool ddio_assumed_off(const struct judged *judged)
{
	return adr(judged) && !cpu_copies(judged) && judged->ddio.state == DDIO_OFF &&
	       judged->ddio.evidence == DDIO_STATEMENT;
}

static bool native(const struct judged *judged)
{
	return adr(judged) && flushes_natively(judged);
}

static bool ddio_on(const struct judged *judged)
{
	return judged->ddio.state == DDIO_ON;
}

static bool ddio_on_possible(const struct judged *judged)
{
	return judged->ddio.state == DDIO_ON_POSSIBLE;
}

static bool always(const struct judged *judged)
{
	(void)judged;
	return true;
}

#define NOT_PROVEN                                                                                 \
	"It is not shown that what the device writes is persistent after a flush, and a wrong "    \
	"true loses data."
#define PROVEN "What the device writes is in the power-fail protected domain once it is flushed."

/* One row a line block: name, verdict, exit code, reason, direct write, why. */
const struct verdict_row readiness_rows[READINESS_ROWS] = {
	{"no-device", VERDICT_UNDETERMINED, EXIT_NO_DEVICE,
	 "There is no RDMA device here, or not the one that was asked for.", false, NOT_PROVEN,
	 no_device, counts_device},
	{"conflict", VERDICT_NOT_READY, EXIT_NEGATIVE,
	 "Statement, measurement and registers contradict each other on DDIO.", false, NOT_PROVEN,
	 conflict, counts_conflict},
	{"failed", VERDICT_NOT_READY, EXIT_NEGATIVE, "A check failed.", false, NOT_PROVEN, failed,
	 counts_failed},
	{"no-target", VERDICT_UNDETERMINED, EXIT_NO_DEVICE,
	 "No target was given, so it is not known which memory is meant.", false, NOT_PROVEN,
	 no_target, NULL},
	{"unproven", VERDICT_UNDETERMINED, EXIT_NO_DEVICE,
	 "A check that READY depends on is unknown or in doubt.", false, NOT_PROVEN, unproven,
	 counts_unproven},
	{"eadr", VERDICT_APM_READY_EADR, EXIT_GOOD,
	 "The platform saves the CPU caches when power fails, so it does not matter whether device "
	 "writes go there.",
	 true, PROVEN, eadr, NULL},
	{"software", VERDICT_GPSPM_ONLY, EXIT_NEGATIVE,
	 "The CPU copies received data into its cache, and no flush of a peer takes it out of "
	 "there.",
	 false, NOT_PROVEN, software, NULL},
	{"ddio-off", VERDICT_APM_READY, EXIT_GOOD, "Device writes go past the CPU cache to memory.",
	 true, PROVEN, ddio_off, NULL},
	{"ddio-off-lenient", VERDICT_APM_READY, EXIT_GOOD,
	 "Device writes go past the CPU cache as far as the registers show, which --lenient "
	 "accepts.",
	 true, PROVEN, ddio_off_lenient, NULL},
	{"ddio-assumed-off", VERDICT_APM_READY, EXIT_GOOD,
	 "The operator states that device writes go past the CPU cache; it is not proven here, "
	 "and not refuted.",
	 true, PROVEN, ddio_assumed_off, NULL},
	{"native", VERDICT_NATIVE_FLUSH_READY, EXIT_GOOD,
	 "The device has native flush to persistence, which does not depend on DDIO.", false,
	 "Give true only where every peer flushes natively too: a peer that flushes by a read "
	 "would take data in the CPU cache for persistent.",
	 native, NULL},
	{"ddio-on", VERDICT_GPSPM_ONLY, EXIT_NEGATIVE,
	 "Device writes go to the CPU cache, which is lost when power fails: this host has to "
	 "make the data persistent (GPSPM).",
	 false, NOT_PROVEN, ddio_on, NULL},
	{"ddio-on-possible", VERDICT_UNDETERMINED, EXIT_NO_DEVICE,
	 "Some writes of the device may go to the CPU cache.", false, NOT_PROVEN, ddio_on_possible,
	 NULL},
	{"ddio-off-warn", VERDICT_UNDETERMINED, EXIT_NO_DEVICE,
	 "The registers show DDIO off, but not beyond doubt (--lenient accepts it).", false,
	 NOT_PROVEN, is_lenient_off, NULL},
	{"ddio-unknown", VERDICT_UNDETERMINED, EXIT_NO_DEVICE,
	 "Whether device writes go to the CPU cache is not known; unknown is not off.", false,
	 NOT_PROVEN, always, NULL},
};

const char *readiness_verdict_name(enum readiness_verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_APM_READY] = "APM_READY",
		[VERDICT_APM_READY_EADR] = "APM_READY_EADR",
		[VERDICT_NATIVE_FLUSH_READY] = "NATIVE_FLUSH_READY",
		[VERDICT_GPSPM_ONLY] = "GPSPM_ONLY",
		[VERDICT_NOT_READY] = "NOT_READY",
		[VERDICT_UNDETERMINED] = "UNDETERMINED",
	};

	return names[verdict];
}

const struct verdict_row *readiness_judge(const struct facts *facts,
					  const struct readiness_finding *findings, bool lenient)
{
	struct judged judged = {.facts = facts, .findings = findings, .lenient = lenient};
	const struct verdict_row *row = readiness_rows;

	ddio_decide(facts, &judged.ddio);
	while (!row->matches(&judged))
		row++;
	return row;
}

bool readiness_assumed(const struct readiness *readiness)
{
	return readiness->row->matches == ddio_assumed_off ||
	       (readiness->row->exit_code == EXIT_GOOD &&
		readiness_find(readiness->findings, "PM-07")->status == READINESS_ASSUMED);
}

/* A row that DDIO keeps from being ready. */
static bool is_for_ddio(const struct verdict_row *row)
{
	return row->exit_code != EXIT_GOOD && strncmp(row->name, "ddio-", 5) == 0;
}

void readiness_because(const struct readiness *readiness, char *text, size_t size)
{
	const struct verdict_row *row = readiness->row;
	const struct readiness_check *check;
	const char *meaning = NULL;
	size_t len = 0;

	snprintf(text, size, "%s", is_for_ddio(row) ? readiness->ddio.why : "");
	for (size_t i = 0; row->counts != NULL && (check = readiness_check_at(i)) != NULL; i++) {
		const struct readiness_finding *f = &readiness->findings[i];

		if (!row->counts(check, f->status) || len >= size)
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%s %s", len > 0 ? ", " : "",
					check->id, readiness_status_name(f->status));
		meaning = meaning != NULL ? meaning : f->meaning;
	}
	if (meaning != NULL && meaning[0] != '\0' && len < size)
		snprintf(text + len, size - len, ": %s", meaning);
}
