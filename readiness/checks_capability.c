/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_capability.c -- what the verbs say of the device: on-demand paging,
 * native flush and atomic write, TPH handles.
 */
#include <infiniband/verbs.h>

#include "checks.h"

static void inspect_peer(const struct facts *facts, struct readiness_finding *finding)
{
	(void)facts;
	finding_value(finding, "this host alone");
	finding_is(finding, INFO,
		   "The verdict of the host that has the target counts: run the check there; on "
		   "the host that writes, these checks are advice.");
}

const struct readiness_check checks_peer[] = {
	{"PEER-01", "which end counts", READINESS_ADVISES, READINESS_ADVISES, inspect_peer,
	 "Data is lost or kept on the host that has the persistent memory: there device writes go\n"
	 "to the cache or to memory, and there power fails. So its verdict counts, and the one of\n"
	 "the host that writes is advice about that host's device, bus and limits.\n"
	 "rpma-bench asks the server for its verdict and writes it into the result.\n"
	 "INFO: always; one host cannot see the other.\n"},
	{0},
};

/* Linux include/uapi/rdma/ib_user_verbs.h, enum ib_uverbs_device_cap_flags */
#define FLUSH_GLOBAL	 (UINT64_C(1) << 38)
#define FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define ATOMIC_WRITE	 (UINT64_C(1) << 40)
/* since rdma-core 58 */
#define ODP_FLUSH	 (1U << 6)
#define ODP_ATOMIC_WRITE (1U << 7)

#define SOURCE		 "ibv_query_device_ex()"

/* False, with the finding made: the device did not answer that. */
static bool answered(const struct facts *facts, bool known, struct readiness_finding *finding)
{
	if (checks_without_device(facts, finding))
		return false;
	finding_source(finding, SOURCE);
	if (known)
		return true;
	finding_value(finding, "%s", facts->verbs.why);
	finding_say(finding, READINESS_UNKNOWN, "The device could not be asked.",
		    "See that /dev/infiniband/uverbs* exist and may be opened by this user.");
	return false;
}

static bool odp_enough(const struct answers_device *verbs)
{
	const uint32_t needed = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;

	return (verbs->odp_general & IBV_ODP_SUPPORT) != 0 && (verbs->odp_rc & needed) == needed;
}

static void say_odp_not_needed(const struct facts *facts, struct readiness_finding *finding)
{
	if (checks_without_device(facts, finding))
		return;
	finding_source(finding, SOURCE);
	if (!facts->verbs.odp_known)
		finding_value(finding, "%s", facts->verbs.why);
	finding_is(finding, INFO,
		   "Files of a DAX file system need it; this target does not, or none was named.");
}

static void inspect_odp(const struct facts *facts, struct readiness_finding *finding)
{
	const struct answers_device *verbs = &facts->verbs;
	bool fsdax = facts->target.shape == TARGET_ON_FSDAX;

	if (!fsdax && !verbs->odp_known) {
		say_odp_not_needed(facts, finding);
		return;
	}
	if (!answered(facts, verbs->odp_known, finding))
		return;
	finding_value(finding, "%s%s%s%s%s%s", odp_enough(verbs) ? "yes" : "no",
		      (verbs->odp_rc & IBV_ODP_SUPPORT_WRITE) != 0 ? ", write" : "",
		      (verbs->odp_rc & IBV_ODP_SUPPORT_READ) != 0 ? ", read" : "",
		      (verbs->odp_rc & IBV_ODP_SUPPORT_ATOMIC) != 0 ? ", atomic" : "",
		      (verbs->odp_rc & ODP_FLUSH) != 0 ? ", flush" : "",
		      (verbs->odp_rc & ODP_ATOMIC_WRITE) != 0 ? ", atomic write" : "");
	if (fsdax && !odp_enough(verbs))
		finding_say(
			finding, READINESS_FAIL,
			"A file of a DAX file system cannot be registered: the kernel refuses "
			"to pin it (EOPNOTSUPP), and the device cannot page on demand.",
			"Take a device DAX as target (ndctl create-namespace --mode=devdax), or "
			"a NIC with on-demand paging for RC write and read.");
	else if (fsdax)
		finding_is(finding, PASS,
			   "A file of a DAX file system can be registered, by on-demand paging.");
	else
		say_odp_not_needed(facts, finding);
}

static void inspect_odp_cost(const struct facts *facts, struct readiness_finding *finding)
{
	if (checks_without_device(facts, finding))
		return;
	if (facts->target.shape != TARGET_ON_FSDAX) {
		finding_is(finding, SKIP,
			   "The target is not on a DAX file system, or no target was named.");
		return;
	}
	finding_value(finding, "%s", facts->target.filesystem);
	finding_say(finding, READINESS_WARN,
		    "Pages are paged in when they are first touched: the peer then sees RNR NAKs, "
		    "and pauses of milliseconds.",
		    "Touch the file before it is used, and call rpma_mr_advise() with "
		    "IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE on the region.");
}

/* Memory that is paged on demand needs more than the flush itself. */
static bool flushes_target(const struct facts *facts)
{
	return facts->target.shape != TARGET_ON_FSDAX ||
	       (facts->verbs.odp_known && (facts->verbs.odp_rc & ODP_FLUSH) != 0);
}

static void inspect_flush(const struct facts *facts, struct readiness_finding *finding)
{
	uint64_t flags = facts->verbs.cap_flags_ex;
	bool global = (flags & FLUSH_GLOBAL) != 0, persistent = (flags & FLUSH_PERSISTENT) != 0;

	if (!answered(facts, facts->verbs.flags_known, finding))
		return;
	finding_value(finding, "%s",
		      global && persistent ? "visibility and persistence"
		      : global		   ? "visibility alone"
		      : persistent	   ? "persistence alone"
					   : "none");
	if (global && persistent && facts->device.kind == DEVICE_SOFT)
		finding_is(finding, INFO,
			   "The software device answers a flush, and takes nothing out of the "
			   "CPU's cache: it is a model of one.");
	else if (global && persistent && !flushes_target(facts))
		finding_say(finding, READINESS_INFO,
			    "The device does the flush of RDMA itself, but not of what it pages on "
			    "demand, as files of a DAX file system are.",
			    "Take a device DAX as target (ndctl create-namespace --mode=devdax).");
	else if (global && persistent)
		finding_is(finding, PASS,
			   "The device does the flush of RDMA itself: the target's side makes "
			   "writes persistent, whatever its cache does.");
	else
		finding_is(finding, INFO,
			   "No native flush: persistence takes a read that flushes, where device "
			   "writes do not stay in the cache, or a message to the target.");
}

static void inspect_atomic_write(const struct facts *facts, struct readiness_finding *finding)
{
	bool has = (facts->verbs.cap_flags_ex & ATOMIC_WRITE) != 0;

	if (!answered(facts, facts->verbs.flags_known, finding))
		return;
	finding_value(finding, "%s", has ? "yes" : "no");
	finding_say(finding, READINESS_INFO,
		    has ? "The device has a native atomic write of eight bytes."
			: "No native atomic write; librpma sends a fenced write of eight bytes.",
		    NULL);
}

static void inspect_tph_handle(const struct facts *facts, struct readiness_finding *finding)
{
	int has = facts->verbs.tph_handle;

	if (checks_without_device(facts, finding))
		return;
	finding_source(finding, "ibv_alloc_dmah()");
	if (has < 0) {
		finding_is(finding, UNKNOWN, "Whether regions can have TPH handles is not known.");
		return;
	}
	finding_value(finding, "%s", has > 0 ? "yes" : "no");
	finding_say(
		finding, READINESS_INFO,
		has > 0 ? "A program may give a region a TPH handle, and so steer writes into a "
			  "cache; librpma never does."
			: "No region can have a TPH handle.",
		NULL);
}

const struct readiness_check checks_capability[] = {
	{"ODP-01", "on-demand paging", READINESS_BLOCKS, READINESS_ADVISES, inspect_odp,
	 "A file of a DAX file system cannot be pinned for long, so it can be registered only\n"
	 "by a device that pages on demand, for RDMA writes and reads of RC connections.\n"
	 "Device DAX and DRAM are pinned and need none of it. Asked with\n"
	 "ibv_query_device_ex().\n"
	 "PASS: the target is such a file, and the device can.\n"
	 "INFO: the target does not need it, or none was named.\n"
	 "FAIL: the target is such a file, and the device cannot.\n"
	 "UNKNOWN: the target is such a file, and the device could not be asked.\n"
	 "SKIP: there is no device.\n"},
	{"ODP-02", "cost of on-demand paging", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_odp_cost,
	 "The first access to a page stops the NIC until the kernel has mapped it; the peer is\n"
	 "told to come again later (RNR NAK). Known from the kind of the target.\n"
	 "WARN: the target is a file of a DAX file system.\n"
	 "SKIP: it is not, or there is no device.\n"},
	{"CAP-01", "native flush", READINESS_ADVISES, READINESS_ADVISES, inspect_flush,
	 "The flush operation of RDMA (memory placement extensions) makes the target's NIC see\n"
	 "to persistence: no assumption about caches is needed. Asked with\n"
	 "ibv_query_device_ex(): device_cap_flags_ex, bits 38 (visibility) and 39\n"
	 "(persistence). Both ends need it, and libibverbs of the writing host must know the\n"
	 "verb (rdma-core 45). Of a file of a DAX file system, which is paged on demand, it is\n"
	 "refused where the device's paging has no flush (rc_odp_caps, bit 6).\n"
	 "PASS: both, and of this target.\n"
	 "INFO: not both, or not of what is paged on demand; or the software device's, which\n"
	 "writes no cache back.\n"
	 "UNKNOWN: the device could not be asked.\n"
	 "SKIP: there is no device.\n"},
	{"CAP-02", "native atomic write", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_atomic_write,
	 "An eight byte write that is seen whole or not at all, in order after a flush: what\n"
	 "commits a log. Without it librpma uses a fenced RDMA write. Asked with\n"
	 "ibv_query_device_ex(): device_cap_flags_ex, bit 40.\n"
	 "INFO: yes or no.\n"
	 "UNKNOWN: the device could not be asked.\n"
	 "SKIP: there is no device.\n"},
	{"CAP-03", "TPH handles", READINESS_ADVISES, READINESS_ADVISES, inspect_tph_handle,
	 "With rdma-core 59 a program can ask that writes to a region carry processing hints,\n"
	 "which steer them into a cache. librpma does not; other programs on the same memory\n"
	 "might.\n"
	 "INFO: the device can, or cannot.\n"
	 "UNKNOWN: the installed rdma-core does not know of it, or the device was not asked.\n"
	 "SKIP: there is no device.\n"},
	{0},
};
