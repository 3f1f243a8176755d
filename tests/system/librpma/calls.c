/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c -- the calls that are new in librpma 1.4, between processes: a case by its name, or all.
 *
 *	rpma_calls CASE ADDR [auto|read|native]
 *
 * ADDR is one of this host's RDMA devices; the last word is how connections flush. Exit status 0:
 * it is as the manual has it; 1: it is not; 77: the device cannot do it. The case `broken` needs a
 * device that breaks its connection.
 */
#include "calls.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED	     77
#define CASE_LIMIT_S 600

static const struct test_case cases[] = {
	{"flushes", flushes_have_one_completion, 1},
	{"killed", killed_target_loses_nothing_reported, 1},
	{"queue", connections_share_a_queue, 2},
	{"overrun", overrun_queue_is_reported, 1},
	{"random", random_sequences_are_as_modelled, 1},
	/* not among all */
	{"broken", broken_connection_reports_the_truth, 1},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]), NUM_ALL = NUM_CASES - 1 };

/* The process of a target begins before the client has used a device. */
static void start_target(const struct calls *c, const struct test_case *test, struct target *target)
{
	int sockets[2];

	target->memory = session_memory("dram", MEMORY_BYTES);
	MUST_HOLD(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
	target->process = fork();
	MUST_HOLD(target->process >= 0);
	if (target->process == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		session_start("target", CASE_LIMIT_S);
		session_at(test->name);
		close(sockets[0]);
		for (int i = 0; i < TARGETS_MAX; i++) /* or the others would never end */
			if (c->target[i].process > 0)
				close(c->target[i].socket);
		target->socket = sockets[1];
		target_serve(c, target);
		exit(0);
	}
	close(sockets[1]);
	target->socket = sockets[0];
}

/* It ends by itself, unless it was killed by us. */
static void end_target(struct target *target)
{
	int status = -1;

	close(target->socket);
	MUST_HOLD(waitpid(target->process, &status, 0) == target->process);
	MUST_HOLD(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
	munmap(target->memory, MEMORY_BYTES);
	target->process = 0;
}

static int run_case(const struct test_case *test, const char *addr, enum rpma_flush_method method)
{
	struct calls c = {.addr = addr, .method = method};

	session_start("rpma_calls", CASE_LIMIT_S);
	session_at(test->name);
	for (int i = 0; i < test->targets; i++)
		start_target(&c, test, &c.target[i]);
	for (int i = 0; i < test->targets; i++)
		MUST_HOLD(recv(c.target[i].socket, c.target[i].port, sizeof(c.target[i].port), 0) >
			  0);
	int status = test->client(&c);
	for (int i = 0; i < test->targets; i++)
		end_target(&c.target[i]);
	return status;
}

/* Each in a process that has used no device. */
static int run_all(const char *addr, enum rpma_flush_method method)
{
	int failed = 0;

	for (int i = 0; i < NUM_ALL; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0)
			exit(run_case(&cases[i], addr, method));
		if (child < 0 || waitpid(child, &status, 0) != child)
			status = -1;
		bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
		printf("%s %s\n", status == 0 ? "ok" : skipped ? "skip" : "not ok", cases[i].name);
		fflush(stdout);
		failed |= status != 0 && !skipped;
	}
	return failed;
}

static int method_of(const char *word, enum rpma_flush_method *method)
{
	static const char *const words[] = {"auto", "read", "native"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		*method = (enum rpma_flush_method)i;
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	enum rpma_flush_method method = RPMA_FLUSH_METHOD_AUTO;

	rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
			       RPMA_LOG_DISABLED); /* many fail as they are to */
	if (argc >= 3 && argc <= 4 && (argc == 3 || method_of(argv[3], &method) == 0)) {
		if (strcmp(argv[1], "all") == 0)
			return run_all(argv[2], method);
		for (int i = 0; i < NUM_CASES; i++)
			if (strcmp(argv[1], cases[i].name) == 0)
				return run_case(&cases[i], argv[2], method);
	}
	fprintf(stderr, "usage: rpma_calls CASE|all ADDR [auto|read|native]\n");
	return 64;
}
