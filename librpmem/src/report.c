/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c -- lines on stderr or in a file.
 */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/base/failure.h"

static enum report_level on = REPORT_ERROR;
static int log_fd = -1; /* -1: stderr */

void report_open(enum report_level level, const char *file)
{
	char name[PATH_MAX];
	size_t len = file != NULL ? strlen(file) : 0;

	report_close();
	on = level;
	if (len == 0)
		return;
	if (file[len - 1] == '-')
		snprintf(name, sizeof(name), "%s%d", file, (int)getpid());
	else
		snprintf(name, sizeof(name), "%s", file);
	log_fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log_fd < 0)
		report_line(REPORT_ERROR, "cannot open RPMEM_LOG_FILE '%s': %s", name,
			    strerror(errno));
}

void report_close(void)
{
	if (log_fd >= 0)
		close(log_fd);
	log_fd = -1;
}

enum report_level report_level(void)
{
	return on;
}

/* A program may have closed stderr, and opened a pool as descriptor 2: such a file stays whole. */
static bool may_print(void)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	struct stat st;

	if (log_fd >= 0)
		return true;
	return flags >= 0 && ((flags & O_ACCMODE) == O_WRONLY ||
			      (fstat(STDERR_FILENO, &st) == 0 && !S_ISREG(st.st_mode)));
}

/* One write, so that lines of several threads do not mix; no byte that a terminal acts on. */
static void print(char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[len] = '\n';
	if (write(log_fd >= 0 ? log_fd : STDERR_FILENO, line, len + 1) < 0)
		return; /* there is no other place to tell it */
}

void report_line(enum report_level level, const char *format, ...)
{
	char line[1536] = "librpmem: ";
	size_t prefix = strlen(line);
	int saved = errno, len;
	va_list args;

	if (level > on || !may_print())
		return;
	va_start(args, format);
	len = vsnprintf(line + prefix, sizeof(line) - prefix, format, args);
	va_end(args);
	if (len >= 0)
		print(line, strnlen(line, sizeof(line) - 1));
	errno = saved;
}

void report_failure(const char *what)
{
	report_line(REPORT_ERROR, "%s: %s", what, failure_get()->text);
}

int report_errno(int ret)
{
	errno = -ret;
	return -1;
}

const char *report_message(void)
{
	return failure_get()->text;
}
