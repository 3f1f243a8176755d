/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.c -- lays out the memory of a thread's lanes, sources first,
 * then sinks, then notes, and fills the sources.
 */
#include "lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/huge_pages.h"

/* More sink than this is not worth its cache lines: then all slots share one place. */
#define SINK_MAX (4ULL << 20)

/* Places of each lane, in bytes. */
struct layout {
	uint64_t source;
	uint64_t sink;
	uint64_t sink_stride;
	uint64_t notes;
};

static int usage(const struct lanes_cfg *cfg)
{
	int flags = cfg->operation->source_usage | cfg->operation->sink_usage |
		    cfg->operation->notes_usage;

	return cfg->reads != NULL ? flags | cfg->reads->sink_usage : flags;
}

static struct layout lay_out(const struct lanes_cfg *cfg, const struct lane *lane)
{
	const struct operation *o = cfg->operation;
	uint64_t stride = lane->access.stride;
	struct layout l = {0};

	if (o->source_usage != 0)
		l.source = access_source_bytes(&lane->access);
	if (o->sink_usage != 0 || cfg->reads != NULL) {
		l.sink_stride = stride * cfg->params->depth <= SINK_MAX ? stride : 0;
		l.sink = l.sink_stride != 0 ? stride * cfg->params->depth : stride;
	}
	if (o->notes_usage != 0)
		l.notes = (uint64_t)OPERATION_NOTE_BYTES * cfg->params->depth;
	return l;
}

static void place(const struct lanes_cfg *cfg, struct lane *lanes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		access_init(&lanes[i].access, cfg->params, cfg->target_bytes, lanes[i].index,
			    cfg->seed);
		access_init(&lanes[i].reads, cfg->params, cfg->target_bytes, lanes[i].index,
			    cfg->seed + 1);
		lanes[i].size_bytes = cfg->params->size_bytes;
		lanes[i].leading = RPMA_F_COMPLETION_ON_ERROR;
		lanes[i].inlined = cfg->params->size_bytes <= cfg->inline_bytes ? RPMA_F_INLINE : 0;
		if (cfg->params->batch > 1)
			lanes[i].leading |= RPMA_F_MORE;
	}
}

/* The sources differ in size where slices do. */
static size_t set_offsets(const struct lanes_cfg *cfg, struct lane *lanes, uint32_t count)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		lanes[i].source_offset = at;
		at += lay_out(cfg, &lanes[i]).source;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct layout l = lay_out(cfg, &lanes[i]);

		lanes[i].sink_offset = at;
		lanes[i].sink_stride = l.sink_stride;
		at += l.sink;
	}
	for (uint32_t i = 0; i < count; i++) {
		lanes[i].notes_offset = at;
		at += lay_out(cfg, &lanes[i]).notes;
	}
	return (size_t)at;
}

/* Whole huge pages; a thread's buffers are one mapping, so the rest of one page at most is lost. */
static int map_huge(struct lane_memory *m, void **memory)
{
	size_t page = huge_page_bytes();

	if (page == 0)
		return failure_set(EXIT_RUN_FAILED, "memory",
				   "--buffers hugepages: this kernel has no huge pages");
	m->size_bytes = (m->size_bytes + page - 1) / page * page;
	return huge_pages_map(m->size_bytes, "memory", memory);
}

static int map_pages(struct lane_memory *m, bool huge, void **memory)
{
	char size[UNITS_TEXT_BYTES];

	if (huge)
		return map_huge(m, memory);
	*memory = mmap(NULL, m->size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (*memory == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, "memory", "cannot map buffers of %s: %s",
				   units_print_size(m->size_bytes, size), strerror(errno));
	return 0;
}

static int map(struct lane_memory *m, const struct lanes_cfg *cfg)
{
	void *memory = MAP_FAILED;
	int ret = map_pages(m, cfg->huge_pages, &memory);

	if (ret)
		return ret;
	m->bytes = memory;
	if (cfg->node >= 0)
		m->bind_error =
			topology_bind_memory(cfg->topology, memory, m->size_bytes, cfg->node);
	memset(memory, 0, m->size_bytes);
	return 0;
}

static int enroll(struct lane_memory *m, const struct lanes_cfg *cfg)
{
	char size[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(cfg->peer, m->bytes, m->size_bytes, usage(cfg), &m->mr);

	if (ret)
		return failure_because(
			connection_cause_of(ret), EXIT_RUN_FAILED, "register",
			"cannot register buffers of %s: %s (ulimit -l limits what may "
			"be locked)",
			units_print_size(m->size_bytes, size), connection_cause(ret));
	return 0;
}

/* Reads of a mix begin in the middle of the places of the writes. */
static int draw(struct lane_memory *m, const struct params *params, struct lane *lanes,
		uint32_t count)
{
	if (!params_zipf(params))
		return 0;
	m->places = malloc((size_t)count * ACCESS_PLACES * sizeof(*m->places));
	if (m->places == NULL)
		return failure_set(EXIT_INTERNAL, "memory", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		access_draw(&lanes[i].access, params, m->places + (size_t)i * ACCESS_PLACES);
		lanes[i].reads.places = lanes[i].access.places;
		lanes[i].reads.next = ACCESS_PLACES / 2;
	}
	return 0;
}

static int draw_sizes(struct lane_memory *m, const struct lanes_cfg *cfg, struct lane *lanes,
		      uint32_t count)
{
	const struct size_mix *mix = cfg->params->mix;

	if (mix == NULL)
		return 0;
	m->sizes = malloc((size_t)count * SIZE_MIX_DRAWS * sizeof(*m->sizes));
	if (m->sizes == NULL)
		return failure_set(EXIT_INTERNAL, "memory", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *draws = m->sizes + (size_t)i * SIZE_MIX_DRAWS;

		size_mix_draw(mix, cfg->seed + lanes[i].index, draws);
		lanes[i].sizes = draws;
	}
	return 0;
}

static void free_memory(struct lane_memory *memory)
{
	struct failure kept = *failure_get();

	rpma_mr_dereg(&memory->mr);
	free(memory->places);
	free(memory->sizes);
	if (memory->bytes != NULL)
		munmap(memory->bytes, memory->size_bytes);
	*memory = (struct lane_memory){0};
	*failure_get() = kept;
}

/* Every page is touched by the calling thread. */
static int make_memory(struct lane_memory *memory, const struct lanes_cfg *cfg, struct lane *lanes,
		       uint32_t count)
{
	struct lane_memory m = {0};
	int ret;

	place(cfg, lanes, count);
	m.size_bytes = set_offsets(cfg, lanes, count);
	ret = map(&m, cfg);
	if (ret == 0)
		ret = draw(&m, cfg->params, lanes, count);
	if (ret == 0)
		ret = draw_sizes(&m, cfg, lanes, count);
	if (ret == 0)
		ret = enroll(&m, cfg);
	if (ret) {
		free_memory(&m);
		return ret;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (cfg->operation->source_usage != 0)
			access_fill(&lanes[i].access, m.bytes + lanes[i].source_offset);
		lanes[i].source = m.mr;
		lanes[i].sink = m.mr;
		lanes[i].notes = m.mr;
	}
	*memory = m;
	return 0;
}

/* A job. */
static int make_of_thread(void *arg, uint32_t thread)
{
	struct lanes *l = arg;
	uint32_t each = l->cfg.params->connections;

	return make_memory(&l->memory[thread], &l->cfg, &l->all[(size_t)thread * each], each);
}

int lanes_make(struct lanes *lanes, const struct lanes_cfg *cfg, struct workers *workers)
{
	uint32_t count = params_lanes(cfg->params);

	*lanes = (struct lanes){
		.cfg = *cfg,
		.all = calloc(count, sizeof(*lanes->all)),
		.memory = calloc(cfg->params->threads, sizeof(*lanes->memory)),
	};
	if (lanes->all == NULL || lanes->memory == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		lanes->all[i].index = i;
		lanes->all[i].flush_type = cfg->flush_type;
	}
	return workers_do(workers, make_of_thread, lanes);
}

void lanes_free(struct lanes *lanes)
{
	const struct params *p = lanes->cfg.params;

	for (uint32_t i = 0; lanes->all != NULL && i < params_lanes(p); i++)
		lane_detach(&lanes->all[i]);
	for (uint32_t i = 0; lanes->memory != NULL && i < p->threads; i++)
		free_memory(&lanes->memory[i]);
	free(lanes->all);
	free(lanes->memory);
	*lanes = (struct lanes){.all = NULL};
}
