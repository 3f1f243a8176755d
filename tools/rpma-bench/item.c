/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * item.c -- one repeat of one point: connect, warm up, measure, say goodbye.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "exchange.h"
#include "run.h"

/* A warm-up ends after its time and this many operations, or several times its time. */
#define WARMUP_OPS 10000

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_usec * 1000;
}

static void usage_since(const struct rusage *before, struct thread_usage *usage)
{
	struct rusage now;

	getrusage(RUSAGE_THREAD, &now);
	usage->cpu = sched_getcpu();
	topology_read_back(usage->cpus);
	usage->user_ns = timeval_ns(now.ru_utime) - timeval_ns(before->ru_utime);
	usage->sys_ns = timeval_ns(now.ru_stime) - timeval_ns(before->ru_stime);
	usage->vol_switches = (uint64_t)(now.ru_nvcsw - before->ru_nvcsw);
	usage->invol_switches = (uint64_t)(now.ru_nivcsw - before->ru_nivcsw);
	usage->minor_faults = (uint64_t)(now.ru_minflt - before->ru_minflt);
	usage->major_faults = (uint64_t)(now.ru_majflt - before->ru_majflt);
}

static int lane_open(struct lane *lane, struct run *run, struct link *link,
		     const struct plan_point *point)
{
	uint64_t stride = run_stride(point->size_bytes), total = run->server.target_bytes;
	struct rpma_peer_cfg *pcfg = NULL;
	int ret;

	*lane = (struct lane){
		.conn = link_conn(link),
		.local = run->buffer_mr,
		.size_bytes = point->size_bytes,
		/* what does not fit the buffer side by side shares one place */
		.local_stride = stride * point->depth <= run->buffer_bytes ? stride : 0,
		.remote_stride = stride,
		.remote_end = ((total - point->size_bytes) / stride + 1) * stride,
		.flush_type = run->flush_type,
	};
	if ((ret = rpma_mr_remote_from_descriptor(run->server.mr_desc, run->server.mr_desc_bytes,
						  &lane->remote)) ||
	    (ret = rpma_peer_cfg_from_descriptor(run->server.pcfg_desc, run->server.pcfg_desc_bytes,
						 &pcfg)) ||
	    (ret = rpma_conn_apply_remote_peer_cfg(lane->conn, pcfg)))
		ret = failure_set(EXIT_RUN_FAILED, "hello",
				  "%s describes its target in a way librpma refuses: %s",
				  run->server_name, link_cause(ret));
	rpma_peer_cfg_delete(&pcfg);
	return ret;
}

/* The server's processor time; without an answer it stays unknown. */
static void take_report(struct link *link, struct repeat *repeat)
{
	struct message bye = {.type = MESSAGE_BYE}, report;
	struct exchange_buffer buffer;

	if (exchange_send(link, &bye) != 0 ||
	    exchange_receive(link, MESSAGE_REPORT, LINK_TIMEOUT_MS, &buffer, &report) != 0)
		return;
	repeat->server_known = report.report.elapsed_ns > 0;
	repeat->server_elapsed_ns = report.report.elapsed_ns;
	repeat->server_busy_ns = report.report.user_ns + report.report.sys_ns;
}

static int warm_up_and_measure(struct run *run, struct link *link, struct lane *lane,
			       const struct plan_point *point, struct repeat *repeat)
{
	const struct options *o = run->options;
	struct measure_cfg cfg = {
		.operation = run->operation,
		.lane = lane,
		.link = link,
		.clock = &run->clock,
		.depth = point->depth,
		.duration_ns = o->warmup_ns,
		.min_ops = WARMUP_OPS,
		.limit_ns = o->warmup_ns * RUN_WARMUP_FACTOR,
		.posted = run->posted,
	};
	struct rusage before;
	int ret = o->warmup_ns > 0 ? measure_run(&cfg, &repeat->warmup) : 0;

	if (ret || cli_signal != 0)
		return ret ? ret : -ECANCELED;
	cfg.duration_ns = o->duration_ns;
	cfg.limit_ns = o->duration_ns;
	cfg.min_ops = 0;
	cfg.latency = repeat->latency;
	lane->remote_offset = 0;
	getrusage(RUSAGE_THREAD, &before);
	ret = measure_run(&cfg, &repeat->measured);
	usage_since(&before, &repeat->thread);
	return ret;
}

int item_measure(struct run *run, size_t order)
{
	const struct plan_item *item = &run->plan.items[order];
	const struct plan_point *point = &run->plan.points[item->point];
	struct repeat *repeat = run_repeat(run, item->point, item->repeat);
	struct link *link = NULL;
	struct lane lane = {0};
	int ret;

	repeat->order = order;
	repeat->latency = malloc(sizeof(*repeat->latency));
	if (repeat->latency == NULL)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	histogram_reset(repeat->latency);
	ret = connection_open(run, GREETING_MEASURE, point, item->repeat, &link);
	if (ret)
		return ret;
	ret = lane_open(&lane, run, link, point);
	if (ret == 0)
		ret = warm_up_and_measure(run, link, &lane, point, repeat);
	if (ret == 0) {
		if (!repeat->measured.interrupted)
			take_report(link, repeat);
		repeat->done = repeat->measured.ops > 0;
		run->repeats_done += repeat->done;
		if (repeat->measured.interrupted)
			ret = -ECANCELED;
	}
	rpma_mr_remote_delete(&lane.remote);
	link_close(&link);
	return ret;
}
