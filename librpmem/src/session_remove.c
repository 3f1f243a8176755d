/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session_remove.c -- the daemon as a command: `rpmemd --remove SET`.
 *
 * libpmempool runs the same line by itself, so it is an interface: the exit status
 * is an errno, and stdout is not used.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "session.h"
#include "ssh.h"

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
