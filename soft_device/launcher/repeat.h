/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat.h -- a command under `--adversary`: the launcher stays, and when the command has failed it
 * prints how to run it in the same way again.
 */
#pragma once

struct repeat {
	const char *seed;
	const char *words; /* RPMA_SOFT before; NULL: it was not set */
	char **argv;	   /* all of the launcher's */
	char **command;	   /* in argv */
};

/* Runs the file; the exit status of the command. One that a signal ends ends the launcher, too. */
int repeat_run(const struct repeat *repeat, const char *path);
