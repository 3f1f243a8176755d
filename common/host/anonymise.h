/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * anonymise.h -- takes what names a machine, a part of it or its people out of
 * the files of sysfs and proc that rpma-ddio-check reads.
 *
 * Serial numbers, GUIDs, hardware addresses, GIDs and host names become
 * pseudonyms of the same shape: within a record equal ones stay equal, and the
 * key that would tell them is forgotten with it. What a check decides by stays:
 * that a GID is zero, link-local or made from an IPv4 address. No I/O.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ANONYMISE_KEY_BYTES 16

/* The bytes of the file at path, from its first one on; the new length, never more than len. */
size_t anonymise_file(const uint8_t key[ANONYMISE_KEY_BYTES], const char *path, char *bytes,
		      size_t len);
/* Addresses, GUIDs and UUIDs in a text or path, and interface names made from them, in place. */
void anonymise_text(const uint8_t key[ANONYMISE_KEY_BYTES], char *text, size_t len);
