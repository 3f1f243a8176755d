/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * objects.h -- the objects of the program, and those that it has destroyed: where each was made,
 * and where it went.
 *
 * What is destroyed is kept for a while, its memory too, so that a pointer to it is known when it
 * comes again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

enum objects_type {
	OBJECT_CONTEXT,
	OBJECT_PD,
	OBJECT_MR,
	OBJECT_CQ,
	OBJECT_QP,
	OBJECT_SRQ,
	OBJECT_CHANNEL,
	OBJECT_CM_ID,
	OBJECT_CM_EVENT,
	OBJECT_CM_CHANNEL,
	OBJECT_AH,
	OBJECT_MW,
};

struct object {
	enum objects_type type;
	const void *handle; /* the program's pointer */
	uint32_t number;    /* a region's key, a QP's number */
	uint32_t made_at;   /* stacks; 0: unknown */
	uint32_t gone_at;
	bool is_gone;
	uint32_t gone_as; /* the how manyth to go, from 1; 0: it is there */
	/* regions only: */
	uint32_t changed_at;  /* 0: not */
	uint32_t unmapped_at; /* 0: not */
	uint32_t freed_at;    /* 0: not */
	uint32_t pd;
	uint32_t access;
	uint64_t addr; /* what it is called in requests: iova */
	uint64_t length;
	uint64_t memory;      /* where it is */
	uint32_t gone_before; /* how many objects were gone when it was made */
	bool is_inherited;    /* by a child of fork() */
};

/* A new one; of a region with its fields. And one that is there: these change. */
void objects_add(const struct object *object);
void objects_change(const struct object *object);
/*
 * A call is about to destroy it. False: it did so before, which is reported, and the call must do
 * nothing.
 */
bool objects_alive(enum objects_type type, const void *handle, const char *call);
/* It is destroyed. */
void objects_remove(enum objects_type type, const void *handle);

/* How many have been destroyed so far. */
uint32_t objects_gone_ever(void);

/* The newest of this type and number; false: there is none. */
bool objects_find(enum objects_type type, uint32_t number, struct object *found);
/* The newest region that is registered and has this address. */
bool objects_find_memory(uint64_t memory, struct object *found);
/* A region's pages were taken away, or its memory was freed. */
void objects_unmapped(uint32_t key, uint32_t stack, bool is_freed);
/* The stack that made it; 0: unknown. */
uint32_t objects_made_at(enum objects_type type, const void *handle);

/* "QP 0x1a02", or "an object"; *object is all zeros then. */
#define OBJECT_NAME_BYTES 64
void objects_describe(const void *handle, char name[OBJECT_NAME_BYTES], struct object *object);

/* At the end of the process: objects that became more and more. */
void objects_tell_growth(int unused);

/* The memory of the object that was removed last with this pointer, which may be inside. */
void objects_keep(const void *handle, void *memory);

extern const struct process_part check_objects_part;

/* free() of what objects_remove() was told. */
static inline void objects_free_of(const void *handle, void *memory)
{
	if (__builtin_expect(check_any, 0))
		objects_keep(handle, memory);
	else
		free(memory);
}

static inline void objects_free(void *memory)
{
	objects_free_of(memory, memory);
}

/* The top of a call that destroys an object. */
#define OBJECT_IS_GONE(type, handle)                                                               \
	(__builtin_expect(check_any, 0) && !objects_alive(type, handle, __func__))

static inline void objects_made(enum objects_type type, const void *handle, uint32_t number)
{
	if (__builtin_expect(check_any, 0))
		objects_add(&(struct object){
			.type = type, .handle = handle, .number = number, .made_at = stack_here()});
}

static inline void objects_gone(enum objects_type type, const void *handle)
{
	if (__builtin_expect(check_any, 0))
		objects_remove(type, handle);
}
