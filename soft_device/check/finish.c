/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finish.c -- the end of a process that is checked: the last line, and one status for all ways to
 * end: exit(), a return from main(), _exit() and signals. SIGKILL cannot be caught.
 *
 * exit() is met by on_exit(3). As the device is loaded before the C library begins main(), its
 * function is the last to be called, after all destructors; only the flush of stdio is left then.
 * Signals are caught from the first error on, and only those that would end the process.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objects.h"
#include "report.h"
#include "watch.h"

#define HOOKS 8

struct check_words check_words;
bool check_every;
bool check_durable_on_send;

static void (*hooks[HOOKS])(int status);
static unsigned hooks_count;
static pid_t owner; /* the process that uses the device; a child by vfork(2) is another */
static atomic_bool printed_last;

void check_at_end(void (*run)(int status))
{
	for (unsigned i = 0; i < hooks_count; i++)
		if (hooks[i] == run)
			return;
	if (hooks_count < HOOKS)
		hooks[hooks_count++] = run;
}

static bool is_owner(void)
{
	return check_any && owner == getpid();
}

/* Also by a handler of a signal: no lock, no memory. */
static void print_last(void)
{
	const unsigned long long requests = atomic_load(&check_requests);
	const unsigned long long passed = atomic_load(&check_passed);
	char line[240], held[60] = "";
	int length;

	if (atomic_exchange(&printed_last, true))
		return;
	json_end();
	if (passed > 0)
		snprintf(held, sizeof(held), ", %llu of them held", requests - passed);
	length = snprintf(line, sizeof(line),
			  "== rpma-soft: %u errors, %u warnings, %u suppressed, %llu requests "
			  "seen%s (process %d)\n",
			  atomic_load(&check_counts.errors), atomic_load(&check_counts.warnings),
			  atomic_load(&check_counts.suppressed), requests, held, (int)getpid());
	if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* no reader is left */
}

void finish_print(void)
{
	if (atomic_load(&printed_last))
		return;
	report_repeats();
	print_last();
}

int finish_status(int status)
{
	const bool failed = atomic_load(&check_counts.errors) > 0 ||
			    (check_words.strict && atomic_load(&check_counts.warnings) > 0);

	return failed ? check_words.exit_status : status;
}

static void run_hooks(int status)
{
	for (unsigned i = 0; i < hooks_count; i++)
		hooks[i](status);
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	if (!is_owner())
		return;
	run_hooks(status);
	finish_print();
	if (finish_status(status) == status)
		return;
	fcloseall(); /* as exit() does next; fflush() would wait for a thread that reads */
	syscall(SYS_exit_group, finish_status(status));
}

/* Handlers of signals call it, whatever locks the thread holds: only the last line is printed. */
static __attribute__((noreturn)) void end_at_once(int status)
{
	if (is_owner()) {
		print_last();
		status = finish_status(status);
	}
	for (;;)
		syscall(SYS_exit_group, status);
}

SOFT_EXPORT void _exit(int status)
{
	end_at_once(status);
}

SOFT_EXPORT void _Exit(int status)
{
	end_at_once(status);
}

/* --- signals --- */

/* A child of fork() ends as it would without. */
static void end_by(int number)
{
	sigset_t own;

	signal(number, SIG_DFL);
	sigemptyset(&own);
	sigaddset(&own, number);
	kill(getpid(), number);
	sigprocmask(SIG_UNBLOCK, &own, NULL);
}

static void on_signal(int number)
{
	if (!is_owner())
		end_by(number);
	end_at_once(128 + number);
}

void finish_arm(void)
{
	static const int signals[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGILL,  SIGABRT, SIGBUS, SIGFPE,
				      SIGSEGV, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction before, own = {.sa_handler = on_signal};

	sigfillset(&own.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &own, NULL);
}

/* --- beginning --- */

static __attribute__((constructor)) void load(void)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];
	int ret;

	if (soft_options_parse(getenv("RPMA_SOFT"), &options, error) != 0 || !options.checks)
		return;
	if (check_words_parse(options.check, &check_words, error) != 0) {
		process_warn("%s", error);
		return;
	}
	if (check_words.suppressions[0] != '\0') {
		ret = suppress_load(check_words.suppressions);
		if (ret != 0)
			process_warn("check: suppressions=%s: %s", check_words.suppressions,
				     ret == -EINVAL ? "expected lines KIND:FUNCTION"
						    : strerror(-ret));
	}
	check_any = true;
	check_every = check_words.every;
	check_durable_on_send = check_words.durable_on_send;
	watch_any = check_words.watch;
	check_at_end(objects_tell_growth);
	on_exit(at_exit, NULL);
}

static int begin(struct process *process)
{
	(void)process;
	if (check_any)
		owner = getpid();
	return 0;
}

/* The parent reports what it has found, the child only what it finds itself. */
static void forked(void)
{
	if (!check_any)
		return;
	report_forget();
	atomic_store(&printed_last, false);
	owner = 0;
}

void check_foreign(const char *call, uint32_t qpn)
{
	struct check_finding finding;

	if (!check_any)
		return;
	owner = getpid();
	check_find(&finding, CHECK_USED_BY_FORK_CHILD, stack_here(),
		   "%s in process %d is for an object of its parent, made before fork()", call,
		   (int)getpid());
	if (qpn != 0)
		check_line(&finding, "object", "QP %#x", qpn);
	check_place(&finding, "called at", finding.stack);
	check_report(&finding);
}

const struct process_part report_part = {.begin = begin, .lock = &check_lock, .forked = forked};
