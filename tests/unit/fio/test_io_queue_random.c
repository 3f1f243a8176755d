/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_io_queue_random.c -- any sequence of operations, commits, polls and syncs,
 * with every method, policy and kind of write, against a region of bytes.
 *
 * The fake device fails the test when a queue is exceeded, or when a flush has
 * a range that was not written, all of it, since the last one. Here is held
 * what is left: that what is done was flushed, and that every read gives what
 * was written before it.
 */
#include "fake_device.h"

#define SEEDS 400
#define STEPS 200
#define PLACE 512 /* per operation, in the job's memory */
#define BYTES 64  /* per operation, at most */

/* One run. */
static struct run {
	uint64_t seed;
	struct io_queue *io_queue;
	enum flush_policy policy;
	enum write_op write_op;
	uint32_t depth;
	uint32_t block; /* all operations are of it; 0: of any size */
	bool busy[FAKE_DEPTH];
	uint8_t region[FAKE_REGION]; /* as the operations left it, in the order of their posts */
	uint8_t reads[FAKE_DEPTH][BYTES];
} run;

static uint64_t any(uint64_t below)
{
	return test_random(&run.seed) % below;
}

static void begin(uint64_t seed)
{
	static const enum method methods[] = {METHOD_APM, METHOD_GPSPM, METHOD_NATIVE};
	enum method method;

	memset(&run, 0, sizeof(run));
	run.seed = seed;
	method = methods[any(3)];
	run.policy = (enum flush_policy)(FLUSH_AUTO + any(5));
	run.write_op = (enum write_op)(WRITE_PLAIN + any(3));
	run.depth = 1 + (uint32_t)any(FAKE_DEPTH);
	if (run.write_op == WRITE_ATOMIC)
		run.block = 8;
	else if (run.write_op == WRITE_IMM && method == METHOD_GPSPM)
		run.block = 8 * (1 + (uint32_t)any(BYTES / 8));
	fake_begin(method, run.depth);
	if (run.write_op == WRITE_IMM && method == METHOD_GPSPM && run.policy < FLUSH_FSYNC)
		fake.connection.cfg.job_request.imm_bytes = run.block;
	fake.settings.poll = any(2) == 0;
	fake.pace = (unsigned)any(6);
	run.io_queue = fake_io_queue(run.policy, run.write_op, run.depth);
}

/* Often where the last one ended, so that there is something to join. */
static uint64_t any_place(uint32_t bytes)
{
	static uint64_t next;
	uint64_t begin = next;

	if (any(3) == 0 || begin + bytes > FAKE_REGION)
		begin = any(FAKE_REGION / bytes) * bytes;
	next = begin + bytes;
	return run.block != 0 ? begin - begin % run.block : begin - begin % 8;
}

static void add(void)
{
	uint32_t bytes = run.block != 0 ? run.block : 8 * (1 + (uint32_t)any(BYTES / 8));
	uint32_t number = 0;
	struct operation *o;

	while (number < run.depth && run.busy[number])
		number++;
	if (number == run.depth)
		return;
	o = io_queue_operation(run.io_queue, number);
	/* an answered write among trims is flushed before the group of those */
	o->kind = (enum operation_kind)any(fake.connection.cfg.job_request.imm_bytes != 0 ? 2 : 3);
	o->bytes = bytes;
	o->begin = any_place(bytes);
	o->local_offset = (size_t)number * PLACE;
	for (uint32_t i = 0; i < bytes; i++)
		fake.memory[o->local_offset + i] = (uint8_t)any(256);
	assert_true(io_queue_add(run.io_queue, o));
	run.busy[number] = true;
}

static void posting(void *arg, struct operation *o)
{
	uint8_t *at = run.region + o->begin;

	assert_ptr_equal(arg, &run);
	if (o->kind == OPERATION_READ)
		memcpy(run.reads[io_queue_number(run.io_queue, o)], at, o->bytes);
	else if (o->kind == OPERATION_WRITE)
		memcpy(at, fake.memory + o->local_offset, o->bytes);
	else
		memset(at, 0, o->bytes);
}

/* Later writes of the same place may have been carried out already, and not be flushed. */
static bool written_again(const struct operation *o)
{
	for (uint32_t i = 0; i < run.depth; i++) {
		const struct operation *other = io_queue_operation(run.io_queue, i);

		if (run.busy[i] && other != o && other->kind != OPERATION_READ &&
		    other->begin < o->begin + o->bytes && o->begin < other->begin + other->bytes)
			return true;
	}
	return false;
}

static void check_done(const struct operation *o)
{
	assert_int_equal(o->error, 0);
	if (o->kind == OPERATION_READ) {
		assert_memory_equal(fake.memory + o->local_offset,
				    run.reads[io_queue_number(run.io_queue, o)], o->bytes);
		return;
	}
	for (uint64_t i = o->begin;
	     run.policy < FLUSH_FSYNC && !written_again(o) && i < o->begin + o->bytes; i++)
		assert_false(fake.unflushed[i]);
}

/* After a failure all that is held is that each operation comes back once. */
static void hand_back(bool good)
{
	struct operation *o;

	while ((o = io_queue_done(run.io_queue)) != NULL) {
		assert_true(run.busy[io_queue_number(run.io_queue, o)]);
		if (good)
			check_done(o);
		run.busy[io_queue_number(run.io_queue, o)] = false;
	}
}

static void commit(void)
{
	io_queue_commit(run.io_queue, posting, &run);
}

static void sync(void)
{
	commit();
	assert_int_equal(io_queue_sync(run.io_queue), 0);
	if (run.policy == FLUSH_FSYNC)
		fake_all_flushed();
}

static void step(void)
{
	switch (any(12)) {
	case 0:
	case 1:
		commit();
		break;
	case 2:
		sync();
		break;
	case 3:
	case 4:
		io_queue_poll(run.io_queue);
		hand_back(true);
		break;
	case 5:
		io_queue_wait(run.io_queue, 1 + (uint32_t)any(run.depth), UINT64_MAX);
		hand_back(true);
		break;
	default:
		add();
		break;
	}
}

static void end(void)
{
	sync();
	io_queue_wait(run.io_queue, run.depth, UINT64_MAX);
	hand_back(true);
	EQUAL((io_queue_out(run.io_queue), 0), (fake.posted, fake.reclaimed),
	      (fake.asked, fake.answered));
	assert_memory_equal(fake.region, run.region, FAKE_REGION);
	if (run.policy == FLUSH_NONE)
		assert_int_equal(fake.flushes, 0);
	else
		fake_all_flushed();
	io_queue_close(&run.io_queue);
}

TEST(any_sequence_keeps_the_rules)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed);
		for (int i = 0; i < STEPS; i++)
			step();
		end();
	}
}

static void let_something_fail(void)
{
	static const char letters[] = "rwiazfs";
	char letter = letters[any(7)];
	unsigned after = (unsigned)any(20);

	fake.status = IBV_WC_REM_ACCESS_ERR;
	if (any(2) == 0) {
		fake.refuse = letter;
		fake.refuse_after = after;
	} else {
		fake.fail = letter;
		fake.fail_after = after;
	}
}

TEST(any_failure_brings_all_back_once)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed);
		let_something_fail();
		for (int i = 0; i < STEPS && io_queue_broken(run.io_queue) == 0; i++) {
			add();
			if (any(3) == 0)
				commit();
			io_queue_poll(run.io_queue);
			hand_back(false);
		}
		commit();
		io_queue_wait(run.io_queue, run.depth, UINT64_MAX);
		hand_back(false);
		for (uint32_t i = 0; i < run.depth; i++)
			assert_false(run.busy[i]);
		assert_int_equal(io_queue_out(run.io_queue), 0);
		io_queue_close(&run.io_queue);
	}
}
