/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_files.h -- how many files this process may open, and has open.
 *
 * Every connection takes some, how many is its device's affair: so they are
 * counted, not known.
 */
#ifndef COMMON_HOST_OPEN_FILES_H
#define COMMON_HOST_OPEN_FILES_H

#include <stddef.h>

/* Raises the soft limit to the hard one. */
void open_files_raise(void);

/* How many this process has open now; 0: unknown. */
size_t open_files_count(void);

/* The first ones show what many alike take: one alone may open what is opened once. */
#define OPEN_FILES_SAMPLE 4

/*
 * Asked when OPEN_FILES_SAMPLE of all are there, with the count before the
 * first one: may the rest be opened? -EIO with an error message set that begins
 * with what they are ("64 connections to server X") and has the limit that
 * would do.
 */
int open_files_check(const char *what, size_t before, size_t all);

#endif /* COMMON_HOST_OPEN_FILES_H */
