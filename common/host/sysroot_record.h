/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot_record.h -- what sysroot.c tells the recorder: each thing it met.
 *
 * Paths are resolved ones, without links and "..". A record of NULL takes
 * nothing down. Errors are kept for sysroot_record_end().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sysroot_record;

void sysroot_record_link(struct sysroot_record *record, const char *path, const char *target);
void sysroot_record_bytes(struct sysroot_record *record, const char *path, int64_t offset,
			  const void *bytes, size_t len);
/* There, but its bytes are not known. */
void sysroot_record_path(struct sysroot_record *record, const char *path);
/* The names in an open directory. */
void sysroot_record_listing(struct sysroot_record *record, const char *path, int fd);
void sysroot_record_free(struct sysroot_record *record);
