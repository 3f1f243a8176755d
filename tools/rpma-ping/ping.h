/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ping.h -- one ping: a write with a flush behind it, then a read of what was
 * written, compared.
 *
 * A ping that takes longer than its limit is lost, but its work requests stay
 * under way: the next ping waits for them first. Nothing is allocated or locked.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/histogram.h"
#include "common/rdma/connection.h"
#include "pattern.h"

/* The steps of a client: each has a name and a time. */
enum step {
	STEP_PARSE,
	STEP_RESOLVE,
	STEP_DEVICE,
	STEP_REQUEST, /* address and route, by the RDMA CM */
	STEP_CONNECT,
	STEP_HANDSHAKE,
	STEP_REGION,
	STEP_REGISTER,
	/* a ping's; their times are those of the first one that came back */
	STEP_WRITE,
	STEP_FLUSH,
	STEP_READ,
	STEP_COMPARE,
	STEP_DISCONNECT,
	STEPS,
};

struct steps {
	enum step current;
	uint64_t begun_ns;
	int64_t ns[STEPS]; /* -1: not done */
};

const char *step_name(enum step step);

void steps_init(struct steps *steps);
void steps_begin(struct steps *steps, enum step step);
void steps_done(struct steps *steps);

/* The queues a ping needs. */
#define PING_WORK_REQUESTS 3

/* All that is borrowed outlives it. */
struct ping {
	struct connection *connection;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	int cq_fd;
	struct rpma_mr_remote *remote;
	struct rpma_mr_local *mr; /* the patterns and the sink, in this order */
	const uint8_t *memory;
	size_t size_bytes;
	size_t stride_bytes; /* from one of them to the next */
	enum rpma_flush_type flush;
	bool by_event;
	uint64_t limit_ns;
	struct pattern_turn turn;
	unsigned under_way; /* a bit 1 << enum step for each work request */
	bool native_flush;  /* the last flush was the device's own */
};

enum ping_end {
	PING_BACK,    /* what was written was read */
	PING_CORRUPT, /* it came back, and was something else */
	PING_LATE,    /* not within its limit */
	PING_FAILED,  /* a post or a work request failed, or the peer left: no more pings */
	PING_STOPPED, /* a signal */
};

struct ping_report {
	enum ping_end end;
	enum step step; /* where it ended, unless it is back */
	int code;	/* librpma's; 0: none */
	bool ended;	/* the connection: why is in failure_get() */
	bool posted;	/* its write was */
	enum ibv_wc_status wc_status;
	uint64_t write_ns; /* from the post of the write to its completion */
	uint64_t flush_ns; /* from there to the completion of the flush, posted with it */
	uint64_t read_ns;  /* from the post of the read to its completion */
	uint64_t compare_ns;
	uint64_t rtt_ns; /* from the post of the write to the completion of the read */
	struct pattern_difference difference;
};

void ping_once(struct ping *ping, struct ping_report *report);

#define STATS_RECORDS 1000

struct stats_record {
	uint64_t size_bytes;
	enum ping_end end;
	enum step step; /* where it ended, unless it came back */
	uint64_t write_ns;
	uint64_t flush_ns;
	uint64_t read_ns;
	uint64_t rtt_ns;
};

/* The outcome of all pings, in constant memory. */
struct stats {
	uint64_t transmitted;
	uint64_t received; /* the corrupt ones too */
	uint64_t corrupt;
	double ewma_ns; /* the round trip's moving average, of weight 1/8 as in ping(8) */
	/* over those that came back */
	struct histogram *rtt;
	struct histogram *write_flush;
	struct histogram *read;
	struct stats_record *records; /* the first STATS_RECORDS pings; NULL: not one by one */
};

struct stats_figures {
	uint64_t min_ns;
	double mean_ns;
	uint64_t p50_ns; /* nearest rank, to 1/256 */
	uint64_t p99_ns;
	uint64_t max_ns;
	double mdev_ns; /* as ping(8): root of the mean of squares less the square of the mean */
};

int stats_init(struct stats *stats, bool one_by_one);
void stats_free(struct stats *stats);

/* A ping that a signal cut short is not counted. */
void stats_add(struct stats *stats, size_t size_bytes, const struct ping_report *report);
size_t stats_records(const struct stats *stats);
/* The share of transmitted pings, 0 to 1. */
double stats_loss(const struct stats *stats);

/* The histogram has a sample. */
struct stats_figures stats_figures(const struct histogram *h);
