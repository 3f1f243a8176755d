/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h -- the devices soft0…, one per local address, and what is open of them.
 *
 * A context is what ibv_open_device() gives: the ibv_context with the operations
 * that verbs.h calls inline, its async events, and the list it is in so that all
 * can be found after a fork().
 */
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "soft_device/process/process.h"

#define SOFT_DEVICES_MAX   64
#define SOFT_MAX_RD_ATOMIC 16	    /* reads and atomics outstanding on a QP, each way */
#define SOFT_VENDOR_ID	   0x536f66 /* "Sof"; no IEEE OUI of anybody's NIC */
#define SOFT_GIDS	   4	    /* entries of the GID table of a port */
#define SOFT_CM_GID	   1	    /* that of a connection of the RDMA CM: RoCE v2 */

struct device {
	struct ibv_device ibv; /* first: what programs hold */
	union ibv_gid gid;     /* the address; IPv4 as ::ffff:a.b.c.d */
	uint32_t scope_id;     /* set for an IPv6 address, else 0 */
	unsigned index;
	unsigned ifindex; /* the interface with the address */
	uint64_t guid;	  /* network order */
};

struct context {
	struct verbs_context verbs; /* verbs.context is what programs hold */
	struct device *device;
	uint32_t generation;	     /* process_is_foreign() */
	struct context *next;	     /* all of the process; objects lock */
	_Atomic uint32_t users;	     /* PDs, CQs and channels: it stays while there are any */
	struct async_events *events; /* private to async.c */
};

/*
 * Each entry of the GID table is the device's one address, for indexes 0 to 3 of command lines that
 * were written for a NIC: there RoCE v1 has the even ones and RoCE v2 the odd ones.
 */
static inline enum ibv_gid_type gid_type_of(unsigned index)
{
	return index % 2 == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
}

static inline struct context *context_of(struct ibv_context *ibv)
{
	return (struct context *)((char *)ibv - offsetof(struct context, verbs.context));
}

/* All devices of this process, made once; they live until the process ends. */
unsigned device_count(void);
struct device *device_at(unsigned index);

/* The device with this address (IPv4 is mapped); NULL. For the wildcard: NULL. */
struct device *device_with_gid(const union ibv_gid *gid);

/* The open context that CM ids of this device share, opened once a process; NULL with errno. */
struct ibv_context *device_cm_context(struct device *device);
/* The PD that CM ids without one of the user's share, one a device; NULL with errno. */
struct ibv_pd *device_cm_pd(struct device *device);

/* async.c: queues an event on the context; callers hold the objects lock. */
void async_raise(struct context *context, enum ibv_event_type type, void *element);
/* Drops the events of this element, and waits until those got are acknowledged. No lock held. */
void async_settle(struct context *context, void *element);
