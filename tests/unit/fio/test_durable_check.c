/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_durable_check.c -- a log written by durable_log.c, and what is found of its claims in
 * a target. Power failures are made up here, line by line.
 */
#include <unistd.h>

#include "common/base/failure.h"
#include "fio_engine/durable_check.h"
#include "fio_engine/durable_log.h"
#include "tests/lib/scratch.h"

#define REGION 512U
#define MOST   64U

static uint8_t target[REGION];
static char path[PATH_MAX];
static struct durable_log *job_log;
static struct durable_check check;

static void new_log(void)
{
	const struct log_header header = {.method = METHOD_APM,
					  .policy = FLUSH_EACH,
					  .kind = TARGET_FILE,
					  .region_bytes = REGION};

	memset(target, 0, sizeof(target));
	scratch_path("log", path);
	assert_int_equal(durable_log_open(&job_log, path, &header), 0);
}

static int setup(void **state)
{
	if (scratch_setup(state) != 0)
		return -1;
	new_log();
	return 0;
}

static int teardown(void **state)
{
	durable_log_close(&job_log);
	durable_check_close(&check);
	return scratch_teardown(state);
}

#define LOG_TEST(name) TEST(name, setup, teardown)

static size_t content_of_log(uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got;

	assert_non_null(file);
	got = fread(bytes, 1, size, file);
	assert_int_equal(fclose(file), 0);
	return got;
}

static int read_target(void *arg, uint64_t begin, uint8_t *to, size_t bytes)
{
	assert_null(arg);
	assert_true(begin < REGION && bytes <= REGION - begin);
	memcpy(to, target + begin, bytes);
	return 0;
}

/* Closes the log. */
static void judge(void)
{
	static uint8_t bytes[1U << 16];
	size_t size;

	assert_int_equal(durable_log_end(job_log, 1, REACHED_PERSISTENCE), 0);
	durable_log_close(&job_log);
	size = content_of_log(bytes, sizeof(bytes));
	assert_int_equal(durable_check_open(&check, "log", bytes, size), 0);
	assert_true(check.ended && !check.torn);
	assert_int_equal(durable_check_judge(&check, read_target, NULL), 0);
}

static void write_to_target(uint64_t begin, uint8_t value, uint32_t bytes)
{
	memset(target + begin, value, bytes);
	durable_log_write(job_log, begin, target + begin, bytes);
}

static void expect(const enum claim_state *states, size_t count)
{
	judge();
	assert_int_equal(check.writes, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(check.states[i], states[i]);
}

/* Judges the log: what becomes of its writes. */
#define EXPECT(...)                                                                                \
	expect((const enum claim_state[]){__VA_ARGS__},                                            \
	       sizeof((const enum claim_state[]){__VA_ARGS__}) / sizeof(enum claim_state))

LOG_TEST(a_claim_that_is_there)
{
	write_to_target(0, 1, 200);
	write_to_target(200, 2, 100);
	write_to_target(300, 3, 10);
	durable_log_done(job_log, 0, true);
	durable_log_done(job_log, 1, false);
	EXPECT(CLAIM_THERE, CLAIM_DONE, CLAIM_NONE);
}

LOG_TEST(a_sync_claims_all_that_is_done)
{
	for (uint8_t i = 0; i < 4; i++)
		write_to_target(i * 64U, (uint8_t)(i + 1), 64);
	durable_log_done(job_log, 0, false);
	durable_log_done(job_log, 1, false);
	durable_log_sync(job_log);
	durable_log_done(job_log, 3, false);
	target[70] = 0;
	EXPECT(CLAIM_THERE, CLAIM_LOST, CLAIM_NONE, CLAIM_DONE);
	EQUAL((check.lost_count, 1), (check.lost[0].begin, 64), (check.lost[0].end, 128));
}

/* Like a file: what was written before an fsync that failed may be lost, whatever comes later. */
LOG_TEST(a_failed_sync_leaves_all_before_it_unclaimed)
{
	for (uint8_t i = 0; i < 2; i++) {
		write_to_target(i * 64U, (uint8_t)(i + 1), 64);
		durable_log_done(job_log, i, false);
	}
	durable_log_failed_sync(job_log);
	write_to_target(128, 3, 64);
	durable_log_done(job_log, 2, false);
	durable_log_sync(job_log);
	memset(target, 0, 128);
	EXPECT(CLAIM_DONE, CLAIM_DONE, CLAIM_THERE);
	assert_int_equal(durable_check_verdict(&check), EXIT_GOOD);
}

/* Its connection may be the one that broke, and what is flushed later is on the next. */
LOG_TEST(a_failed_sync_leaves_what_is_under_way_unclaimed)
{
	write_to_target(0, 1, 64);
	write_to_target(64, 2, 64);
	durable_log_failed_sync(job_log);
	durable_log_done(job_log, 0, false);
	durable_log_done(job_log, 1, true); /* with a flush of its own */
	write_to_target(128, 3, 64);
	durable_log_done(job_log, 2, false);
	durable_log_sync(job_log);
	memset(target, 0, 64);
	EXPECT(CLAIM_DONE, CLAIM_THERE, CLAIM_THERE);
	assert_int_equal(durable_check_verdict(&check), EXIT_GOOD);
}

LOG_TEST(a_later_write_under_way_may_be_there_in_its_place)
{
	write_to_target(0, 1, 128);
	durable_log_done(job_log, 0, true);
	write_to_target(0, 2, 128);
	memset(target, 1, 64); /* only the second line of the later one has arrived */
	EXPECT(CLAIM_THERE, CLAIM_NONE);
}

LOG_TEST(what_a_later_claim_covers_is_its_concern)
{
	write_to_target(10, 1, 20);
	durable_log_done(job_log, 0, true);
	write_to_target(0, 2, 64);
	durable_log_done(job_log, 1, true);
	memset(target, 0, 64);
	memset(target + 10, 1, 20); /* the earlier one is there, and must not be */
	EXPECT(CLAIM_COVERED, CLAIM_LOST);
	EQUAL((check.lost[0].begin, 0), (check.lost[0].end, 64));
}

LOG_TEST(older_content_is_a_loss_whatever_was_under_way)
{
	for (uint8_t i = 0; i < 3; i++)
		write_to_target(64, (uint8_t)(i + 1), 64);
	durable_log_done(job_log, 0, true);
	durable_log_done(job_log, 1, true);
	memset(target + 64, 1, 64);
	EXPECT(CLAIM_COVERED, CLAIM_LOST, CLAIM_NONE);
}

LOG_TEST(a_mixture_with_a_write_under_way_is_undecided)
{
	write_to_target(0, 1, 64);
	durable_log_done(job_log, 0, true);
	write_to_target(8, 2, 8);
	target[8] = 1;
	EXPECT(CLAIM_UNDECIDED, CLAIM_NONE);
	assert_int_equal(check.lost_count, 0);
}

/* --- against bytes ------------------------------------------------------------------ */

struct model_write {
	uint32_t begin;
	uint32_t bytes;
	bool claimed;
	uint8_t content[REGION];
};

static struct model_write writes[MOST];

/* The write that a byte of the target is of, where the line holds the first `cut` writes; -1. */
static int owner(uint32_t at, int cut)
{
	while (--cut >= 0) {
		if (at >= writes[cut].begin && at < writes[cut].begin + writes[cut].bytes)
			return cut;
	}
	return -1;
}

/* Is each byte of the write that no later claim covers its own, or a later one's? */
static bool is_kept(int write, int count, const int *cuts)
{
	for (uint32_t at = writes[write].begin; at < writes[write].begin + writes[write].bytes;
	     at++) {
		bool covered = false;

		for (int later = write + 1; later < count; later++)
			covered |= writes[later].claimed && at >= writes[later].begin &&
				   at < writes[later].begin + writes[later].bytes;
		if (!covered && owner(at, cuts[at / LOG_LINE]) < write)
			return false;
	}
	return true;
}

static int make_history(uint64_t *seed, bool whole_lines)
{
	int count = 1 + (int)(test_random(seed) % 12);

	for (int i = 0; i < count; i++) {
		struct model_write *w = &writes[i];
		uint32_t unit = whole_lines ? LOG_LINE : 1, units = REGION / unit;

		w->begin = (uint32_t)(test_random(seed) % units) * unit;
		w->bytes = unit + (uint32_t)(test_random(seed) % (units - w->begin / unit)) * unit;
		w->claimed = test_random(seed) % 2;
		for (uint32_t at = 0; at < w->bytes; at++)
			w->content[at] = (uint8_t)test_random(seed);
		durable_log_write(job_log, w->begin, w->content, w->bytes);
		durable_log_done(job_log, (uint64_t)i, w->claimed);
	}
	return count;
}

static void fail_power(uint64_t *seed, int count, int *cuts)
{
	for (uint32_t line = 0; line < REGION / LOG_LINE; line++)
		cuts[line] = count - (int)(test_random(seed) % 3 % ((unsigned)count + 1));
	for (uint32_t at = 0; at < REGION; at++) {
		int write = owner(at, cuts[at / LOG_LINE]);

		target[at] = write < 0 ? 0 : writes[write].content[at - writes[write].begin];
	}
}

/* Whole lines are always decided; with pieces of lines a loss may be undecided, and no more. */
static void judge_at_random(uint64_t seed, bool whole_lines)
{
	int cuts[REGION / LOG_LINE], count;

	new_log();
	count = make_history(&seed, whole_lines);
	fail_power(&seed, count, cuts);
	judge();
	for (int i = 0; i < count; i++) {
		bool kept = is_kept(i, count, cuts);

		if (!writes[i].claimed) {
			assert_int_equal(check.states[i], CLAIM_DONE);
		} else if (whole_lines) {
			assert_int_equal(check.states[i] == CLAIM_LOST, !kept);
			assert_int_not_equal(check.states[i], CLAIM_UNDECIDED);
		} else {
			EQUAL((kept && check.states[i] == CLAIM_LOST, false),
			      (!kept && (check.states[i] == CLAIM_THERE ||
					 check.states[i] == CLAIM_COVERED),
			       false));
		}
	}
	durable_check_close(&check);
}

SCRATCH_TEST(verdicts_are_those_of_a_model_of_bytes)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		judge_at_random(seed, true);
		judge_at_random(seed, false);
	}
}

/* --- logs that are none -------------------------------------------------------------- */

LOG_TEST(a_log_may_end_anywhere_behind_its_header)
{
	uint8_t bytes[4096];
	size_t size;

	write_to_target(0, 1, 200);
	durable_log_done(job_log, 0, true);
	durable_log_end(job_log, 3, REACHED_VISIBILITY);
	durable_log_close(&job_log);
	size = content_of_log(bytes, sizeof(bytes));
	assert_int_equal(size, LOG_HEADER_BYTES + 3 * LOG_RECORD_BYTES + 4 * LOG_TAG_BYTES);
	for (size_t end = 0; end <= size; end++) {
		int ret = durable_check_open(&check, "log", bytes, end);

		assert_int_equal(ret == 0, end >= LOG_HEADER_BYTES);
		if (ret == 0) {
			bool whole =
				end == LOG_HEADER_BYTES || (end + 2 * LOG_RECORD_BYTES >= size &&
							    (size - end) % LOG_RECORD_BYTES == 0);

			EQUAL((check.torn, !whole), (check.ended, end == size),
			      (check.flushes, end == size ? 3 : 0),
			      (check.reached, end == size ? REACHED_VISIBILITY : REACHED_NOTHING),
			      (durable_check_judge(&check, read_target, NULL), 0),
			      (durable_check_verdict(&check),
			       end == size ? EXIT_GOOD : EXIT_NO_DEVICE));
		}
		durable_check_close(&check);
	}
	/* room that was made and not written: nothing is known of what was to be there */
	size -= LOG_RECORD_BYTES;
	memset(bytes + size, 0, 100);
	EQUAL((durable_check_open(&check, "log", bytes, size + 100), 0), (check.torn, true),
	      (check.states[0], CLAIM_THERE), (durable_check_judge(&check, read_target, NULL), 0),
	      (durable_check_verdict(&check), EXIT_NO_DEVICE));
	durable_check_close(&check);
}

LOG_TEST(a_changed_byte_is_damage)
{
	uint8_t bytes[4096];
	size_t size;

	write_to_target(0, 1, 200);
	durable_log_done(job_log, 0, true);
	durable_log_close(&job_log);
	size = content_of_log(bytes, sizeof(bytes));
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 0x10;
		/* even a length that goes beyond the end, which a crash does not leave */
		EQUAL((durable_check_open(&check, "log", bytes, size), -EIO),
		      (failure_get()->text, HAS("log")));
		bytes[at] ^= 0x10;
	}
}

LOG_TEST(refuses_what_no_client_writes)
{
	static const struct log_record wrong[][3] = {
		{{.type = LOG_DONE, .number = 0}},
		{{.type = LOG_WRITE, .number = 1, .bytes = 64}},
		{{.type = LOG_WRITE, .number = 0, .begin = REGION, .bytes = 64}},
		{{.type = LOG_WRITE, .number = 0, .begin = REGION - 63, .bytes = 64}},
		{{.type = LOG_WRITE, .number = 0, .begin = UINT64_MAX, .bytes = 64}},
		{{.type = LOG_WRITE, .number = 0}},
		{{.type = LOG_SYNC, .number = 1}},
		{{.type = LOG_FAILED, .number = 1}},
		{{.type = LOG_FAILED, .claimed = true}},
		{{.type = LOG_END, .number = 1}},
		{{.type = LOG_END, .claimed = true}},
		{{.type = LOG_END, .bytes = REACHED_VISIBILITY}},
		{{.type = LOG_END, .begin = 1, .bytes = REACHED_PERSISTENCE + 1}},
		{{.type = LOG_DONE, .begin = 1}},
		{{.type = 0}},
		{{.type = LOG_END + 1}},
	};

	durable_log_close(&job_log);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t bytes[256];
		struct log_header header;
		struct log_sum sum;
		size_t size;

		size = content_of_log(bytes, sizeof(bytes));
		assert_int_equal(log_header_decode(bytes, size, &header, &sum), 0);
		sum = log_record_front(&wrong[i][0], sum, bytes + size);
		size += LOG_FRONT_BYTES;
		if (wrong[i][0].type == LOG_WRITE && wrong[i][0].bytes > 0) {
			log_record_tag(&sum, 0, bytes + size);
			size += LOG_TAG_BYTES;
		}
		log_record_end(sum, bytes + size);
		EQUAL((durable_check_open(&check, "log", bytes, size + LOG_TAG_BYTES), -EIO),
		      (failure_get()->text, HAS("damaged at byte 32")));
	}
}

LOG_TEST(a_log_that_a_job_has_is_not_taken_from_it)
{
	const struct log_header header = {METHOD_APM, FLUSH_EACH, TARGET_DRAM, 1};
	struct durable_log *other = NULL;

	EQUAL((durable_log_open(&other, path, &header), -EIO), (other, NULL),
	      (failure_get()->text, HAS("another job writes it")),
	      (durable_log_open(&other, "/", &header), -EIO),
	      (durable_log_open(&other, "/dev/full", &header), -EIO));
}
