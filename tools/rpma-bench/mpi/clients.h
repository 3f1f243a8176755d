/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clients.h -- the clients of one rank: each a run like that of the plain
 * tool, in a thread of its own. The main thread, which talks to the other
 * ranks, waits until all of them wait, and lets them go on together.
 */
#pragma once

#include "tools/rpma-bench/result/record.h"
#include "world.h"

/* Whom a client measures. */
struct client_server {
	int rank; /* -1: none of the ranks */
	const char *host;
	uint16_t port;
};

struct clients;

/* options are borrowed; of many clients only the first of rank 0 shows its progress. */
int clients_start(struct clients **clients, const struct options *options,
		  const struct client_server *servers, int count, uint32_t cores_taken, bool shows);

/* Waits until none is at work: they wait to begin a phase, are done, or over. */
void clients_await(struct clients *all, struct world_word *word);

/* Lets them go on, or ends them; entered_ns is when the rank came to where all begin. */
void clients_release(struct clients *all, const struct world_word *word, uint64_t entered_ns);

/* After the last release, of that word: what each measured, as "measured" of merge_documents.h. */
json_t *clients_collect(struct clients *all, const struct world_word *word);

/* The run that stands for the rank; NULL: it has no client. */
struct record *clients_first(struct clients *all);

void clients_delete(struct clients **clients);
