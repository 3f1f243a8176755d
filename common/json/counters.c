/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters.c -- reads the counters of an RDMA device, and their differences.
 *
 * A driver may add and remove files at any time, and some hold text: each one
 * is looked at by itself, and what cannot be read is not there.
 */
#include "counters.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORTS		"sys/class/infiniband/%s/ports"
#define LIFESPAN_MAX_MS 100 /* ten times what the kernel begins with */

#define WRAP_32		(1ULL << 32)
/* a counter does not move so far in a run: it was reset */
#define JUMP_MAX (1ULL << 62)

/* The whole line is one number; JSON keeps its bits, the difference needs no sign. */
static bool read_count(const struct sysroot *root, const char *path, json_int_t *count)
{
	char line[64], *end;
	unsigned long long value;

	if (!sysroot_text(root, line, "%s", path) || !isdigit((unsigned char)line[0]))
		return false;
	errno = 0;
	value = strtoull(line, &end, 10);
	*count = (json_int_t)value;
	return errno == 0 && *end == '\0';
}

/* How often the driver renews its counters: a setting, not a count. */
static bool is_setting(const char *name)
{
	return strcmp(name, "lifespan") == 0;
}

static void read_folder(const struct sysroot *root, const char *ports, const char *folder,
			json_t *counters)
{
	char path[PATH_MAX], key[NAME_MAX + 64];
	struct sysroot_walk files = sysroot_walk(root, SIZE_MAX, "%s/%s", ports, folder);
	const char *name;
	json_int_t count;

	while ((name = sysroot_next(&files)) != NULL) {
		snprintf(key, sizeof(key), "%s/%s", folder, name);
		snprintf(path, sizeof(path), "%s/%s", ports, key);
		if (!is_setting(name) && read_count(root, path, &count))
			json_object_set_new(counters, key, json_integer(count));
	}
}

json_t *counters_read(const struct sysroot *root, const char *device)
{
	struct sysroot_walk walk = sysroot_walk(root, SIZE_MAX, PORTS, device);
	char ports[PATH_MAX], folder[NAME_MAX + 32];
	json_t *counters = json_object();
	const char *port;

	snprintf(ports, sizeof(ports), PORTS, device);
	while ((port = sysroot_next(&walk)) != NULL) {
		if (!isdigit((unsigned char)port[0]))
			continue;
		snprintf(folder, sizeof(folder), "%s/counters", port);
		read_folder(root, ports, folder, counters);
		snprintf(folder, sizeof(folder), "%s/hw_counters", port);
		read_folder(root, ports, folder, counters);
	}
	if (json_object_size(counters) == 0) {
		json_decref(counters);
		return NULL;
	}
	return counters;
}

void counters_settle(const struct sysroot *root, const char *device)
{
	struct sysroot_walk ports = sysroot_walk(root, SIZE_MAX, PORTS, device);
	struct timespec wait = {0, 0};
	const char *port;
	char path[PATH_MAX];
	json_int_t ms;

	while ((port = sysroot_next(&ports)) != NULL) {
		snprintf(path, sizeof(path), PORTS "/%s/hw_counters/lifespan", device, port);
		if (!read_count(root, path, &ms))
			continue;
		if (ms > LIFESPAN_MAX_MS)
			ms = LIFESPAN_MAX_MS;
		if (ms * 1000000 > wait.tv_nsec)
			wait.tv_nsec = (long)ms * 1000000;
	}
	nanosleep(&wait, NULL);
}

static bool difference(json_int_t before, json_int_t after, json_int_t *counted)
{
	uint64_t from = (uint64_t)before, to = (uint64_t)after, moved = to - from;

	if (to < from && from < WRAP_32)
		moved = to + WRAP_32 - from;
	*counted = (json_int_t)moved;
	/* half a turn backwards is no turn */
	return to >= from ? moved < JUMP_MAX : moved < (from < WRAP_32 ? WRAP_32 / 2 : JUMP_MAX);
}

json_t *counters_between(json_t *before, json_t *after)
{
	json_t *between = before != NULL && after != NULL ? json_object() : NULL;
	const json_t *first;
	json_int_t counted;
	json_t *last;
	const char *key;

	json_object_foreach(after, key, last) {
		first = json_object_get(before, key);
		if (first != NULL && between != NULL &&
		    difference(json_integer_value(first), json_integer_value(last), &counted))
			json_object_set_new(between, key, json_integer(counted));
	}
	json_decref(before);
	json_decref(after);
	return between;
}
