/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * params.h -- everything that tells one point of a run from another.
 *
 * The same words on the command line, in a plan file, in the message BEGIN and in
 * the result. Both ends of a connection work from one struct params.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operations.h"

/*
 * Several sizes of one point, each with its share of the operations: 4K/10:64K/50:32K/40, in
 * percent, as fio's bssplit has it.
 */
#define SIZE_MIX_MAX 16

struct size_mix {
	uint32_t count;
	uint64_t size_bytes[SIZE_MIX_MAX];
	uint32_t percent[SIZE_MIX_MAX]; /* 100 together */
};

/* -EINVAL: not a mix of sizes from 1 to max, each given once. */
int size_mix_parse(const char *text, uint64_t max, struct size_mix *mix);

uint64_t size_mix_largest(const struct size_mix *mix);
/* To the next byte. */
uint64_t size_mix_mean(const struct size_mix *mix);

/* Less than, equal to or above 0; NULL, for one size, comes first. */
int size_mix_compare(const struct size_mix *a, const struct size_mix *b);

#define SIZE_MIX_TEXT_MAX 256
/* "4096/10:65536/90" */
const char *size_mix_print(const struct size_mix *mix, char text[SIZE_MIX_TEXT_MAX]);

#define SIZE_MIX_DRAWS 10000
/* Sizes in an order from the seed, in which each has its share exactly. */
void size_mix_draw(const struct size_mix *mix, uint64_t seed, uint32_t draws[SIZE_MIX_DRAWS]);

#define PARAMS_SIZE_MAX	       (1ULL << 30)
#define PARAMS_DEPTH_MAX       4096
#define PARAMS_THREADS_MAX     64
#define PARAMS_CONNECTIONS_MAX 256 /* per thread */
#define PARAMS_QPS_MAX	       256 /* threads x connections */
#define PARAMS_TARGETS_MAX     16  /* offered by one server */
#define PARAMS_RATE_MAX	       100000000
#define PARAMS_MILLION	       1000000 /* fractions are millionths */
#define PARAMS_BURST_MIN       2
#define PARAMS_BURST_MAX       4096
#define PARAMS_ZIPF_MIN	       100000 /* 0.1 */
#define PARAMS_ZIPF_MAX	       5000000
#define PARAMS_MESSAGES_MAX    (1ULL << 30) /* op send's: in flight on all queue pairs */

enum bench_test {
	BENCH_LAT,
	BENCH_BW,
	BENCH_RATE,
	BENCH_MIX,
	BENCH_CONNECT,
	BENCH_REGISTER,
	BENCH_TESTS
};
enum bench_completion { BENCH_POLL, BENCH_EVENT, BENCH_COMPLETIONS };
/* The last of each has a number: theta in millionths, operations at once. */
enum bench_pattern { BENCH_SEQ, BENCH_RAND, BENCH_ZIPF, BENCH_PATTERNS };
enum bench_arrivals { BENCH_EVEN, BENCH_POISSON, BENCH_BURST, BENCH_ARRIVALS };

struct variant {
	uint32_t kind;
	uint32_t number; /* 0 where the kind has none */
};

struct params {
	enum bench_test test;
	enum bench_op op;
	enum bench_persist persist;
	enum bench_completion completion; /* how the client awaits completions */
	struct variant pattern;		  /* enum bench_pattern */
	uint64_t size_bytes;		  /* with a mix, the largest */
	const struct size_mix
		*mix;	/* borrowed; NULL: one size; never sent, as the client alone posts */
	uint32_t depth; /* operations in flight, of each connection */
	uint32_t threads;
	uint32_t connections; /* per thread */
	uint32_t batch;	      /* operations posted with one doorbell */
	uint32_t signal_every;
	uint64_t rate_per_s;		 /* for the whole client; 0: closed loop */
	struct variant arrivals;	 /* enum bench_arrivals; of a rate */
	uint32_t read_millionths;	 /* mix only */
	uint32_t server_load_millionths; /* wanted, of each core that is loaded */
	uint32_t target;		 /* which of the server's, from 0 */
	bool bidirectional;
	bool srq; /* the server receives from one shared queue */
};

/* The words, in the order of their enum; NULL ends. */
extern const char *const params_tests[];
extern const char *const params_ops[];
extern const char *const params_persists[]; /* ends with "auto" */
extern const char *const params_completions[];
extern const char *const params_patterns[];
extern const char *const params_arrivals[];

static inline uint32_t params_qps(const struct params *params)
{
	return params->threads * params->connections;
}

/* Its operation's enum operation_facts. */
unsigned params_facts(const struct params *params);

/* Does the server answer each operation, so that it takes two to measure it? */
static inline bool params_answered(const struct params *params)
{
	return (params_facts(params) & OP_ANSWERED) != 0;
}

/* Does the server receive what an operation sends? */
static inline bool params_received(const struct params *params)
{
	return (params_facts(params) & OP_RECEIVED) != 0;
}

/* Is it a call of librpmem, which goes to a pool of its own? */
static inline bool params_rpmem(const struct params *params)
{
	return (params_facts(params) & OP_CALL) != 0;
}

/* Does the server make writes persistent on request? */
static inline bool params_gpspm(const struct params *params)
{
	return params->persist == BENCH_GPSPM || params->persist == BENCH_GPSPM_RT;
}

/* Tests of operations; the others time what comes before the first one. */
static inline bool params_has_operations(const struct params *params)
{
	return params->test != BENCH_CONNECT && params->test != BENCH_REGISTER;
}

/* Are some slots hotter than others? */
static inline bool params_zipf(const struct params *params)
{
	return params->pattern.kind == BENCH_ZIPF;
}

/* Does it leave anything in the target that can be compared with what was written? */
static inline bool params_verifiable(const struct params *params)
{
	return (params_facts(params) & (OP_WRITES | OP_CALL)) == OP_WRITES &&
	       params_has_operations(params) && params->read_millionths < PARAMS_MILLION &&
	       !params_zipf(params) && params->mix == NULL;
}

/*
 * NULL, or a message that names the values that do not go together. Both ends ask
 * it: the client before a run, the server of what a client sent.
 */
const char *params_conflict(const struct params *params);
