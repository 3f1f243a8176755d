/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err.h -- the sentence of rpma_err_text(): every failure leaves one.
 *
 * Three ways to it, all of which cost nothing where nothing fails: RPMA_FAIL_NULL() and
 * RPMA_FAIL() for what the caller did wrong, RPMA_LOG_ERROR() of log.h for what failed below.
 */
#pragma once

#include <stddef.h>
#include <sys/cdefs.h>

/* A function of failures; and one apart, so that its callers save no registers for it. */
#define RPMA_COLD  __attribute__((cold, noinline))
#define RPMA_APART __attribute__((noinline))

/* Keeps the sentence. errno stays. */
__attribute__((cold, format(printf, 1, 2))) void rpma_err_set(const char *format, ...);

/* Keeps a sentence without values, as cheaply as a store. */
void rpma_err_set_constant(const char *sentence);

/* Reports the first of these arguments that is NULL. names has them in order: "a, b". */
__attribute__((cold)) void rpma_err_set_null(const char *function, const char *names,
					     const void *const *arguments);

/* Reports a range that is too long for verbs, or not empty without a region. */
__attribute__((cold)) void rpma_err_set_range(const char *function, size_t offset, size_t len);

/* The value is the code itself, for compilers and analyzers to see. */
#define RPMA_FAIL_WITH(code, ...) (rpma_err_set(__VA_ARGS__), (code))

/* For a call of this name. */
#define RPMA_FAIL_OF(function, code, format, ...)                                                  \
	RPMA_FAIL_WITH((code), "%s(): " format, (function), ##__VA_ARGS__)
#define RPMA_FAIL_NULL_OF(function, ...)                                                           \
	(rpma_err_set_null((function), #__VA_ARGS__, (const void *const[]){__VA_ARGS__}),          \
	 RPMA_E_INVAL)

/* return RPMA_FAIL(RPMA_E_INVAL, "timeout_ms is %d, expected 0 or more", timeout_ms); */
#define RPMA_FAIL(code, format, ...) RPMA_FAIL_OF(__func__, (code), format, ##__VA_ARGS__)

/* return RPMA_FAIL_NULL(conn, event); of which at least one is */
#define RPMA_FAIL_NULL(...)	     RPMA_FAIL_NULL_OF(__func__, __VA_ARGS__)

#define RPMA_FAIL_RANGE(offset, len) (rpma_err_set_range(__func__, (offset), (len)), RPMA_E_INVAL)

/* return RPMA_FAIL_CONSTANT(RPMA_E_TIMEOUT, "nothing became ready in time"); */
#define RPMA_FAIL_CONSTANT(code, sentence) (rpma_err_set_constant(sentence), (code))

#define RPMA_FAIL_NOMEM(bytes)		   RPMA_FAIL(RPMA_E_NOMEM, "no memory for %zu bytes", (size_t)(bytes))
