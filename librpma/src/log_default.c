/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_default.c -- the built-in sink: syslog always, stderr up to the
 * auxiliary threshold.
 *
 * It never calls openlog(3): the identity and options that the host program
 * gave its log are the program's. The facility travels with each message.
 */
#include "log.h"

#include <stdarg.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

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

void rpma_log_default(enum rpma_log_level level, const char *file_name, const int line_no,
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
