/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.c -- threads first, then the memory they make, then the server's side,
 * and the queue pairs at last; taken down in reverse.
 */
#include "setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "common/rdma/target.h"
#include "control.h"
#include "tools/rpma-bench/measure/offsets.h"
#include "tools/rpma-bench/measure/op/table.h"

#define SIZE_MAX_BYTES (64ULL << 20)

/* Enough for all queue pairs, else at most 64 MiB and the size of the target. */
static size_t client_region_bytes(const struct params *params, uint64_t target_bytes)
{
	uint64_t least = access_slice_min(params) * params_qps(params);
	uint64_t most = target_bytes < SIZE_MAX_BYTES ? target_bytes : SIZE_MAX_BYTES;

	return (size_t)(least > most ? least : most);
}

static int map(struct client_region *e)
{
	char size[UNITS_TEXT_BYTES];
	void *memory = mmap(NULL, e->size_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, "memory", "cannot map %s for the server: %s",
				   units_print_size(e->size_bytes, size), strerror(errno));
	e->bytes = memory;
	memset(memory, 0, e->size_bytes);
	return 0;
}

/* A region that was never made is fine if it is zero. */
static void client_region_free(struct client_region *client_region)
{
	struct failure kept = *failure_get();

	region_close(&client_region->region);
	if (client_region->bytes != NULL)
		munmap(client_region->bytes, client_region->size_bytes);
	*client_region = (struct client_region){0};
	*failure_get() = kept;
}

/*
 * Makes as much as all queue pairs need, and at most as much as the target has;
 * describes it in begin, whose params are set.
 */
static int client_region_make(struct client_region *client_region, struct rpma_peer *peer,
			      const char *device, uint64_t target_bytes,
			      struct message_begin *begin)
{
	struct client_region e = {.size_bytes = client_region_bytes(&begin->params, target_bytes)};
	struct region_memory memory = {
		.size = e.size_bytes, .kind = TARGET_DRAM, .of = "memory for the server"};
	int ret = map(&e);

	memory.bytes = e.bytes;
	if (ret == 0)
		ret = region_open(&e.region, peer, device, &memory);
	if (ret) {
		client_region_free(&e);
		return ret;
	}
	begin->client_bytes = e.size_bytes;
	begin->client_desc = e.region.desc;
	*client_region = e;
	return 0;
}

static bool takes(const struct message_welcome *welcome, uint32_t target, enum rpma_flush_type type)
{
	return (welcome->targets[target].flush_types & 1 << type) != 0;
}

/* librpma flushes to persistence only where the peer's operator vouches for its path to PMem. */
enum rpma_flush_type persisting_flush(const struct message_welcome *welcome, uint32_t target)
{
	if (welcome->direct_write_to_pmem && takes(welcome, target, RPMA_FLUSH_TYPE_PERSISTENT))
		return RPMA_FLUSH_TYPE_PERSISTENT;
	return RPMA_FLUSH_TYPE_VISIBILITY;
}

static enum bench_persist choose(struct persist_choice *choice, enum bench_persist persist,
				 const char *reason)
{
	choice->made = true;
	choice->persist = persist;
	snprintf(choice->reason, sizeof(choice->reason), "%s", reason);
	return persist;
}

enum bench_persist persisting_first(const struct message_welcome *welcome, uint32_t target,
				    struct persist_choice *choice)
{
	uint8_t kind = welcome->targets[target].kind;
	bool pmem = kind == TARGET_FSDAX || kind == TARGET_DEVDAX;
	bool cached = kind == TARGET_FILE || kind == TARGET_OTHERFILE;

	if (choice->made)
		return choice->persist;
	if (pmem && !welcome->direct_write_to_pmem)
		return choose(choice, BENCH_GPSPM,
			      "it is persistent memory, and its operator did not state that direct "
			      "writes reach it");
	if (cached)
		return choose(choice, BENCH_GPSPM,
			      "it is a file, and a flush leaves the data in its page cache");
	if (!takes(welcome, target, persisting_flush(welcome, target)))
		return choose(choice, BENCH_GPSPM, "it takes no flush");
	return BENCH_NATIVE;
}

void persisting_settle(struct persist_choice *choice, bool native)
{
	if (native)
		choose(choice, BENCH_NATIVE, "its flushes complete as such");
	else
		choose(choice, BENCH_APM, "its flushes complete as reads");
}

int persisting_check(const struct message_welcome *welcome, const struct operation *operation,
		     uint32_t target, const char *who)
{
	if (!operation->flushes || takes(welcome, target, persisting_flush(welcome, target)))
		return 0;
	failure_set(EXIT_RUN_FAILED, "begin",
		    "target %u of %s takes no flush, and --persist %s needs one: gpspm needs none",
		    target, who, params_persists[operation->persist]);
	return -ENOTSUP;
}

int persisting_not_native(const char *who)
{
	failure_set(EXIT_RUN_FAILED, "begin",
		    "--persist native: flushes to %s complete as reads, not as flushes: both "
		    "devices and their drivers need the RDMA FLUSH operation; --persist apm "
		    "measures what there is, auto takes the best of it",
		    who);
	return -ENOTSUP;
}

/* The probe is one operation; a device that never answers is a failure of its own. */
#define PROBE_NS 1000000000ULL

static uint64_t target_bytes(const struct repeat_setup *setup)
{
	return setup->run->record.server.welcome.targets[setup->begin.params.target].bytes;
}

/* A pool is as large as what a server would be let write to. */
static uint64_t written_bytes(const struct repeat_setup *setup)
{
	uint64_t bytes = target_bytes(setup);

	return setup->pool != NULL ? client_region_bytes(&setup->begin.params, bytes) : bytes;
}

/* Before there are threads: the library reads its environment, which is changed for it. */
static int open_pool(struct repeat_setup *setup)
{
	const struct record *record = &setup->run->record;
	const struct options *o = record->options;
	const struct remote_pool_cfg cfg = {
		.target = o->rpmem_target != NULL ? o->rpmem_target : o->host,
		.set = o->rpmem_set,
		.bytes = client_region_bytes(&setup->begin.params, target_bytes(setup)),
		.lanes = params_qps(&setup->begin.params),
		.topology = record->topology,
		.node = record->placement.node,
	};

	return params_rpmem(&setup->begin.params) ? remote_pool_open(&setup->pool, &cfg) : 0;
}

static uint32_t inline_bytes(const struct options *o)
{
	uint32_t chosen = o->knobs.value[CONNECTION_INLINE];

	return chosen != CONNECTION_KNOB_UNSET ? chosen : 0;
}

static int make_qps(struct repeat_setup *setup)
{
	const struct record *record = &setup->run->record;
	const struct qps_cfg cfg = {
		.peer = setup->control->dial.peer,
		.params = &setup->begin.params,
		.operation = setup->operation,
		.reads = setup->reads,
		.target_bytes = written_bytes(setup),
		.seed = setup->begin.seed,
		.topology = record->topology,
		.node = record->placement.node,
		.flush_type = persisting_flush(&record->server.welcome, setup->begin.params.target),
		.inline_bytes = inline_bytes(record->options),
		.huge_pages = record->options->huge_buffers,
	};

	int ret = qps_make(&setup->qps, &cfg, setup->workers);

	for (uint32_t i = 0; setup->qps.all != NULL && i < params_qps(&setup->begin.params); i++)
		setup->qps.all[i].pool = setup->pool;
	return ret;
}

/* Not being allowed to bind is worth a warning. */
static void note_unbound(struct repeat_setup *setup)
{
	struct placement *p = &setup->run->record.placement;
	int cpu = -1, error = workers_unbound(setup->workers, &cpu);

	if (error != 0)
		placement_pin_refused(p, cpu, error);
	for (uint32_t i = 0; setup->qps.memory != NULL && i < setup->begin.params.threads; i++) {
		const struct qp_memory *memory = &setup->qps.memory[i];

		if (memory->bind_error != 0)
			placement_memory_refused(p, memory->bind_error);
		if (memory->bytes != NULL)
			placement_memory_made(p, memory->bytes);
	}
}

static int start_workers(struct repeat_setup *setup)
{
	const struct workers_cfg cfg = {
		.begin = &setup->begin,
		.operation = setup->operation,
		.reads = setup->reads,
		.clock = &setup->run->record.clock,
		.topology = setup->run->record.topology,
		.cpus = setup->run->record.placement.cpus,
		.endless = setup->run->record.options->endless,
		.interval_ns = setup->run->record.options->interval_ns,
	};

	return workers_new(&setup->workers, &cfg);
}

static void set_persist(struct repeat_setup *setup, enum bench_persist persist)
{
	setup->begin.params.persist = persist;
	setup->operation = operation_find(setup->begin.params.op, persist);
}

void repeat_setup_init(struct repeat_setup *setup, struct run *run, const struct plan_trial *trial,
		       uint64_t seed)
{
	const struct options *o = run->record.options;

	*setup = (struct repeat_setup){.run = run, .control = &run->control};
	setup->begin = (struct message_begin){
		.params = run->record.plan.points[trial->point],
		.repeat = trial->repeat,
		.seed = seed,
		.warmup_ns = o->warmup_ns,
		.duration_ns = o->duration_ns,
		.ops = o->ops,
		.verify = o->verify && params_verifiable(&run->record.plan.points[trial->point]),
		.knobs = o->knobs,
	};
	setup->begin.params.target = run->record.targets[setup->begin.params.target];
	set_persist(setup, setup->begin.params.persist);
	setup->reads = operation_of_reads(&setup->begin.params);
}

/* How many files a connection takes is its device's affair: the first ones tell of all. */
static int check_files(const struct repeat_setup *setup, size_t before)
{
	char what[CONNECTION_PEER_MAX + 32];

	snprintf(what, sizeof(what), "%u connections to %s", params_qps(&setup->begin.params),
		 setup->control->dial.name);
	return open_files_check(what, before, params_qps(&setup->begin.params));
}

static int connect_qps(struct repeat_setup *setup)
{
	size_t before = open_files_count();
	int ret = 0;

	for (uint32_t i = 0; i < params_qps(&setup->begin.params) && ret == 0; i++) {
		ret = control_connect_qp(setup->control, &setup->ready, &setup->qps, i);
		if (ret == 0 && i + 1 == OPEN_FILES_SAMPLE)
			ret = check_files(setup, before);
	}
	return ret;
}

/* Both sides are ready when it gives 0; on failure call repeat_setup_close(). */
static int open_both(struct repeat_setup *setup)
{
	bool has_qps = params_has_operations(&setup->begin.params);
	int ret;

	if ((ret = open_pool(setup)) || (ret = start_workers(setup)))
		return ret;
	if (has_qps && (ret = make_qps(setup)))
		return ret;
	note_unbound(setup);
	if (setup->begin.params.bidirectional &&
	    (ret = client_region_make(&setup->client_region, setup->control->dial.peer,
				      setup->control->dial.device.name, target_bytes(setup),
				      &setup->begin)))
		return ret;
	ret = control_begin(setup->control, &setup->begin, &setup->ready);
	return ret || !has_qps ? ret : connect_qps(setup);
}

void repeat_setup_close(struct repeat_setup *setup)
{
	qps_free(&setup->qps);
	client_region_free(&setup->client_region);
	remote_pool_close(&setup->pool);
	workers_delete(&setup->workers);
}

/* One operation shows how flushes, or atomic writes, complete here. */
static int probe(struct repeat_setup *setup, const struct operation *operation,
		 struct measured *measured)
{
	const struct measure_cfg cfg = {
		.operation = operation,
		.qps = setup->qps.all,
		.qps_count = 1,
		.clock = &setup->run->record.clock,
		.depth = setup->begin.params.depth,
		.batch = 1,
		.signal_every = 1,
		.completion = BENCH_POLL,
		.duration_ns = PROBE_NS,
		.limit_ns = PROBE_NS,
		.max_ops = 1,
	};
	struct measure_slots *slots = measure_slots_new(1, setup->begin.params.depth);
	int ret;

	if (slots == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	ret = measure_run(&cfg, slots, measured);
	measure_slots_delete(slots);
	return ret;
}

int repeat_setup_give_up(struct repeat_setup *setup)
{
	json_t *report = NULL;
	int ret = control_end(setup->control, setup->qps.all, params_qps(&setup->begin.params),
			      &report);

	json_decref(report);
	repeat_setup_close(setup);
	return ret;
}

/* auto: native where the first flush was one, and in that set-up; else another one. */
static int open_chosen(struct repeat_setup *setup)
{
	struct persist_choice *choice = &setup->run->record.chosen[setup->begin.params.target];
	struct measured measured = {0};
	int ret;

	set_persist(setup, persisting_first(&setup->run->record.server.welcome,
					    setup->begin.params.target, choice));
	ret = open_both(setup);
	if (ret || choice->made)
		return ret;
	ret = probe(setup, setup->operation, &measured);
	if (ret)
		return ret;
	persisting_settle(choice, measured.native_flush);
	if (measured.native_flush)
		return 0;
	ret = repeat_setup_give_up(setup);
	set_persist(setup, choice->persist);
	return ret ? ret : open_both(setup);
}

int repeat_setup_open(struct repeat_setup *setup)
{
	struct measured measured = {0};
	int ret;

	if (setup->begin.params.persist == BENCH_AUTO)
		return open_chosen(setup);
	ret = open_both(setup);
	if (ret == 0 && setup->operation->up_to_atomic_write != NULL) {
		ret = probe(setup, setup->operation->up_to_atomic_write, &measured);
		setup->native_atomic_write = measured.native_atomic_write;
		return ret;
	}
	if (ret || setup->begin.params.persist != BENCH_NATIVE)
		return ret;
	ret = probe(setup, setup->operation, &measured);
	if (ret || measured.native_flush)
		return ret;
	ret = repeat_setup_give_up(setup);
	return ret ? ret : persisting_not_native(setup->control->dial.name);
}
