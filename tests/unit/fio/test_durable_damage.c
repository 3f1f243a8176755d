/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_durable_damage.c -- a log that is not what the client wrote is never judged as good: it is
 * refused, or undetermined, whatever the target has.
 */
#include <unistd.h>

#include "fio_engine/durable_check.h"
#include "fio_engine/durable_log.h"
#include "tests/lib/test.h"

#define REGION	  8192U
#define WRITES	  40U
#define PLACE	  (REGION / WRITES) /* for one write: none is written again */
#define SYNC_EACH 4U
#define MUTATIONS 500
#define LOG_MAX	  (1U << 16)

static uint8_t target[REGION];
static uint8_t whole[LOG_MAX];
static size_t whole_size;
/* where each record of the whole log begins, and its end */
static size_t begins[4 * WRITES];
static size_t records;

static int read_target(void *arg, uint64_t begin, uint8_t *to, size_t bytes)
{
	memcpy(to, target + begin, bytes);
	return 0;
}

/* The exit status of the checker. */
static enum exit_code judge(const uint8_t *bytes, size_t size)
{
	struct durable_check check;
	enum exit_code code;

	if (durable_check_open(&check, "log", bytes, size) != 0)
		return EXIT_RUN_FAILED;
	assert_int_equal(durable_check_judge(&check, read_target, NULL), 0);
	code = durable_check_verdict(&check);
	durable_check_close(&check);
	return code;
}

static void find_records(void)
{
	struct log_header header;
	struct log_record record;
	struct log_sum sum;
	size_t at = LOG_HEADER_BYTES;

	records = 0;
	assert_int_equal(log_header_decode(whole, whole_size, &header, &sum), 0);
	while (at < whole_size) {
		int64_t taken =
			log_record_decode(whole + at, whole_size - at, REGION, sum, &record);

		assert_true(taken > 0);
		begins[records++] = at;
		at += (size_t)taken;
		sum = record.sum;
	}
	begins[records] = at;
}

/* Writes with an fsync behind every fourth one, and an end: all that is claimed is there. */
static int make_log(void **state)
{
	const struct log_header header = {.method = METHOD_APM,
					  .policy = FLUSH_FSYNC,
					  .kind = TARGET_FILE,
					  .region_bytes = REGION};
	struct durable_log *log = NULL;
	char path[] = "/tmp/durable-damage-XXXXXX";
	uint64_t seed = 1;
	int fd = mkstemp(path);
	FILE *file;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(durable_log_open(&log, path, &header), 0);
	for (uint32_t i = 0; i < WRITES; i++) {
		uint32_t begin = i * PLACE + (uint32_t)(test_random(&seed) % (PLACE - 100));

		for (uint32_t k = 0; k < 100; k++)
			target[begin + k] = (uint8_t)test_random(&seed);
		durable_log_write(log, begin, target + begin, 100);
		durable_log_done(log, i, false);
		if (i % SYNC_EACH == SYNC_EACH - 1)
			durable_log_sync(log);
	}
	assert_int_equal(durable_log_end(log, WRITES / SYNC_EACH, REACHED_PERSISTENCE), 0);
	durable_log_close(&log);
	file = fopen(path, "r");
	assert_non_null(file);
	whole_size = fread(whole, 1, sizeof(whole), file);
	fclose(file);
	unlink(path);
	find_records();
	return 0;
}

TEST(the_whole_log_is_good, make_log, NULL)
{
	assert_int_equal(judge(whole, whole_size), EXIT_GOOD);
}

/* --- named damages ----------------------------------------------------------------- */

struct log_bytes {
	uint8_t bytes[2 * LOG_MAX];
	size_t size;
};

static void cut(struct log_bytes *log, size_t begin, size_t end)
{
	memmove(log->bytes + begin, log->bytes + end, log->size - end);
	log->size -= end - begin;
}

static void insert(struct log_bytes *log, size_t at, const uint8_t *bytes, size_t size)
{
	memmove(log->bytes + at + size, log->bytes + at, log->size - at);
	memcpy(log->bytes + at, bytes, size);
	log->size += size;
}

static void swap_records(struct log_bytes *log, size_t first)
{
	size_t begin = begins[first], end = begins[first + 1];
	uint8_t copy[LOG_MAX];

	memcpy(copy, log->bytes + begin, end - begin);
	insert(log, begins[first + 2], copy, end - begin);
	cut(log, begin, end);
}

/* Records by number: write, done, write, done ... and a sync behind each fourth pair. */
#define PAIR	   2U
#define FIRST_SYNC (PAIR * SYNC_EACH)

/* Damages 0 to 7: the end or all of it. */
static void damage_end(struct log_bytes *log, unsigned number)
{
	const size_t end = begins[records], last = begins[records - 1];
	uint8_t *bytes = log->bytes;

	switch (number) {
	case 0: /* the end is missing */
		log->size = last;
		break;
	case 1: /* 20 records at the end are missing */
		log->size = begins[records - 20];
		break;
	case 2: /* they are zeros */
		memset(bytes + begins[records - 20], 0, end - begins[records - 20]);
		break;
	case 3: /* half a record is missing */
		log->size = end - LOG_RECORD_BYTES / 2;
		break;
	case 4: /* half of one is zeros */
		memset(bytes + end - LOG_RECORD_BYTES / 2, 0, LOG_RECORD_BYTES / 2);
		break;
	case 5: /* nothing but the header is left */
		log->size = LOG_HEADER_BYTES;
		break;
	case 6: /* all but the header is zeros */
		memset(bytes + LOG_HEADER_BYTES, 0, end - LOG_HEADER_BYTES);
		break;
	default: /* nothing is left */
		log->size = 0;
		break;
	}
}

/* Damages 8 to 21: records or bytes in the middle, or behind the end. */
static void damage_middle(struct log_bytes *log, unsigned number)
{
	const size_t end = begins[records], last = begins[records - 1];
	uint8_t *bytes = log->bytes;

	switch (number) {
	case 8: /* a done is missing */
		cut(log, begins[1], begins[2]);
		break;
	case 9: /* a sync is missing */
		cut(log, begins[FIRST_SYNC], begins[FIRST_SYNC + 1]);
		break;
	case 10: /* a write with its done is missing */
		cut(log, begins[0], begins[PAIR]);
		break;
	case 11: /* all between two syncs is missing */
		cut(log, begins[FIRST_SYNC], begins[2 * FIRST_SYNC + 1]);
		break;
	case 12: /* a failed sync in place of a sync, its own sums right */
		log_record_encode(&(struct log_record){.type = LOG_FAILED}, (struct log_sum){0},
				  bytes + begins[FIRST_SYNC]);
		break;
	case 13: /* a done twice */
		insert(log, begins[2], whole + begins[1], begins[2] - begins[1]);
		break;
	case 14: /* a sync twice */
		insert(log, begins[FIRST_SYNC], whole + begins[FIRST_SYNC], LOG_RECORD_BYTES);
		break;
	case 15: /* a sync before the done that it claims */
		swap_records(log, FIRST_SYNC - 1);
		break;
	case 16: /* something behind the end */
		insert(log, end, whole + last, LOG_RECORD_BYTES);
		break;
	case 17: /* zeros behind the end */
		memset(bytes + end, 0, LOG_RECORD_BYTES);
		log->size += LOG_RECORD_BYTES;
		break;
	case 18: /* the end of another log: all behind the first sync is missing */
		cut(log, begins[FIRST_SYNC + 1], last);
		break;
	case 19: /* a block of a disk in its middle is zeros */
		memset(bytes + 1024, 0, 512);
		break;
	case 20: /* and one is that before it */
		memmove(bytes + 1024, bytes + 512, 512);
		break;
	case 21: /* the memory is said to be smaller */
		bytes[16] ^= 0x40;
		break;
	default:
		fail();
	}
}

static void expect_no_good_word(const struct log_bytes *log, const char *what, unsigned number)
{
	enum exit_code code = judge(log->bytes, log->size);

	if (code == EXIT_GOOD)
		fail_msg("%s %u is judged as good", what, number);
	assert_true(code == EXIT_RUN_FAILED || code == EXIT_NO_DEVICE);
}

TEST(a_damaged_log_is_never_good, make_log, NULL)
{
	static struct log_bytes log;

	for (unsigned number = 0; number < 22; number++) {
		memcpy(log.bytes, whole, whole_size);
		log.size = whole_size;
		if (number < 8)
			damage_end(&log, number);
		else
			damage_middle(&log, number);
		expect_no_good_word(&log, "damage", number);
	}
}

/* --- at random ---------------------------------------------------------------------- */

static size_t below(uint64_t *seed, size_t limit)
{
	return limit > 0 ? (size_t)(test_random(seed) % limit) : 0;
}

static void mutate(struct log_bytes *log, uint64_t *seed)
{
	size_t at = below(seed, log->size), size = 1 + below(seed, log->size - at);
	size_t other = below(seed, log->size - size + 1);

	switch (test_random(seed) % 7) {
	case 0:
		log->bytes[at] ^= (uint8_t)(1U << test_random(seed) % 8);
		break;
	case 1:
		log->bytes[at] = (uint8_t)test_random(seed);
		break;
	case 2:
		log->size = at;
		break;
	case 3:
		memset(log->bytes + at, 0, size);
		break;
	case 4:
		cut(log, at, at + size);
		break;
	case 5:
		insert(log, at, whole + other, size);
		break;
	default:
		memmove(log->bytes + at, log->bytes + other, size);
		break;
	}
}

TEST(a_mutated_log_is_never_good, make_log, NULL)
{
	static struct log_bytes log;
	uint64_t seed = 29;

	for (unsigned number = 0; number < MUTATIONS;) {
		memcpy(log.bytes, whole, whole_size);
		log.size = whole_size;
		mutate(&log, &seed);
		if (log.size == whole_size && memcmp(log.bytes, whole, whole_size) == 0)
			continue; /* the same byte again */
		expect_no_good_word(&log, "mutation", number++);
	}
}
