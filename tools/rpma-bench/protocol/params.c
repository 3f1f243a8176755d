/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * params.c -- the words of the parameters, and which values go together.
 *
 * Client and server ask the same rules, so what a client refuses to run is
 * what a server refuses to serve. A rule sees the values of its fields only
 * after all of them were found to be within their ranges.
 */
#include "params.h"

const char *const params_tests[] = {"lat", "bw", "rate", "mix", "connect", "register", NULL};
#define WORD(NAME, name, word, facts, text, needs) word,
const char *const params_ops[] = {BENCH_OP_ROWS(WORD) NULL};
const char *const params_persists[] = {BENCH_PERSIST_ROWS(WORD) "auto", NULL};
const char *const params_completions[] = {"poll", "event", NULL};
const char *const params_patterns[] = {"seq", "rand", "zipf", NULL};
const char *const params_arrivals[] = {"even", "poisson", "burst", NULL};

/* auto is not decided yet. */
unsigned params_facts(const struct params *p)
{
#define FACTS(NAME, name, word, facts, text, needs) facts,
	static const unsigned ops[] = {BENCH_OP_ROWS(FACTS)};
	static const unsigned persists[] = {BENCH_PERSIST_ROWS(FACTS) 0};

	return ops[p->op] | persists[p->persist];
}

static const char *check_words(const struct params *p)
{
	if ((unsigned)p->test >= BENCH_TESTS || (unsigned)p->op >= BENCH_OPS ||
	    (unsigned)p->persist > BENCH_AUTO || (unsigned)p->completion >= BENCH_COMPLETIONS ||
	    p->pattern.kind >= BENCH_PATTERNS || p->arrivals.kind >= BENCH_ARRIVALS)
		return "test, op, persist, completion and pattern are words this release knows";
	return NULL;
}

static const char *check_ranges(const struct params *p)
{
	if (p->size_bytes < 1 || p->size_bytes > PARAMS_SIZE_MAX)
		return "a size is 1 B to 1 GiB";
	if (p->depth < 1 || p->depth > PARAMS_DEPTH_MAX)
		return "a depth is 1 to 4096";
	if (p->threads < 1 || p->threads > PARAMS_THREADS_MAX)
		return "threads are 1 to 64";
	if (p->connections < 1 || p->connections > PARAMS_CONNECTIONS_MAX)
		return "the connections of a thread are 1 to 256";
	if (params_qps(p) > PARAMS_QPS_MAX)
		return "--threads x --connections is 256 at most";
	if (p->batch < 1 || p->batch > PARAMS_DEPTH_MAX)
		return "a batch is 1 to 4096";
	if (p->signal_every < 1 || p->signal_every > p->depth)
		return "--signal-every is 1 to --depth: else no operation in flight would complete";
	if (p->rate_per_s > PARAMS_RATE_MAX)
		return "a rate is 1 to 100000000 per second";
	if (p->arrivals.kind == BENCH_BURST &&
	    (p->arrivals.number < PARAMS_BURST_MIN || p->arrivals.number > PARAMS_BURST_MAX))
		return "a burst is 2 to 4096 operations";
	if (params_zipf(p) &&
	    (p->pattern.number < PARAMS_ZIPF_MIN || p->pattern.number > PARAMS_ZIPF_MAX))
		return "the theta of zipf is 0.1 to 5";
	if (p->read_millionths > PARAMS_MILLION)
		return "a read fraction is 0 to 1";
	if (p->server_load_millionths > PARAMS_MILLION)
		return "a server load is 0 to 1";
	if (p->target >= PARAMS_TARGETS_MAX)
		return "a server offers 16 targets at most";
	return NULL;
}

/* The server's processor takes no part in it, and others may use the target. */
static bool one_sided(const struct params *p)
{
	return (params_facts(p) & (OP_RECEIVED | OP_ANSWERED | OP_SEQUENTIAL | OP_CALL)) == 0;
}

#define SIZE_8(NAME, name, word, facts, text, needs) "--op " word " needs --size 8",

static const char *check_operation(const struct params *p)
{
	static const char *const size_8[] = {BENCH_OP_ROWS(SIZE_8)};

	if (p->persist != BENCH_NONE && p->op != BENCH_WRITE)
		return "--persist needs --op write: the other operations take --persist none";
	if ((params_facts(p) & OP_8_BYTES) != 0 && p->size_bytes != 8)
		return size_8[p->op];
	if ((params_facts(p) & OP_SEQUENTIAL) != 0 && p->pattern.kind != BENCH_SEQ)
		return "--persist append needs --pattern seq: it writes a log";
	if (p->signal_every > 1 && params_answered(p))
		return "--op send and --persist gpspm, gpspm-rt need --signal-every 1: each "
		       "operation is answered";
	if (p->op == BENCH_SEND && p->size_bytes * p->depth * params_qps(p) > PARAMS_MESSAGES_MAX)
		return "messages in flight (size x depth x threads x connections) are 1 GiB at "
		       "most";
	return NULL;
}

/* Other numbers could leave unsignalled operations no room for a batch. */
static const char *check_batch(const struct params *p)
{
	if (p->batch == 1)
		return NULL;
	if (p->test != BENCH_BW && p->test != BENCH_MIX)
		return "--batch above 1 needs --test bw or mix: the others post one operation at a "
		       "time";
	if (p->batch > p->depth)
		return "--batch is 1 to --depth: no more operations are in flight";
	if (p->batch % p->signal_every != 0 && p->signal_every % p->batch != 0)
		return "one of --batch and --signal-every must be a multiple of the other";
	return NULL;
}

static const char *check_mix(const struct params *p)
{
	if (p->test != BENCH_MIX)
		return p->read_millionths == 0 ? NULL : "--read-fraction needs --test mix";
	if (p->op != BENCH_WRITE || !one_sided(p))
		return "--test mix needs --op write with --persist none, apm or native";
	if (p->signal_every > 1)
		return "--test mix needs --signal-every 1";
	return NULL;
}

static const char *check_rate(const struct params *p)
{
	if (p->test != BENCH_RATE && p->arrivals.kind != BENCH_EVEN)
		return "--arrivals needs --test rate";
	if (p->test != BENCH_RATE)
		return p->rate_per_s == 0 ? NULL : "--rate needs --test rate";
	if (p->rate_per_s == 0)
		return "--test rate needs --rate, such as --rate 10k";
	return p->signal_every == 1 ? NULL : "--test rate needs --signal-every 1";
}

/* Each thread is in one call at a time, and there is no queue to look at. */
static const char *check_call(const struct params *p)
{
	if ((params_facts(p) & OP_CALL) == 0)
		return NULL;
	if (p->test > BENCH_BW)
		return "--persist rpmem and rpmem-relaxed need --test lat or bw";
	if (p->depth != 1 || p->connections != 1 || p->completion != BENCH_POLL)
		return "--persist rpmem and rpmem-relaxed need --depth 1, --connections 1 and "
		       "--completion poll: rpmem_persist() returns when it is done";
	return NULL;
}

/* These two time no operation, so nothing may be asked of one. */
static const char *check_setup(const struct params *p)
{
	if (params_has_operations(p))
		return NULL;
	if (p->op != BENCH_WRITE || p->persist != BENCH_NONE)
		return "--test connect and register take no --op and no --persist";
	if (p->depth != 1 || params_qps(p) != 1)
		return "--test connect and register need --depth, --threads and --connections 1";
	return NULL;
}

static const char *check_sizes(const struct params *p)
{
	if (p->mix == NULL)
		return NULL;
	if (!params_has_operations(p) || p->bidirectional || !one_sided(p) ||
	    (params_facts(p) & OP_8_BYTES) != 0 || p->persist == BENCH_AUTO)
		return "mixed sizes need --op write or read with --persist none, apm or native, "
		       "and not --bidirectional";
	return NULL;
}

static const char *check_peer(const struct params *p)
{
	if (p->bidirectional && (p->test > BENCH_BW || !one_sided(p)))
		return "--bidirectional needs --test lat or bw with an operation in which the "
		       "server's processor takes no part, as write, read or --persist apm";
	if (p->bidirectional && params_zipf(p))
		return "--bidirectional needs --pattern seq or rand";
	if (p->srq && (p->test > BENCH_MIX || !params_received(p)))
		return "--srq needs what the server receives, as --op send or write-imm, or "
		       "--persist gpspm";
	return NULL;
}

const char *params_conflict(const struct params *p)
{
	static const char *(*const checks[])(const struct params *) = {
		check_words, check_ranges, check_operation, check_batch, check_mix,
		check_rate,  check_sizes,  check_setup,	    check_call,	 check_peer,
	};
	const char *conflict = NULL;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && conflict == NULL; i++)
		conflict = checks[i](p);
	return conflict;
}
