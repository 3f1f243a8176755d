/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cli.c -- option errors in one line, signals, the progress line.
 *
 * argp's own error output has two lines and does not name what is valid;
 * here it is silenced and the sentence is made from the failing word.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "failure.h"
#include "units.h"

atomic_int cli_signal;

static int stop_fd = -1;
static const struct argp *parsing;
static const char *parsing_command;

static const struct argp_option rows[] = {
	{"quiet", CLI_KEY_QUIET, NULL, 0, "Print failures only", 100},
	{"verbose", CLI_KEY_VERBOSE, NULL, 0, "Print details, such as what librpma logs", 100},
	{"help", CLI_KEY_HELP, NULL, 0, "Print this help", 101},
	{"version", CLI_KEY_VERSION, NULL, 0, "Print the version", 101},
	{0},
};

/* argp's signature. NOLINTNEXTLINE(readability-non-const-parameter) */
static error_t parse_row(int key, char *arg, struct argp_state *state)
{
	struct cli *cli = state->input;

	(void)arg;
	switch (key) {
	case CLI_KEY_QUIET:
		cli->quiet = true;
		break;
	case CLI_KEY_VERBOSE:
		cli->verbose = true;
		break;
	case CLI_KEY_HELP:
		argp_help(parsing, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
			  (char *)(uintptr_t)parsing_command);
		cli->done = true;
		break;
	case CLI_KEY_VERSION:
		printf("%s\n", argp_program_version);
		cli->done = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp cli_argp = {rows, parse_row, NULL, NULL, NULL, NULL, NULL};

static const struct argp_option *find_row(const struct argp *argp, const char *word)
{
	for (const struct argp_option *o = argp->options; o != NULL && (o->name || o->key); o++) {
		bool is_short = word[0] == '-' && word[1] == o->key && word[2] == '\0';

		if (is_short || (strncmp(word, "--", 2) == 0 && o->name != NULL &&
				 strcmp(word + 2, o->name) == 0))
			return o;
	}
	for (const struct argp_child *c = argp->children; c != NULL && c->argp != NULL; c++) {
		const struct argp_option *o = find_row(c->argp, word);

		if (o != NULL)
			return o;
	}
	return NULL;
}

/* getopt refused a word before any parser saw it. */
static void explain(const struct argp *argp, const char *command, const char *word)
{
	const struct argp_option *row = find_row(argp, word);

	if (row != NULL && row->arg != NULL)
		failure_set(EXIT_WRONG_USAGE, "options", "%s needs a value: %s %s", word, word,
			    row->arg);
	else
		failure_set(EXIT_WRONG_USAGE, "options",
			    "unknown option %s: %s --help lists the options", word, command);
}

/* The word at which getopt stopped, seen through the key of the error. */
struct watch {
	const struct argp *argp;
	const char *command;
	void *input;
};

/* argp's signature. NOLINTNEXTLINE(readability-non-const-parameter) */
static error_t watch_errors(int key, char *arg, struct argp_state *state)
{
	const struct watch *watch = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = watch->input;
		return 0;
	case ARGP_KEY_ERROR:
		if (failure_get()->text[0] == '\0' && state->next > 0 && state->next <= state->argc)
			explain(watch->argp, watch->command, state->argv[state->next - 1]);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_parse(const struct argp *argp, const char *command, int argc, char **argv, void *input)
{
	const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
	const struct argp outer = {NULL, watch_errors, NULL, NULL, children, NULL, NULL};
	struct watch watch = {argp, command, input};

	parsing = argp;
	parsing_command = command;
	failure_get()->text[0] = '\0';
	if (argp_parse(&outer, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL,
		       &watch) == 0)
		return 0;
	if (failure_get()->text[0] == '\0')
		failure_set(EXIT_WRONG_USAGE, "options",
			    "wrong command line: %s --help lists the options", command);
	return -EINVAL;
}

int cli_wrong_value(const char *option, const char *value, const char *expected)
{
	failure_set(EXIT_WRONG_USAGE, "options", "%s %s: expected %s", option, value, expected);
	return EINVAL;
}

int cli_port(const char *option, const char *value, uint16_t *port)
{
	uint64_t number;

	if (units_parse_number(value, &number) || number > UINT16_MAX)
		return cli_wrong_value(option, value, "a port from 0 to 65535");
	*port = (uint16_t)number;
	return 0;
}

static void on_signal(int number)
{
	const uint64_t one = 1;
	int saved = errno;

	cli_signal = number;
	if (write(stop_fd, &one, sizeof(one)) < 0)
		/* the counter is full: readable already */
		errno = saved;
	errno = saved;
}

void cli_keep_standard_places(void)
{
	int fd;

	/* open gives the lowest that is free; the wrong way, so that its use fails */
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int cli_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot make an eventfd: %s",
				   strerror(errno));
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* a closed pipe is a failed write, with a sentence */
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

int cli_stop_fd(void)
{
	return stop_fd;
}

bool cli_stopped(void *unused)
{
	(void)unused;
	return cli_signal != 0;
}

int cli_report_failure(const char *tool)
{
	const struct failure *failure = failure_get();

	fprintf(stderr, "%s: %s\n", tool, failure->text);
	return (int)failure->code;
}

/* A line that wraps could not be rewritten. */
static int columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
		return 79;
	return size.ws_col - 1;
}

void cli_progress(const struct cli *cli, const char *line)
{
	static bool shown;

	if (cli->quiet || !isatty(STDERR_FILENO) || (line == NULL && !shown))
		return;
	/* back to the first column, and clear what was there */
	fprintf(stderr, "\r\033[K%.*s", columns(), line != NULL ? line : "");
	fflush(stderr);
	shown = line != NULL;
}
