/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h -- the control messages of rpma-bench: bytes in, values out.
 *
 * On a control connection: HELLO, WELCOME, ENVIRONMENT chunks, BYE. On a
 * measuring connection: HELLO, WELCOME, then one-sided traffic, BYE, REPORT.
 * What arrives is foreign: version, length and every range are checked here,
 * and a longer body than known is accepted, its tail ignored.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

#define MESSAGE_VERSION		1
#define MESSAGE_MAX		4096
#define MESSAGE_TEXT_MAX	512
#define MESSAGE_CHUNK_MAX	3072
#define MESSAGE_ENVIRONMENT_MAX (256 * 1024)
#define MESSAGE_LIMIT_MAX_NS	(7 * 24 * 3600 * 1000000000ULL)

enum message_type {
	MESSAGE_HELLO = 1,
	MESSAGE_WELCOME = 2,
	MESSAGE_ENVIRONMENT = 3,
	MESSAGE_BYE = 4,
	MESSAGE_REPORT = 5,
};

struct message_hello {
	uint8_t run_id[16];
	enum bench_test test;
	enum bench_op op;
	enum bench_persist persist;
	enum bench_completion completion;
	uint64_t size_bytes;
	uint32_t depth;
	uint32_t threads;
	uint32_t connections;
	uint32_t repeat;
	uint64_t warmup_ns;
	uint64_t duration_ns;
	uint64_t limit_ns; /* the server gives the client up after this */
};

struct message_welcome {
	uint32_t environment_bytes;
	char refusal[MESSAGE_TEXT_MAX]; /* empty: welcome */
};

struct message_environment {
	uint32_t offset;
	uint32_t bytes;
	const uint8_t *data; /* borrowed from the message */
};

struct message_report {
	uint64_t elapsed_ns;
	uint64_t user_ns;
	uint64_t sys_ns;
};

struct message {
	enum message_type type;
	union {
		struct message_hello hello;
		struct message_welcome welcome;
		struct message_environment environment;
		struct message_report report;
	};
};

/* Gives the length; the message is within its ranges, so it always fits. */
size_t message_encode(const struct message *message, uint8_t bytes[MESSAGE_MAX]);

/* -EPROTO for what is malformed or out of range, -EPROTONOSUPPORT for another version. */
int message_decode(const uint8_t *bytes, size_t len, struct message *message);

#endif /* MESSAGE_H */
