/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h -- `rpma-soft --check`: whether the program is checked, and how a finding is reported.
 *
 * What is wrong is found in the folders above, where it happens; what is here knows no queue. Its
 * locks are leaves: no other lock of the device is taken while one of them is held.
 *
 *	struct check_finding finding;
 *
 *	check_find(&finding, CHECK_RQ_FULL, stack_here(), "ibv_post_recv: %u are posted", count);
 *	check_line(&finding, "granted", "max_recv_wr %u", max_wr);
 *	check_place(&finding, "created at", made_at);
 *	check_report(&finding);
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "kinds.h"
#include "soft_device/process/process.h"
#include "stack.h"

/* Written once, when the object is loaded. Its users test it where they do something rare, or where
 * fault_any is true, which it makes so. */
extern bool check_any;

/* Each request is to be looked at, not a part of them: written as check_any is. */
extern bool check_every;

/* A message that is posted claims that what came over its queue pair is durable: the same. */
extern bool check_durable_on_send;

/* A bit of the lkeys that a program gets, so that they are not the rkeys. */
#define CHECK_LKEY (UINT32_C(1) << 30)

static inline uint32_t check_lkey_given(uint32_t key)
{
	return __builtin_expect(check_any, 0) ? key | CHECK_LKEY : key;
}

/* The key that the program means: an rkey will do as well, as on NICs. */
static inline uint32_t check_lkey_taken(uint32_t lkey)
{
	return __builtin_expect(check_any, 0) ? lkey & ~CHECK_LKEY : lkey;
}

/* --- findings --- */

#define CHECK_LINES	 8
#define CHECK_TEXT_BYTES 320

struct check_finding {
	enum check_kind kind;
	enum check_level level; /* that its kind has; may be changed */
	uint32_t stack;		/* what it is counted and suppressed by */
	char sentence[CHECK_TEXT_BYTES];
	unsigned lines;
	struct {
		const char *name;
		uint32_t stack; /* 0: the text is the line */
		char text[CHECK_TEXT_BYTES];
	} line[CHECK_LINES];
};

void check_find(struct check_finding *finding, enum check_kind kind, uint32_t stack,
		const char *format, ...) __attribute__((cold, format(printf, 4, 5)));
void check_line(struct check_finding *finding, const char *name, const char *format, ...)
	__attribute__((cold, format(printf, 3, 4)));
/* Nothing for a stack that is unknown. */
void check_place(struct check_finding *finding, const char *name, uint32_t stack);
void check_report(const struct check_finding *finding) __attribute__((cold));
/* It was no error: the finding of this kind and stack counts no more. */
void check_retract(enum check_kind kind, uint32_t stack, const char *why) __attribute__((cold));
/* The same as text: "main a.c:3"; "" for one that is unknown. */
void check_place_text(uint32_t stack, char *text, size_t room) __attribute__((cold));
bool check_wants(enum check_kind kind);
bool check_wants_notes(void);
/* Errors were reported, or are held: what is left undone at the end may be because of them. */
bool check_has_errors(void);

/* A finding that is held is known by these, and some of them may make it none. */
struct check_terms {
	const void *queue;
	uint64_t tag;			 /* tells several of a kind apart */
	uint64_t request;		 /* that was refused; 0: none */
	const _Atomic uint32_t *counter; /* not NULL: it is none if this has moved by the end */
};

/*
 * A finding of a queue that counts when the queue or the process ends, unless it is dropped before.
 */
void check_hold_on(const struct check_terms *terms, const struct check_finding *finding);
void check_hold(const void *queue, uint64_t tag, const struct check_finding *finding);
void check_drop(const void *queue, enum check_kind kind, uint64_t tag);
/* All of this kind. */
void check_drop_kind(const void *queue, enum check_kind kind);
/* This request was refused by another queue, and this one takes it. */
void check_drop_request(const void *queue, uint64_t request);
void check_drop_all(const void *queue);
void check_release(const void *queue);
bool check_holds_errors(void);
extern _Atomic uint32_t check_held; /* how many are held */

/* Requests of the program that were seen; and those of them that were only executed. */
extern _Atomic uint64_t check_requests, check_passed;

/* Called at the end of the process, before the last line; `status` is that of exit(3). */
void check_at_end(void (*run)(int status));

/* A child of fork() made this call with an object of its parent; of a QP with its number, else 0.
 */
void check_foreign(const char *call, uint32_t qpn) __attribute__((cold));

/* --- objects that are destroyed --- */

/*
 * Waits as pthread_cond_wait() for events to be acknowledged, and reports after a second that the
 * call does not return, with how many events it waits for.
 */
struct check_wait {
	const char *call;
	const void *object; /* the program's pointer */
	uint32_t stack;	    /* 0: not reported */
};
void check_wait(struct check_wait *wait, pthread_cond_t *cond, pthread_mutex_t *mutex,
		uint32_t events);
/* All are acknowledged. */
void check_wait_end(const struct check_wait *wait);

extern const struct process_part report_part, hold_part;
