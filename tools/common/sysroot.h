/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot.h -- read sysfs and proc below a root that tests can replace.
 *
 * Links are resolved inside the root and never leave it. Paths are relative
 * to it ("sys/class/infiniband"). Reading never fails loudly: what is not
 * there is unknown.
 */
#ifndef SYSROOT_H
#define SYSROOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sysroot {
	int fd;
	bool machine; /* the root is "/" */
};

int sysroot_open(struct sysroot *root, const char *path);
void sysroot_close(struct sysroot *root);

/* The first line, without its end; false when there is none or it is empty. */
bool sysroot_line(const struct sysroot *root, char *line, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
bool sysroot_number(const struct sysroot *root, int64_t *value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At most size - 1 bytes of a file, terminated; the length, or -1. */
long sysroot_read(const struct sysroot *root, char *text, size_t size, const char *path);
/* The last component of what a link points to. */
bool sysroot_link_name(const struct sysroot *root, char *name, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
bool sysroot_exists(const struct sysroot *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
DIR *sysroot_directory(const struct sysroot *root, const char *path);

#endif /* SYSROOT_H */
