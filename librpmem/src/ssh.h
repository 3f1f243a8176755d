/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ssh.h -- an ssh(1) that runs a command on another host, and its end.
 *
 * The child has descriptors 0 to 2 and no other, and all signals at their
 * defaults. It is started without a copy of the program's memory. The program may
 * collect the child's exit status before us, as librpmem(7) allows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ssh_target.h"

/* Sets the error message; gives -EIO. */
#define ssh_failed(...) failure_set(EXIT_RUN_FAILED, "ssh", __VA_ARGS__)

#define SSH_LINE_MAX	400

enum ssh_line_weight { SSH_LINE_NONE, SSH_LINE_NOISE, SSH_LINE_OTHER, SSH_LINE_OWN };

/*
 * The one line of ssh's stderr that tells why it ended. ssh, the target's shell and rpmemd all
 * print there, and so does sshd its banner. The last line counts, as what failed ended it; but
 * one that ssh or rpmemd has marked as its own wins over others, and warnings lose. Begins as
 * zeros.
 */
struct ssh_line {
	char text[SSH_LINE_MAX]; /* the best so far, without control characters */
	enum ssh_line_weight weight;
	char next[SSH_LINE_MAX]; /* not at its end yet */
};

void ssh_line_take(struct ssh_line *line, const char *bytes, size_t len);
/* Empty: there is none. What follows begins a new line. */
const char *ssh_line_text(struct ssh_line *line);
/* rpmemd has started: what was printed so far did not prevent it. */
void ssh_line_forget(struct ssh_line *line);
/* Does the text tell of a failure that may have passed when ssh is started again? */
bool ssh_line_may_pass(const char *text);

#define SSH_FAILED	  255 /* ssh(1), EXIT STATUS: an error of ssh itself */
#define SSH_KILLED	  256 /* and the signal's number */
#define SSH_QUOTED_MAX(n) (4 * (n) + 3)

struct ssh {
	pid_t pid;  /* 0: it has ended, and was collected */
	int pidfd;  /* -1: the system has none */
	int in;	    /* a socket, its stdin; -1: closed; so with the other two */
	int out;    /* its stdout */
	int err;    /* its stderr */
	int status; /* its exit status, SSH_KILLED + signal, or -ECHILD: not known */
};

/*
 * ssh_end() is due if it succeeds. -ECONNRESET: there is no such program, or it cannot be run;
 * other errors are those of the system's limits. The error message is stored.
 */
int ssh_start(struct ssh *ssh, const struct ssh_target *target, const char *command);
/* Has it ended within the time? Then status is set. */
bool ssh_has_ended(struct ssh *ssh, int timeout_ms);
/* Its stdin is at its end. */
void ssh_close_in(struct ssh *ssh);
/* Closes the descriptors, waits for its end for as long, then kills it. */
void ssh_end(struct ssh *ssh, int timeout_ms);

/* In single quotes: one word for the remote shell. quoted has SSH_QUOTED_MAX(strlen(word)). */
void ssh_quote(const char *word, char *quoted);
