/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rlimits.h -- how many files this process may open, and has open, and how much memory it may
 * pin for RDMA.
 *
 * Every connection takes some files, how many is its device's affair: so they are
 * counted, not known.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/base/units.h"
#include "sysroot.h"

/* 1: CAP_IPC_LOCK, so that no limit holds; 0: without it; -1: not known. */
int memlock_exempt(const struct sysroot *root);

/* The bytes of RLIMIT_MEMLOCK; UINT64_MAX: no limit holds, or it is not known. */
uint64_t memlock_limit(void);
/* The same for an error message; gives `text`. */
const char *memlock_print_limit(char text[UNITS_TEXT_BYTES]);

/* Raises the soft limit to the hard one. */
void open_files_raise(void);

/* How many this process has open now; 0: unknown. */
size_t open_files_count(void);

/* How many more it may open, less this many that it needs for other things; SIZE_MAX: no limit. */
size_t open_files_left(size_t spare);

/* The first ones show what many alike take: one alone may open what is opened once. */
#define OPEN_FILES_SAMPLE 4

/*
 * Asked when OPEN_FILES_SAMPLE of all are there, with the count before the
 * first one: may the rest be opened? -EIO with an error message set that begins
 * with what they are ("64 connections to server X") and has the limit that
 * would do.
 */
int open_files_check(const char *what, size_t before, size_t all);
