/* SPDX-License-Identifier: BSD-3-Clause */
/* handshake.c -- see handshake.h. */
#include "handshake.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "secret.h"

static const unsigned char no_nonce[WIRE_TOKEN_BYTES];

int handshake_begin(struct handshake *handshake, enum handshake_side side, uint64_t identity,
		    const union ibv_gid *own, const union ibv_gid *remote)
{
	struct wire_handshake *first = &handshake->first[side];

	memset(handshake, 0, sizeof(*handshake));
	handshake->side = side;
	handshake->gid[side] = *own;
	handshake->gid[HANDSHAKE_SERVER - side] = *remote;
	first->identity = identity;
	if (!secret_is_set())
		return 0;
	return getrandom(first->token, sizeof(first->token), 0) == sizeof(first->token) ? 0 : -EIO;
}

void handshake_put_first(const struct handshake *handshake,
			 unsigned char message[WIRE_HANDSHAKE_MESSAGE])
{
	wire_put_handshake(message, &handshake->first[handshake->side]);
}

/* Makes the proof that the process at this side has the secret. */
static void prove(const struct handshake *handshake, enum handshake_side side,
		  unsigned char proof[WIRE_PROOF_BYTES])
{
	struct {
		unsigned char side;
		unsigned char gid[HANDSHAKE_SIDES][sizeof(union ibv_gid)];
		unsigned char first[HANDSHAKE_SIDES][WIRE_HANDSHAKE_MESSAGE];
	} said = {.side = (unsigned char)side};

	for (int i = 0; i < HANDSHAKE_SIDES; i++) {
		memcpy(said.gid[i], &handshake->gid[i], sizeof(said.gid[i]));
		wire_put_handshake(said.first[i], &handshake->first[i]);
	}
	secret_prove(&said, sizeof(said), proof);
}

static size_t put_own_proof(const struct handshake *handshake, unsigned char *message)
{
	unsigned char proof[WIRE_PROOF_BYTES];

	prove(handshake, handshake->side, proof);
	wire_put_proof(message, proof);
	return WIRE_PROOF_MESSAGE;
}

static int take_first(struct handshake *handshake, const unsigned char *body, size_t length,
		      unsigned char answer[HANDSHAKE_MESSAGE], size_t *bytes)
{
	struct wire_handshake *other = &handshake->first[HANDSHAKE_SERVER - handshake->side];
	bool has_secret;

	if (wire_get_handshake(body, length, other) != 0)
		return -EPROTO;
	handshake->met = true;
	has_secret = memcmp(other->token, no_nonce, sizeof(no_nonce)) != 0;
	if (handshake->side == HANDSHAKE_SERVER) {
		handshake_put_first(handshake, answer);
		*bytes = WIRE_HANDSHAKE_MESSAGE;
	}
	if (has_secret != secret_is_set())
		return -ENOKEY;
	if (has_secret && handshake->side == HANDSHAKE_CLIENT)
		*bytes = put_own_proof(handshake, answer);
	return has_secret ? 0 : 1;
}

static int take_proof(struct handshake *handshake, const unsigned char *body, size_t length,
		      unsigned char answer[HANDSHAKE_MESSAGE], size_t *bytes)
{
	unsigned char expected[WIRE_PROOF_BYTES];

	if (length != WIRE_PROOF_BYTES)
		return -EPROTO;
	prove(handshake, HANDSHAKE_SERVER - handshake->side, expected);
	if (!secret_proofs_equal(body, expected))
		return -EKEYREJECTED;
	if (handshake->side == HANDSHAKE_SERVER)
		*bytes = put_own_proof(handshake, answer);
	return 1;
}

int handshake_take(struct handshake *handshake, const unsigned char *body, size_t length,
		   unsigned char answer[HANDSHAKE_MESSAGE], size_t *bytes)
{
	*bytes = 0;
	return handshake->met ? take_proof(handshake, body, length, answer, bytes)
			      : take_first(handshake, body, length, answer, bytes);
}

const char *handshake_describe(int error)
{
	if (error == -EKEYREJECTED)
		return "its secret is not that of this process (RPMA_SOFT_SECRET)";
	if (error != -ENOKEY)
		return NULL;
	return secret_is_set()
		       ? "it has no secret (RPMA_SOFT_SECRET), but this process has"
		       : "it requires a secret (RPMA_SOFT_SECRET), and this process has none";
}
