/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dial.c -- which addresses of a name a client tries, in what order, for how long, and
 * over which device. Time, routes and servers are ours.
 */
#include <time.h>

#include "common/base/failure.h"
#include "common/rdma/dial.h"
#include "tests/lib/test.h"

#define LINK ((struct connection *)0x40)

enum answer { WELCOMES, REFUSES, SILENT };

static struct {
	int64_t now_ms;
	size_t tried;
	char addresses[8][RESOLVE_ADDRESS_MAX];
	int timeouts_ms[8];
	int peers, moves;
	bool cannot_move;
} seen;

/* Addresses whose last figure is odd are over the device one. */
static const struct server {
	const char *address;
	enum answer answer;
} * servers;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	ts->tv_sec = seen.now_ms / 1000;
	ts->tv_nsec = (long)(seen.now_ms % 1000) * 1000000;
	return 0;
}

int __wrap_endpoint_route(const struct sysroot *root, const struct endpoint_options *options,
			  const char *address, struct rpma_peer **peer, struct device *device)
{
	if (strcmp(address, "no route") == 0)
		return failure_because(CAUSE_UNREACHABLE, EXIT_RUN_FAILED, "device", "%s: no route",
				       address);
	seen.peers++;
	*peer = (struct rpma_peer *)(uintptr_t)(0x1000 + seen.peers);
	snprintf(device->name, sizeof(device->name), "%s",
		 address[strlen(address) - 1] % 2 != 0 ? "one" : "two");
	return 0;
}

int __wrap_rpma_peer_delete(struct rpma_peer **peer)
{
	seen.peers -= *peer != NULL;
	*peer = NULL;
	return 0;
}

int __wrap_connection_connect(struct connection **connection, struct rpma_peer *peer,
			      const char *address, uint16_t port, const struct connection_cfg *cfg,
			      const void *handshake, size_t handshake_len)
{
	const struct server *server = servers;

	assert_non_null(peer);
	assert_int_equal(port, 7204);
	snprintf(seen.addresses[seen.tried], RESOLVE_ADDRESS_MAX, "%s", address);
	seen.timeouts_ms[seen.tried++] = cfg->timeout_ms;
	while (strcmp(server->address, address) != 0)
		server++;
	if (server->answer == WELCOMES) {
		*connection = LINK;
		return 0;
	}
	if (server->answer == REFUSES)
		return failure_because(CAUSE_REFUSED, EXIT_RUN_FAILED, "connect", "%s refused",
				       cfg->peer_name);
	seen.now_ms += cfg->timeout_ms;
	return failure_because(CAUSE_NO_ANSWER, EXIT_RUN_FAILED, "connect", "%s is silent",
			       cfg->peer_name);
}

/* A name with the addresses of these servers; up to an address of NULL. */
static struct dial dial_of(const struct server *list)
{
	struct dial dial = {.port = 7204};

	memset(&seen, 0, sizeof(seen));
	servers = list;
	for (; list->address != NULL; list++)
		snprintf(dial.resolved.addresses[dial.resolved.count++], RESOLVE_ADDRESS_MAX, "%s",
			 list->address);
	return dial;
}

static int reach(struct dial *dial, int timeout_ms)
{
	static const uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	const struct connection_cfg cfg = {.stop_fd = -1, .timeout_ms = timeout_ms};
	struct connection *connection = NULL;
	int ret = dial_route(dial, &(struct endpoint_options){.quiet = true});

	if (ret == 0)
		ret = dial_connect(&connection, dial, handshake, &cfg);
	assert_true((ret == 0) == (connection == LINK));
	return ret;
}

TEST(the_first_that_welcomes_is_taken)
{
	static const struct server list[] = {
		{"10.0.0.1", REFUSES}, {"10.0.0.3", WELCOMES}, {"10.0.0.5", WELCOMES}, {0}};
	struct dial dial = dial_of(list);

	EQUAL((reach(&dial, 5000), 0), (seen.tried, 2), (dial.address, "10.0.0.3"),
	      (dial.name, "server 10.0.0.3:7204"), (seen.peers, 1));
	/* another connection goes to the same one */
	seen.tried = 0;
	EQUAL((reach(&dial, 5000), 0), (seen.tried, 1));
}

TEST(silent_ones_share_the_time)
{
	static const struct server list[] = {
		{"10.0.0.1", SILENT}, {"10.0.0.3", SILENT}, {"10.0.0.5", SILENT}, {0}};
	struct dial dial = dial_of(list);

	assert_true(reach(&dial, 6000) != 0);
	assert_int_equal(seen.tried, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(seen.timeouts_ms[i], 2000);
	EQUAL((seen.now_ms, 6000), (failure_get()->cause, CAUSE_NO_ANSWER));
}

TEST(who_refuses_at_once_leaves_the_time_to_others)
{
	static const struct server list[] = {
		{"10.0.0.1", REFUSES}, {"10.0.0.3", REFUSES}, {"10.0.0.5", WELCOMES}, {0}};
	struct dial dial = dial_of(list);

	EQUAL((reach(&dial, 6000), 0), (seen.timeouts_ms[2], 6000));
}

TEST(what_each_answered_is_told)
{
	static const struct server list[] = {{"10.0.0.1", SILENT}, {"fd00::3", REFUSES}, {0}};
	struct dial dial = dial_of(list);

	assert_true(reach(&dial, 2000) != 0);
	assert_string_equal(failure_get()->text, "server 10.0.0.1:7204 is silent; server "
						 "[fd00::3]:7204 refused");
	/* who refuses is there, which is worth more */
	assert_int_equal(failure_get()->cause, CAUSE_REFUSED);
}

static int move(void *arg, bool moved)
{
	if (seen.cannot_move)
		return -EBUSY;
	seen.moves += moved ? 1 : 100;
	return 0;
}

TEST(another_device_gets_a_peer_of_its_own)
{
	static const struct server list[] = {{"10.0.0.1", REFUSES}, {"10.0.0.2", WELCOMES}, {0}};
	struct dial dial = dial_of(list);

	dial.move = move;
	EQUAL((reach(&dial, 5000), 0), (dial.device.name, "two"));
	assert_int_equal(seen.moves, 101); /* what was registered went, and came */
	assert_int_equal(seen.peers, 1);
}

TEST(what_cannot_move_stays)
{
	static const struct server list[] = {{"10.0.0.1", REFUSES}, {"10.0.0.2", WELCOMES}, {0}};
	struct dial dial = dial_of(list);

	dial.move = move;
	seen.cannot_move = true;
	assert_true(reach(&dial, 5000) != 0);
	EQUAL((seen.tried, 1), (dial.device.name, "one"), (seen.peers, 1),
	      (failure_get()->text, HAS("memory is registered with one")));
}

TEST(an_address_without_a_route_is_passed_over)
{
	static const struct server list[] = {{"no route", SILENT}, {"10.0.0.1", WELCOMES}, {0}};
	struct dial dial = dial_of(list);

	EQUAL((reach(&dial, 5000), 0), (dial.address, "10.0.0.1"));
}
