/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * every_call_fails.h -- one driver for all error paths: an operation is run
 * again and again, each time with the next one of the calls it makes failing,
 * until it gets through. Every time the documented error must come back, and
 * the teardown finds any leak.
 */
#pragma once

#include "world.h"

/* The result when this call fails, where it is not the usual one. */
struct exception {
	const char *call;
	int result;
};

struct operation {
	const char *function; /* under test */
	int (*setup)(void **unused);
	int (*act)(void); /* makes the call, and checks what it left of its out parameters */
	struct exception exceptions[6];
	int reference_leaks_ids; /* in a failed operation; ours never leaks */
};

/*
 * Usual results: allocation fails -> RPMA_E_NOMEM, munmap -> RPMA_E_INVAL,
 * anything else -> RPMA_E_PROVIDER.
 */
void every_call_fails(const struct operation *operation);

/* A test of one operation, NAME__survives_every_failing_call. */
#define SURVIVES(name, ...)                                                                        \
	TEST(name##__survives_every_failing_call, setup_nothing, teardown)                         \
	{                                                                                          \
		every_call_fails(&(struct operation){__VA_ARGS__});                                \
	}

/* For act(): what a constructor made is kept; if it failed, its out pointer was not touched. */
#define keep_made(result, made, where)                                                             \
	do {                                                                                       \
		if ((result) == 0)                                                                 \
			(where) = (made);                                                          \
		else if ((made) != NULL || !on_reference()) /* which sets some to NULL */          \
			assert_ptr_equal((made), UNTOUCHED);                                       \
	} while (0)

/* An act(): the call of a constructor, for `&made`; and one that ends what is at WHERE. */
/* NOLINTBEGIN(bugprone-macro-parentheses): made is declared */
#define MAKES(name, type, where, call)                                                             \
	static int name(void)                                                                      \
	{                                                                                          \
		type *made = UNTOUCHED;                                                            \
		int ret = (call);                                                                  \
		keep_made(ret, made, where);                                                       \
		return ret;                                                                        \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
#define ENDS(name, where, call)                                                                    \
	static int name(void)                                                                      \
	{                                                                                          \
		int ret = (call);                                                                  \
		assert_null(where);                                                                \
		return ret;                                                                        \
	}
