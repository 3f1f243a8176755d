/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_handshake.c -- how processes of two hosts begin a connection, without a secret and with
 * one: who is let in, and what of another conversation is of use.
 *
 * Both ends are here; the secret is the process's, so it is changed from one to the other.
 */
#include "soft_device/process/process.h"
#include "soft_device/transport/handshake.h"
#include "soft_device/transport/secret.h"
#include "tests/lib/test.h"

#define OURS  "a secret that two hosts share"
#define OTHER "another secret, of the same user"
#define NONE  NULL

static const union ibv_gid here = {.raw = {[10] = 0xff, 0xff, 192, 0, 2, 1}};
static const union ibv_gid there = {.raw = {[10] = 0xff, 0xff, 192, 0, 2, 2}};
static const union ibv_gid elsewhere = {.raw = {[10] = 0xff, 0xff, 192, 0, 2, 3}};

void process_warn(const char *format, ...)
{
}

static void know(const char *secret)
{
	struct process process = {0};

	if (secret != NULL)
		setenv("RPMA_SOFT_SECRET", secret, 1);
	else
		unsetenv("RPMA_SOFT_SECRET");
	assert_int_equal(secret_part.begin(&process), 0);
}

/* One end, with the secret that it has. */
struct side {
	struct handshake state;
	const char *secret;
};

static struct side client(const char *secret)
{
	struct side side = {.secret = secret};

	know(secret);
	assert_int_equal(handshake_begin(&side.state, HANDSHAKE_CLIENT, 1, &there, &here), 0);
	return side;
}

static struct side server(const char *secret)
{
	struct side side = {.secret = secret};

	know(secret);
	assert_int_equal(handshake_begin(&side.state, HANDSHAKE_SERVER, 2, &here, &there), 0);
	return side;
}

struct message {
	unsigned char bytes[HANDSHAKE_MESSAGE];
	size_t length;
};

static struct message first_of(const struct side *side)
{
	struct message message = {.length = WIRE_HANDSHAKE_MESSAGE};

	handshake_put_first(&side->state, message.bytes);
	return message;
}

/* *answer has what comes back. */
static int give(struct side *side, const struct message *message, struct message *answer)
{
	struct wire_header header;

	know(side->secret);
	assert_int_equal(wire_get_header(message->bytes, &header), 0);
	if (header.kind != handshake_expects(&side->state))
		return -EPROTO;
	return handshake_take(&side->state, message->bytes + WIRE_HEADER_BYTES, header.length,
			      answer->bytes, &answer->length);
}

TEST(no_secret__takes_one_message_each)
{
	struct side near = client(NONE), far = server(NONE);
	struct message first = first_of(&near), answer, none;

	assert_int_equal(give(&far, &first, &answer), 1);
	assert_int_equal(give(&near, &answer, &none), 1);
	assert_int_equal(none.length, 0);
	assert_int_equal(near.state.first[HANDSHAKE_SERVER].identity, 2);
	assert_int_equal(far.state.first[HANDSHAKE_CLIENT].identity, 1);
}

TEST(same_secret__lets_both_in)
{
	struct side near = client(OURS), far = server(OURS);
	struct message first = first_of(&near), reply, proof, last, none;

	assert_int_equal(give(&far, &first, &reply), 0);
	assert_int_equal(give(&near, &reply, &proof), 0);
	assert_int_equal(proof.length, WIRE_PROOF_MESSAGE);
	assert_int_equal(give(&far, &proof, &last), 1);
	assert_int_equal(last.length, WIRE_PROOF_MESSAGE);
	assert_int_equal(give(&near, &last, &none), 1);
	assert_int_equal(none.length, 0);
}

/* The listener proves nothing to one that did not. */
TEST(other_secret__is_refused)
{
	struct side near = client(OTHER), far = server(OURS);
	struct message first = first_of(&near), reply, proof, none;

	assert_int_equal(give(&far, &first, &reply), 0);
	assert_int_equal(give(&near, &reply, &proof), 0);
	assert_int_equal(give(&far, &proof, &none), -EKEYREJECTED);
	assert_int_equal(none.length, 0);
	assert_non_null(strstr(handshake_describe(-EKEYREJECTED), "RPMA_SOFT_SECRET"));
}

/* Each is told so that its user can be. */
TEST(one_without__is_refused_by_both)
{
	const char *secrets[][2] = {{OURS, NONE}, {NONE, OURS}};

	for (int i = 0; i < 2; i++) {
		struct side near = client(secrets[i][0]), far = server(secrets[i][1]);
		struct message first = first_of(&near), reply, none;

		assert_int_equal(give(&far, &first, &reply), -ENOKEY);
		assert_int_equal(reply.length, WIRE_HANDSHAKE_MESSAGE);
		assert_int_equal(give(&near, &reply, &none), -ENOKEY);
		assert_int_equal(none.length, 0);
	}
}

/* The words of a client, as a man in the middle has them. */
static void record(struct message said[2])
{
	struct side near = client(OURS), far = server(OURS);
	struct message reply;

	said[0] = first_of(&near);
	assert_int_equal(give(&far, &said[0], &reply), 0);
	assert_int_equal(give(&near, &reply, &said[1]), 0);
	assert_int_equal(give(&far, &said[1], &reply), 1);
}

TEST(replayed__conversation_is_refused)
{
	struct message said[2], answer;
	struct side far;

	record(said);
	far = server(OURS);
	assert_int_equal(give(&far, &said[0], &answer), 0);
	assert_int_equal(give(&far, &said[1], &answer), -EKEYREJECTED);
	assert_int_equal(answer.length, 0);
}

/* Forwarded as it comes, by a host in between: each end sees the address of that. */
TEST(relayed__conversation_is_refused)
{
	struct side near = client(OURS), far = server(OURS);
	struct message first = first_of(&near), reply, proof, none;

	far.state.gid[HANDSHAKE_CLIENT] = elsewhere;
	assert_int_equal(give(&far, &first, &reply), 0);
	assert_int_equal(give(&near, &reply, &proof), 0);
	assert_int_equal(give(&far, &proof, &none), -EKEYREJECTED);
}

/* One that has no secret returns what the other end sends. */
TEST(reflected__messages_are_refused)
{
	struct side near = client(OURS);
	struct message first = first_of(&near), proof, none;

	assert_int_equal(give(&near, &first, &proof), 0);
	assert_int_equal(give(&near, &proof, &none), -EKEYREJECTED);
}

TEST(order__is_first_message_then_proof)
{
	struct message said[2], answer;
	struct side far;

	record(said);
	far = server(OURS);
	assert_int_equal(give(&far, &said[1], &answer), -EPROTO);
	far = server(OURS);
	assert_int_equal(give(&far, &said[0], &answer), 0);
	assert_int_equal(give(&far, &said[0], &answer), -EPROTO);
}

/* RFC 4231, test case 1. */
TEST(proof__is_hmac_sha256)
{
	static const unsigned char expected[WIRE_PROOF_BYTES] = {
		0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf,
		0xce, 0xaf, 0x0b, 0xf1, 0x2b, 0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83,
		0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7};
	unsigned char proof[WIRE_PROOF_BYTES];
	char key[21];

	memset(key, 0x0b, 20);
	key[20] = '\0';
	know(key);
	secret_prove("Hi There", 8, proof);
	assert_memory_equal(proof, expected, sizeof(expected));
}
