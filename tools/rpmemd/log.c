/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c -- lines of the log: "2026-11-23T08:30:00Z rpmemd[4242] err: TEXT". */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "common/base/text_writer.h"
#include "reason.h"

#define PROGRAM	   "rpmemd"
#define LINE_BYTES 1024

const char *const log_level_names[LOG_LEVELS] = {"err", "warn", "notice", "info", "debug"};

/* Set before other threads start, and after they have ended. */
static struct {
	enum log_to to;
	enum log_level level;
	int fd;
} sink = {LOG_TO_STDERR, LEVEL_ERR, STDERR_FILENO};

enum log_level log_level_find(const char *name)
{
	enum log_level level = LEVEL_ERR;

	while (level < LOG_LEVELS && strcmp(log_level_names[level], name) != 0)
		level++;
	return level;
}

int log_open(enum log_to to, const char *file, enum log_level level)
{
	int fd = STDERR_FILENO;

	if (to == LOG_TO_FILE) {
		fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC,
			  0600);
		if (fd < 0)
			return reason_set(errno, "cannot open the log file %s: %s", file,
					  strerror(errno));
	}
	log_close();
	if (to == LOG_TO_SYSLOG)
		openlog(PROGRAM, LOG_PID, LOG_USER);
	sink.to = to;
	sink.level = level;
	sink.fd = fd;
	return 0;
}

void log_close(void)
{
	if (sink.to == LOG_TO_FILE)
		close(sink.fd);
	if (sink.to == LOG_TO_SYSLOG)
		closelog();
	sink.to = LOG_TO_STDERR;
	sink.fd = STDERR_FILENO;
}

static void put_line(enum log_level level, const char *text)
{
	const time_t now = time(NULL);
	char line[LINE_BYTES + 64], when[32];
	struct tm tm;
	int len;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	len = snprintf(line, sizeof(line), "%s " PROGRAM "[%d] %s: %s\n", when, (int)getpid(),
		       log_level_names[level], text);
	/* a full disk has no better place to be told */
	if (len > 0 && write(sink.fd, line, (size_t)len) < 0)
		errno = 0;
}

void log_line(enum log_level level, const char *format, ...)
{
	static const int priorities[LOG_LEVELS] = {LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO,
						   LOG_DEBUG};
	const int saved = errno;
	char text[LINE_BYTES];
	va_list args;

	if (sink.to != LOG_TO_SYSLOG && level > sink.level)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_replace_controls(text); /* no line of a client must look like one of ours */
	if (sink.to == LOG_TO_SYSLOG)
		syslog(priorities[level], "%s", text);
	else
		put_line(level, text);
	errno = saved;
}
