/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h -- how every other file reports what went wrong.
 *
 * A call costs one load and one compare while its level is off. The message
 * ends without a newline: the macro adds it.
 */
#ifndef RPMA_LOG_H
#define RPMA_LOG_H

#include <librpma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

extern _Atomic(rpma_log_function *) rpma_log_sink;
extern _Atomic int rpma_log_thresholds[RPMA_LOG_THRESHOLD_MAX];

rpma_log_function rpma_log_default;

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

#define RPMA_LOG_ERROR(...)   RPMA_LOG(RPMA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define RPMA_LOG_WARNING(...) RPMA_LOG(RPMA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define RPMA_LOG_NOTICE(...)  RPMA_LOG(RPMA_LOG_LEVEL_NOTICE, __VA_ARGS__)
#define RPMA_LOG_INFO(...)    RPMA_LOG(RPMA_LOG_LEVEL_INFO, __VA_ARGS__)
#define RPMA_LOG_DEBUG(...)   RPMA_LOG(RPMA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* A verbs or rdmacm call failed with the errno value given. */
#define RPMA_LOG_ERRNO(errnum, format, ...)                                                        \
	RPMA_LOG_ERROR(format ": %s", ##__VA_ARGS__, strerror(errnum))

#endif /* RPMA_LOG_H */
