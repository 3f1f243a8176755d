/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * script.c -- see script.h.
 *
 * _Py_DumpTraceback() is what Python's faulthandler calls when a signal has come: it needs neither
 * the interpreter's lock nor memory, so any thread may call it anywhere. It writes lines to a file:
 *
 *	  File "/tmp/a.py", line 12 in main
 */
#include "script.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAMES	   4u
#define TEXT_BYTES 2048u
#define BUCKETS	   256u
#define MOST	   65536u /* places */

bool script_any;

static struct {
	void (*dump)(int file, void *thread);
	void *(*thread)(void);
} python;

/* A place, with its frames. */
struct known {
	struct known *next;
	struct symbol frame[FRAMES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1; /* under the lock, as what follows */
static struct known *buckets[BUCKETS];
static unsigned count;

/* The child has a file of its own: the offset is shared with the parent. */
static void forget(void)
{
	if (file >= 0)
		close(file);
	file = -1;
}

const struct process_part script_part = {.lock = &lock, .forked = forget};

static __attribute__((constructor)) void load(void)
{
	python.dump = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
	python.thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	script_any = python.dump != NULL && python.thread != NULL;
}

/* The interpreter's own dump of the thread; false: there is none. */
static bool dump(void *thread, char text[TEXT_BYTES])
{
	ssize_t length;

	if (file < 0)
		file = memfd_create("rpma-soft-script", MFD_CLOEXEC);
	if (file < 0)
		return false;
	python.dump(file, thread);
	length = pread(file, text, TEXT_BYTES - 1, 0);
	text[length > 0 ? length : 0] = '\0';
	return lseek(file, 0, SEEK_SET) == 0 && ftruncate(file, 0) == 0 && length > 0;
}

/* One line, from its beginning to its end. */
static bool parse(char *line, struct symbol *frame)
{
	char *path = strstr(line, "File \""), *end = strstr(line, "\", line "), *name, *slash;

	if (path == NULL || end == NULL || end < path + 6)
		return false;
	path += 6;
	*end = '\0';
	frame->line = (int)strtol(end + 8, &name, 10);
	if (frame->line <= 0 || strncmp(name, " in ", 4) != 0)
		return false;
	slash = strrchr(path, '/');
	snprintf(frame->file, sizeof(frame->file), "%s", slash != NULL ? slash + 1 : path);
	snprintf(frame->function, sizeof(frame->function), "%s", name + 4);
	return true;
}

static uint32_t bucket_of(const struct symbol *frame, unsigned frames)
{
	uint32_t hash = frames;

	for (unsigned i = 0; i < frames; i++)
		hash = (hash ^ (uint32_t)frame[i].line) * 2654435761u;
	return hash >> 16 & (BUCKETS - 1);
}

static bool is_equal(const struct symbol *one, const struct symbol *other)
{
	while (one != NULL && other != NULL && one->line == other->line &&
	       strcmp(one->function, other->function) == 0 && strcmp(one->file, other->file) == 0) {
		one = one->outer;
		other = other->outer;
	}
	return one == NULL && other == NULL;
}

/* The one that is known, or becomes known. */
static const struct symbol *keep(const struct symbol frame[FRAMES], unsigned frames)
{
	struct known **bucket = &buckets[bucket_of(frame, frames)], *known = *bucket;

	while (known != NULL && !is_equal(known->frame, frame))
		known = known->next;
	if (known != NULL)
		return known->frame;
	known = count < MOST ? malloc(sizeof(*known)) : NULL;
	if (known == NULL)
		return NULL;
	memcpy(known->frame, frame, sizeof(known->frame));
	for (unsigned i = 0; i < frames; i++)
		known->frame[i].outer = i + 1 < frames ? &known->frame[i + 1] : NULL;
	known->next = *bucket;
	*bucket = known;
	count++;
	return known->frame;
}

static const struct symbol *place_in(char *text)
{
	struct symbol frame[FRAMES];
	unsigned frames = 0;
	char *line;

	memset(frame, 0, sizeof(frame));
	while (frames < FRAMES && (line = strsep(&text, "\n")) != NULL && text != NULL) {
		if (!parse(line, &frame[frames]))
			continue;
		if (frames > 0)
			frame[frames - 1].outer = &frame[frames];
		frames++;
	}
	return frames == 0 ? NULL : keep(frame, frames);
}

const struct symbol *script_place(void)
{
	const struct symbol *place = NULL;
	char text[TEXT_BYTES];
	void *thread = python.thread();

	if (thread == NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	if (dump(thread, text))
		place = place_in(text);
	pthread_mutex_unlock(&lock);
	return place;
}

bool script_is_interpreter(const struct symbol *symbol)
{
	static const char *const functions[] = {"ffi_", "_Py", "Py"};
	static const char *const objects[] = {"_ctypes", "libffi", "libpython", "python3"};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strncmp(symbol->function, functions[i], strlen(functions[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		if (strncmp(symbol->file, objects[i], strlen(objects[i])) == 0)
			return true;
	return false;
}
