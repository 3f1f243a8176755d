/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_local_handshake.c -- what a process tells of itself, what two handshake messages reveal
 * about the way between two processes, and which addresses are this host's.
 */
#include <arpa/inet.h>

#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"
#include "soft_device/transport/local_handshake.h"
#include "tests/lib/test.h"

struct process *process_current;

static struct wire_handshake neighbour(void)
{
	return (struct wire_handshake){
		.layout = SEGMENT_LAYOUT, .identity = 1, .pid_namespace = 10};
}

TEST(test_neighbours_may_share_memory)
{
	const struct wire_handshake own = neighbour(), other = neighbour();

	assert_null(local_handshake_distance(&own, &other));
}

TEST(test_distance_is_named)
{
	struct wire_handshake own = neighbour(), other = neighbour();

	other.pid_namespace++;
	assert_string_equal(local_handshake_distance(&own, &other), "other pid namespace");
	other.layout++;
	assert_string_equal(local_handshake_distance(&own, &other), "other version");
	other.layout = 0;
	assert_string_equal(local_handshake_distance(&own, &other), "asked for by the peer");
	own.layout = 0;
	assert_string_equal(local_handshake_distance(&own, &other), "asked for");
}

TEST(test_handshake_is_of_this_process)
{
	static struct segment segment = {.identity = 99};
	struct process process = {.segment = &segment};
	struct wire_handshake handshake;

	process_current = &process;
	local_handshake_make(&handshake);
	assert_int_equal(handshake.layout, SEGMENT_LAYOUT);
	assert_int_equal(handshake.identity, 99);
	assert_int_equal(handshake.probe, (uintptr_t)&segment.probe);
	assert_int_not_equal(handshake.pid_namespace, 0);
	process.options.transport = SOFT_TRANSPORT_TCP;
	local_handshake_make(&handshake);
	assert_int_equal(handshake.layout, 0);
	process_current = NULL;
}

static bool is_of_this_host(const char *text)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, text, &gid.raw[12]) != 1)
		assert_int_equal(inet_pton(AF_INET6, text, gid.raw), 1);
	return gid_is_of_this_host(&gid);
}

/* 192.0.2.0/24 and 2001:db8::/32 are in no network: RFC 5737, RFC 3849. */
TEST(test_addresses_of_this_host_are_known)
{
	assert_true(is_of_this_host("127.0.0.1"));
	assert_true(is_of_this_host("127.250.3.9"));
	assert_true(is_of_this_host("::1"));
	assert_false(is_of_this_host("192.0.2.1"));
	assert_false(is_of_this_host("2001:db8::1"));
}
