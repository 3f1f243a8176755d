/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.c -- which messages are wanted, and where they go.
 *
 * The only process-wide state of the library: one sink and two thresholds,
 * all atomic, so they may be changed while other threads log.
 */
#include "log.h"

#include <stdarg.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/*
 * The built-in sink: syslog always, stderr up to the
 * auxiliary threshold.
 *
 * It never calls openlog(3): the identity and options that the host program
 * gave its log are the program's. The facility travels with each message.
 */

enum { MESSAGE_MAX = 1024, STAMP_MAX = 48 };

static const struct {
	const char *tag;
	int severity;
} levels[] = {
	[RPMA_LOG_LEVEL_FATAL] = {"*FATAL*", LOG_CRIT},
	[RPMA_LOG_LEVEL_ERROR] = {"*ERROR*", LOG_ERR},
	[RPMA_LOG_LEVEL_WARNING] = {"*WARN*", LOG_WARNING},
	[RPMA_LOG_LEVEL_NOTICE] = {"*NOTE*", LOG_NOTICE},
	[RPMA_LOG_LEVEL_INFO] = {"*INFO*", LOG_INFO},
	[RPMA_LOG_LEVEL_DEBUG] = {"*DEBUG*", LOG_DEBUG},
};

/* "Nov 21 09:18:45.293157 ", in local time */
static void stamp_now(char stamp[STAMP_MAX])
{
	struct timespec now;
	struct tm local;
	size_t len = 0;

	if (clock_gettime(CLOCK_REALTIME, &now) == 0 && localtime_r(&now.tv_sec, &local) != NULL)
		len = strftime(stamp, STAMP_MAX, "%b %d %H:%M:%S", &local);
	if (len == 0)
		snprintf(stamp, STAMP_MAX, "[time error] ");
	else
		snprintf(stamp + len, STAMP_MAX - len, ".%06ld ", now.tv_nsec / 1000);
}

static void rpma_log_default(enum rpma_log_level level, const char *file_name, const int line_no,
			     const char *function_name, const char *message_format, ...)
{
	char message[MESSAGE_MAX];
	char stamp[STAMP_MAX];
	va_list arguments;

	if ((int)level < RPMA_LOG_LEVEL_FATAL || level > RPMA_LOG_LEVEL_DEBUG)
		return;

	va_start(arguments, message_format);
	int len = vsnprintf(message, sizeof(message), message_format, arguments);
	va_end(arguments);
	if (len < 0)
		return;
	if (len >= MESSAGE_MAX) /* cut, but still a line */
		message[MESSAGE_MAX - 2] = '\n';

	if ((int)level <= atomic_load(&rpma_log_thresholds[RPMA_LOG_THRESHOLD_AUX])) {
		stamp_now(stamp);
		fprintf(stderr, "%s[%d] %-8s%s: %3d: %s: %s", stamp, (int)gettid(),
			levels[level].tag, file_name, line_no, function_name, message);
	}
	syslog(LOG_LOCAL7 | levels[level].severity, "%-8s%s: %3d: %s: %s", levels[level].tag,
	       file_name, line_no, function_name, message);
}

_Atomic(rpma_log_function *) rpma_log_sink = rpma_log_default;

_Atomic int rpma_log_thresholds[RPMA_LOG_THRESHOLD_MAX] = {
	[RPMA_LOG_THRESHOLD] = RPMA_LOG_LEVEL_WARNING,
	[RPMA_LOG_THRESHOLD_AUX] = RPMA_LOG_DISABLED,
};

static bool threshold_valid(enum rpma_log_threshold threshold)
{
	return threshold == RPMA_LOG_THRESHOLD || threshold == RPMA_LOG_THRESHOLD_AUX;
}

int rpma_log_set_function(rpma_log_function *log_function)
{
	atomic_store(&rpma_log_sink, log_function ? log_function : rpma_log_default);
	return 0;
}

int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level)
{
	if (!threshold_valid(threshold))
		return RPMA_FAIL(RPMA_E_INVAL, "threshold is %d, expected 0 or 1", (int)threshold);
	if ((int)level < RPMA_LOG_DISABLED || level > RPMA_LOG_LEVEL_DEBUG)
		return RPMA_FAIL(RPMA_E_INVAL, "level is %d, expected %d to %d", (int)level,
				 RPMA_LOG_DISABLED, RPMA_LOG_LEVEL_DEBUG);

	atomic_store(&rpma_log_thresholds[threshold], (int)level);
	return 0;
}

int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level)
{
	if (!threshold_valid(threshold))
		return RPMA_FAIL(RPMA_E_INVAL, "threshold is %d, expected 0 or 1", (int)threshold);
	if (level == NULL)
		return RPMA_FAIL_NULL(level);

	*level = (enum rpma_log_level)atomic_load(&rpma_log_thresholds[threshold]);
	return 0;
}
