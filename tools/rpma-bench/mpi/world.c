/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.c -- bounded waits on top of MPI's calls that do not block.
 *
 * A rank that waits sleeps, so as not to take a core from one that measures; only
 * the tight end of a meeting, when all are there, spins.
 */
#include "world.h"

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/cli.h"
#include "common/host/clock.h"
#include "common/json/result.h"

#define SECOND_NS 1000000000ULL
/* mpirun that ends all by SIGTERM gives them a second. */
#define TERM_LIMIT_NS  (7 * SECOND_NS / 10)
#define BEGIN_LIMIT_NS (30 * SECOND_NS)
#define SLEEP_MIN_NS   20000
#define SLEEP_MAX_NS   1000000
#define TEXT_MAX       (1ULL << 30)

enum tag { TAG_COME = 1, TAG_HEAR, TAG_LENGTH, TAG_TEXT };

struct transport {
	const char *variable;
	const char *value;
	const char *key; /* in the result; NULL: not there */
};

struct meeting {
	MPI_Request *requests;
	struct world_word words[]; /* one per rank */
};

static const struct transport transports[] = {
	{"OMPI_MCA_pml", "ob1", "pml"},	   {"OMPI_MCA_btl", "self,tcp,vader", "btl"},
	{"OMPI_MCA_coll", "^hcoll", NULL}, {"UCX_TLS", "self,sm,tcp", "ucx_tls"},
	{"FI_PROVIDER", "tcp", NULL},
};

#define TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

bool world_is_first(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rank = getenv(names[i]);

		if (rank != NULL)
			return strcmp(rank, "0") == 0;
	}
	return true;
}

void world_choose_transports(void)
{
	for (size_t i = 0; i < TRANSPORTS; i++)
		setenv(transports[i].variable, transports[i].value, 0);
}

/* 0, or -ETIMEDOUT; requests that are left then are never touched again. */
static int await(MPI_Request *requests, int count, uint64_t limit_ns)
{
	uint64_t begin_ns = clock_raw_ns(), stop_ns = UINT64_MAX, now_ns;
	struct timespec pause = {0, SLEEP_MIN_NS};
	int done = 0;

	for (;;) {
		MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
		if (done)
			return 0;
		now_ns = clock_raw_ns();
		if (cli_signal == SIGTERM && stop_ns == UINT64_MAX)
			stop_ns = now_ns + TERM_LIMIT_NS;
		if (now_ns - begin_ns > limit_ns || now_ns > stop_ns)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < SLEEP_MAX_NS)
			pause.tv_nsec += pause.tv_nsec / 4;
	}
}

static int lose(struct world *w, const char *who)
{
	int ret = failure_set(EXIT_RUN_FAILED, "together",
			      "%s did not come to where all ranks meet: it hangs, or is gone", who);

	w->lost = true;
	w->failure = *failure_get();
	return ret;
}

static struct world_word lost_word(const struct world *w)
{
	return (struct world_word){WORLD_OVER, 0, w->failure};
}

static int await_all(struct world *w, MPI_Request *request)
{
	return await(request, 1, w->limit_ns) == 0 ? 0 : lose(w, "a rank");
}

int world_tell(struct world *w, void *bytes, size_t length)
{
	MPI_Request request;

	MPI_Ibcast(bytes, (int)length, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
	return await_all(w, &request);
}

int world_exchange(struct world *w, const void *mine, void *all, size_t length)
{
	MPI_Request request;

	MPI_Iallgather(mine, (int)length, MPI_BYTE, all, (int)length, MPI_BYTE, MPI_COMM_WORLD,
		       &request);
	return await_all(w, &request);
}

/* Finds the lower ranks of this host that may run on CPUs of this one. */
static int find_below(struct world *w)
{
	cpu_set_t mine, both, *all = calloc((size_t)w->size, sizeof(*all));
	int ret = 0;

	CPU_ZERO(&mine);
	sched_getaffinity(0, sizeof(mine), &mine);
	if (all == NULL)
		return failure_set(EXIT_INTERNAL, "together", "out of memory");
	ret = world_exchange(w, &mine, all, sizeof(mine));
	for (int r = 0; r < w->rank && ret == 0; r++) {
		CPU_AND(&both, &mine, &all[r]);
		if (strcmp(w->hosts[r], w->hosts[w->rank]) == 0 && CPU_COUNT(&both) > 0)
			w->below[w->below_count++] = r;
	}
	free(all);
	return ret;
}

static int make_room(struct world *w)
{
	size_t size = (size_t)w->size;

	w->below = calloc(size, sizeof(*w->below));
	w->hosts = calloc(size, sizeof(*w->hosts));
	w->meeting = calloc(1, sizeof(*w->meeting) + size * sizeof(w->meeting->words[0]));
	if (w->meeting != NULL)
		w->meeting->requests = calloc(size, sizeof(MPI_Request));
	if (w->below == NULL || w->hosts == NULL || w->meeting == NULL ||
	    w->meeting->requests == NULL)
		return failure_set(EXIT_INTERNAL, "together", "out of memory");
	return 0;
}

int world_open(struct world *w)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "", host[WORLD_HOST_MAX] = "";
	int given, length, ret;

	*w = (struct world){.limit_ns = 60 * SECOND_NS};
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
	    given < MPI_THREAD_FUNNELED)
		return failure_set(EXIT_RUN_FAILED, "start",
				   "MPI did not start, or has no MPI_THREAD_FUNNELED");
	MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &w->size);
	ret = make_room(w);
	if (ret)
		return ret;
	MPI_Get_processor_name(name, &length);
	snprintf(host, sizeof(host), "%.255s", name);
	ret = world_exchange(w, host, w->hosts, sizeof(host));
	return ret ? ret : find_below(w);
}

void world_close(struct world *w, int code)
{
	/* does not return; what MPI may still write to is there until then */
	if (w->lost)
		MPI_Abort(MPI_COMM_WORLD, code);
	MPI_Finalize();
	if (w->meeting != NULL)
		free(w->meeting->requests);
	free(w->meeting);
	free(w->below);
	free(w->hosts);
}

static void name_missing(struct world *w)
{
	struct meeting *m = w->meeting;
	char who[WORLD_HOST_MAX + 32];
	int there;

	for (int r = 1; r < w->size; r++) {
		there = m->requests[r] == MPI_REQUEST_NULL;
		if (!there)
			MPI_Test(&m->requests[r], &there, MPI_STATUS_IGNORE);
		if (there)
			continue;
		snprintf(who, sizeof(who), "rank %d on %s", r, w->hosts[r]);
		lose(w, who);
		return;
	}
}

/* A signal explains what failed elsewhere at the same time. */
static void judge(const struct world *w, struct world_word *word)
{
	const struct meeting *m = w->meeting;

	*word = w->lost ? lost_word(w) : m->words[0];
	for (int r = w->size - 1; r >= 0 && !w->lost; r--) {
		const struct world_word *one = &m->words[r];
		char step[sizeof(one->failure.step)], text[sizeof(one->failure.text)];

		if (one->kind != WORLD_OVER ||
		    (word->kind == WORLD_OVER && word->signal != 0 && one->signal == 0))
			continue;
		*word = *one;
		/* rank 0 speaks for itself */
		if (one->signal != 0 || r == 0)
			continue;
		memcpy(step, one->failure.step, sizeof(step));
		memcpy(text, one->failure.text, sizeof(text));
		failure_because(one->failure.cause, one->failure.code, step, "rank %d on %s: %s", r,
				w->hosts[r], text);
		word->failure = *failure_get();
	}
}

static void lead(struct world *w, struct world_word *word)
{
	struct meeting *m = w->meeting;

	m->words[0] = *word;
	m->requests[0] = MPI_REQUEST_NULL;
	for (int r = 1; r < w->size; r++)
		MPI_Irecv(&m->words[r], sizeof(*word), MPI_BYTE, r, TAG_COME, MPI_COMM_WORLD,
			  &m->requests[r]);
	if (await(m->requests, w->size, w->limit_ns) != 0)
		name_missing(w);
	judge(w, word);
	for (int r = 1; r < w->size; r++)
		MPI_Isend(word, sizeof(*word), MPI_BYTE, r, TAG_HEAR, MPI_COMM_WORLD,
			  &m->requests[r]);
	if (await(m->requests, w->size, BEGIN_LIMIT_NS) != 0)
		name_missing(w);
}

static void follow(struct world *w, struct world_word *word)
{
	struct world_word mine = *word;
	MPI_Request requests[2];

	MPI_Isend(&mine, sizeof(mine), MPI_BYTE, 0, TAG_COME, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(word, sizeof(*word), MPI_BYTE, 0, TAG_HEAR, MPI_COMM_WORLD, &requests[1]);
	/* rank 0 is the one to name who is missing, so it is given the time to */
	if (await(requests, 2, w->limit_ns + BEGIN_LIMIT_NS) == 0)
		return;
	lose(w, "rank 0");
	*word = lost_word(w);
}

void world_meet(struct world *w, struct world_word *word)
{
	if (w->lost)
		*word = lost_word(w);
	else if (w->rank == 0)
		lead(w, word);
	else
		follow(w, word);
}

void world_begin(struct world *w)
{
	uint64_t begin_ns = clock_raw_ns();
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (!done && clock_raw_ns() - begin_ns < BEGIN_LIMIT_NS) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		sched_yield();
	}
	/* the next meeting finds out who it was */
	if (!done)
		lose(w, "a rank");
}

static json_t *receive(struct world *w, int rank)
{
	MPI_Request request;
	uint64_t length = 0;
	char *text = NULL;
	json_t *value = NULL;

	MPI_Irecv(&length, sizeof(length), MPI_BYTE, rank, TAG_LENGTH, MPI_COMM_WORLD, &request);
	if (await_all(w, &request) != 0 || length > TEXT_MAX)
		return NULL;
	text = malloc(length + 1);
	if (text == NULL)
		return NULL;
	MPI_Irecv(text, (int)length, MPI_BYTE, rank, TAG_TEXT, MPI_COMM_WORLD, &request);
	if (await_all(w, &request) != 0)
		return NULL;
	value = json_loadb(text, length, 0, NULL);
	free(text);
	return value;
}

static void hand_in(struct world *w, const json_t *mine)
{
	char *text = json_dumps(mine, JSON_COMPACT);
	uint64_t length = text != NULL ? strlen(text) : 0;
	MPI_Request requests[2];

	MPI_Isend(&length, sizeof(length), MPI_BYTE, 0, TAG_LENGTH, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(text, length <= TEXT_MAX ? (int)length : 0, MPI_BYTE, 0, TAG_TEXT, MPI_COMM_WORLD,
		  &requests[1]);
	if (await(requests, 2, w->limit_ns) != 0)
		lose(w, "rank 0");
	else
		free(text);
}

json_t *world_collect(struct world *w, const json_t *mine)
{
	json_t *all = json_array(), *one;

	if (w->lost || w->rank != 0) {
		if (!w->lost)
			hand_in(w, mine);
		json_decref(all);
		return NULL;
	}
	json_array_append(all, (json_t *)mine);
	for (int r = 1; r < w->size; r++) {
		one = w->lost ? NULL : receive(w, r);
		if (json_array_append_new(all, one) != 0) {
			json_decref(all);
			failure_set(EXIT_RUN_FAILED, "together", "rank %d on %s sent no result", r,
				    w->hosts[r]);
			w->failure = *failure_get();
			w->lost = true;
			return NULL;
		}
	}
	return all;
}

json_t *world_json(const struct world *w)
{
	char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	json_t *mpi = json_object();
	int length;

	MPI_Get_library_version(library, &length);
	library[strcspn(library, ",\n")] = '\0';
	json_object_set_new(mpi, "ranks", json_integer(w->size));
	json_object_set_new(mpi, "library", result_text(library));
	for (size_t i = 0; i < TRANSPORTS; i++) {
		if (transports[i].key != NULL)
			json_object_set_new(mpi, transports[i].key,
					    result_text(getenv(transports[i].variable)));
	}
	return mpi;
}
