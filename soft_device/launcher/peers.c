/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peers.c -- see peers.h.
 *
 * A process that may be connected to listens on an abstract unix socket beside each TCP port,
 * whose name has address and port: /proc/net/unix has those of this network namespace, of all
 * users. Whose they are is in /proc/PID/fd, which shows those of this user.
 */
#include "peers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKETS_MOST 512
#define NAME	     "@rpma-soft-"
#define SOCKET	     "socket:["

struct listener {
	unsigned long inode;
	char address[INET6_ADDRSTRLEN + 8]; /* with the port */
	pid_t pid;			    /* 0: of no process that this user may look into */
};

static struct listener listeners[SOCKETS_MOST];
static unsigned count, beyond;

/* The word of a line after this many others; its end: an empty one. */
static const char *word_of(const char *line, unsigned before)
{
	const char *const space = " \t\n";

	line += strspn(line, space);
	while (before-- > 0) {
		line += strcspn(line, space);
		line += strspn(line, space);
	}
	return line;
}

static bool number_at(const char *text, int base, unsigned long *value)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoul(text, &end, base);
	return end != text && errno == 0;
}

/* "00000000000000000000ffff7f000001-7204" */
static bool read_name(const char *name, char *address, size_t room)
{
	char text[INET6_ADDRSTRLEN], digits[3] = "";
	unsigned char gid[16];
	unsigned long port;
	bool is_ipv4;

	for (size_t i = 0; i < sizeof(gid); i++) {
		const char *byte = name + 2 * i;

		if (!isxdigit((unsigned char)byte[0]) || !isxdigit((unsigned char)byte[1]))
			return false;
		memcpy(digits, byte, 2);
		gid[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	name += 2 * sizeof(gid);
	if (*name != '-' || !number_at(name + 1, 10, &port) || port > UINT16_MAX)
		return false;
	is_ipv4 = memcmp(gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0;
	inet_ntop(is_ipv4 ? AF_INET : AF_INET6, gid + (is_ipv4 ? 12 : 0), text, sizeof(text));
	snprintf(address, room, is_ipv4 ? "%s:%lu" : "[%s]:%lu", text, port);
	return true;
}

/* Flag 0x10000 is of sockets that listen: include/uapi/linux/net.h, __SO_ACCEPTCON. */
static void read_line(const char *line)
{
	const char *name = strstr(line, NAME);
	struct listener one = {.pid = 0};
	unsigned long flags;

	if (name == NULL || !number_at(word_of(line, 3), 16, &flags) || (flags & 0x10000) == 0 ||
	    !number_at(word_of(line, 6), 10, &one.inode) ||
	    !read_name(name + strlen(NAME), one.address, sizeof(one.address)))
		return;
	if (count == SOCKETS_MOST)
		beyond++;
	else
		listeners[count++] = one;
}

static void find_listeners(void)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[512];

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
		read_line(line);
	fclose(file);
}

static void note_owner(unsigned long inode, pid_t pid)
{
	for (unsigned i = 0; i < count; i++)
		if (listeners[i].inode == inode)
			listeners[i].pid = pid;
}

static void look_into(pid_t pid)
{
	char path[sizeof("/proc//fd/") + 2 * 12], to[64];
	const struct dirent *entry;
	unsigned long inode;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, to, sizeof(to) - 1);

		to[length > 0 ? length : 0] = '\0';
		if (strncmp(to, SOCKET, strlen(SOCKET)) == 0 &&
		    number_at(to + strlen(SOCKET), 10, &inode))
			note_owner(inode, pid);
	}
	closedir(folder);
}

static void find_owners(void)
{
	const struct dirent *entry;
	DIR *folder = opendir("/proc");

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			look_into((pid_t)strtol(entry->d_name, NULL, 10));
	closedir(folder);
}

/* Nothing is read: the kernel checks whether it may be before it looks at the address. */
static int memory_error(pid_t pid)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {NULL, 1};

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT)
		return 0;
	return errno;
}

int peers_memory_error(void)
{
	const pid_t child = fork();
	int error;

	if (child == 0) {
		pause();
		_exit(0);
	}
	if (child < 0)
		return errno;
	error = memory_error(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return error;
}

static unsigned long namespace_of(const char *process)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
	return stat(path, &st) == 0 ? (unsigned long)st.st_ino : 0;
}

/* The first of its four user ids that is not this user's, as the device asks; or this user's. */
static bool other_user(pid_t pid, unsigned *user)
{
	char path[32], line[256] = "";
	unsigned long id;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	*user = geteuid();
	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
		found = strncmp(line, "Uid:", 4) == 0;
	if (file != NULL)
		fclose(file);
	for (unsigned i = 1; found && i <= 4 && *user == geteuid(); i++)
		if (number_at(word_of(line, i), 10, &id))
			*user = (uid_t)id;
	return *user != geteuid();
}

static const char *way_to(pid_t pid, char text[128])
{
	char process[16];
	unsigned user;
	int error;

	snprintf(process, sizeof(process), "%d", (int)pid);
	if (other_user(pid, &user)) {
		snprintf(text, 128, "refused, it is of user %u", user);
		return text;
	}
	if (namespace_of(process) != namespace_of("self"))
		return "tcp, it is in another pid namespace";
	error = memory_error(pid);
	if (error == 0)
		return "local";
	if (error == ESRCH)
		return "it has ended";
	snprintf(text, 128, "tcp, process_vm_readv() fails: %s", strerror(error));
	return text;
}

static void print_process(pid_t pid)
{
	char path[32], name[32] = "?", text[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file != NULL) {
		if (fgets(name, sizeof(name), file) != NULL)
			name[strcspn(name, "\n")] = '\0';
		fclose(file);
	}
	printf("  %d %s: %s; listens at", (int)pid, name, way_to(pid, text));
	for (unsigned i = 0, shown = 0; i < count; i++)
		if (listeners[i].pid == pid && shown++ < 3)
			printf(" %s", listeners[i].address);
	printf("\n");
}

/* This process has made a queue pair, too. */
static void drop_own(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++)
		if (listeners[i].pid != getpid())
			listeners[kept++] = listeners[i];
	count = kept;
}

static bool is_first(unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (listeners[i].pid == listeners[at].pid)
			return false;
	return true;
}

static void print_hidden(void)
{
	unsigned hidden = 0;

	for (unsigned i = 0; i < count; i++)
		if (listeners[i].pid == 0 && hidden++ < 3)
			printf("%s %s",
			       hidden == 1 ? "  of other users, or hidden here: ports" : ",",
			       listeners[i].address);
	if (hidden > 3)
		printf(" and %u more", hidden - 3);
	if (hidden > 0)
		printf("\n");
}

void peers_print(unsigned most)
{
	unsigned processes = 0;

	unsigned ports;

	find_listeners();
	find_owners();
	drop_own();
	ports = count + beyond;
	printf("%-10s %s%u ports of the device in this network namespace\n", "others",
	       ports == 0 ? "none: " : "", ports);
	for (unsigned i = 0; i < count; i++)
		if (listeners[i].pid != 0 && is_first(i) && processes++ < most)
			print_process(listeners[i].pid);
	if (processes > most)
		printf("  and %u more processes\n", processes - most);
	print_hidden();
}
