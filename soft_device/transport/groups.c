/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c -- see groups.h. */
#include "groups.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "soft_device/process/process.h"

#define PREFIX_BYTES sizeof(((struct sockaddr_un *)NULL)->sun_path)

struct membership {
	struct membership *next;
	union ibv_gid group;
	union ibv_gid gid;
	uint16_t port;
	unsigned users;
	int fd;
};

static struct membership *memberships; /* objects lock */

static int put_gid(char *to, const union ibv_gid *gid)
{
	int length = 0;

	for (unsigned i = 0; i < sizeof(gid->raw); i++)
		length += snprintf(to + length, 3, "%02x", gid->raw[i]);
	return length;
}

/* All of a name but the port; its length. */
static int put_prefix(char prefix[PREFIX_BYTES], const union ibv_gid *group,
		      const union ibv_gid *gid)
{
	int length = snprintf(prefix, PREFIX_BYTES, "rpma-soft-group-");

	length += put_gid(prefix + length, group);
	prefix[length++] = '-';
	length += put_gid(prefix + length, gid);
	prefix[length++] = '-';
	prefix[length] = '\0';
	return length;
}

/* A socket with this name; -errno. */
static int open_named(const union ibv_gid *group, const union ibv_gid *gid, uint16_t port)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX}; /* abstract: begins with 0 */
	char prefix[PREFIX_BYTES];
	int length, error, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	put_prefix(prefix, group, gid);
	length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "%.90s%u", prefix, port);
	if (bind(fd, (struct sockaddr *)&name,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

static struct membership **find(const union ibv_gid *group, const union ibv_gid *gid, uint16_t port)
{
	struct membership **at = &memberships;

	while (*at != NULL &&
	       ((*at)->port != port || memcmp(&(*at)->group, group, sizeof(*group)) != 0 ||
		memcmp(&(*at)->gid, gid, sizeof(*gid)) != 0))
		at = &(*at)->next;
	return at;
}

int group_join(const union ibv_gid *group, const union ibv_gid *gid, uint16_t port)
{
	struct membership *membership = *find(group, gid, port);
	int fd;

	if (membership != NULL) {
		membership->users++;
		return 0;
	}
	fd = open_named(group, gid, port);
	if (fd < 0)
		return fd;
	membership = calloc(1, sizeof(*membership));
	if (membership == NULL) {
		close(fd);
		return -ENOMEM;
	}
	*membership = (struct membership){memberships, *group, *gid, port, 1, fd};
	memberships = membership;
	return 0;
}

void group_leave(const union ibv_gid *group, const union ibv_gid *gid, uint16_t port)
{
	struct membership **at = find(group, gid, port), *membership = *at;

	if (membership == NULL || --membership->users != 0)
		return;
	*at = membership->next;
	close(membership->fd);
	free(membership);
}

/* A line of /proc/net/unix ends with the name, an abstract one with @ for its first byte. */
static uint16_t port_in(const char *line, const char *prefix, size_t length)
{
	const char *name = strchr(line, '@');
	unsigned long port;

	if (name == NULL || strncmp(name + 1, prefix, length) != 0)
		return 0;
	port = strtoul(name + 1 + length, NULL, 10);
	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

unsigned group_ports(const union ibv_gid *group, const union ibv_gid *gid,
		     uint16_t ports[GROUP_PORTS_MAX])
{
	char prefix[PREFIX_BYTES], line[256];
	const size_t length = (size_t)put_prefix(prefix, group, gid);
	FILE *file = fopen("/proc/net/unix", "re");
	unsigned count = 0;
	uint16_t port;

	if (file == NULL) {
		process_verbose("multicast: /proc/net/unix: %s", strerror(errno));
		return 0;
	}
	while (count < GROUP_PORTS_MAX && fgets(line, sizeof(line), file) != NULL) {
		port = port_in(line, prefix, length);
		if (port != 0)
			ports[count++] = port;
	}
	fclose(file);
	return count;
}

/* The child is in no group: the names are the parent's. */
static void forked(void)
{
	struct membership *membership;

	while ((membership = memberships) != NULL) {
		memberships = membership->next;
		close(membership->fd);
		free(membership);
	}
}

const struct process_part groups_part = {.forked = forked};
