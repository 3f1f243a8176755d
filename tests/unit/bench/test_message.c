/* SPDX-License-Identifier: BSD-3-Clause */
/* test_message.c -- the control messages against good and hostile bytes. */
#include "common/rdma/target.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/protocol/message.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct message begin(void)
{
	struct message m = {.type = MESSAGE_BEGIN};

	m.begin = (struct message_begin){
		.params = {.test = BENCH_BW,
			   .op = BENCH_WRITE,
			   .persist = BENCH_APM,
			   .completion = BENCH_EVENT,
			   .pattern = {BENCH_RAND, 0},
			   .size_bytes = 4096,
			   .depth = 32,
			   .threads = 2,
			   .connections = 3,
			   .batch = 8,
			   .signal_every = 1,
			   .server_load_millionths = 500000,
			   .target = 15},
		.repeat = 4,
		.seed = 1ULL << 60,
		.warmup_ns = 1000000000,
		.duration_ns = 10000000000,
		.ops = 77,
		.verify = 1,
		.knobs = CONNECTION_KNOBS_NONE,
	};
	m.begin.knobs.value[CONNECTION_TRAFFIC_CLASS] = 255;
	m.begin.knobs.value[CONNECTION_RNR_RETRIES] = 0;
	return m;
}

static struct message bidirectional(void)
{
	struct message m = begin();

	m.begin.params.bidirectional = true;
	m.begin.client_bytes = 1 << 20;
	m.begin.client_desc.mr_bytes = 22;
	memset(m.begin.client_desc.mr, 7, 22);
	m.begin.client_desc.pcfg_bytes = 1;
	return m;
}

static struct message welcome(void)
{
	struct message m = {.type = MESSAGE_WELCOME};

	m.welcome.environment_bytes = 77;
	m.welcome.direct_write_to_pmem = 1;
	m.welcome.targets_count = 2;
	m.welcome.targets[0] = (struct message_target){TARGET_DEVDAX, 2, 3, 1, 2097152, 1 << 30};
	m.welcome.targets[1] = (struct message_target){TARGET_DRAM, 0, 2, -1, 0, INT64_MAX};
	return m;
}

/* The decoded bytes, which outlive the message, as a text borrows from them. */
static uint8_t wire[MESSAGE_MAX];

/* Their encodings are: the padding of a structure may hold anything. */
static void assert_same(const struct message *a, const struct message *b)
{
	static uint8_t one[sizeof(wire)], other[sizeof(wire)];
	const size_t len = message_encode(a, one);

	assert_int_equal(message_encode(b, other), len);
	assert_memory_equal(one, other, len);
}

static struct message through(const struct message *m)
{
	struct message got;

	EQUAL((message_decode(wire, message_encode(m, wire), &got), 0), (got.type, m->type));
	return got;
}

static void refused(const struct message *m)
{
	struct message got;

	assert_int_equal(message_decode(wire, message_encode(m, wire), &got), -EPROTO);
}

TEST(a_run_comes_back)
{
	struct message m = {.type = MESSAGE_RUN}, got;

	memset(m.run.run_id, 3, sizeof(m.run.run_id));
	got = through(&m);
	assert_memory_equal(got.run.run_id, m.run.run_id, sizeof(m.run.run_id));
}

TEST(a_begin_comes_back)
{
	struct message m = begin(), got = through(&m);

	assert_same(&got, &m);
	m = bidirectional();
	got = through(&m);
	assert_same(&got, &m);
}

/* test_params.c has which parameters go together, and the fuzzer that none else is taken. */
TEST(what_is_out_of_range_is_refused)
{
	struct message bad[7];

	for (size_t i = 0; i < COUNT(bad); i++)
		bad[i] = begin();
	bad[0].begin.params.persist = BENCH_AUTO;
	bad[1].begin.params.op = BENCH_READ; /* which persists nothing */
	bad[2].begin.repeat = MESSAGE_REPEAT_MAX;
	bad[3].begin.warmup_ns = MESSAGE_DURATION_MAX + 1;
	bad[4].begin.duration_ns = 0;
	bad[5].begin.duration_ns = MESSAGE_DURATION_MAX + 1;
	bad[6].begin.ops = UINT64_MAX;
	for (size_t i = 0; i < COUNT(bad); i++)
		refused(&bad[i]);
}

TEST(client_memory_is_described_exactly_where_it_is_used)
{
	struct message bad[6] = {begin(),	  bidirectional(), bidirectional(),
				 bidirectional(), bidirectional(), bidirectional()};

	bad[0].begin.client_bytes = 1;
	bad[1].begin.client_bytes = 0;
	bad[2].begin.client_desc.mr_bytes = 0;
	bad[3].begin.client_desc.mr_bytes = HANDSHAKE_MR_DESC_MAX + 1;
	bad[4].begin.client_desc.pcfg_bytes = HANDSHAKE_PCFG_DESC_MAX + 1;
	bad[5].begin.params.bidirectional = false;
	for (size_t i = 0; i < COUNT(bad); i++)
		refused(&bad[i]);
}

TEST(a_message_is_as_long_as_it_says)
{
	struct message m = begin(), got;
	uint8_t bytes[MESSAGE_MAX + 8] = {0};
	size_t len = message_encode(&m, bytes);

	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(message_decode(bytes, cut, &got), -EPROTO);
	assert_int_equal(message_decode(bytes, len + 1, &got), -EPROTO);
	/* consistent, but without its last fields */
	for (size_t cut = 8; cut < len; cut++) {
		bytes[0] = (uint8_t)cut;
		bytes[1] = (uint8_t)(cut >> 8);
		assert_int_equal(message_decode(bytes, cut, &got), -EPROTO);
	}
}

/* A later release may append fields. */
TEST(a_tail_is_ignored)
{
	struct message m = begin(), got;
	size_t len = message_encode(&m, wire) + 4;

	wire[0] = (uint8_t)len;
	assert_int_equal(message_decode(wire, len, &got), 0);
	assert_same(&got, &m);
}

/* The numbers of a connection that only one side sets stay there. */
TEST(a_begin_has_what_both_sides_set)
{
	struct message m = begin(), got, expected = begin();

	m.begin.knobs.value[CONNECTION_INLINE] = 64;
	m.begin.knobs.value[CONNECTION_RETRIES] = 3;
	m.begin.knobs.value[CONNECTION_COMP_VECTOR] = 1;
	got = through(&m);
	assert_memory_equal(&got.begin.knobs, &expected.begin.knobs, sizeof(got.begin.knobs));
}

TEST(numbers_of_a_connection_out_of_range_are_refused)
{
	struct message m;

	for (int i = 0; i < CONNECTION_KNOBS; i++) {
		m = begin();
		m.begin.knobs.value[i] = connection_knob_rows[i].most + 1;
		if (connection_knob_rows[i].mirrored)
			refused(&m);
	}
}

TEST(another_version_and_type_are_told_apart)
{
	struct message m = begin(), got;
	size_t len = message_encode(&m, wire);

	wire[6]++;
	assert_int_equal(message_decode(wire, len, &got), -EPROTONOSUPPORT);
	wire[6]--;
	wire[4] = 99;
	assert_int_equal(message_decode(wire, len, &got), -EPROTO);
}

TEST(a_welcome_comes_back)
{
	struct message m = welcome(), got = through(&m);

	EQUAL((got.welcome.environment_bytes, 77), (got.welcome.direct_write_to_pmem, 1),
	      (got.welcome.targets_count, 2));
	for (int i = 0; i < 2; i++) {
		const struct message_target *in = &got.welcome.targets[i];
		const struct message_target *out = &m.welcome.targets[i];

		EQUAL((in->kind, out->kind), (in->odp, out->odp),
		      (in->flush_types, out->flush_types), (in->numa_node, out->numa_node),
		      (in->page_bytes, out->page_bytes), (in->bytes, out->bytes));
	}
}

TEST(offers_out_of_range_are_refused)
{
	struct message bad[8];

	for (size_t i = 0; i < COUNT(bad); i++)
		bad[i] = welcome();
	bad[0].welcome.environment_bytes = MESSAGE_TEXT_MAX + 1;
	bad[1].welcome.targets_count = 0;
	bad[2].welcome.targets[1].kind = TARGET_KINDS;
	bad[3].welcome.targets[1].odp = 3;
	bad[4].welcome.targets[1].flush_types = 4;
	bad[5].welcome.targets[1].bytes = 0;
	bad[6].welcome.targets[1].bytes = UINT64_MAX;
	strcpy(bad[7].welcome.refusal, "no, and yet it offers");
	for (size_t i = 0; i < COUNT(bad); i++)
		refused(&bad[i]);
}

TEST(a_refusal_comes_back_disarmed)
{
	struct message m = {.type = MESSAGE_READY}, got;

	strcpy(m.ready.refusal, "no \033[2J\n room");
	m.ready.port = 65535;
	m.ready.token = UINT64_MAX;
	got = through(&m);
	EQUAL((got.ready.refusal, "no ?[2J? room"), (got.ready.port, 65535));
	assert_true(got.ready.token == UINT64_MAX);
}

TEST(a_chunk_of_text_comes_back)
{
	struct message m = {.type = MESSAGE_TEXT}, got;
	uint8_t data[MESSAGE_CHUNK_MAX];

	memset(data, 7, sizeof(data));
	m.text = (struct message_text){MESSAGE_TEXT_MAX, 1000, sizeof(data), data};
	got = through(&m);
	EQUAL((got.text.total, MESSAGE_TEXT_MAX), (got.text.offset, 1000),
	      (got.text.bytes, sizeof(data)));
	assert_memory_equal(got.text.data, data, sizeof(data));
}

TEST(a_chunk_stays_within_its_text)
{
	const uint8_t data[MESSAGE_CHUNK_MAX + 1] = {0};
	const struct message_text bad[] = {
		{MESSAGE_TEXT_MAX + 1, 0, 1, data},
		{0, 0, 1, data},
		{10, 10, 1, data},
		{10, 8, 3, data},
		{10, 0, 0, data},
		{MESSAGE_TEXT_MAX, 0, MESSAGE_CHUNK_MAX + 1, data},
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct message m = {.type = MESSAGE_TEXT};

		m.text = bad[i];
		refused(&m);
	}
}

/* A length that is more than there is. */
TEST(a_chunk_cannot_reach_past_its_message)
{
	const uint8_t byte = 1;
	struct message m = {.type = MESSAGE_TEXT}, got;
	size_t len;

	m.text = (struct message_text){9, 0, 1, &byte};
	len = message_encode(&m, wire);
	wire[16] = 2;
	assert_int_equal(message_decode(wire, len, &got), -EPROTO);
}

TEST(a_start_names_its_phase)
{
	struct message m = {.type = MESSAGE_START};

	m.start.phase = PHASE_MEASURE;
	assert_int_equal(through(&m).start.phase, PHASE_MEASURE);
	m.start.phase = PHASES;
	refused(&m);
}

TEST(an_end_says_what_each_qp_did)
{
	struct message m = {.type = MESSAGE_END}, got;

	m.end.qps_count = PARAMS_QPS_MAX;
	for (size_t i = 0; i < PARAMS_QPS_MAX; i++)
		m.end.touched[i] = UINT64_MAX - i;
	got = through(&m);
	assert_memory_equal(got.end.touched, m.end.touched, sizeof(m.end.touched));
	message_encode(&m, wire);
	wire[8 + 1] = 2; /* 512 queue pairs */
	assert_int_equal(message_decode(wire, 8 + 4 + 8 * PARAMS_QPS_MAX, &got), -EPROTO);
}

TEST(signs_of_life_and_byes_are_empty)
{
	const struct message alive = {.type = MESSAGE_ALIVE}, bye = {.type = MESSAGE_BYE};

	through(&alive);
	through(&bye);
	assert_int_equal(message_encode(&bye, wire), 8);
}
