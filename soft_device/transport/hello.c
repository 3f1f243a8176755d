/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.c -- the facts about this process that its peers decide by, and the decision.
 *
 * Two processes share a host when they read the same boot id; the inodes of namespaces
 * have a meaning only then. Segments are shared within one pid namespace: process_vm_* takes pids,
 * and so do the locks in them.
 */
#include "hello.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft_device/process/process.h"

#define ROW_MAX 512

static uint64_t inode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* A UUID in hex and dashes; stays all 0 when there is none to read. */
static void read_boot_id(unsigned char boot_id[WIRE_BOOT_ID_BYTES])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	static const char digits[] = "0123456789abcdef";
	char text[64] = "";
	size_t count = 0;

	if (file == NULL)
		return;
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = 0;
	fclose(file);
	for (const char *at = text; *at != 0 && count < 2 * WIRE_BOOT_ID_BYTES; at++) {
		const char *digit = strchr(digits, *at);
		unsigned char *byte = &boot_id[count / 2];

		if (digit == NULL)
			continue;
		*byte = (unsigned char)((unsigned)*byte << 4 | (unsigned)(digit - digits));
		count++;
	}
}

void hello_make(struct wire_hello *hello)
{
	const struct segment *segment = process_current->segment;

	memset(hello, 0, sizeof(*hello));
	hello->layout = SEGMENT_LAYOUT;
	hello->identity = segment->identity;
	hello->probe = (uint64_t)(uintptr_t)&segment->probe;
	hello->pid = (uint32_t)getpid();
	hello->uid = (uint32_t)geteuid();
	read_boot_id(hello->boot_id);
	hello->pid_namespace = inode_of("/proc/self/ns/pid");
	hello->net_namespace = inode_of("/proc/self/ns/net");
	hello->user_namespace = inode_of("/proc/self/ns/user");
}

static bool same_host(const struct wire_hello *own, const struct wire_hello *other)
{
	static const unsigned char unknown[WIRE_BOOT_ID_BYTES];

	return memcmp(own->boot_id, other->boot_id, WIRE_BOOT_ID_BYTES) == 0 &&
	       memcmp(own->boot_id, unknown, WIRE_BOOT_ID_BYTES) != 0;
}

const char *hello_distance(const struct wire_hello *own, const struct wire_hello *other)
{
	static const unsigned char none[WIRE_NAME_BYTES];

	if (!same_host(own, other))
		return "other host";
	if (own->net_namespace != other->net_namespace)
		return "other network namespace";
	if (own->pid_namespace != other->pid_namespace)
		return "other pid namespace";
	if (own->layout != other->layout)
		return "other version";
	if (memcmp(other->name, none, WIRE_NAME_BYTES) == 0)
		return "asked for by the peer";
	return NULL;
}

bool hello_of_other_user(const struct wire_hello *own, const struct wire_hello *other)
{
	return same_host(own, other) && own->user_namespace == other->user_namespace &&
	       own->user_namespace != 0 && own->uid != other->uid;
}

/* As the kernel prints it: the address in words of the host's byte order, then the port. */
static void print_address(const struct sockaddr_storage *addr, char text[48])
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	uint32_t words[4];

	if (addr->ss_family == AF_INET) {
		memcpy(&in, addr, sizeof(in));
		snprintf(text, 48, "%08X:%04X", in.sin_addr.s_addr, ntohs(in.sin_port));
		return;
	}
	memcpy(&in6, addr, sizeof(in6));
	memcpy(words, &in6.sin6_addr, sizeof(words));
	snprintf(text, 48, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
		 ntohs(in6.sin6_port));
}

/* Columns: sl local remote state queues timer retransmits uid …; state 1 is established. */
bool hello_row_uid(const char *row, const struct sockaddr_storage *from,
		   const struct sockaddr_storage *to, unsigned long *uid)
{
	char local[48], remote[48], state[8], user[24], want_local[48], want_remote[48];

	if (sscanf(row, " %*[^:]: %47s %47s %7s %*s %*s %*s %23s", local, remote, state, user) != 4)
		return false;
	print_address(from, want_local);
	print_address(to, want_remote);
	*uid = strtoul(user, NULL, 10);
	return strcmp(state, "01") == 0 && strcmp(local, want_local) == 0 &&
	       strcmp(remote, want_remote) == 0;
}

bool hello_socket_of_other_user(int fd)
{
	struct sockaddr_storage own = {0}, other = {0};
	socklen_t own_bytes = sizeof(own), other_bytes = sizeof(other);
	char row[ROW_MAX];
	unsigned long uid = 0;
	bool found = false;
	FILE *file;

	if (getsockname(fd, (struct sockaddr *)&own, &own_bytes) != 0 ||
	    getpeername(fd, (struct sockaddr *)&other, &other_bytes) != 0)
		return false;
	file = fopen(own.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "re");
	if (file == NULL)
		return false;
	while (!found && fgets(row, sizeof(row), file) != NULL)
		found = hello_row_uid(row, &other, &own, &uid);
	fclose(file);
	return found && uid != geteuid();
}
