/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_device.c -- see fake_device.h. */
#include "fake_device.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#define BUFFERS	 ((struct rpma_mr_local *)0x10)
#define MESSAGES ((struct rpma_mr_local *)0x20)
#define ZEROS	 ((struct rpma_mr_local *)0x30)
#define REMOTE	 ((struct rpma_mr_remote *)0x40)

struct fake fake;

/* --- posting --------------------------------------------------------------------- */

static bool scripted(char letter, char which, unsigned *after)
{
	return letter == which && (*after)-- == 0;
}

static int post(struct fake_work work, int flags, const void *context)
{
	size_t length = strlen(fake.log);

	if (scripted(work.letter, fake.refuse, &fake.refuse_after))
		return RPMA_E_PROVIDER;
	work.context = (uintptr_t)context;
	work.signalled = (flags & RPMA_F_COMPLETION_ALWAYS) == RPMA_F_COMPLETION_ALWAYS;
	assert_false(fake.disconnected);
	assert_true(fake.posted - fake.reclaimed < fake.connection.cfg.sq_size);
	assert_true(fake.posted - fake.reclaimed < FAKE_WORKS);
	fake.works[fake.posted++ % FAKE_WORKS] = work;
	fake.waiting = flags & RPMA_F_MORE ? fake.waiting + 1 : 0;
	fake.doorbells += fake.waiting == 0;
	if (length < sizeof(fake.log) - 64)
		sprintf(fake.log + length, "%c%llu+%llu%s ", work.letter,
			(unsigned long long)work.begin, (unsigned long long)(work.end - work.begin),
			work.signalled ? "!" : "");
	return 0;
}

static struct fake_work access_to(char letter, size_t begin, size_t bytes, size_t local)
{
	assert_true(fake.vast || begin + bytes <= FAKE_REGION);
	assert_true(fake.vast || local + bytes <= FAKE_MEMORY);
	return (struct fake_work){
		.letter = letter, .begin = begin, .end = begin + bytes, .local = local};
}

int __wrap_rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
		     const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
		     const void *op_context)
{
	assert_ptr_equal(dst, BUFFERS);
	assert_ptr_equal(src, REMOTE);
	return post(access_to('r', src_offset, len, dst_offset), flags, op_context);
}

int __wrap_rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
		      const void *op_context)
{
	char letter = src == ZEROS ? 'z' : 'w';

	assert_ptr_equal(dst, REMOTE);
	assert_true(src == ZEROS || src == BUFFERS);
	return post(access_to(letter, dst_offset, len, src_offset), flags, op_context);
}

int __wrap_rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst,
			       size_t dst_offset, const struct rpma_mr_local *src,
			       size_t src_offset, size_t len, int flags, uint32_t imm,
			       const void *op_context)
{
	struct fake_work work = access_to('i', dst_offset, len, src_offset);

	assert_ptr_equal(src, BUFFERS);
	work.imm = imm;
	return post(work, flags, op_context);
}

int __wrap_rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			     const char src[8], int flags, const void *op_context)
{
	struct fake_work work = access_to('a', dst_offset, 8, 0);

	assert_int_equal(dst_offset % 8, 0);
	memcpy(work.data, src, 8);
	return post(work, flags, op_context);
}

int __wrap_rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      size_t len, enum rpma_flush_type type, int flags, const void *op_context)
{
	assert_int_equal(type, fake.connection.flush_type);
	assert_int_not_equal(fake.connection.cfg.job_request.method, METHOD_GPSPM);
	return post(access_to('f', dst_offset, len, 0), flags, op_context);
}

int __wrap_rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		     size_t len, int flags, const void *op_context)
{
	struct persist_request request;
	struct fake_work work;

	assert_ptr_equal(src, MESSAGES);
	assert_true(offset + len <= job_connection_answer_offset(&fake.connection, 0));
	assert_int_equal(persist_decode_request(fake.messages + offset, len, &request), 0);
	work = access_to('s', request.offset, request.length, 0);
	work.local = offset;
	return post(work, flags, op_context);
}

int __wrap_rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
		     const void *op_context)
{
	uint32_t number = (uint32_t)((uintptr_t)op_context & CONTEXT_NUMBER);

	if (fake.receive_fails)
		return RPMA_E_PROVIDER;
	assert_ptr_equal(dst, MESSAGES);
	EQUAL((offset, job_connection_answer_offset(&fake.connection, number)),
	      (len, PERSIST_ANSWER_BYTES));
	assert_true((uintptr_t)op_context & ANSWER_CONTEXT);
	fake.receives[fake.receives_posted++ % (FAKE_DEPTH * 2)] = (uintptr_t)op_context;
	assert_true(fake.receives_posted - fake.received <=
		    job_connection_receives(&fake.connection));
	return 0;
}

/* --- carrying out ----------------------------------------------------------------- */

static void complete(const struct ibv_wc *wc, uint64_t works)
{
	assert_true(fake.completed - fake.polled < fake.connection.cfg.cq_size);
	assert_true(fake.completed - fake.polled < FAKE_WORKS);
	fake.told |= fake.armed;
	fake.armed = false;
	fake.wc_works[fake.completed % FAKE_WORKS] = works;
	fake.wcs[fake.completed++ % FAKE_WORKS] = *wc;
}

static void flush_range(uint64_t begin, uint64_t end)
{
	assert_true(begin < end);
	for (uint64_t i = begin; i < end; i++) {
		assert_true(fake.unflushed[i]);
		fake.unflushed[i] = false;
	}
	fake.flushes++;
}

static void ask(uint32_t slot)
{
	assert_true(fake.asked - fake.answered < fake.connection.cfg.job_request.depth);
	fake.answers[fake.asked++ % FAKE_DEPTH] = (struct persist_answer){slot, PERSIST_DONE};
}

static void request(const struct fake_work *work)
{
	struct persist_request r;

	/* what is in the memory now, not what was when it was posted */
	assert_int_equal(
		persist_decode_request(fake.messages + work->local, PERSIST_REQUEST_BYTES, &r), 0);
	assert_true(r.slot < fake.connection.cfg.job_request.depth);
	if (!fake.vast)
		flush_range(r.offset, r.offset + r.length);
	ask(r.slot);
}

static void written(const struct fake_work *work, const void *from)
{
	memcpy(fake.region + work->begin, from, work->end - work->begin);
	for (uint64_t i = work->begin; i < work->end; i++)
		fake.unflushed[i] = true;
}

static uint64_t half(void)
{
	return fake.connection.cfg.job_request.depth / 2;
}

/* There has to be a receive for it. */
static void take_number(void)
{
	if (fake.connection.cfg.job_request.method == METHOD_GPSPM)
		return;
	assert_true(fake.numbers - fake.credits * half() < fake.connection.cfg.job_request.depth);
	fake.numbers++;
}

static enum ibv_wc_opcode carry_out(const struct fake_work *work)
{
	static const uint8_t zeros[FAKE_REGION];
	uint32_t block = fake.connection.cfg.job_request.imm_bytes;

	switch (work->letter) {
	case 'r':
		memcpy(fake.memory + work->local, fake.region + work->begin,
		       work->end - work->begin);
		return IBV_WC_RDMA_READ;
	case 'f':
		if (fake.connection.cfg.job_request.method == METHOD_NATIVE) {
			flush_range(work->begin, work->end);
		} else {
			memset(fake.unflushed, 0, sizeof(fake.unflushed));
			fake.flushes++;
		}
		return fake.flush_opcode;
	case 's':
		request(work);
		return IBV_WC_SEND;
	case 'i':
		written(work, fake.memory + work->local);
		if (block == 0) {
			take_number();
			return IBV_WC_RDMA_WRITE;
		}
		flush_range((uint64_t)work->imm * block, ((uint64_t)work->imm + 1) * block);
		ask(work->imm);
		return IBV_WC_RDMA_WRITE;
	default:
		written(work, work->letter == 'z'   ? zeros
			      : work->letter == 'a' ? work->data
						    : fake.memory + work->local);
		return IBV_WC_RDMA_WRITE;
	}
}

static void answer(void)
{
	struct persist_answer a = fake.answers[fake.answered % FAKE_DEPTH];
	struct ibv_wc wc = {.opcode = IBV_WC_RECV, .byte_len = PERSIST_ANSWER_BYTES};
	uint64_t context = fake.receives[fake.received % (FAKE_DEPTH * 2)];
	uint8_t *at =
		fake.messages + job_connection_answer_offset(&fake.connection,
							     (uint32_t)(context & CONTEXT_NUMBER));

	assert_true(fake.received < fake.receives_posted);
	if (fake.forge != NULL)
		fake.forge(&a, &wc.byte_len, &wc.opcode);
	persist_encode_answer(&a, at);
	fake.answered++;
	fake.received++;
	wc.wr_id = context;
	complete(&wc, 0);
}

static void give_credit(void)
{
	struct ibv_wc wc = {.wr_id = fake.receives[fake.received % (FAKE_DEPTH * 2)],
			    .opcode = IBV_WC_RECV};
	struct persist_answer none = {0};

	assert_true(fake.received < fake.receives_posted);
	if (fake.forge != NULL)
		fake.forge(&none, &wc.byte_len, &wc.opcode);
	fake.credits++;
	fake.received++;
	complete(&wc, 0);
}

/* A work that fails takes all behind it along, and the receives. */
static void go_wrong(const struct fake_work *work)
{
	struct ibv_wc wc = {.wr_id = work->context, .status = fake.status, .vendor_err = 0x77};

	complete(&wc, 1);
	wc.status = IBV_WC_WR_FLUSH_ERR;
	for (; fake.executed < fake.posted; fake.executed++) {
		wc.wr_id = fake.works[fake.executed % FAKE_WORKS].context;
		complete(&wc, 1);
	}
	while (fake.received < fake.receives_posted) {
		wc.wr_id = fake.receives[fake.received++ % (FAKE_DEPTH * 2)];
		complete(&wc, 0);
	}
	fake.silent = true;
}

static void run_one(void)
{
	const struct fake_work *work = &fake.works[fake.executed++ % FAKE_WORKS];
	struct ibv_wc wc = {.wr_id = work->context};

	if (scripted(work->letter, fake.fail, &fake.fail_after)) {
		go_wrong(work);
		return;
	}
	wc.opcode = carry_out(work);
	fake.unsignalled++;
	if (work->signalled) {
		complete(&wc, fake.unsignalled);
		fake.unsignalled = 0;
	}
}

void fake_run(unsigned works)
{
	/* what waits for another one would wait forever */
	assert_int_equal(fake.waiting, 0);
	while (works-- > 0 && !fake.silent && fake.executed < fake.posted)
		run_one();
	while (!fake.silent && !fake.deaf && fake.answered < fake.asked)
		answer();
	while (!fake.silent && !fake.deaf && half() > 0 && fake.credits < fake.numbers / half())
		give_credit();
}

static void go_on(void)
{
	fake_run(fake.pace != 0 ? fake.pace : FAKE_WORKS);
}

int __wrap_rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *got)
{
	assert_true(num_entries > 1);
	if (fake.poll_fails)
		return RPMA_E_PROVIDER;
	go_on();
	*got = 0;
	while (*got < num_entries && fake.polled < fake.completed) {
		fake.reclaimed += fake.wc_works[fake.polled % FAKE_WORKS];
		wc[(*got)++] = fake.wcs[fake.polled++ % FAKE_WORKS];
	}
	return *got > 0 ? 0 : RPMA_E_NO_COMPLETION;
}

/* --- the connection ---------------------------------------------------------------- */

int __wrap_rpma_conn_disconnect(struct rpma_conn *conn)
{
	fake.disconnected = true;
	fake.waiting = 0;
	return 0;
}

void __wrap_job_connection_goodbye(struct job_connection *connection)
{
	assert_false(fake.disconnected);
	fake.goodbyes++;
}

bool __wrap_connection_alive(struct connection *connection, int timeout_ms)
{
	return !fake.gone;
}

const char *__wrap_connection_device(const struct connection *connection)
{
	return "";
}

int __wrap_connection_event_fd(const struct connection *connection)
{
	return 1000;
}

int __wrap_rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
{
	*fd = 1001;
	return 0;
}

/* A completion that comes before it is armed again is not announced: a waiter has to look then. */
int __wrap_rpma_cq_wait(struct rpma_cq *cq)
{
	assert_true(fake.told);
	fake.told = false;
	fake.waits++;
	go_on();
	fake.armed = true;
	return 0;
}

/* No caller may sleep on a completion that is not announced. */
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	EQUAL((count, 2), (fds[0].fd, 1001), (fds[1].fd, 1000));
	assert_true(fake.told || fake.polled == fake.completed);
	go_on();
	fds[0].revents = fake.told ? POLLIN : 0;
	fds[1].revents = fake.gone ? POLLIN : 0;
	if (!fake.told && !fake.gone)
		fake.now_ns += (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;
	return fake.told + fake.gone;
}

/* Time passes when it is looked at. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	fake.now_ns += fake.tick_ns != 0 ? fake.tick_ns : 100000;
	now->tv_sec = (time_t)(fake.now_ns / 1000000000);
	now->tv_nsec = (long)(fake.now_ns % 1000000000);
	return 0;
}

/* --- what the tests say -------------------------------------------------------------- */

void fake_begin(enum method method, uint32_t depth)
{
	uint32_t messages = method == METHOD_GPSPM ? depth : 2 * depth;

	memset(&fake, 0, sizeof(fake));
	fake.settings.poll = true;
	fake.armed = true;
	fake.flush_opcode = method == METHOD_NATIVE ? (enum ibv_wc_opcode)8 : IBV_WC_RDMA_READ;
	fake.connection = (struct job_connection){
		.cfg = {.settings = &fake.settings,
			.job_request = {.method = method, .depth = (uint16_t)messages},
			.sq_size = IO_QUEUE_SQ_SIZE(depth),
			.cq_size = IO_QUEUE_SQ_SIZE(depth) + messages},
		.server = "server 10.0.0.1:7204",
		.remote = REMOTE,
		.remote_bytes = FAKE_REGION,
		.flush_type = RPMA_FLUSH_TYPE_VISIBILITY,
		.buffers = BUFFERS,
		.buffer_memory = (const char *)fake.memory,
		.messages = MESSAGES,
		.message_memory = fake.messages,
		.zeros = ZEROS,
	};
	for (uint64_t i = 0; i < job_connection_receives(&fake.connection); i++)
		fake.receives[fake.receives_posted++] = ANSWER_CONTEXT | i;
	for (uint32_t i = 0; i < FAKE_MEMORY; i++)
		fake.memory[i] = (uint8_t)(i * 7 + i / 251);
}

struct io_queue *fake_io_queue(enum flush_policy policy, enum write_op write_op, uint32_t depth)
{
	const struct io_queue_cfg cfg = {.connection = &fake.connection,
					 .policy = policy,
					 .write_op = write_op,
					 .depth = depth,
					 .grain = 8};
	struct io_queue *q = NULL;

	assert_int_equal(io_queue_open(&q, &cfg), 0);
	return q;
}

void fake_forget(void)
{
	fake.log[0] = '\0';
}

void fake_all_flushed(void)
{
	for (unsigned i = 0; i < FAKE_REGION; i++)
		assert_false(fake.unflushed[i]);
}

struct operation *fake_add(struct io_queue *q, uint32_t number, enum operation_kind kind,
			   uint64_t begin, uint32_t bytes)
{
	struct operation *o = io_queue_operation(q, number);

	o->kind = kind;
	o->local_offset = kind == OPERATION_TRIM ? 0 : begin;
	o->begin = begin;
	o->bytes = bytes;
	assert_true(io_queue_add(q, o));
	return o;
}

const char *fake_done(struct io_queue *q)
{
	static char text[1024];
	struct operation *o;
	size_t length = 0;

	text[0] = '\0';
	while ((o = io_queue_done(q)) != NULL)
		length += (size_t)sprintf(text + length, "%u%s ", io_queue_number(q, o),
					  o->error != 0 ? "x" : "");
	return text;
}
