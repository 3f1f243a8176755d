/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.c -- the table of processes this one reaches, and the QPs that wait for one.
 *
 * A peer is found by the addresses it was reached at: its listeners stay as long as it lives
 * (peer_listen.c), so that an address that is known needs no asking. All threads that ask
 * for the same unknown address wait for one attempt.
 */
#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer_private.h"
#include "soft_device/process/process.h"

const struct peer_user *peer_user;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER; /* a linked() that was waited for */
static struct peer_table {
	struct peer *peers; /* none of them gone */
	struct attempt *attempts;
	struct exchange *exchanges;
} table;
static struct peer_table inherited; /* from before a fork(): dead, here for leak checkers */

struct peer *peer_add(enum peer_transport transport, const struct peer_key *key)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (peer == NULL)
		return NULL;
	peer->private = calloc(1, sizeof(*peer->private));
	if (peer->private == NULL) {
		free(peer);
		return NULL;
	}
	peer->transport = transport;
	peer->key = *key;
	peer->private->kick_fd = -1;
	peer->private->references = 2;
	pthread_mutex_lock(&lock);
	peer->private->next = table.peers;
	table.peers = peer;
	pthread_mutex_unlock(&lock);
	return peer;
}

static void peer_free(struct peer *peer)
{
	struct peer_private *private = peer->private;

	tcp_free(peer->tcp);
	channel_table_free(private->channels);
	if (private->kick_fd >= 0)
		close(private->kick_fd);
	if (peer->segment != NULL)
		segment_unmap(peer->segment);
	while (private->addresses != NULL) {
		struct address *address = private->addresses;

		private->addresses = address->next;
		free(address);
	}
	free(private);
	free(peer);
}

void peer_put(struct peer *peer)
{
	bool last;

	if (peer == NULL || peer->private == NULL)
		return;
	pthread_mutex_lock(&lock);
	last = --peer->private->references == 0;
	pthread_mutex_unlock(&lock);
	if (last)
		peer_free(peer);
}

bool peer_key_equal(const struct peer_key *a, const struct peer_key *b)
{
	return a->identity == b->identity && a->pid == b->pid &&
	       memcmp(&a->own, &b->own, sizeof(a->own)) == 0 &&
	       memcmp(&a->remote, &b->remote, sizeof(a->remote)) == 0;
}

struct peer *peer_with_key(const struct peer_key *key)
{
	struct peer *peer;

	pthread_mutex_lock(&lock);
	peer = table.peers;
	while (peer != NULL && !peer_key_equal(&peer->key, key))
		peer = peer->private->next;
	if (peer != NULL)
		peer->private->references++;
	pthread_mutex_unlock(&lock);
	return peer;
}

void peer_found_at(struct peer *peer, const struct attempt *attempt)
{
	struct address *address = calloc(1, sizeof(*address));

	if (address == NULL)
		return;
	address->from = attempt->from;
	address->gid = attempt->to;
	address->port = attempt->port;
	pthread_mutex_lock(&lock);
	address->next = peer->private->addresses;
	peer->private->addresses = address;
	pthread_mutex_unlock(&lock);
}

void peer_lost(struct peer *peer)
{
	struct peer **at = &table.peers;

	pthread_mutex_lock(&lock);
	while (*at != NULL && *at != peer)
		at = &(*at)->private->next;
	if (*at != NULL)
		*at = peer->private->next;
	atomic_store(&peer->gone, true);
	pthread_mutex_unlock(&lock);
	unix_close(peer->private->connection);
	peer->private->connection = NULL;
	if (peer->tcp != NULL)
		tcp_close(peer->tcp);
	peer_user->peer_gone(peer);
	peer_put(peer);
}

struct exchange *exchange_get(const struct peer_key *key)
{
	struct exchange *exchange;

	pthread_mutex_lock(&lock);
	exchange = table.exchanges;
	while (exchange != NULL && !peer_key_equal(&exchange->key, key))
		exchange = exchange->next;
	if (exchange == NULL) {
		exchange = calloc(1, sizeof(*exchange));
		if (exchange != NULL) {
			exchange->key = *key;
			exchange->next = table.exchanges;
			table.exchanges = exchange;
		}
	}
	if (exchange != NULL)
		exchange->users++;
	pthread_mutex_unlock(&lock);
	return exchange;
}

void exchange_put(struct exchange *exchange)
{
	if (exchange == NULL)
		return;
	pthread_mutex_lock(&lock);
	if (--exchange->users == 0) {
		LIST_TAKE_OUT(table.exchanges, exchange, next);
		free(exchange);
	}
	pthread_mutex_unlock(&lock);
}

static bool same_gid(const union ibv_gid *a, const union ibv_gid *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/*
 * Callers hold the lock. A process of another host knows us by our address: each of ours has a
 * connection of its own.
 */
static bool is_at(const struct peer *peer, const union ibv_gid *from, const union ibv_gid *gid,
		  uint16_t port)
{
	static const union ibv_gid none;
	const bool vouched = same_gid(&peer->key.remote, &none);
	const struct address *address = peer->private->addresses;

	while (address != NULL && (address->port != port || !same_gid(&address->gid, gid) ||
				   (!vouched && !same_gid(&address->from, from))))
		address = address->next;
	return address != NULL;
}

/* Callers hold the lock. With a reference. */
static struct peer *find_known(const union ibv_gid *from, const union ibv_gid *gid, uint16_t port)
{
	const struct soft_options *options = &process_current->options;
	struct peer *peer = table.peers;

	if (options->transport != SOFT_TRANSPORT_TCP && !options->forced_remote &&
	    peer_listens_at(gid, port))
		return process_current->self;
	while (peer != NULL && !is_at(peer, from, gid, port))
		peer = peer->private->next;
	if (peer != NULL)
		peer->private->references++;
	return peer;
}

/* The attempt under way to this address, or a new one. Callers hold the lock. */
static struct attempt *find_attempt(const union ibv_gid *from, const union ibv_gid *to,
				    uint16_t port)
{
	struct attempt *attempt = table.attempts;

	while (attempt != NULL && (attempt->port != port || !same_gid(&attempt->to, to) ||
				   !same_gid(&attempt->from, from)))
		attempt = attempt->next;
	if (attempt != NULL)
		return attempt;
	attempt = calloc(1, sizeof(*attempt));
	if (attempt == NULL)
		return NULL;
	attempt->from = *from;
	attempt->to = *to;
	attempt->port = port;
	if (agent_call(attempt_start, attempt) != 0) {
		free(attempt);
		return NULL;
	}
	attempt->next = table.attempts;
	table.attempts = attempt;
	return attempt;
}

struct peer *peer_find(const union ibv_gid *from, const union ibv_gid *to, uint16_t port,
		       void (*linked)(void *arg, struct peer *peer, int error), void *arg,
		       struct peer_wait **found)
{
	struct peer_wait *wait = calloc(1, sizeof(*wait));
	struct attempt *attempt = NULL;
	struct peer *peer;

	pthread_mutex_lock(&lock);
	peer = find_known(from, to, port);
	if (peer == NULL && wait != NULL)
		attempt = find_attempt(from, to, port);
	if (attempt != NULL) {
		wait->linked = linked;
		wait->arg = arg;
		wait->attempt = attempt;
		wait->next = attempt->waits;
		attempt->waits = wait;
	}
	if (attempt == NULL) {
		free(wait);
		wait = NULL;
	}
	*found = wait; /* before the call can come */
	pthread_mutex_unlock(&lock);
	return peer;
}

struct peer_wait *peer_link(const union ibv_gid *from, const union ibv_gid *to, uint16_t port,
			    void (*linked)(void *arg, struct peer *peer, int error), void *arg)
{
	struct peer_wait *wait;
	struct peer *peer = peer_find(from, to, port, linked, arg, &wait);

	if (wait == NULL)
		linked(arg, peer, peer != NULL ? 0 : -ENOMEM);
	return wait;
}

void peer_attempt_done(struct attempt *attempt, struct peer *peer, int error)
{
	struct peer_wait *wait;

	pthread_mutex_lock(&lock);
	LIST_TAKE_OUT(table.attempts, attempt, next);
	while ((wait = attempt->waits) != NULL) {
		attempt->waits = wait->next;
		wait->attempt = NULL;
		wait->running = true;
		if (peer != NULL)
			peer->private->references++;
		pthread_mutex_unlock(&lock);
		wait->linked(wait->arg, peer, error);
		pthread_mutex_lock(&lock);
		wait->running = false;
		if (wait->cancelled)
			free(wait);
		else
			pthread_cond_broadcast(&returned);
	}
	pthread_mutex_unlock(&lock);
	free(attempt);
	peer_put(peer);
}

void peer_link_cancel(struct peer_wait *wait)
{
	if (wait == NULL)
		return;
	pthread_mutex_lock(&lock);
	if (wait->running && agent_is_current()) {
		wait->cancelled = true;
		wait = NULL;
	} else {
		while (wait->running)
			pthread_cond_wait(&returned, &lock);
		if (wait->attempt != NULL)
			LIST_TAKE_OUT(wait->attempt->waits, wait, next);
	}
	pthread_mutex_unlock(&lock);
	free(wait);
}

static void forked(void)
{
	pthread_cond_init(&returned, NULL);
	if (table.peers == NULL && table.attempts == NULL && table.exchanges == NULL)
		return;
	inherited = table;
	memset(&table, 0, sizeof(table));
}

static struct peer *new_self(const struct process *process, target_process memory)
{
	struct peer *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->transport = PEER_SELF;
	self->segment = process->segment;
	self->memory = memory;
	self->key.identity = process->segment->identity;
	return self;
}

/* How the process sees itself: its own segment and memory. */
static int make_self(struct process *process)
{
	process->self = new_self(process, 0);
	process->served = new_self(process, TARGET_OF_DEVICE);
	return process->self != NULL && process->served != NULL ? 0 : -ENOMEM;
}

const struct process_part peer_part = {.begin = make_self, .lock = &lock, .forked = forked};
