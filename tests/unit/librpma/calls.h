/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h -- the log of what the library under test called, and the script of
 * which of those calls shall fail.
 *
 * The scripted provider and the interposed allocator report every call here;
 * tests ask afterwards what happened, or say beforehand what shall go wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Forget all calls, all scripted failures, and what was allocated. */
void calls_reset(void);

/* Log a call that cannot fail. */
void calls_note(const char *name);

/* Log a call; true: it shall fail, with errno set. */
bool calls_fail(const char *name);

/* Make the nth call from now fail, whatever its name is; 1 is the next one. */
void calls_fail_nth(unsigned nth, int errnum);

/* Make the next call of this name fail (errnum 0: fail, and leave errno as it is). */
void calls_fail_on(const char *name, int errnum);

/* Make every call of this name fail from now on; NULL: every call of any name. */
void calls_fail_always(const char *name, int errnum);

/* Let all calls succeed again; the log stays. */
void calls_fail_never(void);

/* The first call that was made to fail; NULL if none was. */
const char *calls_first_failed(void);

unsigned calls_count(const char *name);

/* True if both were called, and the first call of earlier came before that of later. */
bool calls_in_order(const char *earlier, const char *later);

/* While a test watches, allocations of the library are logged and can be made to fail. */
void calls_watch_allocations(bool watch);

/* How many blocks the library has allocated since the reset and not freed, watched or not. */
int calls_live_blocks(void);
int calls_live_mappings(void);
void calls_forget_allocations(void);

/* Memory for the provider itself: zeroed, and none of the above. */
void *calls_own_memory(size_t size);
void calls_own_free(void *memory);
