/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_target.c -- PM-01 to PM-04: can the target be mapped as persistent
 * memory, so that a device writes to it and nothing else has to?
 */
#include <errno.h>
#include <string.h>

#include "checks.h"
#include "common/base/units.h"

static const char *kind_text(const struct facts_target *target)
{
	static const char *const kinds[] = {
		[ANSWERS_UNKNOWN] = "",
		[ANSWERS_NONE] = "nothing",
		[ANSWERS_REGULAR] = "file",
		[ANSWERS_DIRECTORY] = "directory",
		[ANSWERS_CHARACTER] = "character device",
		[ANSWERS_BLOCK] = "block device",
		[ANSWERS_OTHER] = "neither file, directory nor device",
	};

	return kinds[target->answer.kind];
}

/* "file on ext4, pmem0" */
static void say_kind(const struct facts_target *target, struct readiness_finding *finding)
{
	const char *kind = kind_text(target), *on = target->filesystem;
	const bool named = target->device[0] != '\0' && strcmp(target->device, on) != 0;

	finding_value(finding, "%s%s%s%s%s", kind, on[0] != '\0' ? (kind[0] ? " on " : "on ") : "",
		      on, named ? (kind[0] || on[0] ? ", " : "") : "", named ? target->device : "");
	if (target->answer.kind != ANSWERS_UNKNOWN || target->answer.error != 0)
		finding_source(finding, "statx(%s)", target->path);
	else
		finding_source(finding, "the name %s, sysfs and /proc/self/mountinfo",
			       target->path);
}

static void say_no_region(const struct facts_target *target, struct readiness_finding *finding)
{
	if (target->dimms_of_host > 0) {
		finding_value(finding, "%zu memory modules, no region", target->dimms_of_host);
		finding_say(finding, READINESS_FAIL,
			    "This host has memory modules for it, but none of their capacity is "
			    "persistent: they are in memory mode, or were never set up.",
			    "See ipmctl show -memoryresources; as root: ipmctl create -goal "
			    "PersistentMemoryType=AppDirect, and boot. What is on the modules is "
			    "lost.");
		return;
	}
	finding_value(finding, "no region");
	finding_say(finding, READINESS_FAIL,
		    "This host has no persistent memory that its kernel knows of.",
		    "Where there should be some: look for it in the firmware's setup, and load "
		    "the kernel's driver (modprobe nfit).");
}

/* Without a target: what there is to make one of. */
static void say_how_to_name(const struct facts_target *target, struct readiness_finding *finding)
{
	char command[CHECKS_COMMAND_BYTES];

	finding_say(
		finding, READINESS_SKIP, "No target was given.",
		"Name the memory that peers are to write to: --target /dev/dax0.0, or a file or "
		"directory on a DAX file system.");
	if (target->regions_of_host > 0 && target->namespaces_count == 0 && !target->cut) {
		finding_value(finding, "%s, no namespace", target->regions[0].name);
		finding_meaning(finding,
				"No target was given, and there is nothing to name yet: the "
				"persistent memory of this host has no namespace.");
		finding_fix(finding,
			    "As root: ndctl create-namespace -r %s -m devdax; then "
			    "--target /dev/dax0.0, as it will be called.",
			    target->regions[0].name);
	} else if (target->regions_of_host == 0) {
		finding_value(finding, "CXL capacity, no region");
		finding_meaning(
			finding,
			"No target was given, and there is nothing to name yet: no region is "
			"made of the persistent CXL capacity of this host.");
		finding_fix(finding, "As root: %s, then ndctl create-namespace -m devdax.",
			    checks_cxl_region(&target->cxl, command));
	}
}

static void inspect_no_target(const struct facts_target *target, struct readiness_finding *finding)
{
	finding_source(finding, "/sys/bus/nd/devices, /sys/bus/cxl/devices");
	if (!target->host_seen)
		finding_say(finding, READINESS_UNKNOWN,
			    "No target was given, and what the host has cannot be seen.",
			    "Run this where /sys is mounted, with --target.");
	else if (target->regions_of_host == 0 && target->cxl.pmem_bytes == 0)
		say_no_region(target, finding);
	else
		say_how_to_name(target, finding);
}

static void inspect_missing(const struct facts_target *target, struct readiness_finding *finding)
{
	const int error = target->answer.error;

	if (target->answer.kind == ANSWERS_NONE &&
	    (error == 0 || error == ENOENT || error == ENOTDIR))
		finding_say(finding, READINESS_FAIL, "There is nothing at that path.",
			    "Name a device DAX node, or a file or directory on a DAX file system.");
	else if (error != 0)
		finding_say(finding, READINESS_UNKNOWN, "It cannot be looked at.",
			    "Run this as a user who may, such as root.");
	else
		finding_say(finding, READINESS_UNKNOWN,
			    "Neither facts.json nor the files below the root tell what it is.",
			    "Name a target that the tree was made with.");
	if (error != 0)
		finding_value(finding, "%s", strerror(error));
}

static void inspect_other(const struct facts_target *target, struct readiness_finding *finding)
{
	if (target->device[0] == '\0' && target->answer.kind != ANSWERS_OTHER) {
		finding_say(finding, READINESS_UNKNOWN,
			    "What device it lies on cannot be seen: it may be persistent memory or "
			    "not.",
			    "Run this where /sys and /proc are mounted.");
		return;
	}
	if (strncmp(target->device, "dax", 3) == 0)
		finding_say(finding, READINESS_FAIL,
			    "It is device DAX of memory that is not persistent, such as high "
			    "bandwidth or CXL memory: good for a baseline alone.",
			    "Name a device DAX of a persistent memory region (ndctl list -RX).");
	else
		finding_say(finding, READINESS_FAIL,
			    "It is not persistent memory: good for a baseline alone.",
			    "Name a device DAX node, or a file or directory on a DAX file system.");
}

static const char *name_of_namespace(const struct facts_target *target)
{
	return target->namespaces_count > 0 ? target->namespaces[0].name : "NAMESPACE";
}

static void inspect_kind(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;

	if (target->shape == TARGET_NOT_GIVEN) {
		inspect_no_target(target, finding);
		return;
	}
	say_kind(target, finding);
	switch (target->shape) {
	case TARGET_MISSING:
		inspect_missing(target, finding);
		break;
	case TARGET_ON_DEVDAX:
		finding_is(finding, PASS, "It is a device DAX.");
		break;
	case TARGET_ON_FSDAX:
		if (strstr(target->mount_options, "rtdev=") != NULL)
			finding_say(finding, READINESS_UNKNOWN,
				    "The file system has a realtime device (rtdev=), on which the "
				    "file's data may lie instead.",
				    "Mount it without rtdev=, or take a device DAX.");
		else
			finding_is(finding, PASS, "It lies on persistent memory.");
		break;
	case TARGET_ON_BLOCK:
		finding_is(finding, WARN,
			   "It is persistent memory as a block device, which is mapped through "
			   "the page cache: a flush reaches that alone.");
		finding_fix(
			finding,
			"Name a file on a DAX file system of it, or make the namespace a device "
			"DAX, which erases it (ndctl create-namespace -f -e %s -m devdax).",
			name_of_namespace(target));
		break;
	default:
		inspect_other(target, finding);
		break;
	}
}

/* False: the question does not arise, which is said. */
static bool is_shape(const struct facts_target *target, enum target_shape shape,
		     struct readiness_finding *finding)
{
	if (target->shape == shape)
		return true;
	finding_say(finding, READINESS_SKIP,
		    target->shape == TARGET_NOT_GIVEN ? "No target was given."
		    : shape == TARGET_ON_DEVDAX	      ? "The target is no device DAX."
						: "The target is no file on persistent memory.",
		    NULL);
	return false;
}

static void judge_driver(const struct facts_target *target, struct readiness_finding *finding)
{
	if (strcmp(target->driver, "kmem") == 0) {
		finding_is(finding, FAIL,
			   "It is in use as system memory, and no program can map it.");
		finding_fix(
			finding,
			"daxctl reconfigure-device --mode=devdax --force %s takes it back, with "
			"what is on it lost, if its memory can be taken offline.",
			target->device);
	} else if (strcmp(target->driver, "none") == 0) {
		finding_is(finding, FAIL, "No driver is bound to it, so it cannot be opened.");
		finding_fix(finding,
			    "daxctl reconfigure-device --mode=devdax %s, or modprobe device_dax.",
			    target->device);
	} else if (target->size_bytes == 0)
		finding_say(
			finding, READINESS_FAIL, "It has no size.",
			"Give it one: daxctl create-device, or ndctl create-namespace -m devdax.");
	else if (strcmp(target->driver, "device_dax") != 0)
		finding_is(finding, UNKNOWN,
			   "Which driver it has is not known, or not as one that maps it.");
	else if (target->size_bytes < 0)
		finding_is(finding, UNKNOWN, "Its size cannot be read.");
	else
		finding_is(finding, PASS, "It can be mapped.");
}

static void inspect_devdax(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;
	char size[UNITS_TEXT_BYTES] = "size unknown", align[UNITS_TEXT_BYTES] = "unknown";

	if (!is_shape(target, TARGET_ON_DEVDAX, finding))
		return;
	if (target->size_bytes >= 0)
		units_print_size((uint64_t)target->size_bytes, size);
	if (target->align_bytes >= 0)
		units_print_size((uint64_t)target->align_bytes, align);
	finding_value(finding, "driver %s, %s, pages of %s",
		      target->driver[0] != '\0' ? target->driver : "unknown", size, align);
	finding_source(finding, "/sys/bus/dax/devices/%s", target->device);
	judge_driver(target, finding);
}

static const char *known_text(enum known known, const char *yes, const char *no)
{
	return known == KNOWN_YES ? yes : known == KNOWN_NO ? no : "unknown";
}

/* A directory is never in DAX state itself. */
static bool is_not_dax(const struct answers_path *answer)
{
	return answer->dax == 0 && (answer->kind != ANSWERS_DIRECTORY || answer->map_sync >= 0);
}

static void judge_dax(const struct facts_target *target, struct readiness_finding *finding)
{
	const char *fix =
		"Mount the file system with -o dax=always (ext4 and xfs, blocks of 4096 bytes) "
		"on a namespace of mode fsdax.";

	if (target->dax_queue == KNOWN_NO) {
		finding_is(
			finding, FAIL,
			"The block device cannot do DAX: files are mapped through the page cache.");
		finding_fix(
			finding,
			"Make the namespace fsdax, which erases it: ndctl create-namespace -f -e "
			"%s -m fsdax.",
			name_of_namespace(target));
	} else if (target->answer.dax == 1 || target->answer.map_sync == 0)
		finding_is(finding, PASS, "It is mapped without page cache.");
	else if (is_not_dax(&target->answer))
		finding_say(
			finding, READINESS_FAIL,
			"It is mapped through the page cache: what a device writes there is not "
			"in persistent memory.",
			fix);
	else if (target->dax_mount == KNOWN_YES)
		finding_is(finding, PASS, "It is mounted for DAX.");
	else if (target->dax_mount == KNOWN_NO)
		finding_say(finding, READINESS_FAIL,
			    "It is not mounted for DAX: files are mapped through the page cache.",
			    fix);
	else
		finding_say(finding, READINESS_UNKNOWN,
			    "Only files with the DAX attribute are mapped without page cache, and "
			    "whether this one has it is not known.",
			    fix);
}

static void inspect_dax(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;

	if (!is_shape(target, TARGET_ON_FSDAX, finding))
		return;
	finding_value(finding, "mounted %s, device %s, file %s",
		      known_text(target->dax_mount, "with dax", "without dax"),
		      known_text(target->dax_queue, "can", "cannot"),
		      target->answer.dax < 0 ? "unknown"
		      : target->answer.dax   ? "is"
					     : "is not");
	finding_source(finding,
		       "/proc/self/mountinfo (%s), /sys/block/%s/queue/dax, STATX_ATTR_DAX",
		       target->mount_options, target->device);
	judge_dax(target, finding);
}

static void inspect_map_sync(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;
	const int sync = target->answer.map_sync, error = target->answer.error;

	if (!is_shape(target, TARGET_ON_FSDAX, finding))
		return;
	finding_source(finding, "mmap(MAP_SHARED_VALIDATE | MAP_SYNC) of %s", target->path);
	if (sync >= 0 || error != 0)
		finding_value(finding, "%s", sync == 0 ? "ok" : strerror(sync > 0 ? sync : error));
	if (sync == 0)
		finding_is(finding, PASS, "Its blocks stay where they are found when power fails.");
	else if (sync == EOPNOTSUPP)
		finding_say(
			finding, READINESS_FAIL,
			"Without synchronous page faults written data can be lost with the file "
			"system's knowledge of where it is.",
			"Take a DAX file system on persistent memory of the host itself; "
			"virtio-pmem in a guest cannot do it.");
	else
		finding_say(
			finding, READINESS_UNKNOWN, "Whether it can be mapped so was not tried.",
			"Run this on the machine itself, as a user who may read the file, or make "
			"one in the directory.");
}

const struct readiness_check checks_target[] = {
	{"PM-01", "kind of the target", READINESS_BLOCKS, READINESS_BLOCKS, inspect_kind,
	 "What peers write to must be persistent memory, which is known by its device: statx()\n"
	 "gives its numbers, /sys/dev/char or /sys/dev/block the name, and a region of libnvdimm\n"
	 "is above it. Device DAX of other memory is not persistent. A file may lie on several\n"
	 "persistent memory devices that the device mapper joins.\n"
	 "PASS: a device DAX, or a file or directory on persistent memory.\n"
	 "WARN: a block device of persistent memory, which is mapped through the page cache.\n"
	 "FAIL: nothing is there, or it is other memory; without a target: the host has no\n"
	 "persistent memory.\n"
	 "UNKNOWN: it, or its device, cannot be seen, or it is on XFS with a realtime device;\n"
	 "without a target: the host cannot be seen.\n"
	 "SKIP: no target was given.\n"},
	{"PM-02", "device DAX", READINESS_BLOCKS, READINESS_BLOCKS, inspect_devdax,
	 "A device DAX can be mapped only while the driver device_dax has it; kmem makes system\n"
	 "memory of it. Read from /sys/bus/dax/devices.\n"
	 "PASS: the driver is device_dax, and it has a size.\n"
	 "FAIL: the driver is kmem, there is none, or the size is 0.\n"
	 "UNKNOWN: driver or size cannot be read.\n"
	 "SKIP: the target is no device DAX.\n"},
	{"PM-03", "DAX file system", READINESS_BLOCKS, READINESS_BLOCKS, inspect_dax,
	 "Only with DAX is a mapped file the persistent memory itself; without it peers write to\n"
	 "the page cache, and nothing they can do makes that persistent. Asked of the file\n"
	 "(STATX_ATTR_DAX), of a file made without a name in a directory, of the mount's options\n"
	 "and of the block device (queue/dax).\n"
	 "PASS: the file is in DAX state, or the mount makes all files so.\n"
	 "FAIL: the file is not, the device cannot, or the mount has no option dax.\n"
	 "UNKNOWN: mounted with dax=inode, and the file cannot be asked.\n"
	 "SKIP: the target is no file or directory on persistent memory.\n"},
	{"PM-04", "synchronous mapping", READINESS_BLOCKS, READINESS_BLOCKS, inspect_map_sync,
	 "A mapping with MAP_SYNC promises that the file system knows on persistent memory where\n"
	 "the blocks are before they are written to. One page is mapped and unmapped, and not\n"
	 "touched; in a directory it is of a file without a name. Device DAX has no need of it.\n"
	 "PASS: the kernel gives such a mapping.\n"
	 "FAIL: it refuses (EOPNOTSUPP).\n"
	 "UNKNOWN: it was not tried, or failed for another reason.\n"
	 "SKIP: the target is no file or directory on persistent memory.\n"},
	{0},
};
