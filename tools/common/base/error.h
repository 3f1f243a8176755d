/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h -- the one sentence a failing tool prints.
 *
 * The line that fails stores what went wrong, at which step, and the exit
 * code it deserves; only the tool's main prints it. Each thread has its own.
 */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_NEGATIVE = 1,
	EXIT_RUN_FAILED = 2,
	EXIT_NO_DEVICE = 3,
	EXIT_WRONG_USAGE = 64,
	EXIT_INTERNAL = 70,
};

struct failure {
	enum exit_code code;
	char step[32];
	char text[768];
};

/* Stores the sentence; gives -EINVAL for wrong usage and -EIO for all else. */
int failure_set(enum exit_code code, const char *step, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The calling thread's sentence; its text is empty when nothing failed. */
struct failure *failure_get(void);

#endif /* COMMON_BASE_ERROR_H */
