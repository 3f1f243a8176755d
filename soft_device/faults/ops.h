/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ops.h -- a fault: its words, its state and its hooks; included by the file of each.
 *
 * faults/NAME.c defines `NAME_fault`, has its entry of the manual in a comment, for
 * doc/faults2man.py, and a row in list.h; nothing else knows it. parse.c makes
 * a struct fault of a word of RPMA_SOFT, by the words that the ops have. fault.c walks all of them,
 * in the order of the user, where the device meets a fault (fault.h).
 */
#pragma once

#include <stdatomic.h>

#include "fault.h"
#include "list.h"

/* At most one of the two is not 0; with both 0 each event counts. */
struct fault_when {
	uint64_t at;
	uint64_t every;
};

/* A word of the user. */
struct fault {
	const struct fault_ops *ops;
	char word[SOFT_WORD_MAX];
	struct fault_when when; /* FAULT_AT, FAULT_EVERY */
	unsigned int kinds;	/* FAULT_OP: SOFT_OP_ bits */
	_Atomic uint64_t seen;	/* events it was asked about */
	_Atomic uint64_t hits;
	void *own; /* ops->own_bytes, zeros at first: what the fault's own keys set */
};

struct fault_key {
	const char *name; /* "" is a value without a key */
	bool (*parse)(const char *value, void *to);
	const char *expected; /* the value, for the message that refuses another one */
	size_t at;	      /* where it goes in fault.own */
	bool is_needed;
};

/* Parsers that several have: a time above 0, in ns; a number from 1; an errno by its name. */
bool fault_time(const char *value, void *to);
bool fault_number(const char *value, void *to);
bool fault_errno(const char *value, void *to);

/* The keys that faults share. */
enum { FAULT_AT = 1 << 0, FAULT_EVERY = 1 << 1, FAULT_OP = 1 << 2 };
#define FAULT_WHEN (FAULT_AT | FAULT_EVERY)

/*
 * Hooks that a fault does not have are NULL. Each gets what the faults before it made of the event,
 * and returns what becomes of it: the first that hits decides, or, of times, they add up.
 */
struct fault_ops {
	const char *name;
	const char *form;   /* the valid words, for messages */
	unsigned int takes; /* shared keys */
	bool is_single;	    /* a process may have one only */
	size_t own_bytes;
	const struct fault_key *keys;		     /* its own; a row without a name is the last */
	bool (*is_whole)(const struct fault *fault); /* the keys that it has go together */

	int (*call)(struct fault *fault, const char *name, int error);
	uint64_t (*due_ns)(struct fault *fault, enum soft_op op, uint32_t bytes, uint64_t due_ns);
	uint32_t (*rnr)(struct fault *fault, uint32_t tries);
	bool (*drop)(struct fault *fault, uint64_t operations, bool dropped);
	enum ibv_wc_status (*complete)(struct fault *fault, enum soft_op op,
				       enum ibv_wc_status status);
	void (*corrupt)(struct fault *fault, enum soft_op op, unsigned char *bytes, size_t length);
	int (*reg_mr)(struct fault *fault, int error);
	enum fault_connect (*connect)(struct fault *fault, enum fault_connect verdict);
	void (*power)(const struct fault *fault, struct fault_power *power);
};

#define FAULT_DECLARE(name) extern const struct fault_ops name##_fault;
FAULT_LIST(FAULT_DECLARE)

/* The faults of these options, in their order. */
struct fault_list {
	struct fault fault[SOFT_FAULTS_MAX];
	size_t count;
};

/* 0; or -EINVAL with one error message and an empty list. */
int fault_list_parse(struct fault_list *list, const struct soft_options *options,
		     char error[SOFT_ERROR_MAX]);
void fault_list_free(struct fault_list *list); /* it is empty then */

extern bool fault_verbose;

/* Counts an event; whether the fault hits it. The other: an operation of one of its kinds. */
bool fault_hits(struct fault *fault);
bool fault_hits_op(struct fault *fault, enum soft_op op);
/* Counts an event that was hit for a reason of the fault's own, or was not. */
void fault_count(struct fault *fault, bool hit);

/*
 * Random numbers of this process, random_next()'s from the seed. One atomic addition a
 * number, so any thread may draw.
 */
uint64_t fault_random(void);
double fault_normal(void); /* mean 0, deviation 1 */
