/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.c -- the facts about this process that its peers decide by, and the decision.
 *
 * Two processes that met at a unix socket are of one host and one user. Segments are shared within
 * one pid namespace: process_vm_* takes pids, and so do the locks in them.
 */
#include "hello.h"

#include <string.h>
#include <sys/stat.h>

#include "soft_device/process/process.h"

static uint64_t inode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void hello_make(struct wire_hello *hello)
{
	const struct segment *segment = process_current->segment;

	memset(hello, 0, sizeof(*hello));
	if (process_current->options.transport != SOFT_TRANSPORT_TCP)
		hello->layout = SEGMENT_LAYOUT;
	hello->identity = segment->identity;
	hello->probe = (uint64_t)(uintptr_t)&segment->probe;
	hello->pid_namespace = inode_of("/proc/self/ns/pid");
}

const char *hello_distance(const struct wire_hello *own, const struct wire_hello *other)
{
	if (own->layout == 0)
		return "asked for";
	if (other->layout == 0)
		return "asked for by the peer";
	if (own->layout != other->layout)
		return "other version";
	if (own->pid_namespace != other->pid_namespace)
		return "other pid namespace";
	return NULL;
}
