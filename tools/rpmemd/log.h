/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h -- the daemon's log: standard error until it is configured, then a file or
 * syslog(3).
 *
 * One line per call, whole even if several daemons write to the same file; control
 * characters in it become '?'. Any thread.
 */
#pragma once

enum log_level {
	LEVEL_ERR,
	LEVEL_WARN,
	LEVEL_NOTICE,
	LEVEL_INFO,
	LEVEL_DEBUG,
	LOG_LEVELS,
};

enum log_to { LOG_TO_STDERR, LOG_TO_FILE, LOG_TO_SYSLOG };

/* "err", "warn" ... */
extern const char *const log_level_names[LOG_LEVELS];
/* LOG_LEVELS: there is no such level. */
enum log_level log_level_find(const char *name);

/*
 * Lines of a level beyond this one are left out; syslog, which has filters of its
 * own, gets all. The file is made where it is missing, with mode 0600. A negative errno
 * with the error message set: it cannot be opened, and the log stays where it was.
 */
int log_open(enum log_to to, const char *file, enum log_level level);
void log_close(void);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
