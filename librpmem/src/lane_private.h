/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_private.h -- what lane.c shares with the two transports below it.
 *
 * lane.c cuts transfers into pieces, remembers what was written and is not
 * durable yet, and keeps the slots of requests that await their answer. A
 * transport connects a lane and moves bytes; it works for the thread that uses
 * the lane, and locks nothing.
 */
#pragma once

#include <stdatomic.h>

#include "common/rdma/connection.h"
#include "lane.h"
#include "librpmem/wire/lane_message.h"

#define LANE_CUT	64 /* transfers are cut at multiples of this, so no aligned word is split */
#define LANE_WORD	8  /* bytes that flags 0 never tear */
#define LANE_RANGES	32 /* remembered by a lane; in one request */
#define LANE_FLUSHED	16
#define LANE_CHECK	((size_t)4 << 20) /* bytes that a busy lane moves between two looks */
#define LANE_CONNECT_MS 30000
#define LANE_FILES_RDMA 4   /* file descriptors of a lane, at most: channels, and those of the CM */
#define LANE_WHY_MAX	768 /* as the text of struct failure */

struct lane_span {
	uint64_t begin;
	uint64_t end;
};

/* The first line is written by each call; a lane shares no line with its neighbours. */
struct lane {
	_Alignas(64) bool connected;
	bool flushes;	     /* APM: the device's flush makes its writes durable */
	bool writes_words;   /* its writes tear no aligned word that they do not split */
	bool is_checked;     /* what is durable is told to the device: region_mark_durable() */
	uint32_t index;	     /* its number */
	uint32_t requests;   /* a bit for each slot whose answer is awaited */
	uint32_t copies;     /* those of them that copy */
	int failed;	     /* what the daemon answered to a request since the last drain, or 0 */
	unsigned ranges;     /* used ones of `range` */
	struct lanes *lanes; /* its owner */
	void *state;	     /* the transport's; NULL: not connected */
	/* not durable yet */
	struct lane_span hull;		     /* APM: around all that was written; end 0: nothing */
	struct lane_span range[LANE_RANGES]; /* else what was written; and what was copied */
	/* what was flushed since the last drain, or the first of it; only if it is checked */
	unsigned flushed;
	struct lane_span flushed_span[LANE_FLUSHED];
};

/* Each returns 0 or a negative errno with the error message set; -ECANCELED: stop_fd. */
struct lane_transport {
	/* the device and the registration of the pool; close() frees what open() has made so far */
	int (*open)(struct lanes *lanes);
	void (*close)(struct lanes *lanes);
	int (*connect)(struct lane *lane);
	/* starts an orderly end; the first half of disconnect(), so that all lanes end at once */
	void (*hang_up)(struct lane *lane);
	/* waits so long at most for the daemon's end of it */
	void (*disconnect)(struct lane *lane, int wait_ms);
	/* starts writing a range of the pool, in order with all that follows on the lane */
	int (*write)(struct lane *lane, size_t offset, size_t length);
	/* APM: starts making a range durable; `wait`: returns when that and all before is done */
	int (*flush)(struct lane *lane, const struct lane_span *range, bool wait);
	/* APM: writes a range of LANE_DATA_MAX bytes at most, and returns when that is durable */
	int (*persist)(struct lane *lane, size_t offset, size_t length);
	/* starts a request in a free slot; `data` (NULL: none) may change when it returns */
	int (*request)(struct lane *lane, const struct lane_request *request, const void *data);
	/* waits for the next answer */
	int (*answer)(struct lane *lane, struct lane_answer *answer);
	/* all of it has arrived when it returns; no request is unanswered */
	int (*read)(struct lane *lane, void *buffer, size_t offset, size_t length);
	/* a checked lane: the caller is about to be told that the range is durable */
	void (*tell_durable)(const struct lane *lane, const struct lane_span *range);
};

extern const struct lane_transport lane_rdma;
extern const struct lane_transport lane_tcp;

struct lanes {
	const struct lane_transport *transport;
	struct control_pool_reply daemon;
	char host[256];
	char *memory;
	size_t bytes;
	unsigned work_queue;
	size_t write_max; /* bytes of a piece, set by the transport's open() */
	void *shared;	  /* the transport's; NULL: none */
	int lost_fd;	  /* readable: the connection is lost */
	int stop_fd;	  /* readable: lost_fd or the session's end_fd is */
	uint32_t count;
	struct lane *lane;
	atomic_int lost;     /* why, as a negative errno; 0: the connection is whole */
	atomic_bool has_why; /* the thread that lost it has written `why` */
	char why[LANE_WHY_MAX];
};

/* Any errno of lane_errno(), as lanes_open() gives it for lane 0. */
int lane_connect(struct lane *lane);
/*
 * A transfer goes on at `offset`, after `piece` bytes. Each LANE_CHECK bytes: -ECANCELED
 * if stop_fd is readable; a lane that never waits would not find out.
 */
int lane_check(const struct lane *lane, size_t offset, size_t piece);

/* Why a wait was given up, for -ECANCELED. */
int lanes_stopped(struct lanes *lanes);
/*
 * Each ends all lanes: the first error, with the error message set, stays for all later calls.
 * Gives that error: of lanes_lost() -ECONNRESET, of lanes_violated() -EPROTO.
 */
int lanes_lost(struct lanes *lanes);
int lanes_violated(struct lanes *lanes);
/* The errno for a failed call of common/ that has left its error message. */
int lane_errno(int ret);
/* The name of the daemon in error messages: "rpmemd at 192.0.2.1 port 40000". */
void lane_daemon_name(const struct lanes *lanes, const char *address,
		      char name[CONNECTION_PEER_MAX]);
