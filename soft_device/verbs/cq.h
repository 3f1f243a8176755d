/* SPDX-License-Identifier: BSD-3-Clause */
/* cq.h -- completion queues and the channels that announce them. */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#include "device.h"
#include "soft_device/process/segment.h"
#include "soft_device/transport/peer.h"

struct pd;
struct timer;

struct channel {
	struct ibv_comp_channel ibv; /* first; ibv.fd is a semaphore eventfd, close-on-exec */
	uint32_t slot;
	uint32_t id;	      /* shared_cq.channel_id */
	struct cq *cqs;	      /* by cq->next_on_channel; objects lock */
	struct channel *next; /* all of the process; objects lock */
	uint32_t late;	      /* tokens that peers may add after the owner did; objects lock */
	uint32_t generation;
	/* with checks; objects lock: */
	uint32_t waits;	    /* threads that wait for an event; ... */
	uint32_t waits_at;  /* ... the place of the last one, ... */
	pthread_t waits_by; /* ... itself, ... */
	uint64_t look_ns;   /* ... and when it is to be looked at; 0: not */
};

/* The numbers that change with each event of a CQ. */
struct cq_progress {
	uint32_t arms;
	uint32_t pending;
	uint32_t got;
};

struct cq {
	union {
		struct ibv_cq ibv; /* first */
		struct ibv_cq_ex ex;
	};
	struct shared_cq *shared;
	uint32_t index; /* in segment.cq */
	struct channel *channel;
	struct cq *next_on_channel;
	struct cq *next;	 /* all of the process; objects lock */
	_Atomic uint32_t users;	 /* QPs and SRQs: EBUSY while there are any */
	uint32_t events_got;	 /* from the channel; ibv.mutex */
	_Atomic uint32_t arms;	 /* times that it was not armed and then was */
	_Atomic uint32_t head;	 /* the shared one when it was armed last */
	bool had_hole;		 /* when it was armed, or at the last look; objects lock */
	bool misses_event;	 /* by the last look after a peer's death; objects lock */
	struct cq_progress seen; /* ... which saw this */
	uint32_t generation;
	_Atomic uint32_t polls;		 /* with checks; ... */
	_Atomic pthread_t polled_by;	 /* ... the thread of the last one; ... */
	_Atomic uint64_t armed_late_ns;	 /* ... completions were there when it was armed, then, */
	_Atomic uint32_t armed_at;	 /* ... here */
	_Atomic uint32_t empty_polls;	 /* since the last completion; ... */
	_Atomic uint64_t empty_since_ns; /* ... and since when; ... */
	_Atomic uint32_t others_polled;	 /* how often other CQs had been polled by then */
	struct timer *timer;	  /* ends what moderation holds back; NULL: none; objects lock */
	struct pd *parent_domain; /* that it was made with; NULL: none */
	/* cq_ex.c: the completion that ibv_start_poll() or ibv_next_poll() has come to */
	pthread_mutex_t polling; /* from the one call to ibv_end_poll() */
	bool in_poll;		 /* ... is held */
	struct ibv_wc current;
	uint64_t stamp_ns;
};

static inline struct cq *cq_of(struct ibv_cq *ibv)
{
	return (struct cq *)ibv;
}

/*
 * poll_cq: first, when sq_waiting (sq.h) is not 0, runs sq_progress(); then takes up to `count`
 * entries, with one lock. When there is none it looks for answers over TCP, tcp_poll().
 */
int cq_poll(struct ibv_cq *ibv, int count, struct ibv_wc *wc);

/*
 * For `call`, a CQ with this size, context, channel and vector; stamped and may_overrun are as in
 * shared_cq. NULL with errno.
 */
struct cq *cq_make(const char *call, struct context *context,
		   const struct ibv_cq_init_attr_ex *attr, bool stamped, bool may_overrun);
/* poll_cq of one completion, to cq->current and cq->stamp_ns; false: there is none. */
bool cq_poll_one(struct cq *cq);

/* cq_moderation.c: an event of the CQ is held back; objects lock held. */
void cq_moderation_begin(struct cq *cq);
/* Before the CQ is destroyed; no lock held. */
void cq_moderation_end(struct cq *cq);

/* channel.c: calls visit() for each channel of this process; objects lock held. */
void channel_each(void (*visit)(struct channel *channel, void *arg), void *arg);
/* channel.c: a CQ joins and leaves its channel; objects lock held. */
void channel_add(struct channel *channel, struct cq *cq);
void channel_remove(struct channel *channel, struct cq *cq);
/* Adds an event that a dead peer has left out. True: there is to be another look. */
bool channel_catch_up(struct cq *cq);
