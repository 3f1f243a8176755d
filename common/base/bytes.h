/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bytes.h -- integer fields in and out of a byte buffer, little-endian or
 * (bytes_put_big, bytes_get_big) big-endian.
 *
 * A writer or reader that runs past its end turns bad and stays bad, so a
 * codec checks once, at its end. No I/O: codecs are fuzzed as they are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes_writer {
	uint8_t *at;
	size_t left;
	bool bad;
};

struct bytes_reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static inline struct bytes_writer bytes_write_to(uint8_t *bytes, size_t len)
{
	return (struct bytes_writer){bytes, len, false};
}

static inline void bytes_put(struct bytes_writer *w, const void *data, size_t len)
{
	if (w->bad || len > w->left) {
		w->bad = true;
		return;
	}
	if (len > 0)
		memcpy(w->at, data, len);
	w->at += len;
	w->left -= len;
}

static inline void bytes_put_int(struct bytes_writer *w, uint64_t value, size_t width)
{
	uint8_t le[8];

	for (size_t i = 0; i < width; i++)
		le[i] = (uint8_t)(value >> (8 * i));
	bytes_put(w, le, width);
}

static inline void bytes_put_big(struct bytes_writer *w, uint64_t value, size_t width)
{
	uint8_t be[8];

	for (size_t i = 0; i < width; i++)
		be[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
	bytes_put(w, be, width);
}

static inline void bytes_get(struct bytes_reader *r, void *data, size_t len)
{
	if (r->bad || len > r->left) {
		r->bad = true;
		memset(data, 0, len);
		return;
	}
	if (len > 0)
		memcpy(data, r->at, len);
	r->at += len;
	r->left -= len;
}

static inline uint64_t bytes_get_int(struct bytes_reader *r, size_t width)
{
	uint8_t le[8];
	uint64_t value = 0;

	bytes_get(r, le, width);
	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)le[i] << (8 * i);
	return value;
}

static inline uint64_t bytes_get_big(struct bytes_reader *r, size_t width)
{
	uint8_t be[8];
	uint64_t value = 0;

	bytes_get(r, be, width);
	for (size_t i = 0; i < width; i++)
		value = value << 8 | be[i];
	return value;
}

/*
 * Puts the fields of a structure into bytes, or gets them from bytes, so that a message is
 * described once for both. A field that is out of its range makes the reader bad, in either
 * direction.
 */
struct bytes_codec {
	bool writes;
	bool big; /* integers are big-endian */
	struct bytes_writer w;
	struct bytes_reader r;
};

static inline struct bytes_codec bytes_reading(const uint8_t *bytes, size_t len)
{
	return (struct bytes_codec){.r = {bytes, len, false}};
}

static inline struct bytes_codec bytes_writing(uint8_t *bytes, size_t len)
{
	return (struct bytes_codec){.writes = true, .w = {bytes, len, false}};
}

static inline void bytes_code(struct bytes_codec *c, void *data, size_t len)
{
	if (c->writes)
		bytes_put(&c->w, data, len);
	else
		bytes_get(&c->r, data, len);
}

/* The value itself, or the one that was read instead of it. */
static inline uint64_t bytes_code_value(struct bytes_codec *c, uint64_t value, size_t width)
{
	if (!c->writes)
		return c->big ? bytes_get_big(&c->r, width) : bytes_get_int(&c->r, width);
	if (c->big)
		bytes_put_big(&c->w, value, width);
	else
		bytes_put_int(&c->w, value, width);
	return value;
}

/* One byte that is 0 or 1. */
static inline bool bytes_code_flag(struct bytes_codec *c, bool flag)
{
	uint64_t value = bytes_code_value(c, flag, 1);

	c->r.bad = c->r.bad || value > 1;
	return value == 1;
}

/* A field that is an unsigned integer or an enum. */
#define bytes_code_int(c, field, width)                                                            \
	((field) = (__typeof__(field))bytes_code_value(c, (uint64_t)(field), width))
