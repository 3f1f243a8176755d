/* SPDX-License-Identifier: BSD-3-Clause */
/* test_conversation.c -- what may come from the daemon and when, however the bytes are cut. */
#include "librpmem/src/conversation.h"
#include "tests/lib/test.h"

static struct conversation talk;
static uint8_t frame[CONTROL_HEADER_BYTES + 1024];

static size_t plain(enum control_type type, uint32_t status, const char *reason)
{
	return control_encode_plain(type, true, status, reason, frame, sizeof(frame));
}

/* After STARTED, a reply to CLOSE is due. */
static int setup(void **state)
{
	conversation_begin(&talk);
	if (conversation_take(&talk, frame, plain(CONTROL_STARTED, 0, NULL)) != 0 || !talk.complete)
		return -1;
	conversation_drop(&talk);
	conversation_await(&talk, CONTROL_CLOSE);
	return 0;
}

TEST(a_reply_is_complete_with_its_last_byte, setup)
{
	size_t len = plain(CONTROL_CLOSE, EIO, "because");

	for (size_t i = 0; i < len; i++) {
		EQUAL((talk.complete, false), (conversation_take(&talk, frame + i, 1), 0));
	}
	EQUAL((talk.complete, true), (talk.header.status, EIO), (talk.header.body_bytes, 7));
	assert_memory_equal(conversation_body(&talk), "because", 7);
}

TEST(a_reply_may_come_at_once, setup)
{
	EQUAL((conversation_take(&talk, frame, plain(CONTROL_CLOSE, 0, NULL)), 0),
	      (talk.complete, true));
}

TEST(bytes_where_nothing_is_due_are_refused, setup)
{
	size_t len = plain(CONTROL_CLOSE, 0, NULL);

	conversation_drop(&talk);
	EQUAL((conversation_take(&talk, frame, 0), 0),
	      (conversation_take(&talk, frame, 1), -EPROTO),
	      (conversation_take(&talk, frame, len), -EPROTO));
}

TEST(a_second_reply_is_refused, setup)
{
	size_t len = plain(CONTROL_CLOSE, 0, NULL);

	memcpy(frame + len, frame, len);
	assert_int_equal(conversation_take(&talk, frame, 2 * len), -EPROTO);
	setup(state);
	len = plain(CONTROL_CLOSE, 0, NULL);
	EQUAL((conversation_take(&talk, frame, len), 0),
	      (conversation_take(&talk, frame, len), -EPROTO));
}

TEST(a_message_of_another_type_is_refused, setup)
{
	for (enum control_type type = CONTROL_STARTED; type < CONTROL_TYPES; type++) {
		size_t len;

		setup(state);
		len = plain(type, 0, NULL);
		assert_int_equal(conversation_take(&talk, frame, len) == 0, type == CONTROL_CLOSE);
	}
	setup(state);
	assert_int_equal(
		conversation_take(&talk, frame, control_encode_close(0, frame, sizeof(frame))),
		-EPROTO);
}

TEST(a_reply_before_started_is_refused, setup)
{
	conversation_begin(&talk);
	assert_int_equal(conversation_take(&talk, frame, plain(CONTROL_CLOSE, 0, NULL)), -EPROTO);
}

TEST(another_version_is_told, setup)
{
	plain(CONTROL_CLOSE, 0, NULL);
	frame[5]++;
	EQUAL((conversation_take(&talk, frame, CONTROL_HEADER_BYTES), -EPROTONOSUPPORT),
	      (talk.wrong, HAS("version")));
}

TEST(what_a_shell_prints_is_shown, setup)
{
	static const char motd[] = "Welcome to\033 node 7\nhave fun";

	conversation_begin(&talk);
	EQUAL((conversation_take(&talk, (const uint8_t *)motd, sizeof(motd)), -EPROTO),
	      (talk.wrong, HAS("'Welcome to? node 7'")));
}

TEST(junk_is_known_before_a_header_is_there, setup)
{
	conversation_begin(&talk);
	EQUAL((conversation_take(&talk, (const uint8_t *)"rp", 2), 0),
	      (conversation_take(&talk, (const uint8_t *)"m!", 2), -EPROTO),
	      (talk.wrong, HAS("'rpm!'")));
}

TEST(the_longest_body_fits, setup)
{
	static uint8_t longest[CONTROL_HEADER_BYTES + CONTROL_BODY_MAX];

	plain(CONTROL_CLOSE, EIO, NULL);
	memcpy(longest, frame, CONTROL_HEADER_BYTES);
	longest[13] = 1; /* 65536 */
	for (size_t i = 0; i < sizeof(longest); i += 4096)
		assert_int_equal(
			conversation_take(&talk, longest + i,
					  sizeof(longest) - i < 4096 ? sizeof(longest) - i : 4096),
			0);
	assert_true(talk.complete);
}
