/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cli.h -- what all tools do alike on their command line.
 */
#ifndef COMMON_BASE_CLI_H
#define COMMON_BASE_CLI_H

#include <argp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Option keys without a short letter start here, in every tool. */
#define CLI_KEY_FIRST 0x100

enum cli_key {
	CLI_KEY_HELP = 'h',
	CLI_KEY_VERSION = 'V',
	CLI_KEY_QUIET = 'q',
	CLI_KEY_VERBOSE = 'v',
};

struct cli {
	bool quiet;
	bool verbose;
	bool done; /* --help or --version was answered */
};

/* Rows for --quiet, --verbose, --help, --version: a child of the tool's argp. */
extern const struct argp cli_argp;

/*
 * Parses argv[0..argc), whose first word is the command. A wrong option gives
 * -EINVAL with one sentence stored. The tool passes its struct cli to the
 * child through state->child_inputs[0].
 */
int cli_parse(const struct argp *argp, const char *command, int argc, char **argv, void *input);

/* For parsers: stores "--option VALUE: expected ..." and gives EINVAL. */
int cli_wrong_value(const char *option, const char *value, const char *expected);

/* A port; a wrong one gives EINVAL, as above. */
int cli_port(const char *option, const char *value, uint16_t *port);

/*
 * Where standard input, output or errors are closed, no file that is opened later
 * must take their place. They still fail. First of all in main.
 */
void cli_keep_standard_places(void);

/* SIGINT and SIGTERM: sets cli_signal and makes the descriptor readable. */
int cli_catch_signals(void);
extern atomic_int cli_signal; /* lock-free: set by a handler, read by any thread */
int cli_stop_fd(void);
bool cli_stopped(void *unused); /* whether one came */

/* Prints the stored sentence as one line on stderr; gives the exit code. */
int cli_report_failure(const char *tool);

/* One line on stderr, rewritten in place: only on a terminal. NULL ends it. */
void cli_progress(const struct cli *cli, const char *line);

#endif /* COMMON_BASE_CLI_H */
