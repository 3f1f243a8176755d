/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c -- opens each pool set as a client would, for a moment, and prints what came of it. */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "lanes.h"
#include "method.h"
#include "pool.h"

#define SIGNATURE "PMEMPOOLSET"
#define SUFFIX	  ".set"
#define DEPTH_MAX 8

struct check {
	const struct config *config;
	char device[DEVICE_NAME_MAX]; /* serves lanes; empty: none */
	unsigned sets;
	unsigned failed;
};

/* --- one pool set --------------------------------------------------------- */

static const char *durability(const struct pool *pool)
{
	switch (pool_kind(pool)) {
	case TARGET_FSDAX:
	case TARGET_DEVDAX:
		return "persistent memory";
	case TARGET_FILE:
		return "a file, durable by msync(2)";
	case TARGET_OTHERFILE:
		return "a file on a file system that is not known to keep what is synced";
	default:
		return "memory, lost at a power failure";
	}
}

/* A name may have any bytes; on a terminal they must do nothing. */
static void print_name(const char *name)
{
	printf("  ");
	for (; *name != '\0'; name++)
		putchar(iscntrl((unsigned char)*name) ? '?' : *name);
}

static void print_set(struct check *check, const char *name)
{
	char size[UNITS_TEXT_BYTES];
	struct rpmem_pool_attr attr;
	struct pool *pool = NULL;
	struct method method;
	const bool has_device = check->device[0] != '\0';
	int ret;

	check->sets++;
	print_name(name);
	ret = pool_inspect(&pool, check->config->poolset_dir, name, RPMEM_MIN_POOL, &attr);
	if (ret != 0) {
		check->failed++;
		printf(": %s: %s\n",
		       ret == -ENOENT ? "not created yet, or a part is missing"
				      : "cannot be opened",
		       failure_get()->text);
		return;
	}
	method_find(pool, has_device ? CONTROL_RDMA : CONTROL_TCP, check->device,
		    check->config->persist_apm, &method);
	printf(": %s of %s; %s: %s\n", units_print_size(pool_size(pool), size), durability(pool),
	       method_name(method.method), method.why);
	pool_close(&pool, false);
}

/* By its name a pool set: what is wrong with it would else be missed. */
static bool has_suffix(const char *name)
{
	const size_t len = strlen(name), suffix = strlen(SUFFIX);

	return len > suffix && strcmp(name + len - suffix, SUFFIX) == 0;
}

static void print_no_set(struct check *check, const char *name)
{
	check->sets++;
	check->failed++;
	print_name(name);
	printf(": not a pool set: expected a regular file that begins with " SIGNATURE "\n");
}

/* --- all of them ---------------------------------------------------------- */

static bool is_set(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char begin[sizeof(SIGNATURE) - 1];
	struct stat st;
	bool yes;

	if (fd < 0)
		return false;
	yes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	      read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
	      memcmp(begin, SIGNATURE, sizeof(begin)) == 0;
	close(fd);
	return yes;
}

static int open_below(int directory, const char *name, unsigned depth)
{
	return depth < DEPTH_MAX
		       ? openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : -1;
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Takes the descriptor; `path` is that of the directory, empty for the first. */
static void walk(struct check *check, int fd, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	int count = scandirat(fd, ".", &entries, is_shown, alphasort);
	char name[PATH_MAX];

	for (int i = 0; i < count; i++) {
		int len = snprintf(name, sizeof(name), "%s%s%s", path, path[0] != '\0' ? "/" : "",
				   entries[i]->d_name);
		int below = len < PATH_MAX ? open_below(fd, entries[i]->d_name, depth) : -1;

		if (below >= 0)
			walk(check, below, name, depth + 1);
		else if (len < PATH_MAX && is_set(fd, entries[i]->d_name))
			print_set(check, name);
		else if (len < PATH_MAX && has_suffix(name))
			print_no_set(check, name);
		free(entries[i]);
	}
	free(entries);
	close(fd);
}

static void print_sets(struct check *check)
{
	const char *path = check->config->poolset_dir;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		check->failed++;
		printf("pool sets: cannot read the directory %s: %s\n", path, strerror(errno));
		return;
	}
	printf("pool sets below %s:\n", path);
	walk(check, fd, "", 0);
	if (check->sets == 0)
		printf("  none\n");
}

/* --- the host ------------------------------------------------------------- */

static void print_network(struct check *check, const char *address)
{
	const uint64_t limit = memlock_limit();
	char text[UNITS_TEXT_BYTES];
	uint32_t lanes = 0;

	if (lanes_most(address, CONTROL_RDMA, &lanes) == 0 &&
	    lanes_device(address, check->device) == 0)
		printf("RDMA: the address %s has the device %s; at most %u lanes\n", address,
		       check->device, lanes);
	else
		printf("RDMA: none: %s\n", failure_get()->text);
	if (lanes_most(address, CONTROL_TCP, &lanes) == 0)
		printf("TCP: at most %u lanes, for clients with RPMEM_ENABLE_SOCKETS=1\n", lanes);
	printf("memory that may be locked: %s\n",
	       limit == UINT64_MAX ? "no limit" : units_print_size(limit, text));
}

static void print_config(const struct config *config)
{
	printf("persist-apm: %s\n", config->persist_apm ? "yes" : "no");
	if (config->use_syslog)
		printf("log: syslog\n");
	else
		printf("log: %s\n", config->log_file);
}

int check_run(const struct config *config, const char *address)
{
	struct check check = {.config = config};

	print_config(config);
	print_network(&check, address);
	print_sets(&check);
	return check.failed > 0 ? EXIT_NEGATIVE : EXIT_GOOD;
}
