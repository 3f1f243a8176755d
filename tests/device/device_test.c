/* SPDX-License-Identifier: BSD-3-Clause */
/* device_test.c -- see device_test.h. */
#include "device_test.h"

#include "partner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *test_addr(void)
{
	const char *addr = getenv("RPMA_TEST_ADDR");

	return addr != NULL && *addr != '\0' ? addr : "127.0.0.1";
}

const char *test_addr6(void)
{
	const char *addr = getenv("RPMA_TEST_ADDR6");

	if (addr != NULL && *addr != '\0')
		return addr;
	return getenv("RPMA_TEST_ADDR") == NULL ? "::1" : NULL;
}

struct sockaddr *test_sockaddr(const char *addr, uint16_t port, struct sockaddr_storage *room)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)room;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)room;

	memset(room, 0, sizeof(*room));
	if (inet_pton(AF_INET, addr, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
	} else {
		assert_int_equal(inet_pton(AF_INET6, addr, &v6->sin6_addr), 1);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
	}
	return (struct sockaddr *)room;
}

static union ibv_gid gid_of(const char *addr)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, addr, &gid.raw[12]) != 1)
		assert_int_equal(inet_pton(AF_INET6, addr, gid.raw), 1);
	return gid;
}

int find_gid_of_type(struct ibv_context *context, const union ibv_gid *wanted,
		     enum ibv_gid_type type)
{
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;

	OK(ibv_query_port(context, 1, &port));
	for (int i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(context, 1, (uint32_t)i, &entry, 0) == 0 &&
		    entry.gid_type == type && memcmp(&entry.gid, wanted, sizeof(*wanted)) == 0)
			return i;
	}
	return -1;
}

struct ibv_context *open_device_of(const char *addr, int *gid_index, union ibv_gid *gid)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	*gid = gid_of(addr);
	for (struct ibv_device **device = list; device != NULL && *device != NULL; device++) {
		context = ibv_open_device(*device);
		/* it may be there as RoCE v1 as well, which rxe has not */
		*gid_index =
			context == NULL ? -1 : find_gid_of_type(context, gid, IBV_GID_TYPE_ROCE_V2);
		if (*gid_index >= 0)
			break;
		if (context != NULL)
			ibv_close_device(context);
		context = NULL;
	}
	ibv_free_device_list(list);
	if (context == NULL)
		fail_msg("no RDMA device has the address %s", addr);
	return context;
}

struct ibv_context *open_device(void)
{
	union ibv_gid gid;
	int gid_index = -1;

	return open_device_of(test_addr(), &gid_index, &gid);
}

bool on_rxe(void)
{
	static int answer = -1;

	if (answer < 0) {
		struct ibv_device **list = ibv_get_device_list(NULL);

		answer = list != NULL && list[0] != NULL &&
			 strncmp(ibv_get_device_name(list[0]), "rxe", 3) == 0;
		ibv_free_device_list(list);
	}
	return answer;
}

void check_ok(int got, const char *call, const char *file, int line)
{
	if (got == 0)
		return;
	print_error("%s: %d (%s), expected success\n", call, got, strerror(got < 0 ? errno : got));
	_fail(file, line);
}

void check_fails(int expected, int got, const char *call, const char *file, int line)
{
	int error = got == -1 ? errno : got;

	if (error == expected)
		return;
	print_error("%s: %d (%s), expected %d (%s)\n", call, error, strerror(error), expected,
		    strerror(expected));
	_fail(file, line);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double deadline(void)
{
	return now() + WAIT_S;
}

void wait_a_little(double until, const char *awaited)
{
	if (now() > until)
		fail_msg("%s: not within %d s", awaited, WAIT_S);
	usleep(50); /* not a busy loop: the device may need the processor */
}

void wait_readable(int fd, const char *awaited)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};

	if (poll(&waiting, 1, WAIT_S * 1000) != 1)
		fail_msg("%s: not within %d s", awaited, WAIT_S);
}

bool is_readable(int fd)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};

	return poll(&waiting, 1, 0) == 1;
}

void make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	assert_int_not_equal(flags, -1);
	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
}

struct ibv_wc next_wc(struct ibv_cq *cq)
{
	double until = deadline();
	struct ibv_wc wc;
	int count = 0;

	while ((count = ibv_poll_cq(cq, 1, &wc)) == 0)
		wait_a_little(until, "a completion");
	assert_int_equal(count, 1);
	return wc;
}

struct ibv_wc expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
			const char *file, int line)
{
	struct ibv_wc wc = next_wc(cq);

	if (wc.wr_id != wr_id || wc.status != status) {
		print_error("completion of %llu: %s, expected %llu: %s\n",
			    (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
			    (unsigned long long)wr_id, ibv_wc_status_str(status));
		_fail(file, line);
	}
	return wc;
}

void expect_own_mistake(struct ibv_cq *cq)
{
	const enum ibv_wc_status status = next_wc(cq).status;

	if (on_rxe())
		assert_int_not_equal(status, IBV_WC_SUCCESS);
	else
		assert_int_equal(status, IBV_WC_LOC_PROT_ERR);
}

void expect_no_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

void expect_code(struct ibv_wc wc, unsigned code)
{
	if (!on_rxe())
		assert_int_equal(wc.vendor_err, code);
}

struct ibv_async_event expect_async(struct ibv_context *context, enum ibv_event_type type)
{
	struct ibv_async_event event;

	wait_readable(context->async_fd, ibv_event_type_str(type));
	OK(ibv_get_async_event(context, &event));
	ibv_ack_async_event(&event);
	if (event.event_type != type)
		fail_msg("asynchronous event %s, expected %s", ibv_event_type_str(event.event_type),
			 ibv_event_type_str(type));
	return event;
}

void expect_no_async(struct ibv_context *context)
{
	assert_false(is_readable(context->async_fd));
}

void fill(void *memory, size_t size, unsigned seed)
{
	unsigned char *bytes = memory;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)((i * 31 + (i >> 8) * 7 + seed * 101 + 1) & 0xff);
}

/* The program is its own partner, see pair.h. */
int test_start(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && strcmp(argv[1], "--partner") == 0)
		return partner_serve(atoi(argv[2]));
	if (argc > 2) {
		fprintf(stderr, "%s: expected at most a pattern of test names\n", argv[0]);
		return 64;
	}
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return -1;
}
