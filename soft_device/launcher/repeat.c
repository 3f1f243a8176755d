/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat.c -- see repeat.h.
 *
 * The command is a child, which gets the signals that processes send to the launcher; those of a
 * terminal reach both. A launcher that is killed takes the command along.
 */
#include "repeat.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static volatile pid_t child;

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

static void pass_on(int number, siginfo_t *info, void *unused)
{
	(void)unused;
	if (info->si_code <= 0 && child > 0)
		kill(child, number);
}

static void print_word(const char *word)
{
	const char *plain =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		fputs(word, stderr);
		return;
	}
	fputc('\'', stderr);
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			fputs("'\\''", stderr);
		else
			fputc(*word, stderr);
	}
	fputc('\'', stderr);
}

/* Prints it for a shell, with the same options but for the seed. */
static void print_command(const struct repeat *repeat)
{
	if (repeat->words != NULL && repeat->words[0] != '\0') {
		fputs("RPMA_SOFT=", stderr);
		print_word(repeat->words);
		fputc(' ', stderr);
	}
	print_word(repeat->argv[0]);
	fprintf(stderr, " --adversary=%s", repeat->seed);
	for (char **word = repeat->argv + 1; *word != NULL; word++) {
		/* --adversary may be cut short; no other option begins so */
		if (word < repeat->command && strncmp(*word, "--a", 3) == 0)
			continue;
		fputc(' ', stderr);
		print_word(*word);
	}
	fputc('\n', stderr);
}

static void print_failure(const struct repeat *repeat, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "rpma-soft: %s was ended by signal %d (%s)", repeat->command[0],
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "rpma-soft: %s ended with status %d", repeat->command[0],
			WEXITSTATUS(status));
	fputs("; this repeats the run: ", stderr);
	print_command(repeat);
}

static __attribute__((noreturn)) void become(const struct repeat *repeat, const char *path,
					     const sigset_t *mask, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(PROGRAM_CANNOT_BE_RUN);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(path, repeat->command);
	const int error = errno;

	fprintf(stderr, "rpma-soft: cannot run %s: %s\n", repeat->command[0], strerror(error));
	_exit(error == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_CANNOT_BE_RUN);
}

/* False: there is none. The signals are blocked until it is known whom they are for. */
static bool start(const struct repeat *repeat, const char *path)
{
	const struct sigaction action = {.sa_sigaction = pass_on,
					 .sa_flags = SA_SIGINFO | SA_RESTART};
	const pid_t parent = getpid();
	sigset_t blocked, before;

	sigemptyset(&blocked);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaddset(&blocked, passed_on[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	child = fork();
	if (child == 0)
		become(repeat, path, &before, parent);
	for (size_t i = 0; i < PASSED_ON && child > 0; i++)
		sigaction(passed_on[i], &action, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return child > 0;
}

/* Ends as the command has ended, without a second core. */
static int end_as(int status)
{
	const struct rlimit none = {0, 0};

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int repeat_run(const struct repeat *repeat, const char *path)
{
	int status = 0;

	fprintf(stderr, "rpma-soft: --adversary=%s repeats this run\n", repeat->seed);
	if (!start(repeat, path)) {
		fprintf(stderr, "rpma-soft: cannot start %s: %s\n", repeat->command[0],
			strerror(errno));
		return PROGRAM_CANNOT_BE_RUN;
	}
	if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) != child) {
		fprintf(stderr, "rpma-soft: waiting for %s: %s\n", repeat->command[0],
			strerror(errno));
		return PROGRAM_CANNOT_BE_RUN;
	}
	child = 0;
	if (status != 0)
		print_failure(repeat, status);
	return end_as(status);
}
