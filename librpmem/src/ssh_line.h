/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ssh_line.h -- the one line of ssh's stderr that tells why it ended.
 *
 * ssh, the target's shell and rpmemd all print there, and so does sshd its banner. The
 * last line counts, as what failed ended it; but one that ssh or rpmemd has marked as
 * its own wins over others, and warnings lose.
 */
#ifndef RPMEM_SSH_LINE_H
#define RPMEM_SSH_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define SSH_LINE_MAX 400

enum ssh_line_weight { SSH_LINE_NONE, SSH_LINE_NOISE, SSH_LINE_OTHER, SSH_LINE_OWN };

/* Begins as zeros. */
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

#endif /* RPMEM_SSH_LINE_H */
