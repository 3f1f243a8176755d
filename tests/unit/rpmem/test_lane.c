/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lane.c -- what a lane sends, over a transport that only takes notes: how
 * transfers are cut, in which order things become durable, and how a lane ends.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "librpmem/src/lane_private.h"
#include "tests/lib/test.h"

#define BYTES	  (64UL << 20)
#define WRITE_MAX 65536
#define NOTES_MAX 65536
#define MANY	  (2 * WRITE_MAX) /* bytes: writes, and requests, of which not all fit */

static struct fake {
	char notes[NOTES_MAX];
	size_t len;
	uint32_t slots[LANE_SLOTS]; /* unanswered, the oldest first */
	unsigned unanswered, most;
	enum persist_status status; /* what the next answer has */
	uint32_t strange_slot;	    /* what the next answer carries; 0: the right one */
	int connect_answer;
	int steps, fails_at, fails_with; /* calls; which of them fails, 0: none; and how */
	enum cause connect_cause;
	bool writes_words, no_lane;
	unsigned connected;
	uint64_t moved;	 /* bytes written and copied */
	uint64_t end_at; /* the session ends when as many were moved; 0: it does not */
} fake;

static struct lanes *lanes;
static unsigned char *memory;
static int end_fd;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fake.len += (size_t)vsnprintf(fake.notes + fake.len, NOTES_MAX - fake.len, format, args);
	va_end(args);
	assert_true(fake.len < NOTES_MAX);
}

/* --- the transport ------------------------------------------------------------- */

static int fake_open(struct lanes *l)
{
	l->write_max = WRITE_MAX;
	return 0;
}

static void fake_close(struct lanes *l)
{
}

static int fake_connect(struct lane *lane)
{
	fake.connected++;
	lane->flushes = lane->lanes->daemon.method == CONTROL_APM;
	lane->writes_words = fake.writes_words;
	if (fake.connect_answer)
		failure_because(fake.connect_cause, EXIT_RUN_FAILED, "connect", "not connected");
	return fake.connect_answer;
}

static void fake_hang_up(struct lane *lane)
{
}

static void fake_disconnect(struct lane *lane, int wait_ms)
{
}

static void move(uint64_t length)
{
	fake.moved += length;
	if (fake.end_at != 0 && fake.moved >= fake.end_at)
		eventfd_write(end_fd, 1);
}

static int step(void)
{
	return ++fake.steps == fake.fails_at ? fake.fails_with : 0;
}

/* A write must not be made durable before, nor overtake, what is copied. */
static int fake_write(struct lane *lane, size_t offset, size_t length)
{
	assert_int_equal(lane->copies, 0);
	note("w %zu+%zu; ", offset, length);
	move(length);
	return step();
}

static int fake_flush(struct lane *lane, const struct lane_span *span, bool wait)
{
	note("f %lu-%lu%s; ", span->begin, span->end, wait ? " wait" : "");
	return step();
}

static int fake_persist(struct lane *lane, size_t offset, size_t length)
{
	const struct lane_span span = {offset, offset + length};
	int ret = fake_write(lane, offset, length);

	return ret ? ret : fake_flush(lane, &span, true);
}

static void note_ranges(const uint8_t *data, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += LANE_RANGE_BYTES) {
		const struct lane_range range = lane_decode_range(data + at);

		note("%lu+%lu ", range.offset, range.length);
	}
}

static int fake_request(struct lane *lane, const struct lane_request *request, const void *data)
{
	static const char *const names[] = {
		[LANE_PERSIST] = "p", [LANE_PERSIST_DATA] = "d",   [LANE_DEEP] = "deep",
		[LANE_WRITE] = "c",   [LANE_PERSIST_RANGES] = "r",
	};

	if (step())
		return fake.fails_with;
	note("%s ", names[request->op]);
	if (request->op == LANE_PERSIST_RANGES)
		note_ranges(data, request->length);
	else
		note("%lu+%lu", request->offset, request->length);
	note("; ");
	if (request->op == LANE_PERSIST_DATA || request->op == LANE_WRITE) {
		assert_true(request->length <= LANE_DATA_MAX);
		assert_ptr_equal(data, memory + request->offset);
		move(request->length);
	}
	for (unsigned i = 0; i < fake.unanswered; i++)
		assert_int_not_equal(fake.slots[i], request->slot);
	assert_true(fake.unanswered < LANE_SLOTS);
	fake.slots[fake.unanswered++] = request->slot;
	fake.most = fake.unanswered > fake.most ? fake.unanswered : fake.most;
	return 0;
}

static int fake_answer(struct lane *lane, struct lane_answer *answer)
{
	if (step())
		return fake.fails_with;
	assert_true(fake.unanswered > 0);
	*answer = (struct lane_answer){fake.strange_slot != 0 ? fake.strange_slot : fake.slots[0],
				       fake.status};
	fake.status = PERSIST_DONE;
	memmove(fake.slots, fake.slots + 1, --fake.unanswered * sizeof(fake.slots[0]));
	return 0;
}

static int fake_read(struct lane *lane, void *buffer, size_t offset, size_t length)
{
	assert_int_equal(fake.unanswered, 0);
	note("read %zu+%zu; ", offset, length);
	return step();
}

#define FAKE                                                                                       \
	.open = fake_open, .close = fake_close, .connect = fake_connect, .hang_up = fake_hang_up,  \
	.disconnect = fake_disconnect, .write = fake_write, .flush = fake_flush,                   \
	.persist = fake_persist, .request = fake_request, .answer = fake_answer, .read = fake_read

const struct lane_transport lane_rdma = {FAKE};
const struct lane_transport lane_tcp = {FAKE};

/* --- set up ------------------------------------------------------------------------ */

static int open_lanes(enum control_method method, enum control_transport transport)
{
	const struct control_pool_reply daemon = {
		.nlanes = fake.no_lane ? 0 : 4, .port = 1, .method = method, .pool_size = BYTES};
	const struct lanes_cfg cfg = {.host = "host",
				      .daemon = &daemon,
				      .transport = transport,
				      .memory = memory,
				      .bytes = BYTES,
				      .work_queue = 8,
				      .end_fd = end_fd};

	return lanes_open(&lanes, &cfg);
}

static int set_up(enum control_method method, enum control_transport transport, bool writes_words)
{
	memset(&fake, 0, sizeof(fake));
	fake.writes_words = writes_words;
	end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	memory = malloc(BYTES);
	return open_lanes(method, transport);
}

static int apm(void **state)
{
	return set_up(CONTROL_APM, CONTROL_RDMA, true);
}

/* Writes tear words, as over iWARP. */
static int apm_that_tears_words(void **state)
{
	return set_up(CONTROL_APM, CONTROL_RDMA, false);
}

static int gpspm(void **state)
{
	return set_up(CONTROL_GPSPM, CONTROL_RDMA, false);
}

static int tcp(void **state)
{
	return set_up(CONTROL_GPSPM, CONTROL_TCP, true);
}

static int tear_down(void **state)
{
	lanes_close(&lanes);
	free(memory);
	close(end_fd);
	return 0;
}

static void assert_sent(const char *notes)
{
	assert_string_equal(fake.notes, notes);
	fake.len = 0;
	fake.notes[0] = '\0';
}

/* --- what is sent ---------------------------------------------------------------------- */

TEST(a_small_persist_is_one_message, apm_that_tears_words, tear_down)
{
	assert_int_equal(lanes_persist(lanes, 0, 4096, 64, false), 0);
	assert_sent("d 4096+64; ");
	assert_int_equal(lanes_persist(lanes, 0, 5000, LANE_DATA_MAX, false), 0);
	assert_sent("d 5000+8192; ");
	assert_int_equal(fake.unanswered, 0);
}
TEST_AGAIN(a_small_persist_is_one_message, gpspm, tear_down)

TEST(apm_flushes_what_was_written, apm, tear_down)
{
	assert_int_equal(lanes_persist(lanes, 0, 8192, 64, true), 0);
	assert_sent("w 8192+64; f 8192-8256 wait; ");
	EQUAL((lanes_flush(lanes, 0, 9000, 8, true), 0), (lanes_flush(lanes, 0, 8000, 8, true), 0),
	      (lanes_flush(lanes, 0, 8500, 8, true), 0), (lanes_drain(lanes, 0), 0));
	assert_sent("w 9000+8; w 8000+8; w 8500+8; f 8000-9008 wait; ");
	assert_int_equal(lanes_drain(lanes, 0), 0);
	assert_sent("");
}

TEST(apm_writes_words_whatever_is_asked, apm, tear_down)
{
	assert_int_equal(lanes_persist(lanes, 0, 8192, 64, false), 0);
	assert_sent("w 8192+64; f 8192-8256 wait; ");
	assert_int_equal(lanes_persist(lanes, 0, 4096, 20000, false), 0);
	assert_sent("w 4096+20000; f 4096-24096 wait; ");
	EQUAL((lanes_flush(lanes, 0, 65536, 8, false), 0), (lanes_drain(lanes, 0), 0));
	assert_sent("w 65536+8; f 65536-65544 wait; ");
}

/* The packets of one write may end wherever its begin leads to. */
TEST(a_transfer_from_within_a_word_begins_with_a_short_write, apm, tear_down)
{
	assert_int_equal(lanes_persist(lanes, 0, 8195, 5, false), 0);
	assert_sent("w 8195+5; f 8195-8200 wait; ");
	assert_int_equal(lanes_persist(lanes, 0, 8195, 61, false), 0);
	assert_sent("w 8195+61; f 8195-8256 wait; ");
	assert_int_equal(lanes_persist(lanes, 0, 8195, 5000, false), 0);
	assert_sent("w 8195+61; w 8256+4939; f 8195-13195 wait; ");
	assert_int_equal(lanes_persist(lanes, 0, 8200, 5000, false), 0);
	assert_sent("w 8200+5000; f 8200-13200 wait; ");
}

/* A flush of all that is between could take the device long. */
TEST(far_writes_are_flushed_one_by_one, apm, tear_down)
{
	EQUAL((lanes_flush(lanes, 0, 4096, 8, true), 0),
	      (lanes_flush(lanes, 0, 33554432, 8, true), 0), (lanes_drain(lanes, 0), 0));
	assert_sent("w 4096+8; w 33554432+8; f 4096-4104; f 33554432-33554440 wait; ");
}

/* RDMA has 32 bits for the length of a flush. */
TEST(a_long_range_is_flushed_in_pieces, apm, tear_down)
{
	lanes->write_max = SIZE_MAX / 2;
	assert_int_equal(lanes_persist(lanes, 0, 4096, 5368709120, true), 0);
	assert_sent("w 4096+5368709120; f 4096-1073745920; f 1073745920-2147487744; "
		    "f 2147487744-3221229568; f 3221229568-4294971392; "
		    "f 4294971392-5368713216 wait; ");
}

TEST(gpspm_asks_for_ranges, gpspm, tear_down)
{
	assert_int_equal(lanes_flush(lanes, 0, 8192, 64, true), 0);
	assert_int_equal(lanes_flush(lanes, 0, 8256, 64, true), 0); /* touches the first */
	assert_int_equal(lanes_drain(lanes, 0), 0);
	assert_sent("w 8192+64; w 8256+64; p 8192+128; ");
	EQUAL((lanes_flush(lanes, 0, 8192, 64, true), 0),
	      (lanes_flush(lanes, 0, 4096, 8, true), 0));
	assert_int_equal(lanes_flush(lanes, 0, 8180, 16, true), 0); /* overlaps the first */
	assert_int_equal(lanes_drain(lanes, 0), 0);
	assert_sent("w 8192+64; w 4096+8; w 8180+12; w 8192+4; r 8180+76 4096+8 ; ");
}

TEST(full_ranges_are_asked_for_early, gpspm, tear_down)
{
	char *early;

	for (size_t i = 0; i <= LANE_RANGES; i++)
		assert_int_equal(lanes_flush(lanes, 0, 4096 + i * 100, 8, true), 0);
	early = strstr(fake.notes, "r 4096+8 ");
	assert_non_null(early);
	assert_null(strstr(early, "7296+8 ; ")); /* the last one is not among them */
	EQUAL((lanes_drain(lanes, 0), 0), (fake.notes, HAS("p 7296+8; ")));
}

TEST(large_data_are_copied_and_persisted_once, apm_that_tears_words, tear_down)
{
	assert_int_equal(lanes_persist(lanes, 0, 4096, 20000, false), 0);
	assert_sent("c 4096+8192; c 12288+8192; c 20480+3616; p 4096+20000; ");
}
TEST_AGAIN(large_data_are_copied_and_persisted_once, gpspm, tear_down)

TEST(flushes_of_copied_data_overlap, gpspm, tear_down)
{
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(lanes_flush(lanes, 0, 4096 + i * 64, 64, false), 0);
	EQUAL((fake.most, LANE_SLOTS), (lanes_drain(lanes, 0), 0), (fake.unanswered, 0),
	      (fake.notes, HAS("p 4096+1280; ")));
}

/* A CPU of the target copied them, with APM over iWARP too, and no device flushes that. */
TEST(copied_data_are_asked_for, apm_that_tears_words, tear_down)
{
	EQUAL((lanes_flush(lanes, 0, 4096, 64, false), 0),
	      (lanes_flush(lanes, 0, 8192, 64, true), 0), (lanes_drain(lanes, 0), 0));
	assert_sent("c 4096+64; w 8192+64; p 4096+64; f 8192-8256 wait; ");
}

TEST(what_was_flushed_is_durable_before_a_persist, apm_that_tears_words, tear_down)
{
	EQUAL((lanes_flush(lanes, 0, 8192, 64, true), 0),
	      (lanes_persist(lanes, 0, 4096, 64, false), 0));
	assert_sent("w 8192+64; f 8192-8256 wait; d 4096+64; ");
	EQUAL((lanes_flush(lanes, 0, 65536, 64, true), 0),
	      (lanes_persist(lanes, 0, 4096, 10000, false), 0));
	assert_sent("w 65536+64; f 65536-65600 wait; c 4096+8192; c 12288+1808; p 4096+10000; ");
	EQUAL((lanes_flush(lanes, 0, 8192, 64, true), 0),
	      (lanes_deep_persist(lanes, 0, 4096, 64), 0));
	assert_sent("w 8192+64; f 8192-8256 wait; w 4096+64; deep 4096+64; ");
}

TEST(tcp_copies_by_words_whatever_is_asked, tcp, tear_down)
{
	EQUAL((lanes_flush(lanes, 0, 4096, 20000, false), 0), (lanes_drain(lanes, 0), 0));
	assert_sent("w 4096+20000; p 4096+20000; ");
	assert_int_equal(lanes_persist(lanes, 0, 4096, 64, true), 0);
	assert_sent("d 4096+64; ");
}

TEST(reads_wait_for_answers, gpspm, tear_down)
{
	EQUAL((lanes_flush(lanes, 0, 4096, 64, false), 0),
	      (lanes_read(lanes, 0, memory, 4096, 64), 0));
	assert_sent("c 4096+64; read 4096+64; ");
}

/* Commit records are words: of an aligned one all bytes travel in one piece. */
TEST(no_aligned_word_is_split, gpspm, tear_down)
{
	uint64_t random = 1;

	for (unsigned turn = 0; turn < 300; turn++) {
		size_t offset = 4096 + test_random(&random) % 10000, at = offset;
		size_t length = 1 + test_random(&random) % 400000;
		const bool relaxed = turn % 2 != 0;
		const bool written = relaxed || fake.writes_words;
		size_t max = written ? WRITE_MAX : LANE_DATA_MAX;
		const char *rest = fake.notes;
		size_t from, bytes;
		int len;

		assert_int_equal(lanes_flush(lanes, 0, offset, length, relaxed), 0);
		while (sscanf(rest, "%*[wc] %zu+%zu; %n", &from, &bytes, &len) == 2) {
			assert_int_equal(from, at);
			assert_in_range(bytes, 1,
					written && from % LANE_WORD != 0 ? LANE_CUT - 1 : max);
			at += bytes;
			assert_true(at == offset + length || at % 64 == 0);
			rest += len;
		}
		EQUAL((at, offset + length), (lanes_drain(lanes, 0), 0));
		fake.len = 0;
		fake.notes[0] = '\0';
	}
}
TEST_AGAIN(no_aligned_word_is_split, apm, tear_down)
TEST_AGAIN(no_aligned_word_is_split, apm_that_tears_words, tear_down)

/* --- connections and ends --------------------------------------------------------------- */

TEST(lanes_connect_when_first_used, gpspm, tear_down)
{
	EQUAL((fake.connected, 1), (lanes_persist(lanes, 0, 4096, 8, false), 0),
	      (fake.connected, 1), (lanes_persist(lanes, 3, 4096, 8, false), 0),
	      (lanes_drain(lanes, 3), 0), (fake.connected, 2));
}

TEST(a_lane_that_does_not_connect_may_try_again, gpspm, tear_down)
{
	static const struct {
		enum cause cause;
		int answer, expected;
	} cases[] = {
		{CAUSE_NO_ANSWER, -EIO, -ETIMEDOUT},
		{CAUSE_MEMLOCK, -EIO, -ENOMEM},
		{CAUSE_UNKNOWN, -EMFILE, -EMFILE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.connect_answer = cases[i].answer;
		fake.connect_cause = cases[i].cause;
		assert_int_equal(lanes_persist(lanes, 1, 4096, 8, false), cases[i].expected);
	}
	fake.connect_answer = 0;
	assert_int_equal(lanes_persist(lanes, 1, 4096, 8, false), 0);
}

/* The daemon that lane 0 has reached, or the way to it, is gone. */
TEST(a_lane_that_cannot_connect_is_a_lost_connection)
{
	static const struct {
		enum cause cause;
		int expected;
	} cases[] = {
		{CAUSE_UNREACHABLE, -ECONNRESET}, {CAUSE_BUSY, -ECONNRESET},
		{CAUSE_NO_DEVICE, -ECONNRESET},	  {CAUSE_NO_PERMISSION, -ECONNRESET},
		{CAUSE_REFUSED, -ECONNRESET},	  {CAUSE_UNKNOWN, -ECONNRESET},
		{CAUSE_WRONG_PEER, -EPROTO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gpspm(NULL);
		fake.connect_answer = -EIO;
		fake.connect_cause = cases[i].cause;
		EQUAL((lanes_drain(lanes, 1), cases[i].expected),
		      (lanes_drain(lanes, 0), cases[i].expected),
		      (failure_get()->text, "not connected"));
		tear_down(NULL);
	}
}

/* The errno tells why a pool does not open. */
TEST(lane_0_keeps_its_reason, gpspm, tear_down)
{
	lanes_close(&lanes);
	fake.connect_answer = -EIO;
	fake.connect_cause = CAUSE_UNREACHABLE;
	EQUAL((open_lanes(CONTROL_GPSPM, CONTROL_RDMA), -EHOSTUNREACH), (lanes, NULL));
}

TEST(lost_is_lost_for_each_lane, gpspm, tear_down)
{
	failure_set(EXIT_RUN_FAILED, "connection", "the cable is cut");
	assert_int_equal(lanes_lost(lanes), -ECONNRESET);
	for (unsigned lane = 0; lane < 4; lane++) {
		failure_get()->text[0] = '\0';
		EQUAL((lanes_persist(lanes, lane, 4096, 8, false), -ECONNRESET),
		      (failure_get()->text, "the cable is cut"),
		      (lanes_drain(lanes, lane), -ECONNRESET));
	}
	assert_sent("");
}

TEST(a_wait_that_is_given_up_is_a_lost_connection, apm, tear_down)
{
	fake.fails_at = 1;
	fake.fails_with = -ECANCELED;
	EQUAL((lanes_flush(lanes, 0, 4096, 8, true), -ECONNRESET),
	      (failure_get()->text, HAS("host")),
	      (lanes_flush(lanes, 1, 4096, 8, true), -ECONNRESET));
}

/* A flush of `flushed` bytes, and what follows. */
struct follow {
	size_t flushed;
	bool relaxed;
	enum { DRAIN, PERSIST, RELAXED, DEEP, READ } call;
	size_t length;
};

static int flush_and(const struct follow *f)
{
	int ret = lanes_flush(lanes, 0, 4096, f->flushed, f->relaxed);

	if (ret)
		return ret;
	if (f->call == DRAIN)
		return lanes_drain(lanes, 0);
	if (f->call == DEEP)
		return lanes_deep_persist(lanes, 0, BYTES / 2, f->length);
	if (f->call == READ)
		return lanes_read(lanes, 0, memory, BYTES / 2, f->length);
	return lanes_persist(lanes, 0, BYTES / 2, f->length, f->call == RELAXED);
}

TEST(a_call_ends_with_the_first_failure_of_its_transport)
{
	static int (*const ways[])(void **) = {apm, apm_that_tears_words, gpspm};
	static const struct follow cases[] = {{MANY, false, DRAIN, 0},	 {MANY, true, DRAIN, 0},
					      {8, false, PERSIST, MANY}, {8, false, RELAXED, MANY},
					      {8, true, RELAXED, MANY},	 {8, true, PERSIST, 8},
					      {8, true, DEEP, 8},	 {8, false, READ, 8}};

	for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
		for (int at = 1, ret = -EPIPE; ret != 0; at++) {
			ways[i % 3](NULL);
			fake.fails_at = at;
			fake.fails_with = -EPIPE;
			ret = flush_and(&cases[i / 3]);
			assert_int_equal(ret, fake.steps < at ? 0 : -EPIPE);
			assert_true(fake.steps <= at);
			tear_down(NULL);
		}
	}
}

/* Its transfers go on and on: it never waits for the device or the daemon. */
TEST(a_busy_lane_sees_the_end_of_the_session)
{
	for (int way = 0; way < 2; way++) {
		gpspm(NULL);
		fake.end_at = 1 << 20;
		assert_int_equal(lanes_persist(lanes, 0, 4096, BYTES - 4096, way), -ECONNRESET);
		assert_in_range(fake.moved, fake.end_at, fake.end_at + LANE_CHECK + WRITE_MAX);
		assert_int_equal(lanes_drain(lanes, 1), -ECONNRESET);
		tear_down(NULL);
	}
}

TEST(a_failed_range_fails_the_drain_alone, gpspm, tear_down)
{
	fake.status = PERSIST_FAILED;
	EQUAL((lanes_persist(lanes, 0, 4096, 8, false), -EIO),
	      (lanes_persist(lanes, 0, 4096, 8, false), 0));
	fake.status = PERSIST_OUTSIDE;
	EQUAL((lanes_flush(lanes, 0, 4096, 8, false), 0), (lanes_drain(lanes, 0), -EINVAL),
	      (lanes_drain(lanes, 0), 0));
}

TEST(an_answer_to_no_request_is_not_of_the_protocol)
{
	static const uint32_t strange[] = {1, LANE_SLOTS, 31, 32, UINT32_MAX};

	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		gpspm(NULL);
		fake.strange_slot = strange[i];
		EQUAL((lanes_persist(lanes, 0, 4096, 8, false), -EPROTO),
		      (lanes_persist(lanes, 1, 4096, 8, false), -EPROTO));
		tear_down(NULL);
	}
}

TEST(a_daemon_without_lanes_is_refused, gpspm, tear_down)
{
	lanes_close(&lanes);
	fake.no_lane = true;
	assert_int_equal(open_lanes(CONTROL_GPSPM, CONTROL_RDMA), -EPROTO);
	free(memory);
	memory = NULL; /* nor is memory that is not mapped taken */
	EQUAL((open_lanes(CONTROL_GPSPM, CONTROL_RDMA), -EFAULT), (lanes, NULL));
}
