/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c -- lines on stderr or in a file. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/text_writer.h"

#define ROOM_MS 200

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

/*
 * A thread that waits for the reader of a full pipe would hold its lane meanwhile. A line is
 * shorter than PIPE_BUF, so a pipe that has room takes all of it.
 */
static bool has_room(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLOUT};

	return poll(&pollfd, 1, ROOM_MS) == 1 && (pollfd.revents & POLLERR) == 0;
}

/* Its reader may have gone: SIGPIPE is taken, unless one was pending before. */
static void write_without_sigpipe(int fd, const char *line, size_t len)
{
	const struct timespec now = {0, 0};
	sigset_t pipe, before, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0)
		return;
	if (write(fd, line, len) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/*
 * One write, so that lines of several threads do not mix; no byte that a terminal acts on. There
 * is no other place for a line that cannot be written.
 */
static void print(char *line, size_t len)
{
	const int fd = log_fd >= 0 ? log_fd : STDERR_FILENO;

	text_replace_controls(line);
	line[len] = '\n';
	if (has_room(fd))
		write_without_sigpipe(fd, line, len + 1);
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
