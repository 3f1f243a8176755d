/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_client.c -- the lanes of librpmem against those of lane_daemon.
 *
 * lane_client rdma|tcp gpspm|apm ADDRESS PORT TOKEN BYTES NLANES WORK_QUEUE TEST [SEED]
 *
 * Prints what TEST found; the exit status is 0 if all calls did what they promise.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "librpmem/src/lane.h"
#include "tests/lib/random.h"

#define HEADER 4096

struct client {
	struct lanes *lanes;
	struct control_pool_reply daemon;
	struct lanes_cfg cfg;
	unsigned char *memory;
	size_t bytes;
	uint64_t seed;
	int end_fd;
};

static void fill(struct client *c, size_t offset, size_t length, uint64_t *random)
{
	for (size_t i = 0; i < length; i++)
		c->memory[offset + i] = (unsigned char)test_random(random);
}

static int complain(const char *call, int ret)
{
	fprintf(stderr, "lane_client: %s: %s: %s\n", call, strerror(-ret), failure_get()->text);
	return 1;
}

/* Reads the remote pool into other memory, and compares. */
static int compare(struct client *c, unsigned lane)
{
	unsigned char *copy = malloc(c->bytes);
	size_t at = HEADER;
	int ret;

	memset(copy, 0, c->bytes);
	ret = lanes_read(c->lanes, lane, copy + HEADER, HEADER, c->bytes - HEADER);
	if (ret)
		return complain("read", ret);
	while (at < c->bytes && copy[at] == c->memory[at])
		at++;
	free(copy);
	if (at < c->bytes)
		fprintf(stderr, "lane_client: byte %zu differs\n", at);
	return at < c->bytes;
}

/* --- all calls, on all lanes at once -------------------------------------- */

struct share {
	struct client *client;
	unsigned lane;
	size_t begin, end; /* offsets in the pool, for this lane alone */
	int failed;
	pthread_t thread;
};

/* The data may not change before the drain, so what comes between is the range behind it. */
static int flush_and_drain(struct share *s, uint64_t *random, size_t offset, size_t length)
{
	struct client *c = s->client;
	size_t rest = s->end - offset - length;
	int ret = lanes_flush(c->lanes, s->lane, offset, length, false);

	if (ret == 0 && rest > 0 && test_random(random) % 2 != 0) {
		offset += length;
		length = 1 + test_random(random) % rest;
		fill(c, offset, length, random);
		ret = lanes_flush(c->lanes, s->lane, offset, length, false);
	}
	return ret ? ret : lanes_drain(c->lanes, s->lane);
}

static int one_call(struct share *s, uint64_t *random)
{
	struct client *c = s->client;
	static const size_t sizes[] = {1, 5, 8, 64, 100, 4096, 8192, 8193, 40000, 300000};
	size_t length = sizes[test_random(random) % (sizeof(sizes) / sizeof(sizes[0]))];
	size_t room = s->end - s->begin, offset;
	const bool relaxed = test_random(random) % 2 != 0;

	length = length < room ? length : room;
	offset = s->begin + test_random(random) % (room - length + 1);
	fill(c, offset, length, random);
	switch (test_random(random) % 4) {
	case 0:
		return lanes_persist(c->lanes, s->lane, offset, length, relaxed);
	case 1:
		return lanes_deep_persist(c->lanes, s->lane, offset, length);
	default:
		return flush_and_drain(s, random, offset, length);
	}
}

/* A run of relaxed flushes of parts that do not overlap, and the drain. */
static int flushes(struct share *s, uint64_t *random)
{
	struct client *c = s->client;
	size_t step = (s->end - s->begin) / 64;
	unsigned count = 1 + (unsigned)(test_random(random) % 60);
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < count; i++) {
		size_t offset = s->begin + i * step;
		size_t length = 1 + test_random(random) % step;

		fill(c, offset, length, random);
		ret = lanes_flush(c->lanes, s->lane, offset, length, true);
	}
	return ret ? ret : lanes_drain(c->lanes, s->lane);
}

static void *run_share(void *share)
{
	struct share *s = share;
	const unsigned rounds = s->client->daemon.nlanes > 8 ? 8 : 60;
	uint64_t random = s->client->seed + s->lane;
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < rounds; i++)
		ret = i % 8 == 7 ? flushes(s, &random) : one_call(s, &random);
	if (ret == 0)
		ret = lanes_drain(s->client->lanes, s->lane);
	if (ret)
		s->failed = complain("a call", ret);
	return NULL;
}

/* Runs a thread for each lane, with so many bytes of the pool; `ends`: the session, meanwhile. */
static int share_out(struct client *c, size_t each, void *run(void *share), bool ends)
{
	const unsigned count = c->daemon.nlanes;
	struct share *shares = calloc(count, sizeof(*shares));
	int failed = 0;

	for (unsigned i = 0; i < count; i++) {
		shares[i] = (struct share){.client = c,
					   .lane = i,
					   .begin = HEADER + i * each,
					   .end = HEADER + (i + 1) * each};
		pthread_create(&shares[i].thread, NULL, run, &shares[i]);
	}
	if (ends) {
		usleep(100000);
		eventfd_write(c->end_fd, 1);
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(shares[i].thread, NULL);
		failed |= shares[i].failed;
	}
	free(shares);
	return failed;
}

static int test_calls(struct client *c)
{
	return share_out(c, (c->bytes - HEADER) / c->daemon.nlanes, run_share, false) ||
	       compare(c, 0);
}

/* --- work queues ---------------------------------------------------------- */

/* n flushes, drain and persist in each pair of flags. A lane has 8 requests and 32 ranges. */
static int test_queue(struct client *c)
{
	static const unsigned counts[] = {1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 65, 66};
	static const bool flags[2] = {false, true};
	uint64_t random = c->seed;
	int ret = 0;

	for (unsigned round = 0; ret == 0 && round < 4 * 12; round++) {
		const bool first = flags[round % 2], second = flags[round / 2 % 2];
		const unsigned n = counts[round / 4];

		for (unsigned i = 0; ret == 0 && i < n; i++) {
			size_t offset = HEADER + (i * 4099) % (c->bytes - HEADER - 200);

			fill(c, offset, 200, &random);
			ret = lanes_flush(c->lanes, 0, offset, 200, first);
		}
		if (ret == 0 && round % 3 != 0)
			ret = lanes_drain(c->lanes, 0);
		/* another range: what was flushed must not change before the drain */
		fill(c, c->bytes - 64, 64, &random);
		if (ret == 0)
			ret = lanes_persist(c->lanes, 0, c->bytes - 64, 64, second);
	}
	if (ret)
		return complain("a call", ret);
	return compare(c, 0);
}

/* --- small persists ------------------------------------------------------- */

static int test_persists(struct client *c)
{
	uint64_t random = c->seed;
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < 500; i++) {
		const size_t offset = HEADER + i * 4096;

		fill(c, offset, 64, &random);
		ret = lanes_persist(c->lanes, 0, offset, 64, i % 2 != 0);
	}
	return ret ? complain("persist", ret) : compare(c, 0);
}

/* --- small reads ---------------------------------------------------------- */

/* Into the stack, 1 to 64 bytes at any offset. */
static int test_small_reads(struct client *c)
{
	unsigned char bytes[64];
	uint64_t random = c->seed;
	int ret;

	fill(c, HEADER, 4096, &random);
	ret = lanes_persist(c->lanes, 0, HEADER, 4096, false);
	for (size_t i = 0; ret == 0 && i < 500; i++) {
		size_t length = 1 + i % sizeof(bytes), offset = HEADER + i * 7;

		ret = lanes_read(c->lanes, 0, bytes, offset, length);
		if (ret == 0 && memcmp(bytes, c->memory + offset, length) != 0) {
			fprintf(stderr, "lane_client: %zu bytes at %zu differ\n", length, offset);
			return 1;
		}
	}
	return ret ? complain("a call", ret) : 0;
}

/* --- ends ----------------------------------------------------------------- */

/* Works until it fails, which is expected; prints what failed and how it goes on. */
static int test_until_lost(struct client *c)
{
	uint64_t random = c->seed, begun, count = 0;
	int ret = 0, again;

	printf("working\n");
	fflush(stdout);
	for (; ret == 0; count++) {
		size_t offset = HEADER + test_random(&random) % (c->bytes - HEADER - 8192);

		switch (count % 4) {
		case 0:
			ret = lanes_persist(c->lanes, 0, offset, 64, false);
			break;
		case 1:
			ret = lanes_persist(c->lanes, 0, offset, 8192, true);
			break;
		case 2:
			ret = lanes_read(c->lanes, 0, c->memory + offset, offset, 8000);
			break;
		default:
			ret = lanes_flush(c->lanes, 0, offset, 8192, true);
		}
	}
	printf("lost: %s: %s\n", strerrorname_np(-ret), failure_get()->text);
	begun = monotonic_ns();
	for (unsigned i = 0; i < 1000; i++) {
		again = lanes_persist(c->lanes, i % c->daemon.nlanes, HEADER, 8, false);
		if (again != -ECONNRESET || failure_get()->text[0] == '\0')
			return complain("a call after the end", again);
	}
	printf("1000 calls after it took %llu us\n",
	       (unsigned long long)(monotonic_ns() - begun) / 1000);
	return ret != -ECONNRESET;
}

static void *persist_until_lost(void *share)
{
	struct share *s = share;
	int ret = 0;

	while (ret == 0)
		ret = lanes_persist(s->client->lanes, s->lane, s->begin, 64, s->lane % 2 != 0);
	s->failed = ret != -ECONNRESET;
	return NULL;
}

/* Ends the session while other threads are in calls; each must come back. */
static int test_end_of_session(struct client *c)
{
	return share_out(c, 64, persist_until_lost, true);
}

/* --- main ----------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*run)(struct client *client);
} tests[] = {
	{"calls", test_calls},		 {"queue", test_queue},
	{"persists", test_persists},	 {"small-reads", test_small_reads},
	{"until-lost", test_until_lost}, {"end-of-session", test_end_of_session},
};

/* How many lanes this process may have. */
static int print_most(const struct lanes_cfg *cfg)
{
	unsigned most = 0;
	int ret = lanes_most(cfg->daemon->address, cfg->transport, &most);

	if (ret)
		printf("%s: %s\n", strerrorname_np(-ret), failure_get()->text);
	else
		printf("%u\n", most);
	return 0;
}

static int run(struct client *c, const char *name)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(tests[i].name, name) == 0)
			return tests[i].run(c);
	}
	return EXIT_WRONG_USAGE;
}

int main(int argc, char **argv)
{
	struct client c = {.end_fd = eventfd(0, EFD_CLOEXEC)};
	int ret;

	if (argc < 10)
		return EXIT_WRONG_USAGE;
	c.daemon.method = strcmp(argv[2], "apm") == 0 ? CONTROL_APM : CONTROL_GPSPM;
	snprintf(c.daemon.address, sizeof(c.daemon.address), "%s", argv[3]);
	c.daemon.port = (uint16_t)strtoul(argv[4], NULL, 0);
	c.daemon.token = strtoull(argv[5], NULL, 0);
	c.bytes = strtoul(argv[6], NULL, 0);
	c.daemon.nlanes = (uint32_t)strtoul(argv[7], NULL, 0);
	c.daemon.pool_size = c.bytes;
	c.seed = argc > 10 ? strtoull(argv[10], NULL, 0) : 1;
	c.memory = mmap(NULL, c.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c.cfg = (struct lanes_cfg){
		.host = "localhost",
		.daemon = &c.daemon,
		.transport = strcmp(argv[1], "tcp") == 0 ? CONTROL_TCP : CONTROL_RDMA,
		.memory = c.memory,
		.bytes = c.bytes,
		.work_queue = (unsigned)strtoul(argv[8], NULL, 0),
		.end_fd = c.end_fd,
	};
	if (strcmp(argv[9], "most") == 0)
		return print_most(&c.cfg);
	ret = lanes_open(&c.lanes, &c.cfg);
	if (ret) {
		printf("open: %s: %s\n", strerrorname_np(-ret), failure_get()->text);
		return 2;
	}
	/* what an earlier client has left in the pool */
	ret = lanes_read(c.lanes, 0, c.memory + HEADER, HEADER, c.bytes - HEADER);
	ret = ret ? complain("read", ret) : run(&c, argv[9]);
	lanes_close(&c.lanes);
	return ret;
}
