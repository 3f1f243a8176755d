/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.c -- making the one struct process, and what a fork() does to it.
 *
 * A child shares neither the segment (MADV_DONTFORK) nor the agent with its parent, so
 * everything of the parent is refused in it: every object carries the generation in which it was
 * made, and contexts get operations that fail. The child's own process is made by its first open.
 */
#include "process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "segment.h"
#include "soft_device/faults/fault.h"
#include "soft_device/powerfail/powerfail.h"
#include "soft_device/transport/peer.h"
#include "soft_device/verbs/cq.h"
#include "soft_device/verbs/objects.h"
#include "trace.h"

struct process *process_current;

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generation = 1;
static struct process *inherited; /* the parent's: dead, but others may still point to it */
static bool wants_report;

static int read_options(struct soft_options *options)
{
	char error[SOFT_ERROR_MAX];
	int ret = soft_options_parse(getenv("RPMA_SOFT"), options, error);

	if (ret != 0)
		process_warn("%s", error);
	return ret;
}

/* How the process sees itself: its own segment, plain copies. */
static struct peer *make_self(struct segment *segment)
{
	struct peer *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->transport = PEER_SELF;
	self->segment = segment;
	self->identity = segment->identity;
	return self;
}

static void process_delete(struct process *process)
{
	if (process == NULL)
		return;
	free(process->self);
	segment_unmap(process->segment);
	if (process->segment_fd >= 0)
		close(process->segment_fd);
	pthread_mutex_destroy(&process->objects);
	free(process);
}

static struct process *process_new(int *error)
{
	struct process *process = calloc(1, sizeof(*process));

	*error = -ENOMEM;
	if (process == NULL)
		return NULL;
	process->segment_fd = -1;
	process->generation = generation;
	pthread_mutex_init(&process->objects, NULL);
	*error = read_options(&process->options);
	if (*error == 0)
		*error = segment_create(&process->segment, &process->segment_fd);
	if (*error == 0) {
		process->self = make_self(process->segment);
		*error = process->self == NULL ? -ENOMEM : 0;
	}
	if (*error != 0) {
		process_delete(process);
		return NULL;
	}
	return process;
}

/* The agent and the journal work on process_current; without them there is none. */
static int process_begin(struct process *process)
{
	int error;

	/* with yama's ptrace_scope 1 peers may reach this process only when it says so */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	process_current = process;
	error = powerfail_init(process->segment, &process->options);
	if (error == 0)
		error = trace_init(&process->options);
	if (error == 0)
		error = agent_start();
	if (error != 0)
		process_current = NULL;
	else
		wants_report = process->options.verbose;
	return error;
}

/* The program that fails by it says no more than that there is no device. */
static void name_limit(int error)
{
	const char *limit = error == -EMFILE   ? "open files (ulimit -n)"
			    : error == -ENOMEM ? "address space (ulimit -v)"
			    : error == -EFBIG  ? "file sizes (ulimit -f)"
			    : error == -EAGAIN ? "processes (ulimit -u)"
					       : NULL;

	if (limit != NULL)
		process_warn("no device: %s; raise the limit of %s", strerror(-error), limit);
}

struct process *process_get(void)
{
	struct process *process;
	int error = 0;

	pthread_mutex_lock(&making);
	process = process_current;
	if (process == NULL) {
		process = process_new(&error);
		if (process != NULL)
			error = process_begin(process);
		if (error != 0) {
			name_limit(error);
			process_delete(process);
			process = NULL;
		}
	}
	pthread_mutex_unlock(&making);
	if (process == NULL)
		errno = -error;
	return process;
}

bool process_is_foreign(uint32_t of)
{
	return __builtin_expect(of != generation, 0);
}

void objects_raise(void)
{
	pthread_mutex_lock(&process_current->objects);
	cq_raise_all();
	qp_raise_all();
	srq_raise_all();
	pthread_mutex_unlock(&process_current->objects);
}

static void print(const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "rpma-soft: %s\n", line);
}

void process_verbose(const char *format, ...)
{
	va_list args;

	if (process_current == NULL || !process_current->options.verbose)
		return;
	va_start(args, format);
	print(format, args);
	va_end(args);
}

void process_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(format, args);
	va_end(args);
}

int process_refuse(atomic_flag *told, int error, const char *call, const char *format, ...)
{
	char reason[512];
	va_list args;

	if (process_current == NULL || !process_current->options.verbose ||
	    atomic_flag_test_and_set(told))
		return error;
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	process_warn("%s refused (%s): %s", call, strerrorname_np(error < 0 ? -error : error),
		     reason);
	return error;
}

uint64_t process_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The child must find whole lists: the locks are taken around the fork(). */
static void fork_prepare(void)
{
	pthread_mutex_lock(&making);
	if (process_current != NULL)
		pthread_mutex_lock(&process_current->objects);
}

static void fork_parent(void)
{
	if (process_current != NULL)
		pthread_mutex_unlock(&process_current->objects);
	pthread_mutex_unlock(&making);
}

static void fork_child(void)
{
	struct process *parents = process_current;

	if (parents != NULL) {
		generation++;
		wants_report = false;
		context_refuse_all();
		process_current = NULL;
		close(parents->segment_fd);
		pthread_mutex_unlock(&parents->objects);
		parents->inherited = inherited;
		inherited = parents;
	}
	pthread_mutex_unlock(&making);
}

__attribute__((constructor)) static void process_load(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

__attribute__((destructor)) static void process_unload(void)
{
	if (wants_report)
		fault_report();
	agent_leave();
	trace_leave();
	segment_leave();
}
