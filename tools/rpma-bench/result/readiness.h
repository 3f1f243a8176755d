/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readiness.h -- may what was flushed to a server be called persistent? The
 * readiness of its host for each piece of memory that it offers.
 *
 * A server looks once, before it takes clients; a client gets the blocks, of
 * the schema rpma-ddio-check/1, with the environment.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/*
 * Takes the blocks out of a server's description of itself: an array of as many as
 * it has targets, or NULL. What is in none of the shapes of the schema is null.
 */
json_t *platform_take(json_t *environment, size_t targets_count);

/* The block of a target; NULL: not known. */
const json_t *platform_of(const json_t *blocks, size_t target);

/*
 * The "readiness" of a result: the block of that one of the targets measured
 * which is the least ready, and the verdict of each. null where none is known.
 */
json_t *platform_json(const json_t *blocks, const json_t *points);

/* The less ready one of two. */
const json_t *platform_less_ready(const json_t *one, const json_t *other);
