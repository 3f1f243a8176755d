/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_figures.c -- what the scale of the device rests on: how long a link takes, also
 * beside many sockets and in a flood of refused processes; and what these cost.
 *
 * They are of a host with nothing else to do. RPMA_FLOOD_S is how long the flood lasts.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_peer.h"
#include "other.h"

#define LINKS	      101
#define IDLE	      4000 /* connections, so twice as many sockets */
#define FLOOD	      4000
#define SILENT	      250
#define LINK_LIMIT_MS 2.0
#define REAL_LIMIT_MS 1000.0

static int number_of(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? atoi(text) : otherwise;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A queue pair that is connected to ours when it has been met. */
static void live(int fd)
{
	const struct end_options options = end_defaults();
	struct end_address address;
	struct end end = {0};
	char byte;

	end_open(&end, &options, -1);
	swap_addresses(fd, &end, &address);
	end_to_rtr(&end, &address);
	end_to_rts(&end);
	say_ready(fd);
	(void)!recv(fd, &byte, 1, 0); /* until the test is done with it */
}

/* Milliseconds until the first write to a process that was not met before is done. */
static double link_to(const struct other *other)
{
	struct end_options options = end_defaults();
	struct end_address address;
	struct end end = {0};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_sge sge;
	double begun;

	end_open(&end, &options, -1);
	swap_addresses(other->socket, &end, &address);
	wait_ready(other->socket);
	sge = (struct ibv_sge){(uintptr_t)end.memory, 8, end.mr->lkey};
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = address.memory;
	wr.wr.rdma.rkey = address.rkey;
	begun = now_ms();
	end_to_rtr(&end, &address);
	end_to_rts(&end);
	OK(ibv_post_send(end.qp, &wr, &bad));
	EXPECT_WC(end.cq, 1, IBV_WC_SUCCESS);
	begun = now_ms() - begun;
	end_close(&end);
	return begun;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_link(void)
{
	double times[LINKS];

	for (int i = 0; i < LINKS; i++) {
		const struct other other = other_start(live);

		times[i] = link_to(&other);
		other_kill(&other);
	}
	qsort(times, LINKS, sizeof(times[0]), by_size);
	print_message("a link: median %.2f ms, of 100 the slowest but one %.2f ms\n",
		      times[LINKS / 2], times[LINKS - 2]);
	return times[LINKS / 2];
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	OK(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max;
	OK(setrlimit(RLIMIT_NOFILE, &limit));
}

TEST(test_link_takes_little)
{
	assert_true(median_link() <= LINK_LIMIT_MS);
}

TEST(test_link_takes_no_longer_beside_idle_sockets)
{
	static int fds[IDLE];

	raise_file_limit();
	fake_peer_open_idle(fds, IDLE);
	assert_true(median_link() <= LINK_LIMIT_MS);
	for (int i = 0; i < IDLE; i++)
		close(fds[i]);
}

/* --- refused processes --- */

static long status_of(pid_t pid, const char *field)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (value < 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, field, strlen(field)) == 0)
			value = atol(line + strlen(field));
	fclose(file);
	return value;
}

static int open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < 65536; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static struct end target;

static int setup_target(void **state)
{
	const struct end_options options = end_defaults();

	raise_file_limit();
	end_open(&target, &options, -1);
	return 0;
}

static int teardown_target(void **state)
{
	end_close(&target);
	return 0;
}

/* A process that sends one handshake message after the other, without proof: until it is killed. */
static pid_t start_flood(uint32_t qp_num, int count)
{
	const struct wire_handshake handshake = {.identity = 0x666};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wire_put_handshake(bytes, &handshake);
	for (int i = 0; count < 0 || i < count; i++) {
		const int fd = fake_peer_connect(qp_num);

		(void)!send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
		if (count < 0)
			close(fd);
	}
	pause();
	_exit(0);
}

TEST(test_flood_keeps_no_real_peer_out, setup_target, teardown_target)
{
	const pid_t flood = start_flood(target.qp->qp_num, FLOOD);
	double longest = 0;

	for (int i = 0; i < 20; i++) {
		const struct other other = other_start(live);
		const double took = link_to(&other);

		longest = took > longest ? took : longest;
		other_kill(&other);
	}
	kill(flood, SIGKILL);
	waitpid(flood, NULL, 0);
	print_message("a real peer in a flood of %d handshakes: %.1f ms\n", FLOOD, longest);
	assert_true(longest <= REAL_LIMIT_MS);
}

TEST(test_refused_processes_cost_little_memory, setup_target, teardown_target)
{
	const long before_kb = status_of(getpid(), "VmRSS:");
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE] = {0};
	int fds[SILENT];
	long cost_kb;

	wire_put_header(bytes, WIRE_HANDSHAKE, WIRE_HANDSHAKE_BYTES);
	for (int i = 0; i < SILENT; i++) {
		fds[i] = fake_peer_connect(target.qp->qp_num);
		fake_peer_send(fds[i], bytes, sizeof(bytes) - 1); /* and no more */
	}
	close(fake_peer_connect_unix(target.qp->qp_num, NULL)); /* the agent has got so far */
	cost_kb = status_of(getpid(), "VmRSS:") - before_kb;
	print_message("%d refused processes cost %ld KiB\n", SILENT, cost_kb);
	assert_true(cost_kb <= SILENT * 64); /* less than 16 MiB */
	for (int i = 0; i < SILENT; i++)
		close(fds[i]);
}

/* The tables of the segment, which are used in turn and so grow to 5 MiB, are not in RssAnon. */
TEST(test_long_flood_leaves_nothing, setup_target, teardown_target)
{
	const double until = now_ms() + 1000.0 * number_of("RPMA_FLOOD_S", 60);
	const pid_t flood = start_flood(target.qp->qp_num, -1);
	long first_kb = 0, kb, threads = status_of(getpid(), "Threads:");
	int files = 0, rounds = 0;

	for (; now_ms() < until; rounds++) {
		const struct other other = other_start(live);

		link_to(&other);
		other_kill(&other);
		if (rounds == 100) {
			first_kb = status_of(getpid(), "RssAnon:");
			files = open_files();
		}
	}
	kb = status_of(getpid(), "RssAnon:");
	print_message("%d links in a flood: %ld KiB after 100, %ld KiB at the end\n", rounds,
		      first_kb, kb);
	assert_true(rounds > 200);
	assert_true(kb - first_kb < 1024);
	assert_true(open_files() <= files + 256); /* as many as wait at a time */
	assert_int_equal(status_of(getpid(), "Threads:"), threads);
	kill(flood, SIGKILL);
	waitpid(flood, NULL, 0);
}
