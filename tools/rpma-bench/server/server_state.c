/* SPDX-License-Identifier: BSD-3-Clause */
/* server_state.c -- the shared state of a server's sessions, and its limits. */
#include "server_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "readiness/readiness.h"

enum { ODP_NO, ODP_YES, ODP_UNKNOWN };

/*
 * Pages of DAX files cannot be pinned for long, so what was registered is paged
 * on demand; of other files some can.
 */
static uint8_t odp_of(enum target_kind kind, bool odp_capable)
{
	if (!odp_capable || (kind != TARGET_FSDAX && !target_is_cached(kind)))
		return ODP_NO;
	return kind == TARGET_FSDAX ? ODP_YES : ODP_UNKNOWN;
}

int exported_region_register(struct exported_region *exported, const struct target_context *server,
			     const char *spec)
{
	const struct target *t = &exported->target;
	const struct region_memory memory = {
		.bytes = t->memory,
		.size = t->size_bytes,
		.kind = t->kind,
		.of = spec,
		.direct_write_to_pmem = server->direct_write_to_pmem,
	};
	int ret = region_open(&exported->region, server->peer, server->device, &memory);

	if (ret)
		return ret;
	exported->description = (struct message_target){
		.kind = (uint8_t)t->kind,
		.odp = odp_of(t->kind, server->odp_capable),
		.flush_types = exported->region.flush_types,
		.numa_node = t->numa_node,
		.page_bytes = (uint32_t)t->page_bytes,
		.bytes = t->size_bytes,
	};
	return 0;
}

static const char *name_of(const struct target *target, char word[64])
{
	if (target->path != NULL)
		return target->path;
	snprintf(word, 64, "%s:%zu", target_kind_name(target->kind), target->size_bytes);
	return word;
}

static json_t *readiness_of(const struct target *target, const char *device)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	json_t *block = NULL;
	char word[64];
	const struct readiness_cfg cfg = {
		.root = &sysroot_machine, .device = device, .target = name_of(target, word)};

	if (readiness == NULL)
		return json_null();
	if (readiness_inspect(readiness, &cfg) == 0)
		block = readiness_block(readiness);
	readiness_free(readiness);
	free(readiness);
	return block != NULL ? block : json_null();
}

json_t *regions_readiness(const struct exported_region *regions, size_t count, const char *device)
{
	json_t *blocks = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(blocks, readiness_of(&regions[i].target, device));
	return blocks;
}

void server_destroy(struct server_state *server)
{
	for (size_t i = 0; i < server->regions_count; i++) {
		if (server->owns_regions)
			region_close(&server->regions[i].region);
		if (server->owns_targets)
			target_close(&server->regions[i].target);
	}
	topology_free(&server->topology);
	free(server->environment);
}

bool server_take(struct server_state *server, const struct server_share *share)
{
	struct server_budget *budget = server->budget;
	bool room;

	pthread_mutex_lock(&budget->lock);
	room = share->qps <= SERVER_QPS_MAX - budget->qps &&
	       share->buffer_bytes <= SERVER_BUFFERS_MAX - budget->buffer_bytes;
	if (room) {
		budget->qps += share->qps;
		budget->buffer_bytes += share->buffer_bytes;
		budget->users[share->target]++;
	}
	pthread_mutex_unlock(&budget->lock);
	return room;
}

void server_give(struct server_state *server, const struct server_share *share)
{
	struct server_budget *budget = server->budget;

	pthread_mutex_lock(&budget->lock);
	budget->qps -= share->qps;
	budget->buffer_bytes -= share->buffer_bytes;
	budget->users[share->target]--;
	pthread_mutex_unlock(&budget->lock);
}

bool server_target_shared(struct server_state *server, uint32_t target)
{
	bool shared;

	pthread_mutex_lock(&server->budget->lock);
	shared = server->budget->users[target] > 1;
	pthread_mutex_unlock(&server->budget->lock);
	return shared;
}

const struct clock *server_clock(struct server_state *server)
{
	pthread_mutex_lock(&server->service.lock);
	if (!server->clock_started)
		clock_start(&server->clock, NULL);
	server->clock_started = true;
	pthread_mutex_unlock(&server->service.lock);
	return &server->clock;
}
