/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_random.c -- random sequences of calls against a model: what is in the target's memory
 * afterwards, what reads have found, and exactly the completions that were asked for, in order. No
 * wait may take LIMIT_MS.
 *
 * RPMA_SEEDS is FROM-TO, a connection of random options each. With RPMA_DIES the target is killed
 * within the sequence; then calls and waits still end, and nothing is reported that did not happen.
 */
#include "calls.h"

#include <signal.h>

#include "tests/lib/random.h"

#define AREA_BYTES  ((size_t)4096) /* at the target, after the end of the log */
#define STEPS	    200
#define LONGEST	    64
#define INLINE_MOST 32
#define READS_AT    ((size_t)1 << 19) /* in the client's memory */
#define LIMIT_MS    5000
#define ALWAYS	    RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR    RPMA_F_COMPLETION_ON_ERROR

enum kind { WRITE, READ, WRITE_FLUSH, APPEND, ATOMIC_WRITE, FLUSH, KINDS };

static const uint32_t slots[KINDS] = {1, 1, 2, 4, 1, 1};

struct step {
	enum kind kind;
	size_t at, len; /* in the area */
	size_t from;	/* in the client's memory */
	int flags;
	uint64_t number;
};

struct run {
	struct client client;
	uint64_t random;
	uint32_t sq_size;
	unsigned char model[AREA_BYTES];
	unsigned char reads[STEPS][LONGEST];
	struct step steps[STEPS];
	uint64_t asked[STEPS + 1]; /* wr_id of completions to come, in order */
	size_t asked_count, got_count;
	bool broken;
};

static uint64_t below(struct run *run, uint64_t count)
{
	return test_random(&run->random) % count;
}

/* A completion that was asked for, the next one; or room. */
static void take(struct run *run, bool may_break)
{
	struct ibv_wc wc;

	int ret = rpma_cq_await_wc(run->client.cq, 1, &wc, NULL, 0, LIMIT_MS);
	if (ret == RPMA_E_AGAIN)
		return;
	session_must(ret, 0, "rpma_cq_await_wc()");
	if (wc.status != IBV_WC_SUCCESS) {
		MUST_HOLD(may_break);
		run->broken = true;
		return;
	}
	MUST_HOLD(run->got_count < run->asked_count);
	MUST_HOLD(wc.wr_id == run->asked[run->got_count]);
	run->got_count++;
}

static int perform(struct run *run, const struct step *s)
{
	struct client *c = &run->client;
	const enum rpma_flush_type visible = RPMA_FLUSH_TYPE_VISIBILITY;
	void *context = (void *)(uintptr_t)s->number; /* NOLINT: a number, as wr_id */
	const struct rpma_record record = {c->dst, s->at, c->mr, s->from, s->len, 0, &s->number};

	switch (s->kind) {
	case WRITE:
		return rpma_write(c->conn, c->dst, s->at, c->mr, s->from, s->len, s->flags,
				  context);
	case READ:
		return rpma_read(c->conn, c->mr, s->from, c->dst, s->at, s->len, s->flags, context);
	case WRITE_FLUSH:
		return rpma_write_flush(c->conn, c->dst, s->at, c->mr, s->from, s->len, visible,
					s->flags, context);
	case APPEND:
		return rpma_append(c->conn, &record, s->flags, context);
	case ATOMIC_WRITE:
		return rpma_atomic_write(c->conn, c->dst, s->at, (const char *)c->memory + s->from,
					 s->flags, context);
	default:
		return rpma_flush(c->conn, c->dst, s->at, s->len, visible, s->flags, context);
	}
}

static void choose(struct run *run, size_t i)
{
	struct step *s = &run->steps[i];

	*s = (struct step){.kind = (enum kind)below(run, KINDS), .number = i + 1};
	const bool sends = s->kind == WRITE || s->kind == WRITE_FLUSH || s->kind == APPEND;
	s->len = s->kind == ATOMIC_WRITE ? 8 : 1 + below(run, LONGEST);
	s->at = 8 + below(run, AREA_BYTES - 8 - LONGEST);
	if (s->kind == ATOMIC_WRITE)
		s->at -= s->at % 8;
	s->from = s->kind == READ ? READS_AT + i * LONGEST : i * LONGEST;
	s->flags = below(run, 3) == 0 ? ALWAYS : ON_ERROR;
	if (below(run, 3) != 0)
		s->flags |= RPMA_F_MORE;
	if (sends && s->len <= INLINE_MOST && below(run, 2) == 0)
		s->flags |= RPMA_F_INLINE;
}

/* Does in the model what the step does, in the order of the steps. */
static void imagine(struct run *run, size_t i)
{
	const struct step *s = &run->steps[i];

	if (s->kind == READ)
		memcpy(run->reads[i], run->model + s->at, s->len);
	else if (s->kind != FLUSH)
		memcpy(run->model + s->at, run->client.memory + s->from, s->len);
	if (s->kind == APPEND)
		memcpy(run->model, &s->number, sizeof(s->number));
	if (s->flags & ALWAYS & ~ON_ERROR)
		run->asked[run->asked_count++] = s->number;
}

static void do_step(struct run *run, size_t i, bool may_break)
{
	struct step *s = &run->steps[i];
	int ret;

	choose(run, i);
	while ((ret = perform(run, s)) == RPMA_E_AGAIN && !run->broken)
		take(run, may_break);
	if (slots[s->kind] > run->sq_size) {
		session_must(ret, RPMA_E_INVAL, "a call of more operations than slots");
		s->kind = FLUSH; /* no read to be looked at */
		return;
	}
	if (may_break && ret != 0) {
		run->broken = true;
		return;
	}
	session_must(ret, 0, "a call");
	imagine(run, i);
	if (below(run, 4) == 0 && run->got_count < run->asked_count && !(s->flags & RPMA_F_MORE))
		take(run, may_break);
}

static void open_run(const struct calls *c, struct run *run, uint64_t seed)
{
	run->random = seed;
	run->sq_size = 1 + (uint32_t)below(run, 16);
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, run->sq_size},
		{RPMA_CONN_OPT_BATCH_SIZE, (uint32_t)below(run, 20)},
		{RPMA_CONN_OPT_INLINE_SIZE, INLINE_MOST},
		{RPMA_CONN_OPT_SIGNAL_EVERY, 1 + (uint32_t)below(run, 20)},
	};

	client_open(c, &run->client, &c->target[0], options, NUM_OPTIONS(options));
	memset(c->target[0].memory, 0, AREA_BYTES);
	for (size_t i = 0; i < STEPS * LONGEST; i++)
		run->client.memory[i] = (unsigned char)below(run, 256);
}

/* Nothing fences a write from a read before it, which may find what that has written. */
static bool is_of_a_later_write(const struct run *run, size_t read, size_t at, unsigned char byte)
{
	for (size_t i = read + 1; i < STEPS; i++) {
		const struct step *s = &run->steps[i];

		if (s->kind != READ && s->kind != FLUSH && at >= s->at && at - s->at < s->len &&
		    run->client.memory[s->from + (at - s->at)] == byte)
			return true;
	}
	return false;
}

static void check_read(const struct run *run, size_t i)
{
	const unsigned char *found = run->client.memory + READS_AT + i * LONGEST;

	for (size_t k = 0; k < run->steps[i].len; k++)
		MUST_HOLD(found[k] == run->reads[i][k] ||
			  is_of_a_later_write(run, i, run->steps[i].at + k, found[k]));
}

/* The first byte that differs, with the steps that wrote there. */
static void check_memory(const struct run *run, const unsigned char *found)
{
	size_t at = 0;

	while (at < AREA_BYTES && found[at] == run->model[at])
		at++;
	if (at == AREA_BYTES)
		return;
	fprintf(stderr, "\nbyte %zu is 0x%02x, expected 0x%02x\n", at, found[at], run->model[at]);
	for (size_t i = 0; i < STEPS; i++) {
		const struct step *s = &run->steps[i];

		if (s->kind != READ && s->kind != FLUSH && at - s->at < s->len)
			fprintf(stderr, "step %zu: kind %d, %zu bytes at %zu, flags 0x%x: 0x%02x\n",
				i + 1, s->kind, s->len, s->at, (unsigned int)s->flags,
				run->client.memory[s->from + at - s->at]);
	}
	MUST_HOLD(at == AREA_BYTES);
}

static void check_all(struct run *run, const struct calls *c)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_submit(run->client.conn)) == RPMA_E_AGAIN)
		take(run, false);
	session_must(ret, 0, "rpma_submit()");
	while (run->got_count < run->asked_count)
		take(run, false);
	client_flush(&run->client);
	MUST_GIVE(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(run->client.cq, 1, &wc, NULL));
	check_memory(run, (const unsigned char *)c->target[0].memory);
	for (size_t i = 0; i < STEPS; i++)
		if (run->steps[i].kind == READ)
			check_read(run, i);
}

static void run_seed(const struct calls *c, uint64_t seed)
{
	struct run *run = calloc(1, sizeof(*run));

	MUST_HOLD(run != NULL);
	open_run(c, run, seed);
	for (size_t i = 0; i < STEPS; i++)
		do_step(run, i, false);
	check_all(run, c);
	client_close(&run->client, true);
	free(run);
}

/* Waits end: by completions that were asked for, by errors, or in time. */
static void run_until_death(const struct calls *c, uint64_t seed)
{
	struct run *run = calloc(1, sizeof(*run));
	struct ibv_wc wc;

	MUST_HOLD(run != NULL);
	open_run(c, run, seed);
	const size_t dies_at = below(run, STEPS);
	for (size_t i = 0; i < STEPS && !run->broken; i++) {
		if (i == dies_at)
			kill(c->target[0].process, SIGKILL);
		do_step(run, i, i >= dies_at);
	}
	(void)rpma_submit(run->client.conn);
	while (rpma_cq_await_wc(run->client.cq, 1, &wc, NULL, 0, LIMIT_MS / 10) == 0)
		if (wc.status != IBV_WC_SUCCESS)
			run->broken = true;
	MUST(rpma_discard(run->client.conn, NULL));
	client_close(&run->client, false);
	free(run);
}

int random_sequences_are_as_modelled(struct calls *c)
{
	const char *seeds = getenv("RPMA_SEEDS");
	uint64_t from = 1, to = 5;

	if (seeds != NULL) {
		char *rest = NULL;

		from = strtoull(seeds, &rest, 10);
		MUST_HOLD(*rest == '-');
		to = strtoull(rest + 1, NULL, 10);
	}
	for (uint64_t seed = from; seed <= to; seed++) {
		fprintf(stderr, "\rseed %llu", (unsigned long long)seed);
		if (getenv("RPMA_DIES") != NULL)
			run_until_death(c, seed);
		else
			run_seed(c, seed);
	}
	return 0;
}
