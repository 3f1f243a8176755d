/* SPDX-License-Identifier: BSD-3-Clause */
/* checks_limits.c -- what this process, and the device, allow. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "common/base/units.h"

/* ODP of reliable connections, as <infiniband/verbs.h> numbers it. */
#define ODP_RC_BOTH ((1U << 2) | (1U << 3))

/* The needs of one connection with a queue of 64; a flush is a read. */
#define PLAN_FILES    64
#define PLAN_REQUESTS 64
#define PLAN_ENTRIES  128
#define PLAN_READS    1

static bool pins_on_demand(const struct answers_device *verbs)
{
	return verbs->odp_known && (verbs->odp_general & 1) != 0 &&
	       (verbs->odp_rc & ODP_RC_BOTH) == ODP_RC_BOTH;
}

/* A capability that is added to a container is effective for its root alone. */
static const char *how_to_lock(const struct facts_limits *limits)
{
	if (limits->container == CONTAINER_POD)
		return limits->root
			       ? "a pod has no setting for it: raise it where the node's runtime "
				 "is started (LimitMEMLOCK= of containerd or CRI-O), or add the "
				 "capability IPC_LOCK to the container"
			       : "a pod has no setting for it: raise it where the node's runtime "
				 "is "
				 "started (LimitMEMLOCK= of containerd or CRI-O); the capability "
				 "IPC_LOCK counts for a container's root alone (runAsUser: 0)";
	if (limits->container == CONTAINER_OTHER)
		return limits->root
			       ? "--ulimit memlock=-1 of docker or podman, or --cap-add IPC_LOCK"
			       : "--ulimit memlock=-1 of docker or podman; --cap-add IPC_LOCK "
				 "counts for a container's root alone";
	return "ulimit -l, LimitMEMLOCK= of systemd, or memlock in /etc/security/limits.conf; or "
	       "give the program's file the capability (setcap cap_ipc_lock+ep)";
}

static void say_too_small(const struct facts *facts, struct readiness_finding *finding)
{
	const int64_t need = facts->target.size_bytes;
	char text[UNITS_TEXT_BYTES];

	units_print_size((uint64_t)need, text);
	if (pins_on_demand(&facts->verbs)) {
		finding->status = READINESS_WARN;
		finding_meaning(finding,
				"The target has %s, more than may be locked; only registered on "
				"demand (ODP) it can be whole.",
				text);
	} else {
		finding->status = READINESS_FAIL;
		finding_meaning(finding,
				"The target has %s, more than may be locked: registering it fails.",
				text);
	}
	finding_fix(finding, "Allow %" PRId64 " KiB: %s.", need / 1024 + (need % 1024 != 0),
		    how_to_lock(&facts->limits));
}

static void say_limit(const struct facts_limits *limits, struct readiness_finding *finding)
{
	char text[UNITS_TEXT_BYTES] = "unlimited";

	finding_source(finding,
		       "/proc/self/limits (Max locked memory), /proc/self/status (CapEff)");
	if (limits->may_lock == KNOWN_YES) {
		finding_value(finding, "CAP_IPC_LOCK");
		return;
	}
	if (limits->memlock_bytes < 0)
		return;
	if (limits->memlock_bytes != INT64_MAX)
		units_print_size((uint64_t)limits->memlock_bytes, text);
	finding_value(finding, "%s", text);
}

static bool has_no_size(const struct facts_target *target)
{
	return target->shape == TARGET_NOT_GIVEN || target->answer.kind == ANSWERS_DIRECTORY;
}

static void inspect_memlock(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_limits *limits = &facts->limits;
	const int64_t need = facts->target.size_bytes;

	say_limit(limits, finding);
	if (limits->may_lock == KNOWN_YES || limits->memlock_bytes == INT64_MAX)
		finding_is(finding, PASS, "Any amount of memory may be registered.");
	else if (limits->memlock_bytes < 0)
		finding_is(finding, UNKNOWN, "How much memory may be locked cannot be read.");
	else if (need < 0 && has_no_size(&facts->target))
		finding_is(finding, INFO, "No more memory than this can be registered.");
	else if (need < 0)
		finding_say(
			finding, READINESS_UNKNOWN,
			"No more memory than this can be registered, and the size of the target "
			"is not known.",
			"Name a target that can be looked at, or allow any amount: ulimit -l "
			"unlimited.");
	else if (need <= limits->memlock_bytes)
		finding_is(finding, PASS, "The whole target may be registered.");
	else
		say_too_small(facts, finding);
}

struct plan {
	const char *name;
	int64_t have, need;
};

/* The first that is too little; NULL: none. */
static const struct plan *too_little(const struct plan *plans, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (plans[i].have >= 0 && plans[i].have < plans[i].need)
			return &plans[i];
	}
	return NULL;
}

static bool all_known(const struct plan *plans, size_t count)
{
	while (count > 0 && plans[count - 1].have >= 0)
		count--;
	return count == 0;
}

static void add_text(char *text, size_t size, const struct plan *plan)
{
	size_t len = strlen(text);

	if (plan->have < 0)
		snprintf(text + len, size - len, "%s%s unknown", len > 0 ? ", " : "", plan->name);
	else
		snprintf(text + len, size - len, "%s%s %" PRId64, len > 0 ? ", " : "", plan->name,
			 plan->have);
}

static void inspect_depth(const struct facts *facts, struct readiness_finding *finding)
{
	const struct plan plans[] = {
		{"open files", facts->limits.open_files, PLAN_FILES},
		{"max_qp_wr", facts->verbs.max_qp_wr, PLAN_REQUESTS},
		{"max_cqe", facts->verbs.max_cqe, PLAN_ENTRIES},
		{"max_qp_rd_atom", facts->verbs.max_qp_rd_atom, PLAN_READS},
	};
	const size_t count = sizeof(plans) / sizeof(plans[0]);
	const struct plan *lack = too_little(plans, count);
	char text[160] = "";

	for (size_t i = 0; i < count; i++)
		add_text(text, sizeof(text), &plans[i]);
	finding_value(finding, "%s", text);
	finding_source(finding, "/proc/self/limits (Max open files), ibv_query_device_ex()");
	if (lack != NULL) {
		finding_is(finding, FAIL, "");
		finding_meaning(finding, "%s is %" PRId64 ", and one connection needs %" PRId64 ".",
				lack->name, lack->have, lack->need);
		finding_fix(finding, "%s",
			    lack == plans ? "Allow more: ulimit -n, or LimitNOFILE= of systemd."
					  : "Take another device, or newer firmware of it.");
	} else if (all_known(plans, count)) {
		finding_is(finding, PASS, "It is enough for a connection.");
	} else {
		finding_is(finding, UNKNOWN, "Not all of the limits are known.");
		if (!facts->verbs.known && facts->verbs.why[0] != '\0')
			finding_fix(finding, "The device did not answer: %s.", facts->verbs.why);
	}
}

const struct readiness_check checks_limits[] = {
	{"LIM-01", "memory that may be locked", READINESS_BLOCKS, READINESS_ADVISES,
	 inspect_memlock,
	 "Registered memory is locked, and without the capability CAP_IPC_LOCK only as much as the "
	 "limit \"Max locked memory\" allows, queues of the device included. The capability counts "
	 "in the first user namespace alone, so that of a container's root may be worth nothing, "
	 "and one that is added to a container or a pod is effective for its root alone. Compared "
	 "with the target's size.\n"
	 "PASS: it is unlimited, or not less than the target.\n"
	 "WARN: less, but the device can register on demand (ODP), which locks nothing.\n"
	 "FAIL: less, and it cannot.\n"
	 "INFO: there is no target, or it is a directory, which has no size of its own.\n"
	 "UNKNOWN: the limit, or the size of the target, cannot be read.\n"},
	{"LIM-02", "files and queues", READINESS_BLOCKS, READINESS_ADVISES, inspect_depth,
	 "A connection needs some descriptors (64 are asked for), a queue of 64 requests, a "
	 "completion queue of 128, and at least one outstanding RDMA read, which a flush is. The "
	 "hard limit of open files counts, as the tools raise the soft one to it.\n"
	 "PASS: all are enough.\n"
	 "FAIL: one is not.\n"
	 "UNKNOWN: one is not known, such as those of a device that cannot be opened.\n"},
	{0},
};
