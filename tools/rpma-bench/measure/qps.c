/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qps.c -- lays out the memory of a thread's queue pairs, sources first,
 * then sinks, then notes, and fills the sources.
 */
#include "qps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/huge_pages.h"

struct connection_queues qp_queues(const struct operation *operation, const struct operation *reads,
				   const struct params *params)
{
	uint32_t depth = params->depth, each = operation->work_requests;
	struct connection_queues queues = {0};

	if (reads != NULL && reads->work_requests > each)
		each = reads->work_requests;
	queues.sq_size = depth * each;
	/* a queue of no receives is no queue to some devices */
	queues.rq_size = operation->answered ? depth : 1;
	queues.cq_size = queues.sq_size + queues.rq_size;
	if (params->batch > 1)
		queues.batch = params->batch * each;
	return queues;
}

static int take_target(struct qp *qp, const struct region_desc *target)
{
	struct region_remote remote = {.mr = NULL};
	int ret = region_take(&remote, target, qp->conn);

	qp->remote = remote.mr;
	qp->remote_addr = remote.addr;
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "handshake",
				   "%s describes its target in a way librpma refuses: %s",
				   connection_peer_name(qp->connection), connection_cause(ret));
	return 0;
}

static int make_ready(struct qp *qp, const struct operation *operation, uint32_t depth)
{
	int ret = operation_arm(operation, qp, depth);

	if (ret)
		return failure_set(EXIT_RUN_FAILED, "connect", "%s: cannot ready a connection: %s",
				   connection_peer_name(qp->connection), connection_cause(ret));
	return 0;
}

/* Disconnects; a queue pair that was never attached is fine. */
static void qp_detach(struct qp *qp)
{
	rpma_mr_remote_delete(&qp->remote);
	connection_close(&qp->connection);
	qp->conn = NULL;
	qp->cq = NULL;
}

int qps_attach(struct qps *qps, uint32_t index, struct connection *connection,
	       const struct region_desc *target)
{
	struct qp *qp = &qps->all[index];
	int ret;

	qp->connection = connection;
	qp->conn = connection_conn(connection);
	qp->cq = connection_cq(connection);
	qp->cq_fd = connection_cq_fd(connection);
	ret = take_target(qp, target);
	if (ret == 0)
		ret = make_ready(qp, qps->cfg.operation, qps->cfg.params->depth);
	if (ret)
		qp_detach(qp);
	return ret;
}

/* A server that flushes with its CPU is left out: its report tells whether that is durable. */
void qp_mark_durable(const struct qp *qp, const struct operation *operation)
{
	const struct access *a = &qp->access;

	if (!operation->flushes || qp->flush_type != RPMA_FLUSH_TYPE_PERSISTENT)
		return;
	region_mark_durable(qp->conn, qp->remote_addr + a->base, a->slots * a->stride);
	if (operation->up_to_atomic_write != NULL)
		region_mark_durable(qp->conn, qp->remote_addr + access_tail_offset(a),
				    RPMA_ATOMIC_WRITE_ALIGNMENT);
}

/* More sink than this is not worth its cache lines: then all slots share one part. */
#define SINK_MAX (4ULL << 20)

/* The memory of each queue pair, in bytes. */
struct layout {
	uint64_t source;
	uint64_t sink;
	uint64_t sink_stride;
	uint64_t notes;
};

static int usage(const struct qps_cfg *cfg)
{
	int flags = cfg->operation->source_usage | cfg->operation->sink_usage |
		    cfg->operation->notes_usage;

	return cfg->reads != NULL ? flags | cfg->reads->sink_usage : flags;
}

static struct layout lay_out(const struct qps_cfg *cfg, const struct qp *qp)
{
	const struct operation *o = cfg->operation;
	uint64_t stride = qp->access.stride;
	struct layout l = {0};

	if (o->source_usage != 0)
		l.source = access_source_bytes(&qp->access);
	if (o->sink_usage != 0 || cfg->reads != NULL) {
		l.sink_stride = stride * cfg->params->depth <= SINK_MAX ? stride : 0;
		l.sink = l.sink_stride != 0 ? stride * cfg->params->depth : stride;
	}
	if (o->notes_usage != 0)
		l.notes = (uint64_t)OPERATION_NOTE_BYTES * cfg->params->depth;
	return l;
}

static void init_access(const struct qps_cfg *cfg, struct qp *qps, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		access_init(&qps[i].access, cfg->params, cfg->target_bytes, qps[i].index,
			    cfg->seed);
		access_init(&qps[i].reads, cfg->params, cfg->target_bytes, qps[i].index,
			    cfg->seed + 1);
		qps[i].size_bytes = cfg->params->size_bytes;
		qps[i].leading = RPMA_F_COMPLETION_ON_ERROR;
		qps[i].inlined = cfg->params->size_bytes <= cfg->inline_bytes ? RPMA_F_INLINE : 0;
		if (cfg->params->batch > 1)
			qps[i].leading |= RPMA_F_MORE;
	}
}

/* The sources differ in size where slices do. */
static size_t set_offsets(const struct qps_cfg *cfg, struct qp *qps, uint32_t count)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		qps[i].source_offset = at;
		at += lay_out(cfg, &qps[i]).source;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct layout l = lay_out(cfg, &qps[i]);

		qps[i].sink_offset = at;
		qps[i].sink_stride = l.sink_stride;
		at += l.sink;
	}
	for (uint32_t i = 0; i < count; i++) {
		qps[i].notes_offset = at;
		at += lay_out(cfg, &qps[i]).notes;
	}
	return (size_t)at;
}

/* Whole huge pages; a thread's buffers are one mapping, so the rest of one page at most is lost. */
static int map_huge(struct qp_memory *m, void **memory)
{
	size_t page = huge_page_bytes();

	if (page == 0)
		return failure_set(EXIT_RUN_FAILED, "memory",
				   "--buffers hugepages: this kernel has no huge pages");
	m->size_bytes = (m->size_bytes + page - 1) / page * page;
	return huge_pages_map(m->size_bytes, "memory", memory);
}

static int map_pages(struct qp_memory *m, bool huge, void **memory)
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

static int map(struct qp_memory *m, const struct qps_cfg *cfg)
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

static int enroll(struct qp_memory *m, const struct qps_cfg *cfg)
{
	char size[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(cfg->peer, m->bytes, m->size_bytes, usage(cfg), &m->mr);

	if (ret)
		return librpma_failed(
			ret, "register",
			"cannot register buffers of %s: %s (ulimit -l limits what may be locked)",
			units_print_size(m->size_bytes, size), connection_cause(ret));
	return 0;
}

/* Reads of a mix begin in the middle of the slots of the writes. */
static int draw(struct qp_memory *m, const struct params *params, struct qp *qps, uint32_t count)
{
	if (!params_zipf(params))
		return 0;
	m->draws = malloc((size_t)count * ACCESS_DRAWS * sizeof(*m->draws));
	if (m->draws == NULL)
		return failure_set(EXIT_INTERNAL, "memory", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		access_draw(&qps[i].access, params, m->draws + (size_t)i * ACCESS_DRAWS);
		qps[i].reads.draws = qps[i].access.draws;
		qps[i].reads.next = ACCESS_DRAWS / 2;
	}
	return 0;
}

static int draw_sizes(struct qp_memory *m, const struct qps_cfg *cfg, struct qp *qps,
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

		size_mix_draw(mix, cfg->seed + qps[i].index, draws);
		qps[i].sizes = draws;
	}
	return 0;
}

static void free_memory(struct qp_memory *memory)
{
	struct failure kept = *failure_get();

	rpma_mr_dereg(&memory->mr);
	free(memory->draws);
	free(memory->sizes);
	if (memory->bytes != NULL)
		munmap(memory->bytes, memory->size_bytes);
	*memory = (struct qp_memory){0};
	*failure_get() = kept;
}

/* Every page is touched by the calling thread. */
static int make_memory(struct qp_memory *memory, const struct qps_cfg *cfg, struct qp *qps,
		       uint32_t count)
{
	struct qp_memory m = {0};
	int ret;

	init_access(cfg, qps, count);
	m.size_bytes = set_offsets(cfg, qps, count);
	ret = map(&m, cfg);
	if (ret == 0)
		ret = draw(&m, cfg->params, qps, count);
	if (ret == 0)
		ret = draw_sizes(&m, cfg, qps, count);
	if (ret == 0)
		ret = enroll(&m, cfg);
	if (ret) {
		free_memory(&m);
		return ret;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (cfg->operation->source_usage != 0)
			access_fill(&qps[i].access, m.bytes + qps[i].source_offset);
		qps[i].source = m.mr;
		qps[i].sink = m.mr;
		qps[i].notes = m.mr;
	}
	*memory = m;
	return 0;
}

/* A job. */
static int make_of_thread(void *arg, uint32_t thread)
{
	struct qps *l = arg;
	uint32_t each = l->cfg.params->connections;

	return make_memory(&l->memory[thread], &l->cfg, &l->all[(size_t)thread * each], each);
}

int qps_make(struct qps *qps, const struct qps_cfg *cfg, struct workers *workers)
{
	uint32_t count = params_qps(cfg->params);

	*qps = (struct qps){
		.cfg = *cfg,
		.queues = qp_queues(cfg->operation, cfg->reads, cfg->params),
		.all = calloc(count, sizeof(*qps->all)),
		.memory = calloc(cfg->params->threads, sizeof(*qps->memory)),
	};
	if (qps->all == NULL || qps->memory == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		qps->all[i].index = i;
		qps->all[i].flush_type = cfg->flush_type;
	}
	return workers_do(workers, make_of_thread, qps);
}

void qps_free(struct qps *qps)
{
	const struct params *p = qps->cfg.params;

	for (uint32_t i = 0; qps->all != NULL && i < params_qps(p); i++)
		qp_detach(&qps->all[i]);
	for (uint32_t i = 0; qps->memory != NULL && i < p->threads; i++)
		free_memory(&qps->memory[i]);
	free(qps->all);
	free(qps->memory);
	*qps = (struct qps){.all = NULL};
}
