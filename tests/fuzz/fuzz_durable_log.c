/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_durable_log.c -- the log of a client, of which rpma-fio-check reads what a crash, or
 * anything else, has left.
 *
 * What is taken leads to a verdict of each write, and lost extents ascend within the region.
 * Mutations hardly keep the sums right, so each input is tried with mended ones, too.
 */
#include "fio_engine/durable_check.h"
#include "fuzz.h"

static int read_target(void *arg, uint64_t begin, uint8_t *to, size_t bytes)
{
	const struct durable_check *check = arg;

	hold(bytes > 0 && bytes <= LOG_LINE && begin % LOG_LINE == 0);
	hold(begin <= check->header.region_bytes - bytes);
	memset(to, (int)(begin / LOG_LINE % 3), bytes);
	return 0;
}

static void check_extents(const struct durable_check *check)
{
	for (size_t i = 0; i < check->lost_count; i++) {
		hold(check->lost[i].begin < check->lost[i].end);
		hold(check->lost[i].end <= check->header.region_bytes);
		hold(i == 0 || check->lost[i].begin > check->lost[i - 1].end);
	}
	hold((check->lost_count > 0) == (durable_check_count(check, CLAIM_LOST) > 0));
}

static void try_log(const uint8_t *data, size_t size)
{
	struct durable_check check;
	uint64_t count = 0;

	if (durable_check_open(&check, "log", data, size) != 0)
		return;
	hold(durable_check_judge(&check, read_target, &check) == 0);
	for (int state = 0; state < CLAIM_STATES; state++)
		count += durable_check_count(&check, (enum claim_state)state);
	hold(count == check.writes);
	check_extents(&check);
	durable_check_close(&check);
}

static void put_sum(uint8_t *sum, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		sum[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t mend(uint8_t *sum, const uint8_t *begin)
{
	uint32_t value = log_tag(begin, (size_t)(sum - begin));

	put_sum(sum, value);
	return value;
}

static uint64_t get(const uint8_t *at, int width)
{
	uint64_t value = 0;

	while (width-- > 0)
		value = value << 8 | at[width];
	return value;
}

static void mend_all(uint8_t *bytes, size_t size)
{
	size_t at = LOG_HEADER_BYTES;
	uint32_t before = 0;

	if (size >= LOG_HEADER_BYTES)
		before = mend(bytes + LOG_HEADER_BYTES - 4, bytes);
	while (at + LOG_RECORD_BYTES <= size) {
		uint64_t begin = get(bytes + at + 16, 8), length = get(bytes + at + 24, 4);
		uint64_t tags = bytes[at] == LOG_WRITE && length > 0
					? log_lines(begin % (1U << 20), length) * LOG_TAG_BYTES
					: 0;

		put_sum(bytes + at + LOG_FRONT_SUM, before);
		put_sum(bytes + at + LOG_FRONT_SUM, log_tag(bytes + at, LOG_FRONT_BYTES));
		if (tags > size - at - LOG_RECORD_BYTES)
			return;
		before = mend(bytes + at + LOG_FRONT_BYTES + tags, bytes + at);
		at += LOG_RECORD_BYTES + tags;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mended = malloc(size + 1);

	hold(mended != NULL);
	try_log(data, size);
	memcpy(mended, data, size);
	mend_all(mended, size);
	try_log(mended, size);
	free(mended);
	return 0;
}

/* The sum of the last record that was put. */
static struct log_sum last;

static size_t put_write(uint8_t *to, uint64_t number, uint64_t begin, uint32_t bytes)
{
	static const uint8_t line[LOG_LINE];
	const struct log_record record = {
		.type = LOG_WRITE, .number = number, .begin = begin, .bytes = bytes};
	struct log_sum sum = log_record_front(&record, last, to);
	uint8_t *at = to + LOG_FRONT_BYTES;

	for (uint64_t lines = log_lines(begin, bytes); lines > 0; lines--, at += LOG_TAG_BYTES)
		log_record_tag(&sum, log_tag(line, LOG_LINE), at);
	log_record_end(sum, at);
	last = sum;
	return (size_t)(at - to) + LOG_TAG_BYTES;
}

static size_t put(uint8_t *to, enum log_record_type type, uint64_t number, bool claimed)
{
	const struct log_record record = {.type = type, .number = number, .claimed = claimed};

	last = log_record_encode(&record, last, to);
	return LOG_RECORD_BYTES;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct log_header header = {METHOD_NATIVE, FLUSH_FSYNC, TARGET_FSDAX, 65536};
	size_t size = LOG_HEADER_BYTES;

	if (index > 1)
		return 0;
	last = log_header_encode(&header, input);
	size += put_write(input + size, 0, 0, 512);
	size += put_write(input + size, 1, 500, index == 0 ? 512 : 100);
	size += put_write(input + size, 2, 64, 64);
	size += put(input + size, LOG_DONE, 0, index == 1);
	size += put(input + size, LOG_DONE, 2, false);
	size += put(input + size, LOG_SYNC, 0, false);
	size += put_write(input + size, 3, 0, 128);
	size += put(input + size, LOG_DONE, 3, index == 0);
	size += put(input + size, LOG_FAILED, 0, false);
	size += put(input + size, LOG_SYNC, 0, false);
	return size + put(input + size, LOG_END, 4, false);
}
