/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session_start.c -- the begin of a session, from ssh to STARTED, and its end; and rpmem_remove(),
 * which needs no session.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/base/thread.h"
#include "session.h"
#include "session_state.h"
#include "settings.h"
#include "ssh.h"

/*
 * The thread that reads what the daemon and ssh send. It alone reads ssh's
 * stdout and stderr, gives the bytes to the conversation, and ends the session when they break
 * off or break the protocol.
 */

/* Why stdout has ended, in the words of ssh if it has left some. */
static void store_end(struct session *s)
{
	const char *what = s->has_started ? "was lost" : "did not start";
	const char *line = ssh_line_text(&s->line);
	int status = s->ssh_status;

	if (line[0] != '\0')
		ssh_failed("rpmemd on %s %s: %s", s->host, what, line);
	else if (status >= SSH_KILLED)
		ssh_failed("rpmemd on %s %s: signal %d ended '%s'", s->host, what,
			   status - SSH_KILLED, s->program);
	else if (status >= 0)
		ssh_failed("rpmemd on %s %s: '%s' ended with exit status %d", s->host, what,
			   s->program, status);
	else
		ssh_failed("rpmemd on %s %s: '%s' closed its output", s->host, what, s->program);
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
		ssh_failed("rpmemd on %s %s", s->host, s->conversation.wrong);
		session_stream_over(s, ret);
	} else if (s->conversation.complete) {
		if (!s->has_started)
			ssh_line_forget(&s->line);
		s->has_started = true;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return ret == 0;
}

static void *session_reader(void *arg)
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

#define END_MS 5000 /* from CLOSE to the end of ssh */

static int await_start(struct session *s)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = session_wait(s, "did not start",
			   s->cfg.start_timeout_ms != 0 ? s->cfg.start_timeout_ms
							: SESSION_START_MS);
	if (ret == 0)
		ret = session_status(s);
	conversation_drop(&s->conversation);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static void free_session(struct session *s)
{
	ssh_close_in(&s->ssh); /* it ends ssh and the daemon */
	if (s->has_reader && eventfd_write(s->wake_fd, 1) == 0)
		pthread_join(s->reader, NULL);
	ssh_end(&s->ssh, s->stream_over == 0 || s->is_closing ? END_MS : SESSION_DRAIN_MS);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	if (s->end_fd >= 0)
		close(s->end_fd);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->requests);
	free(s);
}

static struct session *new_session(const struct session_cfg *cfg)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->cfg = *cfg;
	memcpy(s->host, cfg->target->host, sizeof(s->host));
	snprintf(s->program, sizeof(s->program), "%s", settings_ssh());
	s->ssh = (struct ssh){0, -1, -1, -1, -1, -ECHILD};
	s->wake_fd = eventfd(0, EFD_CLOEXEC);
	s->end_fd = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&s->requests, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	conversation_begin(&s->conversation);
	return s;
}

static int start(struct session *s)
{
	int ret;

	if (s->wake_fd < 0 || s->end_fd < 0) {
		ret = -EMFILE;
		ssh_failed("cannot open an eventfd: %s", strerror(-ret));
		return ret;
	}
	ret = ssh_start(&s->ssh, s->cfg.target, s->cfg.command);
	if (ret != 0)
		return ret;
	ret = thread_start(&s->reader, session_reader, s);
	if (ret != 0) {
		ssh_failed("cannot start a thread: %s", strerror(-ret));
		return ret;
	}
	s->has_reader = true;
	return await_start(s);
}

/* ssh itself failed, before the daemon ran, and its line tells of the network. */
static bool may_pass(const struct session *s)
{
	return !s->has_started && s->ssh_status == SSH_FAILED && ssh_line_may_pass(s->line.text);
}

static int open_once(struct session **session, const struct session_cfg *cfg, bool *again)
{
	struct session *s = new_session(cfg);
	struct failure why;
	int ret;

	*again = false;
	if (s == NULL) {
		ssh_failed("out of memory");
		return -ENOMEM;
	}
	ret = start(s);
	if (ret == 0) {
		s->cfg.target = NULL;
		s->cfg.command = NULL;
		*session = s;
		return 0;
	}
	why = *failure_get();
	pthread_mutex_lock(&s->lock);
	*again = may_pass(s);
	pthread_mutex_unlock(&s->lock);
	free_session(s);
	*failure_get() = why;
	return ret;
}

int session_open(struct session **session, const struct session_cfg *cfg)
{
	static const long pauses_ms[] = {250, 500, 1000};
	bool again;
	int ret;

	for (size_t i = 0;; i++) {
		ret = open_once(session, cfg, &again);
		if (!again || i == sizeof(pauses_ms) / sizeof(pauses_ms[0]))
			return ret;
		nanosleep(&(struct timespec){pauses_ms[i] / 1000, pauses_ms[i] % 1000 * 1000000},
			  NULL);
	}
}

int session_close(struct session **session, bool remove)
{
	struct session *s = *session;
	struct failure why;
	int ret;

	if (s == NULL)
		return 0;
	ret = s->has_pool ? session_tell_to_close(s, remove) : 0;
	why = *failure_get();
	free_session(s);
	*failure_get() = why;
	*session = NULL;
	return ret;
}

/*
 * The daemon as a command: `rpmemd --remove SET`.
 *
 * libpmempool runs the same line by itself, so it is an interface: the exit status
 * is an errno, and stdout is not used.
 */

#define NOT_RUN	  126 /* sh(1): the command was found and cannot be run; 127: it was not found */
#define NOT_FOUND 127

static char *remove_command(const char *command, const char *pool_set, bool force, bool with_set)
{
	char *quoted = malloc(SSH_QUOTED_MAX(strlen(pool_set)));
	char *line = NULL;

	if (quoted == NULL)
		return NULL;
	ssh_quote(pool_set, quoted);
	if (asprintf(&line, "%s --remove %s%s%s", command, quoted, force ? " --force" : "",
		     with_set ? " --pool-set" : "") < 0)
		line = NULL;
	free(quoted);
	return line;
}

/* One of stdout and stderr; false: it is at its end. */
static bool read_some(int fd, struct ssh_line *line)
{
	char bytes[512];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n > 0 && line != NULL)
		ssh_line_take(line, bytes, (size_t)n);
	return n > 0;
}

/* Reads both to their ends; false: that took too long. */
static bool read_output(struct ssh *ssh, struct ssh_line *line, int timeout_ms)
{
	struct pollfd fds[2] = {{ssh->out, POLLIN, 0}, {ssh->err, POLLIN, 0}};
	int64_t end_ms = monotonic_ms() + timeout_ms, left_ms = timeout_ms;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (left_ms <= 0)
			return false;
		if (poll(fds, 2, (int)left_ms) > 0) {
			if (fds[0].revents != 0 && !read_some(ssh->out, NULL))
				fds[0].fd = -1; /* poll(2) passes it over */
			if (fds[1].revents != 0 && !read_some(ssh->err, line))
				fds[1].fd = -1;
		}
		left_ms = end_ms - monotonic_ms();
	}
	return true;
}

static int judge(const char *host, const char *pool_set, int status, const char *text)
{
	if (status == 0)
		return 0;
	if (status == -ECHILD) {
		ssh_failed("whether rpmemd on %s has removed '%.300s' is not known: the program "
			   "took the exit status of the ssh client",
			   host, pool_set);
		return -ECHILD;
	}
	if (status >= SSH_KILLED || status == SSH_FAILED || status == NOT_RUN ||
	    status == NOT_FOUND) {
		if (text[0] != '\0')
			ssh_failed("cannot run rpmemd on %s: %s", host, text);
		else
			ssh_failed(
				"cannot run rpmemd on %s: the ssh client ended with exit status %d",
				host, status);
		return -ECONNRESET;
	}
	if (status == EXIT_WRONG_USAGE) /* an option in RPMEM_CMD */
		status = EINVAL;
	failure_set(EXIT_RUN_FAILED, "rpmemd", "rpmemd on %s cannot remove '%.300s': %s", host,
		    pool_set, text[0] != '\0' ? text : strerror(status));
	return -status;
}

int session_remove(const struct session_cfg *cfg, const char *pool_set, bool force, bool with_set)
{
	int timeout_ms = cfg->reply_timeout_ms != 0 ? cfg->reply_timeout_ms : SESSION_REPLY_MS;
	char *command = remove_command(cfg->command, pool_set, force, with_set);
	struct ssh_line line = {.text = ""};
	struct ssh ssh;
	bool in_time;
	int ret;

	if (command == NULL) {
		ssh_failed("out of memory");
		return -ENOMEM;
	}
	ret = ssh_start(&ssh, cfg->target, command);
	free(command);
	if (ret != 0)
		return ret;
	ssh_close_in(&ssh);
	in_time = read_output(&ssh, &line, timeout_ms);
	ssh_end(&ssh, in_time ? timeout_ms : 0);
	if (in_time)
		return judge(cfg->target->host, pool_set, ssh.status, ssh_line_text(&line));
	ssh_failed("rpmemd on %s did not remove '%.300s' within %d ms", cfg->target->host, pool_set,
		   timeout_ms);
	return -ECONNRESET;
}
