/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h -- what RPMA_SOFT asks of the device, parsed.
 *
 * The device parses the variable once, when it is first used; the launcher
 * parses it before it starts anything, so that both refuse the same words in
 * the same error message. Text in, values out: no I/O, no clock, no randomness.
 *
 *	WORDS	words separated by blanks; of settings the last counts, faults add up
 *
 *	verbose			print the transport of each link, and the faults at exit
 *	transport:T		auto (default), local or tcp
 *	forced-remote		treat this very process as another's
 *	seed:N			of everything random (1)
 *	trace:FILE		log every operation posted into FILE; %p in it is the process
 *	secret:FILE		processes of other hosts have to prove that they know its content
 *
 *	delay:time=2us		completions of an operation come this much later
 *	delay:time=1us..3us	... uniform
 *	delay:median=2us,sigma=0.5	... lognormal
 *	rate:100Gbit		bytes of payload: bit, kbit, Mbit, Gbit; B, kB, MB, GB; a second
 *	rnr:WHEN,times=M	the receive queue seems empty to M tries of an operation (1)
 *	drop:after=N		each connection breaks after its first N operations
 *	refuse[:WHEN]		connecting is refused
 *	unreachable[:WHEN]	connecting gets no answer
 *	register:WHEN,errno=E	a registration of memory fails (ENOMEM)
 *	complete:WHEN,status=S	an operation completes with IBV_WC_S
 *	corrupt:WHEN		one byte of what an operation moves is flipped
 *	call:WHEN,name=F,errno=E	a verbs or CM call, any or only F, fails (ENOMEM)
 *	powerfail:at=N,domain=adr|eadr,ddio=on|off	at the Nth incoming operation (adr, on)
 *
 *	WHEN (delay as well)	at=N: the Nth only; every=N: each Nth; neither: each
 *	op=write+read		delay, complete, corrupt: only these of write, read, send,
 *				atomic, flush, recv, all (all)
 */
#ifndef SOFT_PROCESS_OPTIONS_H
#define SOFT_PROCESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_FAULTS_MAX 16
#define SOFT_WORD_MAX	128 /* bytes of one word, its end included */
#define SOFT_ERROR_MAX	512 /* bytes of a message, its end included */

enum soft_transport { SOFT_TRANSPORT_AUTO, SOFT_TRANSPORT_LOCAL, SOFT_TRANSPORT_TCP };

/* Kinds of operations, as bits. */
enum soft_op {
	SOFT_OP_WRITE = 1 << 0,
	SOFT_OP_READ = 1 << 1,
	SOFT_OP_SEND = 1 << 2,
	SOFT_OP_ATOMIC = 1 << 3,
	SOFT_OP_FLUSH = 1 << 4,
	SOFT_OP_RECV = 1 << 5,
	SOFT_OP_ALL = (1 << 6) - 1,
};

enum soft_fault_kind {
	SOFT_DELAY,
	SOFT_RATE,
	SOFT_RNR,
	SOFT_DROP,
	SOFT_REFUSE,
	SOFT_UNREACHABLE,
	SOFT_REGISTER,
	SOFT_COMPLETE,
	SOFT_CORRUPT,
	SOFT_CALL,
	SOFT_POWERFAIL,
};

/* At most one of the two is not 0; with both 0 each event counts. */
struct soft_when {
	uint64_t at;
	uint64_t every;
};

/* One filter: fields that its kind does not name are 0. */
struct soft_fault {
	enum soft_fault_kind kind;
	char word[SOFT_WORD_MAX]; /* as the user wrote it */
	struct soft_when when;	  /* delay, rnr, refuse, unreachable, register, complete, corrupt,
				     call, powerfail (at only) */
	unsigned int ops;	  /* delay, complete, corrupt: SOFT_OP_ bits */
	uint64_t low_ns;	  /* delay: fixed is low == high, uniform is low < high */
	uint64_t high_ns;
	uint64_t median_ns;   /* delay: lognormal, if not 0 */
	double sigma;	      /* delay: of the logarithm */
	uint64_t bytes_per_s; /* rate */
	uint32_t times;	      /* rnr: tries of one operation that find no receive */
	uint64_t after;	      /* drop: operations that a connection lives */
	int error;	      /* register, call: a positive errno */
	int status;	      /* complete: enum ibv_wc_status */
	char name[64];	      /* call: empty is any */
	bool eadr;	      /* powerfail: CPU caches are in the persistence domain */
	bool ddio;	      /* powerfail: writes of the device end in CPU caches */
};

struct soft_options {
	bool verbose;
	bool forced_remote;
	enum soft_transport transport;
	uint64_t seed;
	char trace[SOFT_WORD_MAX];		   /* name of the file, with one %p; "": no trace */
	char secret[SOFT_WORD_MAX];		   /* name of the file; "": none */
	struct soft_fault faults[SOFT_FAULTS_MAX]; /* in the order of the user */
	size_t faults_count;
};

/*
 * Parses RPMA_SOFT; NULL and "" give the defaults. 0, or -EINVAL with one
 * error message that names the word and what is valid instead.
 */
int soft_options_parse(const char *text, struct soft_options *options, char error[SOFT_ERROR_MAX]);

/* The name of a failed completion's status as `complete` takes it, or "unknown". */
const char *soft_options_status(int status);

/* Whether the event of this number, the first is 1, is to be hit. */
static inline bool soft_when_hits(const struct soft_when *when, uint64_t number)
{
	if (when->at != 0)
		return number == when->at;
	return when->every == 0 || number % when->every == 0;
}

#endif /* SOFT_PROCESS_OPTIONS_H */
