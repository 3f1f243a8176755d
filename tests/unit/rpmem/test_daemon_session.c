/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_daemon_session.c -- a session of rpmemd whose client is a script: the bytes
 * of requests go in, the replies and what became of the pool are compared.
 */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "fake_pool.h"
#include "librpmem/wire/control.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/reason.h"
#include "tools/rpmemd/session.h"

#define PIPE_BYTES (1 << 18)

/* --- the script ------------------------------------------------------------- */

static struct {
	uint8_t script[1 << 17];
	size_t script_bytes;
	uint8_t replies[1 << 17];
	size_t replies_bytes, taken;
} wire;

static int set_up(void **state)
{
	memset(&fake, 0, sizeof(fake));
	memset(&wire, 0, sizeof(wire));
	fake.most = 1024;
	return 0;
}

static uint8_t *room(size_t *left)
{
	*left = sizeof(wire.script) - wire.script_bytes;
	return wire.script + wire.script_bytes;
}

static void ask_for_pool(enum control_type type, enum control_transport transport, uint32_t nlanes)
{
	struct control_pool_request request = {.pool_size = 8 << 20,
					       .nlanes = nlanes,
					       .transport = transport,
					       .has_attr = type == CONTROL_CREATE,
					       .name = "dir/pool.set"};
	size_t left, bytes;
	uint8_t *at = room(&left);

	memcpy(request.attr.signature, "PMEMOBJ", 8);
	bytes = control_encode_pool_request(type, &request, at, left);
	assert_true(bytes > 0);
	wire.script_bytes += bytes;
}

static void ask_plainly(enum control_type type, bool is_reply)
{
	size_t left;
	uint8_t *at = room(&left);

	wire.script_bytes += control_encode_plain(type, is_reply, 0, NULL, at, left);
}

static void ask_to_close(uint32_t flags)
{
	size_t left;
	uint8_t *at = room(&left);

	wire.script_bytes += control_encode_close(flags, at, left);
}

static void ask_for_attr(const char *signature)
{
	struct rpmem_pool_attr attr = {.major = 1};
	size_t left;
	uint8_t *at = room(&left);

	memcpy(attr.signature, signature, strlen(signature));
	wire.script_bytes += control_encode_set_attr(&attr, at, left);
}

/* Runs the script up to its end of file, and keeps the replies. */
static enum session_end run(void)
{
	struct session_cfg cfg = {.stop_fd = -1,
				  .poolset_dir = "/sets",
				  .address = "192.0.2.7",
				  .busy_wait_ms = fake.busy_wait_ms};
	int in[2], out[2];
	enum session_end end;
	ssize_t got;

	EQUAL((pipe(in), 0), (pipe(out), 0));
	fcntl(in[1], F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(out[1], F_SETPIPE_SZ, PIPE_BYTES);
	assert_int_equal(write(in[1], wire.script, wire.script_bytes), wire.script_bytes);
	close(in[1]);
	cfg.in = in[0];
	cfg.out = out[1];
	end = session_run(&cfg);
	close(out[1]);
	while ((got = read(out[0], wire.replies + wire.replies_bytes,
			   sizeof(wire.replies) - wire.replies_bytes)) > 0)
		wire.replies_bytes += (size_t)got;
	close(in[0]);
	close(out[0]);
	return end;
}

/* The next frame, which is of this type; its status. */
static uint32_t take(enum control_type type, bool is_reply, const uint8_t **body, size_t *len)
{
	struct control_header header;

	assert_true(wire.replies_bytes - wire.taken >= CONTROL_HEADER_BYTES);
	EQUAL((control_decode_header(wire.replies + wire.taken, &header), 0), (header.type, type),
	      (header.is_reply, is_reply));
	wire.taken += CONTROL_HEADER_BYTES;
	*body = wire.replies + wire.taken;
	*len = header.body_bytes;
	wire.taken += header.body_bytes;
	assert_true(wire.taken <= wire.replies_bytes);
	return header.status;
}

static void take_started(void)
{
	const uint8_t *body;
	size_t len;

	EQUAL((take(CONTROL_STARTED, false, &body, &len), 0), (len, 0));
}

static struct control_pool_reply take_pool(enum control_type type)
{
	struct control_pool_reply reply;
	const uint8_t *body;
	size_t len;

	EQUAL((take(type, true, &body, &len), 0),
	      (control_decode_pool_reply(body, len, &reply), 0));
	return reply;
}

static void take_status(enum control_type type, uint32_t status, const char *reason)
{
	char text[CONTROL_REASON_MAX];
	const uint8_t *body;
	size_t len;

	assert_int_equal(take(type, true, &body, &len), status);
	control_decode_reason(body, len, text);
	assert_string_equal(text, reason);
}

static void assert_no_more(void)
{
	assert_int_equal(wire.taken, wire.replies_bytes);
}

/* --- sessions ------------------------------------------------------------------ */

TEST(a_pool_is_created_and_closed, set_up)
{
	struct control_pool_reply reply;

	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 4);
	ask_to_close(0);
	assert_int_equal(run(), SESSION_CLOSED);
	take_started();
	reply = take_pool(CONTROL_CREATE);
	EQUAL((reply.nlanes, 4), (reply.port, 1234), (reply.address, "192.0.2.7"),
	      (reply.token, 0x0123456789abcdef), (reply.method, CONTROL_GPSPM),
	      (reply.pool_size, 16 << 20), (reply.has_headers, true));
	take_status(CONTROL_CLOSE, 0, "");
	assert_no_more();
	/* closed in good order: the parts stay, though nothing was persisted */
	assert_string_equal(fake.calls, "create /sets/dir/pool.set 8388608 attr; "
					"rdma lanes 4 at 192.0.2.7; lanes end; close; ");
}

TEST(a_pool_is_opened_with_its_attributes, set_up)
{
	memcpy(fake.attr.signature, "ABCDEFG", 8);
	ask_for_pool(CONTROL_OPEN, CONTROL_TCP, 1);
	ask_to_close(0);
	assert_int_equal(run(), SESSION_CLOSED);
	take_started();
	assert_string_equal(take_pool(CONTROL_OPEN).attr.signature, "ABCDEFG");
	assert_string_equal(fake.calls, "open /sets/dir/pool.set 8388608; "
					"tcp lanes 1 at 192.0.2.7; lanes end; close; ");
}

TEST(lanes_are_as_many_as_this_host_allows, set_up)
{
	fake.most = 7;
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, UINT32_MAX);
	assert_int_equal(run(), SESSION_GONE);
	take_started();
	assert_int_equal(take_pool(CONTROL_OPEN).nlanes, 7);
}

TEST(attributes_are_set, set_up)
{
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	ask_for_attr("NEWONE");
	ask_to_close(0);
	assert_int_equal(run(), SESSION_CLOSED);
	take_started();
	take_pool(CONTROL_OPEN);
	take_status(CONTROL_SET_ATTR, 0, "");
	take_status(CONTROL_CLOSE, 0, "");
	assert_non_null(strstr(fake.calls, "set_attr NEWONE; "));
}

/* --- how parts just created go ------------------------------------------------- */

static void assert_ends_with(const char *end)
{
	assert_in_range(strlen(end), 0, strlen(fake.calls));
	assert_string_equal(fake.calls + strlen(fake.calls) - strlen(end), end);
}

TEST(new_parts_go_with_a_client_that_is_gone, set_up)
{
	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
	assert_int_equal(run(), SESSION_GONE);
	assert_ends_with("lanes end; close remove; ");
}

TEST(new_parts_stay_after_the_first_persist, set_up)
{
	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
	ask_plainly(CONTROL_PERSISTED, false);
	assert_int_equal(run(), SESSION_GONE);
	assert_ends_with("lanes end; close; ");
	take_started();
	take_pool(CONTROL_CREATE);
	take_status(CONTROL_PERSISTED, 0, "");
	assert_no_more();
}

TEST(parts_of_an_opened_pool_stay, set_up)
{
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	assert_int_equal(run(), SESSION_GONE);
	assert_ends_with("lanes end; close; ");
	set_up(NULL);
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	ask_to_close(CONTROL_CLOSE_REMOVE);
	assert_int_equal(run(), SESSION_CLOSED);
	assert_ends_with("lanes end; close; ");
}

TEST(new_parts_go_on_request, set_up)
{
	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
	ask_plainly(CONTROL_PERSISTED, false);
	ask_to_close(CONTROL_CLOSE_REMOVE);
	assert_int_equal(run(), SESSION_CLOSED);
	assert_ends_with("lanes end; close remove; ");
}

TEST(new_parts_go_where_there_are_no_lanes, set_up)
{
	fake.lanes_answer = -ECONNABORTED;
	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
	ask_to_close(0);
	assert_int_equal(run(), SESSION_CLOSED);
	take_started();
	take_status(CONTROL_CREATE, ECONNABORTED, "no lanes");
	take_status(CONTROL_CLOSE, 0, "");
	assert_ends_with("close remove; ");
}

/* The daemon of a client that was killed has not noticed yet. */
TEST(a_locked_pool_is_tried_again, set_up)
{
	fake.busy_tries = 3;
	fake.busy_wait_ms = 60000;
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	ask_to_close(0);
	assert_int_equal(run(), SESSION_CLOSED);
	take_started();
	take_pool(CONTROL_OPEN);
	assert_int_equal(fake.busy_tries, 0);
}

TEST(a_pool_that_stays_locked_is_told, set_up)
{
	fake.busy_tries = 1000;
	fake.busy_wait_ms = 100;
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	assert_int_equal(run(), SESSION_GONE);
	take_started();
	take_status(CONTROL_OPEN, EBUSY, "it is locked");
	assert_in_range(fake.busy_tries, 990, 998); /* more than one try, in no busy loop */
}

/* --- what is refused ---------------------------------------------------------------- */

TEST(a_failure_is_told_with_its_reason, set_up)
{
	fake.create_answer = -ENOENT;
	fake.open_answer = -EBUSY;
	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	assert_int_equal(run(), SESSION_GONE);
	take_started();
	take_status(CONTROL_CREATE, ENOENT, "no such thing");
	take_status(CONTROL_OPEN, EBUSY, "cannot open it");
	assert_no_more();
	assert_null(strstr(fake.calls, "close"));
}

TEST(a_session_has_one_pool, set_up)
{
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	assert_int_equal(run(), SESSION_GONE);
	take_started();
	take_pool(CONTROL_OPEN);
	take_status(CONTROL_OPEN, EINVAL, "this session has a pool already");
	assert_string_equal(fake.calls, "open /sets/dir/pool.set 8388608; "
					"rdma lanes 1 at 192.0.2.7; lanes end; close; ");
}

TEST(attributes_need_a_pool, set_up)
{
	ask_for_attr("NEWONE");
	run();
	take_started();
	take_status(CONTROL_SET_ATTR, EINVAL, "this session has no pool");
	assert_string_equal(fake.calls, "");
}

TEST(a_refused_session_is_told_why, set_up)
{
	char text[CONTROL_REASON_MAX];
	const uint8_t *body;
	size_t len;
	int out[2];

	assert_int_equal(pipe(out), 0);
	reason_set(EINVAL, "rpmemd.conf:3: no such key");
	session_refuse(out[1], EINVAL);
	wire.replies_bytes = (size_t)read(out[0], wire.replies, sizeof(wire.replies));
	assert_int_equal(take(CONTROL_STARTED, false, &body, &len), EINVAL);
	control_decode_reason(body, len, text);
	assert_string_equal(text, "rpmemd.conf:3: no such key");
	close(out[0]);
	close(out[1]);
}

/* --- bytes of no client of ours ----------------------------------------------------- */

/* After a good open: the pool is closed all the same. */
static void assert_violated(void)
{
	assert_int_equal(run(), SESSION_VIOLATED);
	take_started();
	assert_no_more();
}

/* test_control.c has each field of it. */
TEST(a_damaged_header_ends_the_session, set_up)
{
	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	wire.script[0] = 0xff;
	assert_violated();
	assert_string_equal(fake.calls, "");
}

TEST(another_version_is_told_which_this_one_is, set_up)
{
	const uint8_t *body;
	size_t len;

	ask_for_pool(CONTROL_OPEN, CONTROL_RDMA, 1);
	wire.script[5]++;
	assert_int_equal(run(), SESSION_VIOLATED);
	take_started();
	assert_int_equal(take(CONTROL_OPEN, true, &body, &len), EPROTONOSUPPORT);
}

TEST(requests_of_no_client_end_the_session, set_up)
{
	/* there is no pool that could have been persisted */
	static const enum control_type types[] = {CONTROL_STARTED, CONTROL_CLOSE,
						  CONTROL_PERSISTED};

	for (size_t i = 0; i < 3; i++) {
		set_up(NULL);
		ask_plainly(types[i], types[i] == CONTROL_CLOSE);
		assert_violated();
	}
}

TEST(a_request_that_is_cut_is_not_performed, set_up)
{
	size_t bytes;

	ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
	bytes = wire.script_bytes;
	for (size_t cut = 0; cut < bytes; cut++) {
		set_up(NULL);
		ask_for_pool(CONTROL_CREATE, CONTROL_RDMA, 1);
		wire.script_bytes = cut;
		EQUAL((run(), SESSION_GONE), (fake.calls, ""));
	}
}
