/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * secret.h -- the secret that processes of different hosts prove to each other that they have.
 *
 * The user gives it in RPMA_SOFT_SECRET or in a file (`secret:FILE`). Without one nothing between
 * hosts is authenticated. It is read when the process begins, and constant from then on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

#define SECRET_BYTES_MIN 16
#define SECRET_BYTES_MAX 1024

extern const struct process_part secret_part;

bool secret_is_set(void);

/* HMAC-SHA256 (RFC 2104) of the bytes, with the secret as key. */
void secret_prove(const void *bytes, size_t length, unsigned char proof[WIRE_PROOF_BYTES]);
/* True if two proofs are equal, in a time that does not tell where they differ. */
bool secret_proofs_equal(const unsigned char a[WIRE_PROOF_BYTES],
			 const unsigned char b[WIRE_PROOF_BYTES]);
