/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h -- how every other file reports what went wrong.
 *
 * A call costs one load and one compare while its level is off. The message
 * ends without a newline: the macro adds it.
 */
#pragma once

#include "err.h"

#include <errno.h>
#include <librpma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

extern _Atomic(rpma_log_function *) rpma_log_sink;
extern _Atomic int rpma_log_thresholds[RPMA_LOG_THRESHOLD_MAX];

/* err.c: errno is errnum while the message is logged, and afterwards; 0: as it was. */
__attribute__((cold, format(printf, 5, 6))) void rpma_log_error(int errnum, const char *file_name,
								int line_no,
								const char *function_name,
								const char *format, ...);

static inline bool rpma_log_wanted(enum rpma_log_level level)
{
	return (int)level <=
	       atomic_load_explicit(&rpma_log_thresholds[RPMA_LOG_THRESHOLD], memory_order_relaxed);
}

/* gcc 12 and clang have it; __FILE__ includes the build folder too */
#ifdef __FILE_NAME__
#define RPMA_LOG_FILE __FILE_NAME__
#else
#define RPMA_LOG_FILE (__builtin_strrchr("/" __FILE__, '/') + 1)
#endif

#define RPMA_LOG(level, format, ...)                                                               \
	do {                                                                                       \
		if (rpma_log_wanted(level))                                                        \
			atomic_load (&rpma_log_sink)(level, RPMA_LOG_FILE, __LINE__, __func__,     \
						     format "\n", ##__VA_ARGS__);                  \
	} while (0)

/* Also the sentence of rpma_err_text(). */
#define RPMA_LOG_ERROR(...)   rpma_log_error(0, RPMA_LOG_FILE, __LINE__, __func__, __VA_ARGS__)
#define RPMA_LOG_WARNING(...) RPMA_LOG(RPMA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define RPMA_LOG_NOTICE(...)  RPMA_LOG(RPMA_LOG_LEVEL_NOTICE, __VA_ARGS__)
#define RPMA_LOG_INFO(...)    RPMA_LOG(RPMA_LOG_LEVEL_INFO, __VA_ARGS__)
#define RPMA_LOG_DEBUG(...)   RPMA_LOG(RPMA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* A verbs or rdmacm call failed with the errno value given. */
#define RPMA_LOG_ERRNO(errnum, format, ...)                                                        \
	do {                                                                                       \
		const int rpma_errnum = (errnum);                                                  \
		rpma_log_error(rpma_errnum, RPMA_LOG_FILE, __LINE__, __func__, format ": %s",      \
			       ##__VA_ARGS__, strerror(rpma_errnum));                              \
	} while (0)
