/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h -- what check.c has of report.c, finish.c and suppress.c. */
#pragma once

#include "check.h"
#include "words.h"

extern struct check_words check_words;
extern pthread_mutex_t check_lock; /* guards the findings, and the names of places */

/* They count findings that differ in kind or stack. */
struct check_counts {
	_Atomic uint32_t errors;
	_Atomic uint32_t warnings;
	_Atomic uint32_t suppressed;
};
extern struct check_counts check_counts;

/* suppress.c: reads the file; 0 or -errno. Whether a line names it; the lock is held. */
int suppress_load(const char *file);
bool suppress_matches(enum check_kind kind, const struct stack *stack);

/* report.c: what was seen more than once, or was not printed. */
void report_repeats(void);
/* In a child of fork(): it begins with none. */
void report_forget(void);
/* The first frame of the program: its function, or "*". The lock is held. */
const char *report_function(const struct stack *stack);
/* "f a.c:3 < main a.c:9"; the lock is held. */
void report_stack(const struct stack *stack, char *text, size_t room);

/* json.c: a line for the finding, and one if it is withdrawn; the lock is held. And the last one;
 * it needs no lock and no memory.
 */
void json_finding(const struct check_finding *finding);
void json_withdrawn(enum check_kind kind, uint32_t stack, const char *why);
void json_end(void);

/* finish.c: an error was reported for the first time: signals end the process with the status of
 * errors from now on. */
void finish_arm(void);
/* Prints the last line, once. */
void finish_print(void);
/* The status that the process ends with, instead of this one. */
int finish_status(int status);
