/* SPDX-License-Identifier: BSD-3-Clause */
/* durable_log_record.c -- see durable_log_record.h. The hash is FNV-1a with 32 bits. */
#include "durable_log_record.h"

#include <errno.h>
#include <string.h>

#include "common/base/bytes.h"

#define HASH_BEGIN   2166136261U
#define HASH_PRIME   16777619U
#define FLAG_CLAIMED 1U

static const char magic[8] = "rpmalog1";

static uint32_t hash(uint32_t value, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		value = (value ^ bytes[i]) * HASH_PRIME;
	return value;
}

uint32_t log_tag(const uint8_t *bytes, size_t count)
{
	return hash(HASH_BEGIN, bytes, count);
}

static uint32_t get32(const uint8_t *bytes)
{
	struct bytes_reader r = {bytes, 4, false};

	return (uint32_t)bytes_get_int(&r, 4);
}

static void put32(uint8_t *bytes, uint32_t value)
{
	struct bytes_writer w = bytes_write_to(bytes, 4);

	bytes_put_int(&w, value, 4);
}

/* --- header ------------------------------------------------------------------------ */

struct log_sum log_header_encode(const struct log_header *header, uint8_t bytes[LOG_HEADER_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, LOG_HEADER_BYTES);
	struct log_sum sum;

	bytes_put(&w, magic, sizeof(magic));
	bytes_put_int(&w, header->method, 1);
	bytes_put_int(&w, header->policy, 1);
	bytes_put_int(&w, header->kind, 1);
	bytes_put_int(&w, 0, 1);
	bytes_put_int(&w, LOG_LINE, 4);
	bytes_put_int(&w, header->region_bytes, 8);
	bytes_put_int(&w, 0, 4);
	sum.value = log_tag(bytes, LOG_HEADER_BYTES - 4);
	bytes_put_int(&w, sum.value, 4);
	return sum;
}

int log_header_decode(const uint8_t *bytes, size_t size, struct log_header *header,
		      struct log_sum *before)
{
	struct bytes_reader r = {bytes, size, false};
	char word[sizeof(magic)];
	uint64_t line, none, sum;

	bytes_get(&r, word, sizeof(word));
	*header = (struct log_header){.method = (enum method)bytes_get_int(&r, 1)};
	header->policy = (enum flush_policy)bytes_get_int(&r, 1);
	header->kind = (enum target_kind)bytes_get_int(&r, 1);
	none = bytes_get_int(&r, 1);
	line = bytes_get_int(&r, 4);
	header->region_bytes = bytes_get_int(&r, 8);
	none |= bytes_get_int(&r, 4);
	sum = bytes_get_int(&r, 4);
	if (r.bad || memcmp(word, magic, sizeof(magic)) != 0 || line != LOG_LINE || none != 0 ||
	    sum != log_tag(bytes, LOG_HEADER_BYTES - 4))
		return -EPROTO;
	if (header->method <= METHOD_ANY || header->method >= METHODS ||
	    header->policy < FLUSH_AUTO || header->policy >= FLUSH_POLICIES ||
	    header->kind >= TARGET_KINDS || header->region_bytes == 0 ||
	    header->region_bytes > INT64_MAX)
		return -EPROTO;
	before->value = (uint32_t)sum;
	return 0;
}

/* --- records ----------------------------------------------------------------------- */

/* The sum before is hashed where this one is going to be. */
static uint32_t front_sum(const uint8_t bytes[LOG_FRONT_BYTES], struct log_sum before)
{
	uint8_t tag[LOG_TAG_BYTES];
	uint32_t value = hash(HASH_BEGIN, bytes, LOG_FRONT_SUM);

	put32(tag, before.value);
	value = hash(value, tag, sizeof(tag));
	return hash(value, bytes + LOG_FRONT_SUM + LOG_TAG_BYTES,
		    LOG_FRONT_BYTES - LOG_FRONT_SUM - LOG_TAG_BYTES);
}

struct log_sum log_record_front(const struct log_record *record, struct log_sum before,
				uint8_t bytes[LOG_FRONT_BYTES])
{
	struct bytes_writer w = bytes_write_to(bytes, LOG_FRONT_BYTES);

	bytes_put_int(&w, record->type, 1);
	bytes_put_int(&w, record->claimed ? FLAG_CLAIMED : 0, 1);
	bytes_put_int(&w, 0, 6);
	bytes_put_int(&w, record->number, 8);
	bytes_put_int(&w, record->begin, 8);
	bytes_put_int(&w, record->bytes, 4);
	put32(bytes + LOG_FRONT_SUM, front_sum(bytes, before));
	return (struct log_sum){log_tag(bytes, LOG_FRONT_BYTES)};
}

void log_record_tag(struct log_sum *sum, uint32_t tag, uint8_t bytes[LOG_TAG_BYTES])
{
	put32(bytes, tag);
	sum->value = hash(sum->value, bytes, LOG_TAG_BYTES);
}

void log_record_end(struct log_sum sum, uint8_t bytes[LOG_TAG_BYTES])
{
	put32(bytes, sum.value);
}

struct log_sum log_record_encode(const struct log_record *record, struct log_sum before,
				 uint8_t bytes[LOG_RECORD_BYTES])
{
	struct log_sum sum = log_record_front(record, before, bytes);

	log_record_end(sum, bytes + LOG_FRONT_BYTES);
	return sum;
}

/* True if a client writes such a record, as far as the front tells. */
static bool valid(const struct log_record *record, uint64_t flags, uint64_t none,
		  uint64_t region_bytes)
{
	if (none != 0 || flags > FLAG_CLAIMED)
		return false;
	if (record->type == LOG_WRITE)
		return flags == 0 && record->bytes > 0 && record->bytes <= region_bytes &&
		       record->begin <= region_bytes - record->bytes;
	if (record->type == LOG_END)
		return flags == 0 && record->bytes <= REACHED_PERSISTENCE &&
		       (record->begin > 0 || record->bytes == REACHED_NOTHING);
	if (record->begin != 0 || record->bytes != 0)
		return false;
	if (record->type == LOG_DONE)
		return true;
	return flags == 0 && (record->type == LOG_SYNC || record->type == LOG_FAILED) &&
	       record->number == 0;
}

int64_t log_record_decode(const uint8_t *bytes, size_t size, uint64_t region_bytes,
			  struct log_sum before, struct log_record *record)
{
	struct bytes_reader r = {bytes, size, false};
	uint64_t flags, none, tags = 0, front;
	uint32_t sum;

	if (size < LOG_FRONT_BYTES)
		return 0;
	*record = (struct log_record){.type = (enum log_record_type)bytes_get_int(&r, 1)};
	flags = bytes_get_int(&r, 1);
	none = bytes_get_int(&r, 2);
	sum = (uint32_t)bytes_get_int(&r, 4);
	record->claimed = flags & FLAG_CLAIMED;
	record->number = bytes_get_int(&r, 8);
	record->begin = bytes_get_int(&r, 8);
	record->bytes = (uint32_t)bytes_get_int(&r, 4);
	if (sum != front_sum(bytes, before) || !valid(record, flags, none, region_bytes))
		return -EPROTO;
	if (record->type == LOG_WRITE)
		tags = log_lines(record->begin, record->bytes) * LOG_TAG_BYTES;
	front = LOG_FRONT_BYTES + tags;
	if (size < front + LOG_TAG_BYTES)
		return 0;
	if (log_tag(bytes, front) != get32(bytes + front))
		return -EPROTO;
	record->tags = bytes + LOG_FRONT_BYTES;
	record->sum.value = get32(bytes + front);
	return (int64_t)(front + LOG_TAG_BYTES);
}

uint32_t log_record_tag_at(const struct log_record *record, uint64_t index)
{
	return get32(record->tags + index * LOG_TAG_BYTES);
}
