/* SPDX-License-Identifier: BSD-3-Clause */
/* test_admission.c -- which connections become lanes of a session. */
#include <errno.h>
#include <sys/random.h>

#include "common/rdma/handshake.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/admission.h"

#define LANES 4

static struct admission admission;
static bool no_random, no_memory;

void *__real_calloc(size_t count, size_t bytes);
ssize_t __real_getrandom(void *bytes, size_t length, unsigned flags);

void *__wrap_calloc(size_t count, size_t bytes)
{
	return no_memory ? NULL : __real_calloc(count, bytes);
}

ssize_t __wrap_getrandom(void *bytes, size_t length, unsigned flags)
{
	return no_random ? -1 : __real_getrandom(bytes, length, flags);
}

static int setup(void **state)
{
	no_random = no_memory = false;
	return admission_open(&admission, LANES);
}

static int teardown(void **state)
{
	admission_close(&admission);
	admission_close(&admission);
	return 0;
}

static int enter(uint32_t number, uint64_t token, enum handshake_role role)
{
	const struct handshake_request request = {
		.version = HANDSHAKE_VERSION, .role = role, .number = number, .token = token};
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	uint32_t lane = UINT32_MAX;
	int ret;

	handshake_encode_request(&request, bytes);
	ret = admission_enter(&admission, bytes, sizeof(bytes), &lane);
	if (ret == 0)
		assert_int_equal(lane, number);
	return ret;
}

TEST(each_lane_is_connected_once_at_a_time, setup, teardown)
{
	for (uint32_t lane = 0; lane < LANES; lane++)
		EQUAL((enter(lane, admission.token, HANDSHAKE_RPMEM), 0),
		      (enter(lane, admission.token, HANDSHAKE_RPMEM), -EBUSY));
	admission_leave(&admission, 1);
	EQUAL((enter(2, admission.token, HANDSHAKE_RPMEM), -EBUSY),
	      (enter(1, admission.token, HANDSHAKE_RPMEM), 0));
}

TEST(lanes_that_the_session_does_not_have_are_refused, setup, teardown)
{
	EQUAL((enter(LANES, admission.token, HANDSHAKE_RPMEM), -EBUSY),
	      (enter(UINT32_MAX, admission.token, HANDSHAKE_RPMEM), -EBUSY));
}

TEST(others_than_its_client_are_refused, setup, teardown)
{
	uint32_t lane;

	EQUAL((enter(0, admission.token ^ 1, HANDSHAKE_RPMEM), -EACCES),
	      (enter(0, admission.token, HANDSHAKE_PING), -EPROTO),
	      (admission_enter(&admission, "GET / HTTP/1.1", 14, &lane), -EPROTO),
	      (enter(0, admission.token, HANDSHAKE_RPMEM), 0));
}

TEST(a_client_of_another_version_is_refused, setup, teardown)
{
	const struct handshake_request request = {.version = HANDSHAKE_VERSION + 1,
						  .role = HANDSHAKE_RPMEM,
						  .token = admission.token};
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	uint32_t lane;

	handshake_encode_request(&request, bytes);
	assert_int_equal(admission_enter(&admission, bytes, sizeof(bytes), &lane), -EPROTO);
}

TEST(each_refusal_has_its_sentence)
{
	EQUAL((admission_refusal(-EACCES), HAS("the token of this session")),
	      (admission_refusal(-EBUSY), HAS("no such lane")),
	      (admission_refusal(-EPROTO), HAS("not a client of this version")));
}

TEST(a_session_does_not_begin_without_its_token_or_memory)
{
	no_random = true;
	assert_int_equal(admission_open(&admission, LANES), -EIO);
	no_random = false;
	no_memory = true;
	assert_int_equal(admission_open(&admission, LANES), -ENOMEM);
	no_memory = false;
}
