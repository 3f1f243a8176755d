/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.h -- what there is once in a process that uses the device.
 *
 * Made by the first ibv_open_device() or rdma_create_*() and kept until the process
 * ends. A child of fork() starts with none: what it inherited of its parent is
 * dead in it (process_is_foreign), its own begins with its own first open.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "segment.h"

struct peer;

struct process {
	struct soft_options options;
	struct segment *segment;
	int segment_fd;
	struct peer *self;    /* how this process sees itself: peer.h */
	struct peer *served;  /* the same for requests over TCP, in buffers of the device */
	_Atomic uint32_t pds; /* how many there are: SOFT_MAX_PD */
	uint32_t generation;  /* raised by each fork(); objects carry the one they were made in */
	struct process *inherited; /* private: of the parent, dead */
};

/*
 * A part of the device that has something to do when the process begins, is kicked by a peer,
 * forks or ends. What a part has no need of is NULL.
 */
struct process_part {
	int (*begin)(struct process *process); /* process_get() has made it; 0 or -errno */
	void (*raise)(void);   /* a peer has set raise bits in the segment; objects lock held */
	pthread_mutex_t *lock; /* held around a fork() */
	void (*forked)(void);  /* in the child, before the lock is released */
	void (*leave)(void);   /* at exit */
};

/* All of them, in the order in which their locks are taken, then NULL: parts.c. */
extern const struct process_part *const process_parts[];
extern const struct process_part making_part, objects_part;

/*
 * The objects lock guards the private lists (contexts, QPs, CQs, SRQs, channels), the table
 * entries of the segment and async events. Creating and destroying objects and the agent's walks
 * over them take it; the data path does not.
 */
extern pthread_mutex_t process_objects;

/* Calls raise() of all parts. For the agent. */
void process_raise(void);

/* The process, made at the first call; NULL with errno when that is impossible. */
struct process *process_get(void);

/* The process as made before; never NULL on the data path. */
extern struct process *process_current;

/* True when the object was made before a fork() by the parent: refuse with EIO. */
bool process_is_foreign(uint32_t generation);

/* One line on stderr, "rpma-soft: …", when the option `verbose` is set; and always. */
void process_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));
void process_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True: the error, of either sign, is that no descriptor is left, and the line names the limit. */
bool process_warn_files(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A call that the device refuses. With `verbose` one line on stderr names it, its object and the
 * reason:
 *
 *	REFUSE(EINVAL, "ibv_create_cq", "0 entries")
 *		rpma-soft: ibv_create_cq: 0 entries (EINVAL)
 *	REFUSE_OF(EBUSY, "ibv_dealloc_pd", "PD %u: %u regions use it", 3, 1)
 *		rpma-soft: ibv_dealloc_pd of PD 3: 1 regions use it (EBUSY)
 *
 * A line of code prints REFUSALS_MOST lines, and none twice in a row. The value is `error`, an
 * errno of either sign, which errno has after it as well. Nothing is formatted where it is not
 * printed, and nothing happens where nothing is refused.
 */
#define REFUSALS_MOST 16

struct refusals {
	_Atomic unsigned count;
	_Atomic uint32_t last; /* hash of the reason */
};

#define REFUSE(error, call, ...)    REFUSE_WITH(": ", error, call, __VA_ARGS__)
#define REFUSE_OF(error, call, ...) REFUSE_WITH(" of ", error, call, __VA_ARGS__)
#define REFUSE_WITH(joint, error, call, ...)                                                       \
	({                                                                                         \
		static struct refusals refusals;                                                   \
		const int refused_with = (error);                                                  \
		process_refuse(&refusals, refused_with, call, joint, __VA_ARGS__);                 \
		refused_with;                                                                      \
	})
int process_refuse(struct refusals *refusals, int error, const char *call, const char *joint,
		   const char *format, ...) __attribute__((cold, format(printf, 5, 6)));

/* True with `verbose`, also before there is a process: from when the object is loaded. */
extern bool process_is_verbose;

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t process_now_ns(void);

/* Everything that programs may call. */
#define SOFT_EXPORT __attribute__((visibility("default")))

/* Takes an element out of the singly linked list that has it; `next` is its member. */
#define LIST_TAKE_OUT(first, element, next)                                                        \
	do {                                                                                       \
		__typeof__(element) *list_at = &(first);                                           \
		while (*list_at != (element))                                                      \
			list_at = &(*list_at)->next;                                               \
		*list_at = (element)->next;                                                        \
	} while (0)
