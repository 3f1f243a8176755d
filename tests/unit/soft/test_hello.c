/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_hello.c -- what two hellos say about the way between two processes, and whose
 * a connection is. The rows are of /proc/net/tcp as Linux prints them on a little-endian
 * machine (net/ipv4/tcp_ipv4.c: get_tcp4_sock).
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "soft_device/process/process.h"
#include "soft_device/transport/hello.h"

struct process *process_current;

static struct wire_hello neighbour(void)
{
	struct wire_hello hello = {.layout = SEGMENT_LAYOUT,
				   .identity = 1,
				   .uid = 1000,
				   .boot_id = "boot",
				   .pid_namespace = 10,
				   .net_namespace = 20,
				   .user_namespace = 30,
				   .name = "name"};

	return hello;
}

static void test_neighbours_may_share_memory(void **state)
{
	const struct wire_hello own = neighbour(), other = neighbour();

	assert_null(hello_distance(&own, &other));
}

static void test_distance_is_named(void **state)
{
	struct wire_hello own = neighbour(), other = neighbour();

	memset(other.name, 0, sizeof(other.name));
	assert_string_equal(hello_distance(&own, &other), "asked for by the peer");
	other.layout++;
	assert_string_equal(hello_distance(&own, &other), "other version");
	other.pid_namespace++;
	assert_string_equal(hello_distance(&own, &other), "other pid namespace");
	other.net_namespace++;
	assert_string_equal(hello_distance(&own, &other), "other network namespace");
	other.boot_id[0]++;
	assert_string_equal(hello_distance(&own, &other), "other host");
}

static void test_unknown_hosts_are_not_the_same(void **state)
{
	struct wire_hello own = neighbour(), other = neighbour();

	memset(own.boot_id, 0, sizeof(own.boot_id));
	memset(other.boot_id, 0, sizeof(other.boot_id));
	assert_string_equal(hello_distance(&own, &other), "other host");
}

static void test_user_ids_count_within_a_host_and_namespace(void **state)
{
	struct wire_hello own = neighbour(), other = neighbour();

	assert_false(hello_of_other_user(&own, &other));
	other.uid = 1001;
	assert_true(hello_of_other_user(&own, &other));
	other.user_namespace++;
	assert_false(hello_of_other_user(&own, &other));
	other = own;
	other.uid = 1001;
	other.boot_id[0]++;
	assert_false(hello_of_other_user(&own, &other));
}

static struct sockaddr_storage address(int family, const char *text, uint16_t port)
{
	struct sockaddr_storage addr = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

	if (family == AF_INET)
		assert_int_equal(inet_pton(family, text, &in->sin_addr), 1);
	else
		assert_int_equal(inet_pton(family, text, &in6->sin6_addr), 1);
	in->sin_port = htons(port);
	return addr;
}

static void test_row_tells_the_user(void **state)
{
	const struct sockaddr_storage from = address(AF_INET, "127.0.0.1", 0x9c40);
	const struct sockaddr_storage to = address(AF_INET, "127.0.0.1", 0x1f90);
	static const char *const rows[] = {
		/* the one, listening, the other way round, another port */
		"   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001"
		"        0 27036 1 0000000000000000 20 4 30 10 -1\n",
		"   0: 0100007F:9C40 0100007F:1F90 0A 00000000:00000000 00:00000000 00000000  1001"
		"        0 27035 1 0000000000000000 100 0 0 10 0\n",
		"   2: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1001"
		"        0 27037 1 0000000000000000 20 4 30 10 -1\n",
		"   3: 0100007F:9C41 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001"
		"        0 27038 1 0000000000000000 20 4 30 10 -1\n",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   "
		"uid\n",
		"",
	};
	unsigned long uid = 0;

	if (htonl(1) == 1) {
		print_message("the rows are a little-endian machine's\n");
		skip();
	}
	assert_true(hello_row_uid(rows[0], &from, &to, &uid));
	assert_int_equal(uid, 1001);
	for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_false(hello_row_uid(rows[i], &from, &to, &uid));
}

/* The kernel's own table names this very process as the user of both ends. */
static void own_connection_is_of_this_user(int family, const char *loopback)
{
	struct sockaddr_storage addr = address(family, loopback, 0);
	socklen_t bytes = sizeof(addr);
	int listener = socket(family, SOCK_STREAM, 0);
	int connecting = socket(family, SOCK_STREAM, 0);
	struct sockaddr_storage from, to;
	unsigned long uid = ~0UL;
	char row[512];
	bool found = false;
	FILE *file;
	int accepted;

	if (bind(listener, (struct sockaddr *)&addr, bytes) != 0) {
		print_message("no %s here\n", loopback);
		close(listener);
		close(connecting);
		skip();
	}
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &bytes), 0);
	assert_int_equal(connect(connecting, (struct sockaddr *)&addr, bytes), 0);
	accepted = accept(listener, NULL, NULL);
	assert_true(accepted >= 0);
	assert_false(hello_socket_of_other_user(accepted));
	bytes = sizeof(from);
	assert_int_equal(getsockname(connecting, (struct sockaddr *)&from, &bytes), 0);
	assert_int_equal(getpeername(connecting, (struct sockaddr *)&to, &bytes), 0);
	file = fopen(family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "r");
	assert_non_null(file);
	while (!found && fgets(row, sizeof(row), file) != NULL)
		found = hello_row_uid(row, &from, &to, &uid);
	fclose(file);
	assert_true(found);
	assert_int_equal(uid, geteuid());
	close(accepted);
	close(connecting);
	close(listener);
}

static void test_own_ipv4_connection_is_of_this_user(void **state)
{
	own_connection_is_of_this_user(AF_INET, "127.0.0.1");
}

static void test_own_ipv6_connection_is_of_this_user(void **state)
{
	own_connection_is_of_this_user(AF_INET6, "::1");
}

static void test_hello_is_of_this_process(void **state)
{
	static const unsigned char no_name[WIRE_NAME_BYTES];
	static struct segment segment = {.identity = 99};
	struct process process = {.segment = &segment};
	struct wire_hello hello;

	process_current = &process;
	hello_make(&hello);
	process_current = NULL;
	assert_int_equal(hello.identity, 99);
	assert_int_equal(hello.probe, (uintptr_t)&segment.probe);
	assert_int_equal(hello.pid, getpid());
	assert_int_equal(hello.uid, geteuid());
	assert_int_not_equal(hello.pid_namespace, 0);
	assert_int_not_equal(hello.net_namespace, 0);
	assert_memory_equal(hello.name, no_name, sizeof(no_name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbours_may_share_memory),
		cmocka_unit_test(test_distance_is_named),
		cmocka_unit_test(test_unknown_hosts_are_not_the_same),
		cmocka_unit_test(test_user_ids_count_within_a_host_and_namespace),
		cmocka_unit_test(test_row_tells_the_user),
		cmocka_unit_test(test_own_ipv4_connection_is_of_this_user),
		cmocka_unit_test(test_own_ipv6_connection_is_of_this_user),
		cmocka_unit_test(test_hello_is_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
