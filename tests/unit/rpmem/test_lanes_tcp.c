/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lanes_tcp.c -- lanes over TCP end with the session, whatever their client is doing.
 *
 * Lanes serve nothing here, they are only counted.
 */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/thread.h"
#include "common/rdma/handshake.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/lane_serve.h"
#include "tools/rpmemd/lanes.h"

#define WRITE_BYTES (1ULL << 50)
#define LIMIT_S	    300 /* a hang is a failure */

struct pool {
	int unused;
};

unsigned char *pool_memory(const struct pool *pool)
{
	return NULL;
}

void method_find(const struct pool *pool, enum control_transport transport, const char *device,
		 bool persist_apm, struct method *method)
{
	method->method = CONTROL_GPSPM;
}

static atomic_uint served;

enum persist_status lane_serve(const struct pool *pool, const struct lane_request *request,
			       const uint8_t *data, enum lane_writer writer,
			       const atomic_bool *ends)
{
	served++;
	usleep(1000); /* the client has sent more by then: there is never nothing to receive */
	return PERSIST_DONE;
}

uint64_t lane_serve_data_bytes(const struct lane_request *request)
{
	return 0;
}

/* --- a client ------------------------------------------------------------------ */

static unsigned char bytes[1 << 16];

static int connect_to(const struct control_pool_reply *endpoint)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(endpoint->port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, endpoint->address, &to.sin_addr);
	assert_int_equal(connect(fd, (struct sockaddr *)(void *)&to, sizeof(to)), 0);
	return fd;
}

static int admitted(const struct control_pool_reply *endpoint)
{
	const struct handshake_request handshake = {HANDSHAKE_VERSION, HANDSHAKE_RPMEM, 0,
						    endpoint->token};
	uint8_t request[HANDSHAKE_REQUEST_BYTES], reply[HANDSHAKE_REPLY_BYTES];
	int fd = connect_to(endpoint);

	handshake_encode_request(&handshake, request);
	assert_int_equal(send(fd, request, sizeof(request), 0), sizeof(request));
	assert_int_equal(recv(fd, reply, sizeof(reply), MSG_WAITALL), sizeof(reply));
	return fd;
}

static void ask_to_write(int fd)
{
	const struct lane_request request = {LANE_WRITE, 0, 0, WRITE_BYTES};
	uint8_t message[LANE_REQUEST_BYTES];

	lane_encode_request(&request, message);
	assert_int_equal(send(fd, message, sizeof(message), 0), sizeof(message));
}

static void *send_for_ever(void *fd)
{
	while (send(*(int *)fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

TEST(a_session_ends_in_the_middle_of_a_write)
{
	struct pool pool = {0};
	const struct lanes_cfg cfg = {.pool = &pool, .address = "127.0.0.1", .nlanes = 1};
	struct lanes_tcp *lanes = NULL;
	struct control_pool_reply endpoint;
	struct method method;
	pthread_t thread;
	int fd;

	assert_int_equal(lanes_tcp_open(&lanes, &cfg, &method, &endpoint), 0);
	fd = admitted(&endpoint);
	ask_to_write(fd);
	assert_int_equal(thread_start(&thread, send_for_ever, &fd), 0);
	while (served < 10)
		usleep(1000);
	alarm(LIMIT_S);
	lanes_tcp_close(&lanes);
	alarm(0);
	pthread_join(thread, NULL);
	close(fd);
}
