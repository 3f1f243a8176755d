/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept.h -- the acceptance tests of librpmem and rpmemd: what their cases share.
 *
 * A case is a function in a process of its own, as the library reads most of its environment
 * when it is loaded. It ends with the process: by returning, or where a check fails.
 *
 * The setting comes from the environment: what the library reads itself, and
 *	RPMEM_ACCEPT_TARGET     the target
 *	RPMEM_ACCEPT_DIR        the pool set directory of the daemon; this host can see it
 *	RPMEM_ACCEPT_DEVDAX     a device that may be overwritten; else not set
 */
#pragma once

#include <errno.h>
#include <librpmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define ACCEPT_SKIPPED 77
#define MIB	       ((size_t)1 << 20)
#define PART	       (8 * MIB) /* the size of each part of most sets */
#define HEADER	       ((size_t)4096)
#define PAGE	       ((size_t)4096)

/* --- checks ----------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			accept_fail(__FILE__, __LINE__, #condition);                               \
	} while (0)
/* It fails with this errno, and a sentence. */
#define CHECK_NO_POOL(call, expected)                                                              \
	accept_errno(__FILE__, __LINE__, #call, (call) == NULL ? -1 : 0, (expected))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Noreturn void accept_fail(const char *file, int line, const char *what);
void accept_errno(const char *file, int line, const char *call, int result, int expected);
_Noreturn void accept_skip(const char *why);

/* --- the setting, and pools in it ------------------------------------------- */

/* The options of a set with two parts, "a" and "b" in the directory of the case. */
enum kind { HEADERS, SINGLEHDR, NOHDRS, KINDS };
#define FOR_EACH_KIND(kind) for (enum kind kind = HEADERS; (kind) < KINDS; (kind)++)

/* What rpmem_create(3) calls the size of the pool, from offset 0 on. */
size_t kind_size(enum kind kind);
/* The first byte that may be written. */
size_t kind_begin(enum kind kind);
/* NULL, where there are no headers. */
const struct rpmem_pool_attr *kind_attr(enum kind kind);

const char *target(void);
const char *setting(const char *name); /* a variable, that must be set */
bool over_tcp(void);
/* The path of a file of this case, which lasts for the next 63 calls. */
const char *path_of(const char *file);
/* Its name for the daemon: below the pool set directory. */
const char *name_of(const char *file);

/* Writes a pool set; @ stands for the directory of the case. Gives the name. */
const char *set_write(const char *file, const char *lines);
const char *set_of(enum kind kind); /* writes "my.set" */
bool file_exists(const char *file);
off_t file_size(const char *file);
/* Neither "a" nor "b" is there. */
void no_part_is_left(void);

/* Local memory: of the heap, or of a file. */
unsigned char *heap(size_t size);
unsigned char *file_memory(size_t size);

/* With one lane and these checks: it succeeds. */
RPMEMpool *create_pool(enum kind kind, void *memory, size_t size);
RPMEMpool *open_pool(void *memory, size_t size);
/* As they are, without checks. */
RPMEMpool *try_create(const char *set, void *memory, size_t size,
		      const struct rpmem_pool_attr *attr);
RPMEMpool *try_open(const char *set, void *memory, size_t size);
void close_pool(RPMEMpool *pool);

/* The parts of the last set of a kind, as this host sees them. */
struct remote {
	unsigned char *part[2];
};
struct remote remote_map(void);
void remote_copy(const struct remote *remote, enum kind kind, unsigned char *bytes);

void fill(unsigned char *bytes, size_t count, uint64_t seed);
void compare(const unsigned char *bytes, const unsigned char *expected, size_t count);

/* --- cases --------------------------------------------------------------------- */

struct accept_case {
	const char *name;
	void (*run)(void);
	/* "NAME=VALUE" before the library is loaded: %c is the old value, %l limits what root may
	 * lock */
	const char *environment[3];
	bool is_long;
};

#define CASE(function, ...)                                                                        \
	{                                                                                          \
		.name = #function, .run = (function), .environment = { __VA_ARGS__ }               \
	}

extern const struct accept_case cases_of_create[], cases_of_data[];

/* accept_work.c: works on a pool until the pool is lost. */
int work(int argc, char **argv);
