/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h -- how a failure reaches the caller and the user.
 *
 * The caller gets errno and rpmem_errormsg(), which is the error message that the
 * failing line stored for this thread. Programs such as libpmemobj show neither,
 * so the user gets a line on stderr too, or in RPMEM_LOG_FILE; RPMEM_LOG_LEVEL=0
 * silences it.
 */
#pragma once

enum report_level {
	REPORT_NOTHING,
	REPORT_ERROR,
	REPORT_BASIC, /* pools opened and closed, too */
};

/* file NULL: stderr; one that ends in '-' gets the process id behind it. */
void report_open(enum report_level level, const char *file);
void report_close(void);

/* "librpmem: ..." if the level is on. Keeps errno. */
void report_line(enum report_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The calling thread's error message, as such a line: "librpmem: WHAT: SENTENCE". */
void report_failure(const char *what);
/* Sets errno from a negative one, and gives -1. */
int report_errno(int ret);
/* The text of rpmem_errormsg(). */
const char *report_message(void);
