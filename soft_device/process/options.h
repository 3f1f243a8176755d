/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h -- what RPMA_SOFT asks of the device: settings, parsed, and the words of faults.
 *
 * The device parses the variable once, when it is first used; the launcher
 * parses it before it starts anything, so that both refuse the same words in
 * the same error message. Text in, values out: no I/O, no clock, no randomness.
 *
 *	WORDS	words separated by blanks; of settings the last counts, faults add up
 *
 *	verbose			print the transport of each connection, and the faults at exit
 *	transport:T		auto (default), local or tcp
 *	forced-remote		treat this very process as another's
 *	seed:N			of everything random (1)
 *	trace:FILE		log every operation posted into FILE; %p in it is the process
 *	secret:FILE		processes of other hosts have to prove that they know its content
 *	adversary:N[,WORD,...]	any schedule that is allowed, chosen by this seed; or only of
 *				some kinds: parts, passes, atomics, or late for none of these
 *	check[:WORD,...]	report mistakes of the program: check/words.h; several add up
 *
 * Any other word is a fault's: soft_device/faults/ parses it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_FAULTS_MAX 16
#define SOFT_WORD_MAX	128  /* bytes of one word, its end included */
#define SOFT_ERROR_MAX	512  /* bytes of a message, its end included */
#define SOFT_CHECK_MAX	1024 /* bytes of all words of `check` */

#define SOFT_SETTING_NAMES                                                                         \
	"transport, seed, trace, secret, check, adversary, verbose, forced-remote"

/* The bits of what an adversary does beside being late. */
enum soft_adversary {
	SOFT_ADVERSARY_LATE = 1 << 0, /* nothing else */
	SOFT_ADVERSARY_PARTS = 1 << 1,
	SOFT_ADVERSARY_PASSES = 1 << 2,
	SOFT_ADVERSARY_ATOMICS = 1 << 3,
};

enum soft_transport { SOFT_TRANSPORT_AUTO, SOFT_TRANSPORT_LOCAL, SOFT_TRANSPORT_TCP };

struct soft_options {
	bool verbose;
	bool forced_remote;
	enum soft_transport transport;
	uint64_t seed;
	char trace[SOFT_WORD_MAX];  /* name of the file, with one %p; "": no trace */
	char secret[SOFT_WORD_MAX]; /* name of the file; "": none */
	bool adversary;		    /* with `adversary`, and ... */
	uint64_t adversary_seed;
	unsigned adversary_kinds;   /* enum soft_adversary */
	bool checks;		    /* with `check`, and ... */
	char check[SOFT_CHECK_MAX]; /* ... its words, separated by commas */
	/* words that are not settings, in the order of the user: fault_init() checks them */
	char faults[SOFT_FAULTS_MAX][SOFT_WORD_MAX];
	size_t faults_count;
};

/*
 * Parses RPMA_SOFT; NULL and "" give the defaults. 0, or -EINVAL with one
 * error message that names the word and what is valid instead.
 */
int soft_options_parse(const char *text, struct soft_options *options, char error[SOFT_ERROR_MAX]);

/* Writes the error message; -EINVAL. */
int soft_options_refuse(char error[SOFT_ERROR_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
