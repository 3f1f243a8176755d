/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h -- what all tools do alike on their command line. */
#pragma once

#include <argp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define CLI_TABLES_MAX 12

struct cli {
	bool quiet;
	bool verbose;
	bool done; /* --help or --version was answered */
	/* the last option given of each table of the command; NULL: none */
	const char *given[CLI_TABLES_MAX];
};

/* Puts the value of an option where its row points: 0, or an errno with the error message set. */
typedef error_t cli_parser(const char *option, const char *arg, void *to);

/* An option; an array of them is a table. */
struct cli_row {
	const char *name;     /* without its dashes; NULL ends the table */
	int letter;	      /* the short form; 0: none */
	const char *argument; /* in --help; NULL: it takes none */
	const char *help;
	int group; /* in --help */
	cli_parser *parse;
	size_t to; /* offset in the tool's options */
	int flags; /* for argp, OPTION_ARG_OPTIONAL for example */
};

/* --json, which sets the member json of struct options. */
#define CLI_ROW_JSON(group)                                                                        \
	{                                                                                          \
		"json", 0, NULL, "Write the result, as JSON, to standard output", group, cli_flag, \
			offsetof(struct options, json), 0                                          \
	}

struct cli_command {
	const char *name;		     /* "rpma-bench client" */
	const char *text;		     /* what it does */
	const struct cli_row *const *tables; /* up to a NULL */
	const char *quiet;		     /* the help of --quiet; NULL: that of all tools */
	const char *operand;		     /* in --help: "HOST"; NULL: none is expected */
	size_t operand_to;		     /* a const char *; 0: there is none */
	cli_parser *operand_parse;	     /* takes each of several; NULL: there is one */
};

/*
 * Parses argv[0..argc), whose first word is the command, and the options that
 * all tools have. cli is the first member of the tool's options. A wrong option
 * gives -EINVAL with one error message set.
 */
int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli *cli);

/* Parse into a bool, which becomes true, into a const char *, and into a uint16_t. */
cli_parser cli_flag, cli_text, cli_port;
/* Parses into a const char *, which is NULL for auto. */
cli_parser cli_text_or_auto;

/* For parsers: stores "--option VALUE: expected ..." and gives EINVAL. */
int cli_wrong_value(const char *option, const char *value, const char *expected);

/* The word of a list, up to NULL, that the first length bytes probably mean; NULL: none. */
const char *cli_nearest(const char *word, size_t length, const char *const *words);

/*
 * Reserves the descriptors of standard input, output and errors that are closed, so that no
 * file opened later gets one. They still fail. First of all in main.
 */
void cli_reserve_standard_fds(void);

/* SIGINT and SIGTERM: sets cli_signal and makes the descriptor readable. */
int cli_catch_signals(void);
extern atomic_int cli_signal; /* lock-free: set by a handler, read by any thread */
int cli_stop_fd(void);
bool cli_stopped(void *unused); /* whether one came */

/* Prints the error message as one line on stderr; gives the exit code. */
int cli_report_failure(const char *tool);

/* One line on stderr, rewritten in place: only on a terminal. NULL ends it. */
void cli_progress(const struct cli *cli, const char *line);
