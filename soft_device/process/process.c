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
#include <unistd.h>

#include "cancel.h"

struct process *process_current;
bool process_is_verbose;
pthread_mutex_t process_objects = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generation = 1;
static struct process *inherited; /* the parent's: dead, but others may still point to it */

static int read_options(struct soft_options *options)
{
	char error[SOFT_ERROR_MAX];
	int ret = soft_options_parse(getenv("RPMA_SOFT"), options, error);

	if (ret != 0)
		process_warn("%s", error);
	process_is_verbose = ret == 0 && options->verbose;
	return ret;
}

static void process_delete(struct process *process)
{
	if (process == NULL)
		return;
	free(process->self);
	free(process->served);
	segment_unmap(process->segment);
	if (process->segment_fd >= 0)
		close(process->segment_fd);
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
	*error = read_options(&process->options);
	if (*error == 0)
		*error = segment_create(&process->segment, &process->segment_fd);
	if (*error != 0) {
		process_delete(process);
		return NULL;
	}
	return process;
}

/* The parts work on process_current; when one of them fails there is none. */
static int process_begin(struct process *process)
{
	int error = 0;

	/* with yama's ptrace_scope 1 peers may reach this process only if it allows them */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	process_current = process;
	for (unsigned i = 0; error == 0 && process_parts[i] != NULL; i++)
		if (process_parts[i]->begin != NULL)
			error = process_parts[i]->begin(process);
	if (error != 0)
		process_current = NULL;
	return error;
}

/* The program that fails because of it only reports that there is no device. */
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

void process_raise(void)
{
	pthread_mutex_lock(&process_objects);
	for (unsigned i = 0; process_parts[i] != NULL; i++)
		if (process_parts[i]->raise != NULL)
			process_parts[i]->raise();
	pthread_mutex_unlock(&process_objects);
}

static void print(const char *format, va_list args)
{
	/* printing is a cancellation point, and callers hold locks */
	const int cancel = cancel_off();
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "rpma-soft: %s\n", line);
	cancel_restore(cancel);
}

void process_verbose(const char *format, ...)
{
	va_list args;

	if (!process_is_verbose)
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

bool process_warn_files(int error, const char *format, ...)
{
	char text[512];
	va_list args;

	if (abs(error) != EMFILE && abs(error) != ENFILE)
		return false;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	process_warn("%s: %s; raise the limit of open files (ulimit -n)", text,
		     strerror(abs(error)));
	return true;
}

/* FNV-1a; never 0. */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 0x811c9dc5u;

	while (*text != '\0')
		hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
	return hash | 1;
}

int process_refuse(struct refusals *refusals, int error, const char *call, const char *joint,
		   const char *format, ...)
{
	const int positive = error < 0 ? -error : error;
	char reason[512];
	unsigned before;
	va_list args;

	if (process_is_verbose && atomic_load(&refusals->count) < REFUSALS_MOST) {
		va_start(args, format);
		vsnprintf(reason, sizeof(reason), format, args);
		va_end(args);
		before = atomic_exchange(&refusals->last, hash_of(reason)) == hash_of(reason)
				 ? REFUSALS_MOST
				 : atomic_fetch_add(&refusals->count, 1);
		if (before < REFUSALS_MOST)
			process_warn("%s%s%s (%s)%s", call, joint, reason,
				     strerrorname_np(positive),
				     before + 1 == REFUSALS_MOST ? "; more of these are not printed"
								 : "");
	}
	errno = positive;
	return error;
}

uint64_t process_now_ns(void)
{
	return lock_now_ns();
}

/* The child must find whole lists: all locks are held around the fork(). */
static void fork_prepare(void)
{
	for (unsigned i = 0; process_parts[i] != NULL; i++)
		if (process_parts[i]->lock != NULL)
			pthread_mutex_lock(process_parts[i]->lock);
}

/* The last lock taken is the first to go. */
static void fork_end(bool in_child)
{
	unsigned count = 0;

	while (process_parts[count] != NULL)
		count++;
	while (count-- > 0) {
		const struct process_part *part = process_parts[count];

		if (in_child && part->forked != NULL)
			part->forked();
		if (part->lock != NULL)
			pthread_mutex_unlock(part->lock);
	}
}

static void fork_parent(void)
{
	fork_end(false);
}

static void fork_child(void)
{
	fork_end(true);
}

static void forked(void)
{
	struct process *parents = process_current;

	if (parents == NULL)
		return;
	generation++;
	process_current = NULL;
	close(parents->segment_fd);
	parents->inherited = inherited;
	inherited = parents;
}

const struct process_part making_part = {.lock = &making, .forked = forked};
const struct process_part objects_part = {.lock = &process_objects};

/* read_options() reports what is wrong with the variable. */
__attribute__((constructor)) static void process_load(void)
{
	struct soft_options options;
	char error[SOFT_ERROR_MAX];

	process_is_verbose =
		soft_options_parse(getenv("RPMA_SOFT"), &options, error) == 0 && options.verbose;
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

__attribute__((destructor)) static void process_unload(void)
{
	for (unsigned i = 0; process_parts[i] != NULL; i++)
		if (process_parts[i]->leave != NULL)
			process_parts[i]->leave();
}
