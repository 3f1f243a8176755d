/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session_reader.c -- the thread that reads what the daemon and ssh send.
 *
 * It alone reads ssh's stdout and stderr, gives the bytes to the conversation,
 * and ends the session when they break off or break the protocol.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "common/base/monotonic.h"
#include "session_state.h"

/* Why stdout has ended, in the words of ssh if it has left some. */
static void store_end(struct session *s)
{
	const char *what = s->has_hello ? "was lost" : "did not start";
	const char *line = ssh_line_text(&s->line);
	int status = s->ssh_status;

	if (line[0] != '\0')
		failure_set(EXIT_RUN_FAILED, "ssh", "rpmemd on %s %s: %s", s->host, what, line);
	else if (status >= SSH_KILLED)
		failure_set(EXIT_RUN_FAILED, "ssh", "rpmemd on %s %s: signal %d ended '%s'",
			    s->host, what, status - SSH_KILLED, s->program);
	else if (status >= 0)
		failure_set(EXIT_RUN_FAILED, "ssh",
			    "rpmemd on %s %s: '%s' ended with exit status %d", s->host, what,
			    s->program, status);
	else
		failure_set(EXIT_RUN_FAILED, "ssh", "rpmemd on %s %s: '%s' closed its output",
			    s->host, what, s->program);
}

/* False: the end of stderr. */
static bool read_stderr(struct session *s)
{
	char bytes[512];
	ssize_t n = read(s->ssh.err, bytes, sizeof(bytes));

	if (n <= 0)
		return false;
	pthread_mutex_lock(&s->lock);
	ssh_line_take(&s->line, bytes, (size_t)n);
	pthread_mutex_unlock(&s->lock);
	return true;
}

/* Output of ssh may come after the end of stdout; a master of ssh may keep stderr open. */
static void drain_stderr(struct session *s)
{
	int64_t end_ms = monotonic_ms() + SESSION_DRAIN_MS, left_ms;
	struct pollfd fds[2] = {{s->ssh.err, POLLIN, 0}, {s->wake_fd, POLLIN, 0}};

	while ((left_ms = end_ms - monotonic_ms()) > 0) {
		if (poll(fds, 2, (int)left_ms) < 1)
			continue;
		if (fds[1].revents != 0 || !read_stderr(s))
			break;
	}
	left_ms = end_ms - monotonic_ms();
	ssh_has_ended(&s->ssh, left_ms > 0 ? (int)left_ms : 0);
}

static void at_end(struct session *s)
{
	bool is_due;

	pthread_mutex_lock(&s->lock);
	is_due = s->is_closing &&
		 (s->conversation.complete || s->conversation.awaited == CONTROL_TYPES);
	pthread_mutex_unlock(&s->lock);
	if (!is_due)
		drain_stderr(s);
	pthread_mutex_lock(&s->lock);
	s->ssh_status = s->ssh.status;
	store_end(s);
	session_stream_over(s, -ECONNRESET);
	pthread_mutex_unlock(&s->lock);
}

/* False: nothing more is to be read. */
static bool read_stdout(struct session *s)
{
	uint8_t bytes[4096];
	ssize_t n = read(s->ssh.out, bytes, sizeof(bytes));
	int ret;

	if (n <= 0) {
		at_end(s);
		return false;
	}
	pthread_mutex_lock(&s->lock);
	ret = conversation_take(&s->conversation, bytes, (size_t)n);
	if (ret != 0) {
		s->conversation.complete = false;
		failure_set(EXIT_RUN_FAILED, "ssh", "rpmemd on %s %s", s->host,
			    s->conversation.wrong);
		session_stream_over(s, ret);
	} else if (s->conversation.complete) {
		if (!s->has_hello)
			ssh_line_forget(&s->line);
		s->has_hello = true;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return ret == 0;
}

void *session_reader(void *arg)
{
	struct session *s = arg;
	struct pollfd fds[3] = {
		{s->ssh.out, POLLIN, 0}, {s->ssh.err, POLLIN, 0}, {s->wake_fd, POLLIN, 0}};

	for (;;) {
		if (poll(fds, 3, -1) < 1)
			continue;
		if (fds[2].revents != 0)
			return NULL;
		if (fds[1].revents != 0 && !read_stderr(s))
			fds[1].fd = -1; /* poll(2) passes it over */
		if (fds[0].revents != 0 && !read_stdout(s))
			return NULL;
	}
}
