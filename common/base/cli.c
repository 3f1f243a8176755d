/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cli.c -- options from rows, option errors in one line, signals, the progress
 * line.
 *
 * argp parses: it gets its table from the rows of the command, and its parser
 * looks up the row of each option. argp's own error output has two lines and does
 * not name what is valid; it is silenced, and the error message is made from the
 * failing word.
 */
#include "cli.h"

#include <assert.h>
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

#define KEY_FIRST 0x100 /* options without a letter have keys from here */
#define ROWS_MAX  96

/* The command line that is parsed; a process has one at a time. */
static struct {
	const struct cli_command *command;
	struct cli *cli; /* where the tool's options begin */
	struct argp argp;
	struct argp_option options[ROWS_MAX + 1];
	const struct cli_row *rows[ROWS_MAX];
	size_t tables[ROWS_MAX]; /* which of the command's each row is of */
	size_t count;
} parsing;

static error_t print_help(const char *option, const char *arg, void *done)
{
	(void)option;
	(void)arg;
	argp_help(&parsing.argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
		  (char *)(uintptr_t)parsing.command->name);
	*(bool *)done = true;
	return 0;
}

static error_t print_version(const char *option, const char *arg, void *done)
{
	(void)option;
	(void)arg;
	printf("%s\n", argp_program_version);
	*(bool *)done = true;
	return 0;
}

#define TO(member) offsetof(struct cli, member)
static const struct cli_row own_rows[] = {
	{"quiet", 'q', NULL, "Print failures only", 100, cli_flag, TO(quiet), 0},
	{"verbose", 'v', NULL, "Print details, such as what librpma logs", 100, cli_flag,
	 TO(verbose), 0},
	{"help", 'h', NULL, "Print this help", 101, print_help, TO(done), 0},
	{"version", 'V', NULL, "Print the version", 101, print_version, TO(done), 0},
	{0},
};

static const struct argp_option *find_option(const char *word)
{
	for (const struct argp_option *o = parsing.options; o->name != NULL; o++) {
		bool is_short = word[0] == '-' && word[1] == o->key && word[2] == '\0';

		if (is_short || (strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0))
			return o;
	}
	return NULL;
}

#define NAME_MAX_LENGTH 32

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * How many letters to insert, remove, replace, or swap with the next one (optimal string
 * alignment); names are shorter than a row.
 */
static size_t distance(const char *word, size_t length, const char *name)
{
	size_t rows[3][NAME_MAX_LENGTH]; /* the one in work, and the two before it */
	const size_t columns = strlen(name);

	for (size_t j = 0; j <= columns; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= length; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *second = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (word[i - 1] != name[j - 1]));
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1])
				row[j] = least(row[j], row[j], second[j - 2] + 1);
		}
	}
	return rows[length % 3][columns];
}

/* The closest so far. */
struct guess {
	const char *word; /* without its dashes and value */
	size_t length;
	size_t smallest; /* distances from here on are too far */
	const char *name;
};

static struct guess guess_begin(const char *word, size_t length, size_t most)
{
	return (struct guess){word, length, most + 1, NULL};
}

static void guess_try(struct guess *guess, const char *name)
{
	size_t d = strlen(name) < NAME_MAX_LENGTH ? distance(guess->word, guess->length, name)
						  : guess->length;

	if (d < guess->smallest) {
		guess->smallest = d;
		guess->name = name;
	}
}

/* The name that the word was probably meant to be; NULL: none. A wrong letter in three may be. */
static const char *nearest(const char *word, size_t length)
{
	struct guess guess = guess_begin(word, length, length / 3);

	for (const struct argp_option *o = parsing.options; o->name != NULL; o++)
		guess_try(&guess, o->name);
	return guess.name;
}

/* Words of values are short, and two letters that changed places are two. */
const char *cli_nearest(const char *word, size_t length, const char *const *words)
{
	struct guess guess = guess_begin(word, length, (length + 1) / 2);

	for (; *words != NULL; words++)
		guess_try(&guess, *words);
	return guess.name;
}

/* getopt refused a word before any parser saw it. */
static void explain(const char *word)
{
	const struct argp_option *option = find_option(word);
	const char *name = NULL;

	if (strncmp(word, "--", 2) == 0)
		name = nearest(word + 2, strcspn(word + 2, "="));
	if (option != NULL && option->arg != NULL)
		failure_usage("%s needs a value: %s %s", word, word, option->arg);
	else if (option == NULL && name != NULL)
		failure_usage("unknown option %s (did you mean --%s?): %s --help lists the options",
			      word, name, parsing.command->name);
	else
		failure_usage("unknown option %s: %s --help lists the options", word,
			      parsing.command->name);
}

static void *member_at(size_t to)
{
	return (char *)parsing.cli + to;
}

static error_t take_operand(const char *arg)
{
	const char **operand = member_at(parsing.command->operand_to);

	if (parsing.cli->done) /* --help came before it */
		return 0;
	if (parsing.command->operand_parse != NULL)
		return parsing.command->operand_parse(parsing.command->operand, arg, operand);
	if (parsing.command->operand_to == 0 || *operand != NULL) {
		failure_usage("unexpected argument %s: %s --help lists the options", arg,
			      parsing.command->name);
		return EINVAL;
	}
	*operand = arg;
	return 0;
}

static error_t take_option(int key, const char *arg)
{
	const struct cli_row *row;
	char option[32];
	size_t i = 0;

	while (i < parsing.count && parsing.options[i].key != key)
		i++;
	if (i == parsing.count)
		return ARGP_ERR_UNKNOWN;
	row = parsing.rows[i];
	parsing.cli->given[parsing.tables[i]] = row->name;
	snprintf(option, sizeof(option), "--%s", row->name);
	return row->parse(option, arg, member_at(row->to));
}

/* argp's signature. NOLINTNEXTLINE(readability-non-const-parameter) */
static error_t take(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		return take_operand(arg);
	/* the word at which getopt stopped */
	if (key == ARGP_KEY_ERROR && failure_get()->text[0] == '\0' && state->next > 0 &&
	    state->next <= state->argc)
		explain(state->argv[state->next - 1]);
	return take_option(key, arg);
}

static void add_rows(const struct cli_row *row, size_t table)
{
	for (; row->name != NULL; row++) {
		size_t n = parsing.count++;

		assert(n < ROWS_MAX && table < CLI_TABLES_MAX);
		parsing.rows[n] = row;
		parsing.tables[n] = table;
		parsing.options[n] = (struct argp_option){
			row->name,     row->letter != 0 ? row->letter : KEY_FIRST + (int)n,
			row->argument, row->flags,
			row->help,     row->group};
		if (parsing.command->quiet != NULL && row->letter == 'q')
			parsing.options[n].doc = parsing.command->quiet;
	}
}

int cli_parse(const struct cli_command *command, int argc, char **argv, struct cli *cli)
{
	size_t table = 0;

	memset(&parsing, 0, sizeof(parsing));
	parsing.command = command;
	parsing.cli = cli;
	parsing.argp = (struct argp){.options = parsing.options,
				     .parser = take,
				     .args_doc = command->operand,
				     .doc = command->text};
	for (; command->tables[table] != NULL; table++)
		add_rows(command->tables[table], table);
	add_rows(own_rows, table);
	failure_get()->text[0] = '\0';
	if (argp_parse(&parsing.argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL,
		       NULL) == 0)
		return 0;
	if (failure_get()->text[0] == '\0')
		failure_usage("wrong command line: %s --help lists the options", command->name);
	return -EINVAL;
}

int cli_wrong_value(const char *option, const char *value, const char *expected)
{
	failure_usage("%s %s: expected %s", option, value, expected);
	return EINVAL;
}

error_t cli_flag(const char *option, const char *arg, void *to)
{
	(void)option;
	(void)arg;
	*(bool *)to = true;
	return 0;
}

error_t cli_text(const char *option, const char *arg, void *to)
{
	(void)option;
	*(const char **)to = arg;
	return 0;
}

error_t cli_text_or_auto(const char *option, const char *arg, void *to)
{
	return cli_text(option, strcmp(arg, "auto") == 0 ? NULL : arg, to);
}

error_t cli_port(const char *option, const char *arg, void *to)
{
	uint64_t number;

	if (units_parse_number(arg, &number) || number > UINT16_MAX)
		return cli_wrong_value(option, arg, "a port from 0 to 65535");
	*(uint16_t *)to = (uint16_t)number;
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

void cli_reserve_standard_fds(void)
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
		return failure_call("start", errno, "make an eventfd");
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* a closed pipe is a failed write, with a message */
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
