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
#define WRITES	  16U
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

/* --- records ------------------------------------------------------------------------ */

static struct log_bytes {
	uint8_t bytes[2 * LOG_MAX];
	size_t size;
} damaged;

static void begin_anew(void)
{
	memcpy(damaged.bytes, whole, whole_size);
	damaged.size = whole_size;
}

static void cut(size_t begin, size_t end)
{
	memmove(damaged.bytes + begin, damaged.bytes + end, damaged.size - end);
	damaged.size -= end - begin;
}

static void insert(size_t at, const uint8_t *bytes, size_t size)
{
	memmove(damaged.bytes + at + size, damaged.bytes + at, damaged.size - at);
	memcpy(damaged.bytes + at, bytes, size);
	damaged.size += size;
}

static void expect_no_good_word(const char *what, size_t number)
{
	enum exit_code code = judge(damaged.bytes, damaged.size);

	if (code == EXIT_GOOD)
		fail_msg("%s %zu is judged as good", what, number);
	assert_true(code == EXIT_RUN_FAILED || code == EXIT_NO_DEVICE);
}

/* From a single one to all of them. */
TEST(records_that_are_missing_or_zeros_are_seen, make_log, NULL)
{
	for (size_t first = 0; first < records; first++) {
		for (size_t end = first + 1; end <= records; end++) {
			begin_anew();
			cut(begins[first], begins[end]);
			expect_no_good_word("without record", first);
			begin_anew();
			memset(damaged.bytes + begins[first], 0, begins[end] - begins[first]);
			expect_no_good_word("with zeros from record", first);
		}
	}
}

/* Each at each place, behind the end too: a sync before the done that it claims is one of them. */
TEST(a_record_that_is_there_twice_or_elsewhere_is_seen, make_log, NULL)
{
	for (size_t number = 0; number < records; number++) {
		const size_t begin = begins[number], end = begins[number + 1];

		for (size_t place = 0; place <= records; place++) {
			begin_anew();
			insert(begins[place], whole + begin, end - begin);
			expect_no_good_word("with twice record", number);
			if (place > number + 1) {
				cut(begin, end);
				expect_no_good_word("with elsewhere record", number);
			}
		}
	}
}

TEST(a_record_with_sums_of_its_own_is_seen, make_log, NULL)
{
	const size_t first_sync = 2 * SYNC_EACH; /* behind as many writes, each with its done */

	begin_anew();
	log_record_encode(&(struct log_record){.type = LOG_FAILED}, (struct log_sum){0},
			  damaged.bytes + begins[first_sync]);
	expect_no_good_word("with another record", first_sync);
}

TEST(zeros_behind_the_end_are_seen, make_log, NULL)
{
	begin_anew();
	memset(damaged.bytes + damaged.size, 0, LOG_RECORD_BYTES);
	damaged.size += LOG_RECORD_BYTES;
	expect_no_good_word("with zeros behind record", records - 1);
}

/* --- at random ---------------------------------------------------------------------- */

static size_t below(uint64_t *seed, size_t limit)
{
	return limit > 0 ? (size_t)(test_random(seed) % limit) : 0;
}

static void mutate(uint64_t *seed)
{
	uint8_t *bytes = damaged.bytes;
	size_t at = below(seed, damaged.size), size = 1 + below(seed, damaged.size - at);
	size_t other = below(seed, damaged.size - size + 1);

	switch (test_random(seed) % 7) {
	case 0:
		bytes[at] ^= (uint8_t)(1U << test_random(seed) % 8);
		break;
	case 1:
		bytes[at] = (uint8_t)test_random(seed);
		break;
	case 2:
		damaged.size = at;
		break;
	case 3:
		memset(bytes + at, 0, size);
		break;
	case 4:
		cut(at, at + size);
		break;
	case 5:
		insert(at, whole + other, size);
		break;
	default:
		memmove(bytes + at, bytes + other, size);
		break;
	}
}

TEST(a_mutated_log_is_never_good, make_log, NULL)
{
	uint64_t seed = 29;

	for (unsigned number = 0; number < MUTATIONS;) {
		begin_anew();
		mutate(&seed);
		if (damaged.size == whole_size && memcmp(damaged.bytes, whole, whole_size) == 0)
			continue; /* the same byte again */
		expect_no_good_word("mutation", number++);
	}
}
