/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_hostile.c -- a client that breaks every rule of a lane.
 *
 * lane_hostile rdma|tcp ADDRESS PORT TOKEN BYTES LANE fuzz|flood [ROUNDS [SEED]]
 *
 * fuzz: requests that no client sends, on a lane that is admitted; flood: as much work as a
 * lane can ask for, until it ends, and "working" printed with its first answer. What became of
 * the daemon is for the test to see.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/rdma/dial.h"
#include "librpmem/wire/lane_message.h"
#include "tests/lib/random.h"

#define LIMIT_MS      10000
#define LIFE_S	      120 /* a daemon that the test has lost ends with its client */
#define MESSAGE_BYTES 16384
#define ANSWERS	      16

struct hostile {
	bool tcp;
	const char *address;
	uint16_t port;
	uint64_t token;
	uint64_t bytes; /* size of the pool */
	uint32_t lane;
	uint64_t random;

	int fd; /* over TCP */
	struct dial dial;
	struct connection *connection;
	struct rpma_mr_local *mr;
	unsigned char message[MESSAGE_BYTES + ANSWERS * 64];
};

/* --- connections ---------------------------------------------------------- */

static int receive_all(int fd, void *bytes, size_t len)
{
	struct pollfd poll_fd = {fd, POLLIN, 0};
	char *at = bytes;

	while (len > 0) {
		ssize_t got;

		if (poll(&poll_fd, 1, LIMIT_MS) <= 0)
			return -ETIMEDOUT;
		got = recv(fd, at, len, 0);
		if (got <= 0)
			return -ECONNRESET;
		at += got;
		len -= (size_t)got;
	}
	return 0;
}

static int connect_tcp(struct hostile *h, const uint8_t handshake[HANDSHAKE_REQUEST_BYTES])
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(h->port)};
	uint8_t reply[HANDSHAKE_REPLY_BYTES];

	inet_pton(AF_INET, h->address, &to.sin_addr);
	h->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(h->fd, (struct sockaddr *)(void *)&to, sizeof(to)) != 0)
		return -errno;
	send(h->fd, handshake, HANDSHAKE_REQUEST_BYTES, MSG_NOSIGNAL);
	return receive_all(h->fd, reply, sizeof(reply));
}

static int post(struct rpma_conn_req *req, void *hostile)
{
	const struct hostile *h = hostile;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < ANSWERS; i++)
		ret = rpma_conn_req_recv(req, h->mr, MESSAGE_BYTES + i * 64, 64, h);
	return ret;
}

static int connect_rdma(struct hostile *h, const uint8_t handshake[HANDSHAKE_REQUEST_BYTES])
{
	struct connection_queues queues = {
		.sq_size = 16, .rq_size = ANSWERS, .cq_size = 64, .post = post, .arg = h};
	const struct connection_cfg cfg = {.peer_name = "rpmemd", .stop_fd = -1, .queues = &queues};
	struct handshake_reply reply;
	int ret = connection_connect(&h->connection, h->dial.peer, h->address, h->port, &cfg,
				     handshake, HANDSHAKE_REQUEST_BYTES);

	return ret ? ret : dial_answer(&h->dial, h->connection, HANDSHAKE_RPMEM, &reply);
}

static void hang_up(struct hostile *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
	connection_close(&h->connection);
}

static int admit(struct hostile *h)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_RPMEM, h->lane,
						  h->token};
	const int64_t deadline = monotonic_ms() + LIMIT_MS;
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	int ret;

	handshake_encode_request(&request, handshake);
	/* the daemon may not have noticed yet that the lane before it ended */
	do {
		hang_up(h);
		ret = h->tcp ? connect_tcp(h, handshake) : connect_rdma(h, handshake);
	} while (ret != 0 && monotonic_ms() < deadline);
	return ret;
}

/* --- requests ----------------------------------------------------------------- */

/* Within the pool or just behind it, or far away. */
static uint64_t odd_number(struct hostile *h)
{
	const uint64_t random = test_random(&h->random);

	return random % 3 == 0 ? random : random / 3 % (h->bytes + 2);
}

/* How long the message is: mostly what its op takes. */
static size_t make_message(struct hostile *h)
{
	const enum lane_op op = (enum lane_op)(test_random(&h->random) % (LANE_OPS + 1));
	const bool has_data =
		op == LANE_PERSIST_DATA || op == LANE_PERSIST_RANGES || op == LANE_WRITE;
	const size_t ranges = test_random(&h->random) % (LANE_DATA_MAX / LANE_RANGE_BYTES);
	const size_t data = has_data ? ranges * LANE_RANGE_BYTES : 0;
	const struct lane_request r = {
		.op = op,
		.slot = (uint32_t)test_random(&h->random),
		.offset = odd_number(h),
		.length = has_data && test_random(&h->random) % 4 != 0 ? data : odd_number(h),
	};
	const size_t len = LANE_REQUEST_BYTES + data;

	memset(h->message, (int)(test_random(&h->random) % 255 + 1), len);
	for (size_t i = 0; op == LANE_PERSIST_RANGES && i < data; i += LANE_RANGE_BYTES)
		lane_encode_range(&(struct lane_range){odd_number(h), odd_number(h)},
				  h->message + LANE_REQUEST_BYTES + i);
	lane_encode_request(&r, h->message);
	/* some are cut short */
	return test_random(&h->random) % 16 == 0 ? test_random(&h->random) % len : len;
}

static bool post_message(struct hostile *h, size_t len)
{
	return rpma_send(connection_conn(h->connection), h->mr, 0, len, RPMA_F_COMPLETION_ALWAYS,
			 NULL) == 0;
}

/* False: the daemon ended the lane. */
static bool is_answered(struct hostile *h)
{
	struct ibv_wc wc = {.opcode = IBV_WC_SEND};

	while ((wc.opcode & IBV_WC_RECV) == 0) {
		while (rpma_cq_get_wc(connection_cq(h->connection), 1, &wc, NULL) != 0) {
			if (!connection_alive(h->connection, 0))
				return false;
		}
		if (wc.status != IBV_WC_SUCCESS)
			return false;
	}
	return rpma_recv(connection_conn(h->connection), h->mr, MESSAGE_BYTES, 64, h) == 0;
}

/* Answers are not waited for: the next message may be the end of this one. */
static bool send_tcp(struct hostile *h, size_t len)
{
	unsigned char bytes[4096];
	ssize_t got;

	if (send(h->fd, h->message, len, MSG_NOSIGNAL) != (ssize_t)len)
		return false;
	do {
		got = recv(h->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (got > 0);
	return got < 0 && errno == EAGAIN;
}

static int test_requests(struct hostile *h, unsigned rounds)
{
	bool alive = false;

	for (unsigned i = 0; i < rounds; i++) {
		size_t len;

		if (!alive && admit(h) != 0) {
			fprintf(stderr, "lane_hostile: not admitted: %s\n", failure_get()->text);
			return 1;
		}
		len = make_message(h);
		/* over TCP what was sent last may leave the daemon waiting for more */
		alive = (h->tcp ? send_tcp(h, len) : post_message(h, len) && is_answered(h)) &&
			test_random(&h->random) % 64 != 0;
	}
	return 0;
}

/* --- more work than the daemon gets done ---------------------------------------- */

/* The whole pool, as often as a request has room for. */
static size_t make_flood(struct hostile *h)
{
	const struct lane_request r = {.op = LANE_PERSIST_RANGES, .length = LANE_DATA_MAX};
	const struct lane_range all = {0, h->bytes};

	lane_encode_request(&r, h->message);
	for (size_t i = 0; i < LANE_DATA_MAX; i += LANE_RANGE_BYTES)
		lane_encode_range(&all, h->message + LANE_REQUEST_BYTES + i);
	return LANE_REQUEST_BYTES + LANE_DATA_MAX;
}

static void tell_once(void)
{
	static bool told;

	if (!told) {
		puts("working");
		fflush(stdout);
	}
	told = true;
}

/* There is always one more. */
static void flood_tcp(struct hostile *h, size_t len)
{
	uint8_t answer[LANE_ANSWER_BYTES];

	send(h->fd, h->message, len, MSG_NOSIGNAL);
	while (send(h->fd, h->message, len, MSG_NOSIGNAL) == (ssize_t)len &&
	       receive_all(h->fd, answer, sizeof(answer)) == 0)
		tell_once();
}

/* Sends as many requests at once as a lane may have. */
static void flood_rdma(struct hostile *h, size_t len)
{
	for (unsigned i = 1; i < LANE_SLOTS; i++) {
		if (!post_message(h, len))
			return;
	}
	while (post_message(h, len) && is_answered(h))
		tell_once();
}

static int flood(struct hostile *h)
{
	const size_t len = make_flood(h);

	if (admit(h) != 0) {
		fprintf(stderr, "lane_hostile: not admitted: %s\n", failure_get()->text);
		return 1;
	}
	if (h->tcp)
		flood_tcp(h, len);
	else
		flood_rdma(h, len);
	return 0;
}

/* --- main ----------------------------------------------------------------- */

static int set_up(struct hostile *h)
{
	static const struct endpoint_options any = {.quiet = true};
	int ret;

	connection_log_to_failures(false);
	if (h->tcp)
		return 0;
	if ((ret = dial_resolve(&h->dial, h->address, h->port)) ||
	    (ret = dial_route(&h->dial, &any)))
		return ret;
	return rpma_mr_reg(h->dial.peer, h->message, sizeof(h->message),
			   RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &h->mr);
}

int main(int argc, char **argv)
{
	static struct hostile h = {.fd = -1};
	unsigned rounds;
	int ret;

	if (argc < 8)
		return EXIT_WRONG_USAGE;
	h.tcp = strcmp(argv[1], "tcp") == 0;
	h.address = argv[2];
	h.port = (uint16_t)strtoul(argv[3], NULL, 0);
	h.token = strtoull(argv[4], NULL, 0);
	h.bytes = strtoull(argv[5], NULL, 0);
	h.lane = (uint32_t)strtoul(argv[6], NULL, 0);
	rounds = argc > 8 ? (unsigned)strtoul(argv[8], NULL, 0) : 100;
	h.random = argc > 9 ? strtoull(argv[9], NULL, 0) : 1;
	alarm(LIFE_S);
	if (set_up(&h) != 0) {
		fprintf(stderr, "lane_hostile: %s\n", failure_get()->text);
		return EXIT_FAILURE;
	}
	ret = strcmp(argv[7], "flood") == 0 ? flood(&h) : test_requests(&h, rounds);
	hang_up(&h);
	rpma_mr_dereg(&h.mr);
	rpma_peer_delete(&h.dial.peer);
	return ret;
}
