/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_handshake.c -- the facts about this process that its peers decide by, and the decision.
 *
 * Two processes that met at a unix socket are of one host and one user. Segments are shared within
 * one pid namespace: process_vm_* takes pids, and so do the locks in them.
 */
#include "local_handshake.h"

#include <string.h>
#include <sys/stat.h>

#include "soft_device/process/process.h"

static uint64_t inode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void local_handshake_make(struct wire_handshake *handshake)
{
	const struct segment *segment = process_current->segment;

	memset(handshake, 0, sizeof(*handshake));
	if (process_current->options.transport != SOFT_TRANSPORT_TCP)
		handshake->layout = SEGMENT_LAYOUT;
	handshake->identity = segment->identity;
	handshake->probe = (uint64_t)(uintptr_t)&segment->probe;
	handshake->pid_namespace = inode_of("/proc/self/ns/pid");
}

const char *local_handshake_distance(const struct wire_handshake *own,
				     const struct wire_handshake *other)
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
