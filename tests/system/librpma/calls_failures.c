/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_failures.c -- cases in which operations fail: what was started, what was reported, and
 * what is in the target's memory, which outlives the target.
 */
#include "calls.h"

#include <signal.h>
#include <sys/wait.h>

#include "tests/lib/random.h"

#define SLOT_BYTES 64
#define SLOTS	   ((uint64_t)(MEMORY_BYTES / SLOT_BYTES))
#define QUEUE	   128
#define ON_ERROR   RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	   RPMA_F_COMPLETION_ALWAYS
#define SILENCE_MS 300	 /* after a failure nothing else comes */
#define FAILS_MS   60000 /* a guard: the device has given up by then */
#define KILLED_AT  1500	 /* operations at most, before the target is killed */
#define LAST	   64	 /* operations for a target that has died for certain */

/* Each operation writes a slot of its own, and its number is the wr_id. */
struct ledger {
	uint64_t started;   /* operations whose call succeeded */
	uint64_t suspected; /* from here on a call failed: they may leave no completion */
	uint64_t succeeded; /* all operations before this one have: a later one was reported */
	bool failed;	    /* a completion has */
	unsigned char asked[SLOTS], reported[SLOTS], success[SLOTS];
	unsigned char parts[SLOTS]; /* 2: a write with its flush, either of which may fail */
};

static void fill_slots(unsigned char *memory)
{
	uint64_t state = 1;

	for (size_t i = 0; i < MEMORY_BYTES; i++)
		memory[i] = (unsigned char)(test_random(&state) | 1); /* never what was there */
}

static bool is_written(const struct client *client, const struct target *target, uint64_t i)
{
	return memcmp(target->memory + i * SLOT_BYTES, client->memory + i * SLOT_BYTES,
		      SLOT_BYTES) == 0;
}

/* An operation that is reported done is done, and all before it. */
static void note_success(struct ledger *ledger, const struct client *client,
			 const struct target *target, uint64_t number)
{
	MUST_HOLD(!ledger->failed);
	MUST_HOLD(ledger->asked[number]);
	for (; ledger->succeeded <= number; ledger->succeeded++)
		MUST_HOLD(is_written(client, target, ledger->succeeded));
	ledger->success[number] = 1;
}

static void note(struct ledger *ledger, const struct client *client, const struct target *target,
		 const struct ibv_wc *wc)
{
	MUST_HOLD(wc->wr_id < ledger->started);
	MUST_HOLD(!ledger->success[wc->wr_id]);
	MUST_HOLD(ledger->reported[wc->wr_id]++ < (wc->status ? ledger->parts[wc->wr_id] : 1));
	if (wc->status == IBV_WC_SUCCESS)
		note_success(ledger, client, target, wc->wr_id);
	else
		ledger->failed = true;
}

static void fetch(struct ledger *ledger, struct client *client, const struct target *target)
{
	struct ibv_wc wcs[8];
	int count = 0;

	while (rpma_cq_get_wc(client->cq, 8, wcs, &count) == 0)
		for (int i = 0; i < count; i++)
			note(ledger, client, target, &wcs[i]);
}

/* All that comes, until nothing has come for a while. */
static void drain(struct ledger *ledger, struct client *client, const struct target *target)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_await_wc(client->cq, 1, &wc, NULL, 0,
				       ledger->failed ? SILENCE_MS : FAILS_MS)) == 0)
		note(ledger, client, target, &wc);
	session_must(ret, RPMA_E_TIMEOUT, "rpma_cq_await_wc()");
}

/* Every 8th with a flush of its own. */
static int post(const struct ledger *ledger, struct client *client, uint64_t i, int flags)
{
	void *context = (void *)(uintptr_t)i; /* NOLINT: a number, as wr_id */
	const uint64_t at = i * SLOT_BYTES;

	if (ledger->parts[i] == 2)
		return rpma_write_flush(client->conn, client->dst, at, client->mr, at, SLOT_BYTES,
					RPMA_FLUSH_TYPE_VISIBILITY, flags, context);
	return rpma_write(client->conn, client->dst, at, client->mr, at, SLOT_BYTES, flags,
			  context);
}

/* False: the queue pair takes no more, and whatever waited with this one may be lost. */
static bool start(struct ledger *ledger, struct client *client, const struct target *target,
		  int flags)
{
	const uint64_t i = ledger->started;
	int ret;

	ledger->asked[i] = (flags & ALWAYS) == ALWAYS;
	ledger->parts[i] = i % 8 == 7 ? 2 : 1;
	/* counted at once: its completion may be fetched before the next call */
	ledger->started++;
	while ((ret = post(ledger, client, i, flags)) == RPMA_E_AGAIN)
		fetch(ledger, client, target);
	if (ret == 0)
		return true;
	session_must(ret, RPMA_E_PROVIDER, "an operation");
	return false;
}

static int random_flags(uint64_t *random)
{
	return (test_random(random) % 3 == 0 ? ALWAYS : ON_ERROR) |
	       (test_random(random) % 4 != 0 ? RPMA_F_MORE : 0);
}

/* A process that is killed goes on for as long as it gets no time to die in. */
static void await_death(const struct target *target)
{
	siginfo_t info;

	MUST_HOLD(waitid(P_PID, (id_t)target->process, &info, WEXITED | WNOWAIT) == 0);
}

/* Writes until it fails; kills the target, if that is to be, when so many have been started. */
static void write_until_failure(struct ledger *ledger, struct client *client,
				const struct target *target, uint64_t kill_at)
{
	uint64_t random = (uint64_t)kill_at + 1, posted = 0;

	while (!ledger->failed && ledger->started < SLOTS) {
		const int flags = random_flags(&random);

		if (ledger->started == kill_at)
			MUST_HOLD(kill(target->process, SIGKILL) == 0);
		if (ledger->started == SLOTS - LAST && kill_at < SLOTS)
			await_death(target);
		if (!start(ledger, client, target, flags)) {
			ledger->suspected = posted;
			return;
		}
		if (!(flags & RPMA_F_MORE))
			posted = ledger->started;
		if (test_random(&random) % 8 == 0)
			fetch(ledger, client, target);
	}
	ledger->suspected = rpma_submit(client->conn) == 0 ? ledger->started : posted;
}

static uint64_t first_failed(const struct ledger *ledger)
{
	uint64_t i = 0;

	while (i < ledger->started && (ledger->success[i] || !ledger->reported[i]))
		i++;
	return i;
}

/*
 * Before the first that failed all were done, whether that was asked for or not. From there on
 * each was reported, but for those that may not have been posted.
 */
static void judge(const struct ledger *ledger, const struct client *client,
		  const struct target *target)
{
	const uint64_t failure = first_failed(ledger);
	uint64_t succeeded = 0, failed = 0, unreported = 0;

	for (uint64_t i = 0; i < ledger->started; i++) {
		if (i < failure && i < ledger->suspected)
			MUST_HOLD(is_written(client, target, i));
		if (i < ledger->suspected && (ledger->asked[i] || i >= failure))
			MUST_HOLD(ledger->reported[i] > 0);
		succeeded += ledger->success[i];
		failed += ledger->reported[i] && !ledger->success[i];
		unreported += !ledger->reported[i];
	}
	fprintf(stderr, "%llu started, %llu reported done, %llu failed, %llu not reported\n",
		(unsigned long long)ledger->started, (unsigned long long)succeeded,
		(unsigned long long)failed, (unsigned long long)unreported);
}

static const struct option counted[] = {
	{RPMA_CONN_OPT_SQ_SIZE, QUEUE},	  {RPMA_CONN_OPT_CQ_SIZE, 2 * QUEUE},
	{RPMA_CONN_OPT_SIGNAL_EVERY, 16}, {RPMA_CONN_OPT_BATCH_SIZE, 32},
	{RPMA_CONN_OPT_RETRIES, 2},	  {RPMA_CONN_OPT_ACK_TIMEOUT, 14},
	{RPMA_CONN_OPT_RNR_TIMER, 9},	  {RPMA_CONN_OPT_TRAFFIC_CLASS, 0x28},
};

static int fail_at(struct calls *c, uint64_t kill_at)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));
	struct client client = {0};

	MUST_HOLD(ledger != NULL);
	client_open(c, &client, &c->target[0], counted, NUM_OPTIONS(counted));
	fill_slots(client.memory);
	write_until_failure(ledger, &client, &c->target[0], kill_at);
	drain(ledger, &client, &c->target[0]);
	judge(ledger, &client, &c->target[0]);
	MUST_HOLD(ledger->failed);
	/* nothing can be done with it, and nothing is kept */
	struct ibv_wc wc;
	MUST_GIVE(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(client.cq, 1, &wc, NULL));
	client_close(&client, false);
	free(ledger);
	return 0;
}

/* The number of the process decides on the moment: it differs from run to run. */
int killed_target_loses_nothing_reported(struct calls *c)
{
	uint64_t random = (uint64_t)c->target[0].process;

	return fail_at(c, 1 + test_random(&random) % KILLED_AT);
}

int broken_connection_reports_the_truth(struct calls *c)
{
	return fail_at(c, UINT64_MAX);
}
