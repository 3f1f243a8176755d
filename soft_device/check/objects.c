/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.c -- see objects.h: a table by pointer, and one by number; those that are gone in the
 * order in which they went, and of these the oldest is forgotten.
 */
#include "objects.h"

#include <stdio.h>
#include <string.h>

#define BUCKETS 4096u
#define KEPT	4096u

struct entry {
	struct object object;
	struct entry *next_by_handle;
	struct entry *next_by_number;
	struct entry *next_gone;
	void *memory; /* kept; NULL: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *by_handle[BUCKETS], *by_number[BUCKETS];
static struct entry *first_gone, **last_gone = &first_gone;
static uint32_t gone_count;
static _Atomic uint32_t gone_ever;

/* The objects of each place in the program, by its stack. */
static struct {
	uint32_t count; /* that are there */
	uint32_t most;	/* count was never larger, ... */
	uint32_t since; /* ... and reached it then: gone_ever */
} places[STACKS_MOST];

/* A child has made none yet. */
static void forked(void)
{
	if (!check_any)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct entry *at = by_number[i]; at != NULL; at = at->next_by_number)
			at->object.is_inherited = true;
	memset(places, 0, sizeof(places));
}

const struct process_part check_objects_part = {.lock = &lock, .forked = forked};

static const char *const names[] = {
	[OBJECT_CONTEXT] = "context",
	[OBJECT_PD] = "PD",
	[OBJECT_MR] = "memory region",
	[OBJECT_CQ] = "CQ",
	[OBJECT_QP] = "QP",
	[OBJECT_SRQ] = "SRQ",
	[OBJECT_CHANNEL] = "completion channel",
	[OBJECT_CM_ID] = "CM id",
	[OBJECT_CM_EVENT] = "CM event",
	[OBJECT_CM_CHANNEL] = "event channel",
	[OBJECT_AH] = "address handle",
	[OBJECT_MW] = "memory window",
};

static struct entry **handle_bucket(const void *handle)
{
	return &by_handle[((uintptr_t)handle >> 4) % BUCKETS];
}

static struct entry **number_bucket(enum objects_type type, uint32_t number)
{
	return &by_number[(number * 2654435761u + type) >> 8 & (BUCKETS - 1)];
}

/* That of an object without a number is by its pointer, and is not looked for. */
static struct entry **bucket_of_number(const struct object *object)
{
	const uint32_t pointer = (uint32_t)((uintptr_t)object->handle >> 4);

	return number_bucket(object->type, object->number != 0 ? object->number : pointer);
}

/* The newest with this pointer; the lock is held. */
static struct entry *find(enum objects_type type, const void *handle)
{
	struct entry *at = *handle_bucket(handle);

	while (at != NULL && (at->object.handle != handle || at->object.type != type))
		at = at->next_by_handle;
	return at;
}

static void count_made(uint32_t stack)
{
	if (++places[stack].count <= places[stack].most)
		return;
	places[stack].most = places[stack].count;
	places[stack].since = atomic_load(&gone_ever);
}

void objects_add(const struct object *object)
{
	struct entry *made = calloc(1, sizeof(*made));
	struct entry **handles, **numbers;

	if (made == NULL)
		return;
	made->object = *object;
	made->object.gone_before = atomic_load(&gone_ever);
	handles = handle_bucket(object->handle);
	numbers = bucket_of_number(object);
	pthread_mutex_lock(&lock);
	made->next_by_handle = *handles;
	*handles = made;
	made->next_by_number = *numbers;
	*numbers = made;
	count_made(object->made_at);
	pthread_mutex_unlock(&lock);
}

void objects_change(const struct object *object)
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = find(object->type, object->handle);
	if (entry != NULL && !entry->object.is_gone) {
		const struct object before = entry->object;

		entry->object = *object;
		entry->object.made_at = before.made_at;
		entry->object.changed_at = object->made_at;
		entry->object.gone_before = before.gone_before;
		entry->object.is_inherited = before.is_inherited;
		if (object->memory == before.memory) {
			entry->object.unmapped_at = before.unmapped_at;
			entry->object.freed_at = before.freed_at;
		}
	}
	pthread_mutex_unlock(&lock);
}

/* The lock is held. */
static void forget(struct entry *entry)
{
	struct entry **at = handle_bucket(entry->object.handle);

	while (*at != entry)
		at = &(*at)->next_by_handle;
	*at = entry->next_by_handle;
	at = bucket_of_number(&entry->object);
	while (*at != entry)
		at = &(*at)->next_by_number;
	*at = entry->next_by_number;
	free(entry->memory);
	free(entry);
}

static void forget_oldest(void)
{
	struct entry *oldest = first_gone;

	first_gone = oldest->next_gone;
	if (first_gone == NULL)
		last_gone = &first_gone;
	gone_count--;
	forget(oldest);
}

uint32_t objects_gone_ever(void)
{
	return atomic_load(&gone_ever);
}

void objects_remove(enum objects_type type, const void *handle)
{
	const uint32_t stack = stack_here();
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = find(type, handle);
	if (entry != NULL && !entry->object.is_gone) {
		entry->object.is_gone = true;
		entry->object.gone_at = stack;
		entry->object.gone_as = atomic_fetch_add(&gone_ever, 1) + 1;
		if (!entry->object.is_inherited)
			places[entry->object.made_at].count--;
		*last_gone = entry;
		last_gone = &entry->next_gone;
		if (++gone_count > KEPT)
			forget_oldest();
	}
	pthread_mutex_unlock(&lock);
}

void objects_keep(const void *handle, void *memory)
{
	struct entry *at;

	pthread_mutex_lock(&lock);
	at = *handle_bucket(handle);
	while (at != NULL &&
	       (at->object.handle != handle || !at->object.is_gone || at->memory != NULL))
		at = at->next_by_handle;
	if (at != NULL)
		at->memory = memory;
	pthread_mutex_unlock(&lock);
	if (at == NULL)
		free(memory);
}

/* A region is named by its lkey, as the program knows it. */
static void put_name(const struct object *object, char name[OBJECT_NAME_BYTES])
{
	if (object->type == OBJECT_MR)
		snprintf(name, OBJECT_NAME_BYTES, "memory region, lkey %#x",
			 object->number | CHECK_LKEY);
	else if (object->number == 0)
		snprintf(name, OBJECT_NAME_BYTES, "%s", names[object->type]);
	else
		snprintf(name, OBJECT_NAME_BYTES, "%s %#x", names[object->type], object->number);
}

void objects_describe(const void *handle, char name[OBJECT_NAME_BYTES], struct object *object)
{
	const struct entry *at;

	*object = (struct object){.handle = handle};
	snprintf(name, OBJECT_NAME_BYTES, "an object");
	pthread_mutex_lock(&lock);
	at = *handle_bucket(handle);
	while (at != NULL && at->object.handle != handle)
		at = at->next_by_handle;
	if (at != NULL) {
		*object = at->object;
		put_name(object, name);
	}
	pthread_mutex_unlock(&lock);
}

static void tell(const struct object *object, const char *call)
{
	const enum check_kind kind = object->type == OBJECT_CM_EVENT
					     ? CHECK_EVENT_ACKNOWLEDGED_TWICE
					     : CHECK_DOUBLE_DESTROY;
	const uint32_t stack = stack_here();
	char name[OBJECT_NAME_BYTES];
	struct check_finding finding;

	put_name(object, name);
	check_find(&finding, kind, stack, "%s of a %s (%p) that is %s already", call, name,
		   object->handle, kind == CHECK_DOUBLE_DESTROY ? "destroyed" : "acknowledged");
	check_place(&finding, "now at", stack);
	check_place(&finding, kind == CHECK_DOUBLE_DESTROY ? "before at" : "acknowledged at",
		    object->gone_at);
	check_place(&finding, kind == CHECK_DOUBLE_DESTROY ? "made at" : "got at", object->made_at);
	check_report(&finding);
}

bool objects_alive(enum objects_type type, const void *handle, const char *call)
{
	struct object object;
	struct entry *entry;
	bool is_gone;

	pthread_mutex_lock(&lock);
	entry = find(type, handle);
	is_gone = entry != NULL && entry->object.is_gone;
	if (is_gone)
		object = entry->object;
	pthread_mutex_unlock(&lock);
	if (is_gone)
		tell(&object, call);
	return !is_gone;
}

bool objects_find(enum objects_type type, uint32_t number, struct object *found)
{
	struct entry *at;

	pthread_mutex_lock(&lock);
	at = *number_bucket(type, number);
	while (at != NULL && (at->object.type != type || at->object.number != number))
		at = at->next_by_number;
	if (at != NULL)
		*found = at->object;
	pthread_mutex_unlock(&lock);
	return at != NULL;
}

bool objects_find_memory(uint64_t memory, struct object *found)
{
	bool is_found = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BUCKETS && !is_found; i++) {
		for (const struct entry *at = by_number[i]; at != NULL && !is_found;
		     at = at->next_by_number) {
			is_found = at->object.type == OBJECT_MR && !at->object.is_gone &&
				   memory - at->object.memory < at->object.length;
			if (is_found)
				*found = at->object;
		}
	}
	pthread_mutex_unlock(&lock);
	return is_found;
}

/* --- growth --- */

#define GROWN_LEAST   500u /* objects of one place that are left at the end ... */
#define BETWEEN_LEAST 100u /* ... and others that were destroyed between the first and the last */

struct grown {
	enum objects_type type;
	uint32_t count;
	uint32_t replaced;    /* made since there were most: for one of them another went */
	uint32_t first, last; /* gone_before */
};

static void add_grown(struct grown *grown, const struct object *object)
{
	if (object->is_gone || object->is_inherited || object->made_at == 0 ||
	    object->type == OBJECT_CM_EVENT)
		return;
	grown += object->made_at;
	if (grown->count == 0 || object->gone_before < grown->first)
		grown->first = object->gone_before;
	if (object->gone_before > grown->last)
		grown->last = object->gone_before;
	grown->type = object->type;
	grown->count++;
	if (object->gone_before > places[object->made_at].since)
		grown->replaced++;
}

/* A cache that is full is no growth: most of it has been replaced since it was. */
static bool has_grown(const struct grown *grown)
{
	return grown->count >= GROWN_LEAST && grown->last - grown->first >= BETWEEN_LEAST &&
	       grown->replaced < grown->count / 4;
}

static void tell_grown(const struct grown *grown, uint32_t stack)
{
	struct check_finding finding;

	check_find(&finding, CHECK_GROWTH, stack,
		   "%u objects of type %s are left of one place, where %u others were destroyed "
		   "meanwhile",
		   grown->count, names[grown->type], grown->last - grown->first);
	check_place(&finding, "made at", stack);
	check_report(&finding);
}

void objects_tell_growth(int unused)
{
	struct grown *grown = calloc(STACKS_MOST, sizeof(*grown));

	(void)unused;
	if (grown == NULL)
		return;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct entry *at = by_number[i]; at != NULL; at = at->next_by_number)
			add_grown(grown, &at->object);
	pthread_mutex_unlock(&lock);
	for (uint32_t i = 0; i < STACKS_MOST; i++)
		if (has_grown(&grown[i]))
			tell_grown(&grown[i], i);
	free(grown);
}

void objects_unmapped(uint32_t key, uint32_t stack, bool is_freed)
{
	struct entry *at;

	pthread_mutex_lock(&lock);
	at = *number_bucket(OBJECT_MR, key);
	while (at != NULL && (at->object.type != OBJECT_MR || at->object.number != key))
		at = at->next_by_number;
	if (at != NULL && is_freed)
		at->object.freed_at = stack;
	else if (at != NULL)
		at->object.unmapped_at = stack;
	pthread_mutex_unlock(&lock);
}

uint32_t objects_made_at(enum objects_type type, const void *handle)
{
	uint32_t made_at = 0;
	struct entry *entry;

	pthread_mutex_lock(&lock);
	entry = find(type, handle);
	if (entry != NULL)
		made_at = entry->object.made_at;
	pthread_mutex_unlock(&lock);
	return made_at;
}
