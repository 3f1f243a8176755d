/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doorbell.c -- telling the owner of a CQ: the eventfds of comp channels, its own and the
 * peers', and the kick for what only the owner can do.
 *
 * Every process that maps our segment is a subscriber: it gets the eventfd of each channel over the
 * unix socket, as far as the socket takes them; the rest waits for the agent. A channel that is not
 * known here (not yet, or out of file descriptors) is rung by its owner's agent.
 *
 * An fd is looked up and written under one lock, so that it cannot be closed
 * and reused in between. That lock is taken for armed CQs only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "peer_private.h"
#include "soft_device/process/cancel.h"
#include "soft_device/process/process.h"

#define SLOTS_MAX 65536 /* channels that we keep per peer; its agent rings the others */

struct channel_entry {
	uint32_t id; /* 0: none */
	int fd;
};

struct channel_table {
	pthread_mutex_t lock;
	struct channel_entry *entries; /* by slot */
	uint32_t count;
};

struct announcement {
	struct announcement *next;
	enum wire_kind kind;
	struct wire_channel channel;
};

struct subscriber {
	struct subscriber *next;
	int fd;
	struct watch *watch;
	bool waits; /* for EPOLLOUT */
	struct announcement *first;
	struct announcement **last;
};

static struct channel_table own = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct subscriber *subscribers; /* own.lock */
static struct subscriber *inherited;   /* from before a fork() */

/* Callers hold the lock. */
static int table_set(struct channel_table *table, const struct wire_channel *channel, int fd)
{
	if (channel->slot >= SLOTS_MAX)
		return -ENOSPC;
	if (channel->slot >= table->count) {
		const uint32_t count = (channel->slot | 63) + 1;
		struct channel_entry *larger =
			realloc(table->entries, count * sizeof(*table->entries));

		if (larger == NULL)
			return -ENOMEM;
		memset(larger + table->count, 0, (count - table->count) * sizeof(*larger));
		table->entries = larger;
		table->count = count;
	}
	table->entries[channel->slot] = (struct channel_entry){channel->id, fd};
	return 0;
}

/* Callers hold the lock. NULL: not known. */
static struct channel_entry *table_find(struct channel_table *table,
					const struct wire_channel *channel)
{
	if (channel->slot >= table->count || table->entries[channel->slot].id != channel->id)
		return NULL;
	return &table->entries[channel->slot];
}

struct channel_table *channel_table_new(void)
{
	struct channel_table *table = calloc(1, sizeof(*table));

	if (table != NULL)
		pthread_mutex_init(&table->lock, NULL);
	return table;
}

void channel_table_free(struct channel_table *table)
{
	if (table == NULL)
		return;
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->entries[i].id != 0)
			close(table->entries[i].fd);
	}
	free(table->entries);
	pthread_mutex_destroy(&table->lock);
	free(table);
}

int channel_table_add(struct channel_table *table, const struct wire_channel *channel, int fd)
{
	int result;

	if (fd < 0)
		return 0;
	pthread_mutex_lock(&table->lock);
	if (channel->slot < table->count && table->entries[channel->slot].id != 0)
		close(table->entries[channel->slot].fd);
	result = table_set(table, channel, fd);
	pthread_mutex_unlock(&table->lock);
	if (result != 0)
		close(fd);
	return result;
}

void channel_table_remove(struct channel_table *table, const struct wire_channel *channel)
{
	struct channel_entry *entry;

	pthread_mutex_lock(&table->lock);
	entry = table_find(table, channel);
	if (entry != NULL) {
		close(entry->fd);
		entry->id = 0;
	}
	pthread_mutex_unlock(&table->lock);
}

/* False: the channel is not known here. */
static bool table_ring(struct channel_table *table, const struct wire_channel *channel)
{
	const int cancel = cancel_off();
	const uint64_t one = 1;
	struct channel_entry *entry;
	bool rung = false;

	pthread_mutex_lock(&table->lock);
	entry = table_find(table, channel);
	if (entry != NULL)
		rung = write(entry->fd, &one, sizeof(one)) == sizeof(one);
	pthread_mutex_unlock(&table->lock);
	cancel_restore(cancel);
	return rung;
}

void peer_ring(struct peer *peer, struct shared_cq *cq)
{
	const struct wire_channel channel = {cq->channel_slot, cq->channel_id};

	if (channel.id == 0 ||
	    table_ring(peer->private == NULL ? &own : peer->private->channels, &channel))
		return;
	atomic_fetch_add(&cq->unrung, 1);
	peer_raise(peer, &cq->raise, RAISE_CQ_NOTIFY);
}

void peer_kick(struct peer *peer)
{
	const uint64_t one = 1;
	ssize_t written;
	int cancel;

	if (peer->private == NULL) {
		agent_kick();
		return;
	}
	/* fails when its counter is full: then it is kicked already */
	cancel = cancel_off();
	written = write(peer->private->kick_fd, &one, sizeof(one));
	cancel_restore(cancel);
	(void)written;
}

void peer_raise(struct peer *peer, _Atomic uint32_t *raise, uint32_t bits)
{
	atomic_fetch_or(raise, bits);
	peer_kick(peer);
}

static void drop_first(struct subscriber *subscriber)
{
	struct announcement *announcement = subscriber->first;

	subscriber->first = announcement->next;
	if (subscriber->first == NULL)
		subscriber->last = &subscriber->first;
	free(announcement);
}

/* 0 or -errno; skips a channel that is gone by now. Callers hold the lock. */
static int send_announcement(const struct subscriber *subscriber,
			     const struct announcement *announcement)
{
	const struct channel_entry *entry = table_find(&own, &announcement->channel);
	unsigned char bytes[WIRE_CHANNEL_MESSAGE];

	wire_put_channel(bytes, announcement->kind, &announcement->channel);
	if (announcement->kind != WIRE_CHANNEL_NEW)
		return unix_send(subscriber->fd, bytes, sizeof(bytes), NULL, 0);
	return entry == NULL ? 0 : unix_send(subscriber->fd, bytes, sizeof(bytes), &entry->fd, 1);
}

/* Announcements that cannot be sent for good are dropped: our agent rings then. Callers hold the
 * lock. */
static void flush(struct subscriber *subscriber)
{
	bool full = false;

	while (subscriber->first != NULL && !full) {
		full = send_announcement(subscriber, subscriber->first) == -EAGAIN;
		if (!full)
			drop_first(subscriber);
	}
	if (full != subscriber->waits) {
		subscriber->waits = full;
		agent_watch_change(subscriber->watch, full ? EPOLLIN | EPOLLOUT : EPOLLIN);
	}
}

void channels_flush(struct subscriber *subscriber)
{
	pthread_mutex_lock(&own.lock);
	flush(subscriber);
	pthread_mutex_unlock(&own.lock);
}

/* Callers hold the lock. Without memory nothing is told: our agent rings then. */
static void tell(struct subscriber *subscriber, enum wire_kind kind,
		 const struct wire_channel *channel)
{
	struct announcement *announcement = calloc(1, sizeof(*announcement));

	if (announcement == NULL)
		return;
	announcement->kind = kind;
	announcement->channel = *channel;
	*subscriber->last = announcement;
	subscriber->last = &announcement->next;
}

struct subscriber *channels_subscribe(int fd, struct watch *watch)
{
	struct subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (subscriber == NULL)
		return NULL;
	subscriber->fd = fd;
	subscriber->watch = watch;
	subscriber->last = &subscriber->first;
	pthread_mutex_lock(&own.lock);
	subscriber->next = subscribers;
	subscribers = subscriber;
	for (uint32_t slot = 0; slot < own.count; slot++) {
		const struct wire_channel channel = {slot, own.entries[slot].id};

		if (channel.id != 0)
			tell(subscriber, WIRE_CHANNEL_NEW, &channel);
	}
	flush(subscriber);
	pthread_mutex_unlock(&own.lock);
	return subscriber;
}

void channels_unsubscribe(struct subscriber *subscriber)
{
	if (subscriber == NULL)
		return;
	pthread_mutex_lock(&own.lock);
	LIST_TAKE_OUT(subscribers, subscriber, next);
	pthread_mutex_unlock(&own.lock);
	while (subscriber->first != NULL)
		drop_first(subscriber);
	free(subscriber);
}

/* Callers hold the lock. */
static void tell_all(enum wire_kind kind, const struct wire_channel *channel)
{
	for (struct subscriber *one = subscribers; one != NULL; one = one->next) {
		tell(one, kind, channel);
		flush(one);
	}
}

void peer_channel_new(uint32_t channel_slot, uint32_t channel_id, int fd)
{
	const struct wire_channel channel = {channel_slot, channel_id};

	pthread_mutex_lock(&own.lock);
	if (table_set(&own, &channel, fd) == 0)
		tell_all(WIRE_CHANNEL_NEW, &channel);
	pthread_mutex_unlock(&own.lock);
}

void peer_channel_delete(uint32_t channel_slot, uint32_t channel_id)
{
	const struct wire_channel channel = {channel_slot, channel_id};
	struct channel_entry *entry;

	pthread_mutex_lock(&own.lock);
	entry = table_find(&own, &channel);
	if (entry != NULL) {
		entry->id = 0;
		tell_all(WIRE_CHANNEL_GONE, &channel);
	}
	pthread_mutex_unlock(&own.lock);
}

/* The parent's channels are dead in the child; who closes their fds is channel.c. */
static void forked(void)
{
	if (subscribers != NULL)
		inherited = subscribers;
	subscribers = NULL;
	if (own.count > 0)
		memset(own.entries, 0, own.count * sizeof(*own.entries));
}

const struct process_part doorbell_part = {.lock = &own.lock, .forked = forked};
