/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot.h -- read sysfs and proc below a root that tests can replace.
 *
 * Paths are relative to the root ("sys/class/infiniband"). Below a replaced
 * root links are resolved inside it, one that leads out of it is an error, and
 * only regular files are opened. Reading never fails loudly: what is not
 * there, or was refused, is unknown.
 */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files that several parts read. */
#define SYSROOT_CLOCKSOURCE    "sys/devices/system/clocksource/clocksource0/current_clocksource"
#define SYSROOT_LOCKDOWN       "sys/kernel/security/lockdown"
#define SYSROOT_NUMA_BALANCING "proc/sys/kernel/numa_balancing"

/* The files below a replaced root that were not taken. */
struct sysroot_refusals {
	size_t count;
	char first[320]; /* "sys/x: a link leads out of the root" */
};

struct sysroot {
	int fd;
	bool machine;			  /* the root is "/" */
	struct sysroot_record *record;	  /* owned; NULL: nothing is recorded */
	struct sysroot_refusals *refused; /* borrowed; NULL: not collected */
};

/* "/", which needs no opening. */
extern const struct sysroot sysroot_machine;

int sysroot_open(struct sysroot *root, const char *path);
void sysroot_close(struct sysroot *root);

/* The first line, without its end and in printable ASCII; false when it is missing or empty. */
bool sysroot_line(const struct sysroot *root, char *line, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The same into an array. */
#define sysroot_text(root, array, ...) sysroot_line(root, array, sizeof(array), __VA_ARGS__)
/* A line that is a number and nothing else. */
bool sysroot_number(const struct sysroot *root, int64_t *value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At most size - 1 bytes of a file, terminated; the length, or -1. */
long sysroot_read(const struct sysroot *root, char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The value after "key<blanks>:<blanks>" on the first such line of a text, or of a file. */
bool sysroot_field(const char *text, const char *key, char *value, size_t size);
bool sysroot_file_field(const struct sysroot *root, const char *path, const char *key, char *value,
			size_t size);
/* May this user read and write it? 0 or the errno that opening it would give. */
int sysroot_access(const struct sysroot *root, const char *path);
/* At most size bytes from an offset on; how many there were, or -1. */
long sysroot_pread(const struct sysroot *root, const char *path, int64_t offset, void *buffer,
		   size_t size);
/* The last component of what a link points to, in printable ASCII. */
bool sysroot_link_name(const struct sysroot *root, char *name, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The path below the root without links; false when nothing is there. */
bool sysroot_real_path(const struct sysroot *root, char real[PATH_MAX], const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool sysroot_exists(const struct sysroot *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A walk through the names in a directory, any bytes, but for those that begin with a dot. */
struct sysroot_walk {
	DIR *directory; /* NULL: it could not be opened, or the walk has ended */
	size_t left;
	bool cut; /* there are more names than were asked for */
};

struct sysroot_walk sysroot_walk(const struct sysroot *root, size_t max, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The next name, until the one after; NULL: the walk has ended. */
const char *sysroot_next(struct sysroot_walk *walk);
/* Ends one that did not come to its end. */
void sysroot_walk_end(struct sysroot_walk *walk);

/*
 * From now on all that is looked at is copied below a new or empty directory,
 * as far as it was read, without what names the host or a part of it: that
 * directory as a root gives the same readings. Both leave a message in
 * failure_get() where they fail; the second names what could not be copied.
 */
int sysroot_record(struct sysroot *root, const char *directory);
int sysroot_record_end(struct sysroot *root);
/* Puts into a text of the caller's the pseudonyms that the copy has; none without a record. */
void sysroot_record_text(const struct sysroot *root, char *text);
