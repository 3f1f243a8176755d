/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_other_user.c -- a process of another user on this host, by every way to connect: it gets no
 * byte in answer, and changes nothing. Root makes one, a child that takes another user id.
 *
 * The child has no device; it speaks the wire protocol itself. What it would need to know (the
 * identity, tokens used, the queue pair, the key) it is told.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_peer.h"
#include "tests/device/pair.h"

#define NOBODY 65534

static struct end target;
static unsigned char before[64];

/* All that another user could have learnt. */
static struct {
	struct wire_handshake used; /* by a process that was admitted */
	uint64_t identity;	    /* the target's own */
} known;

static void open_target(void)
{
	const struct end_options options = end_defaults();

	end_open(&target, &options, -1);
	memset(target.memory, 0x11, sizeof(before));
	memcpy(before, target.memory, sizeof(before));
}

static int setup(void **state)
{
	int fd;

	open_target();
	fd = fake_peer_connect(target.qp->qp_num);
	known.identity = fake_peer_handshake(fd, target.qp->qp_num).identity;
	known.used = (struct wire_handshake){.identity = FAKE_IDENTITY, .token = {1, 0x54}};
	close(fd);
	return setup_nothing(state);
}

/* The device of ::1. */
static int setup_v6(void **state)
{
	setenv("RPMA_TEST_ADDR", "::1", 1);
	open_target();
	unsetenv("RPMA_TEST_ADDR");
	return setup_nothing(state);
}

static int teardown(void **state)
{
	const struct end_options options = end_defaults();

	pair_make(&options, &options);
	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0)); /* others are served all the same */
	end_close(&target);
	return teardown_pair(state);
}

static void become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(99);
}

/* Runs `attack` as another user: the bytes that it got in answer. */
static int as_nobody(int (*attack)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(WAIT_S);
		become_nobody();
		_exit(attack());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_nothing(int (*attack)(void))
{
	SKIP_UNLESS(geteuid() == 0, "only root can have a child of another user");
	assert_int_equal(as_nobody(attack), 0);
	assert_memory_equal(target.memory, before, sizeof(before));
	assert_int_equal(end_state(&target), IBV_QPS_INIT);
}

/* Until the end of the connection. */
static int count_bytes(int fd)
{
	unsigned char bytes[256];
	ssize_t got;
	int sum = 0;

	while ((got = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		sum += (int)got;
	return sum;
}

static int connect_to(const struct sockaddr *addr, socklen_t length)
{
	int fd = socket(addr->sa_family, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, addr, length) != 0)
		_exit(98);
	return fd;
}

static in_port_t target_port(void)
{
	return htons((uint16_t)(target.qp->qp_num >> 8));
}

static int connect_v4(void)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET,
					 .sin_port = target_port(),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return connect_to((const struct sockaddr *)&addr, sizeof(addr));
}

/* To ::1, or to ::ffff:127.0.0.1. */
static int connect_v6(bool mapped)
{
	struct sockaddr_in6 addr = {.sin6_family = AF_INET6, .sin6_port = target_port()};

	if (mapped)
		inet_pton(AF_INET6, "::ffff:127.0.0.1", &addr.sin6_addr);
	else
		addr.sin6_addr = in6addr_loopback;
	return connect_to((const struct sockaddr *)&addr, sizeof(addr));
}

static void say(int fd, const void *bytes, size_t length)
{
	if (send(fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
		_exit(97);
}

/* A handshake message, then what an admitted process would do: a write to the target's memory. */
static int write_with(int fd, const struct wire_handshake *handshake)
{
	const struct request request = {.op = REQUEST_WRITE,
					.rkey = target.mr->rkey,
					.length = 8,
					.remote_addr = (uintptr_t)target.memory,
					.src_qpn = 0x123456,
					.src_gid = target.gid};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE + WIRE_HEADER_BYTES + WIRE_REQUEST_START + 8] = {
		0};
	unsigned char *at = bytes;

	wire_put_handshake(at, handshake);
	at += WIRE_HANDSHAKE_MESSAGE;
	wire_put_header(at, WIRE_CARRY, 0);
	at += WIRE_HEADER_BYTES;
	wire_put_request(at, 0, 0, &target.gid, target.qp->qp_num, &request);
	say(fd, bytes, sizeof(bytes));
	return count_bytes(fd);
}

static const struct wire_handshake some = {.identity = 0x666, .token = "anything"};

static int by_v4(void)
{
	return write_with(connect_v4(), &some);
}

static int by_mapped_v6(void)
{
	return write_with(connect_v6(true), &some);
}

static int by_v6(void)
{
	return write_with(connect_v6(false), &some);
}

static int half_closed(void)
{
	const int fd = connect_v4();
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	wire_put_handshake(bytes, &some);
	say(fd, bytes, sizeof(bytes));
	shutdown(fd, SHUT_WR);
	return count_bytes(fd);
}

static int handshake_in_pieces(void)
{
	const int fd = connect_v4();
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	wire_put_handshake(bytes, &some);
	for (size_t i = 0; i < sizeof(bytes); i++)
		say(fd, bytes + i, 1);
	return count_bytes(fd);
}

/* Another one came and was refused since. */
static int late_handshake(void)
{
	const int fd = connect_v4();
	const int other = write_with(connect_v4(), &some);

	return other + write_with(fd, &some);
}

static int replayed(void)
{
	return write_with(connect_v4(), &known.used);
}

static int stolen_identity(void)
{
	const struct wire_handshake handshake = {.identity = known.identity};

	return write_with(connect_v4(), &handshake);
}

/* The kernel lets it connect, and the device tells it nothing. */
static int by_unix_socket(void)
{
	return count_bytes(fake_peer_connect_unix(target.qp->qp_num, NULL));
}

static int by_unix_socket_then_tcp(void)
{
	const int unix_fd = fake_peer_connect_unix(target.qp->qp_num, NULL);
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	wire_put_handshake(bytes, &some);
	if (send(unix_fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0)
		return write_with(connect_v4(), &some);
	return count_bytes(unix_fd) + write_with(connect_v4(), &some);
}

/* Becomes a set-user-ID program that a user has started: the effective user alone is root. */
static int child_of_setuid(void)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (setresuid(NOBODY, 0, 0) != 0)
			_exit(96);
		_exit(by_unix_socket_then_tcp());
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

#define GETS_NOTHING(attack, setup)                                                                \
	TEST(test_other_user_##attack, setup, teardown)                                            \
	{                                                                                          \
		expect_nothing(attack);                                                            \
	}

GETS_NOTHING(by_v4, setup)
GETS_NOTHING(by_mapped_v6, setup)
GETS_NOTHING(by_v6, setup_v6)
GETS_NOTHING(half_closed, setup)
GETS_NOTHING(handshake_in_pieces, setup)
GETS_NOTHING(late_handshake, setup)
GETS_NOTHING(replayed, setup)
GETS_NOTHING(stolen_identity, setup)
GETS_NOTHING(by_unix_socket, setup)
GETS_NOTHING(by_unix_socket_then_tcp, setup)

TEST(test_child_of_a_setuid_program, setup, teardown)
{
	int status;
	pid_t pid;

	SKIP_UNLESS(geteuid() == 0, "only root can have a child of another user");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child_of_setuid());
	EQUAL((waitpid(pid, &status, 0), pid), (WEXITSTATUS(status), 0));
	assert_memory_equal(target.memory, before, sizeof(before));
}

/* A queue pair is connected to a port that another user has taken: it is told nothing. */
TEST(test_raced_port_learns_nothing, setup, teardown)
{
	struct fake_listener taken;
	struct end_address address = {.gid = target.gid};
	struct ibv_send_wr wr = {.wr_id = 9, .opcode = IBV_WR_SEND}, *bad;
	int ready[2], status;
	pid_t pid;

	SKIP_UNLESS(geteuid() == 0, "only root can have a child of another user");
	OK(pipe(ready));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd;

		alarm(WAIT_S);
		become_nobody();
		taken = fake_peer_listen();
		if (write(ready[1], &taken, sizeof(taken)) != sizeof(taken))
			_exit(95);
		fd = accept(taken.unix_fd, NULL, NULL);
		_exit(count_bytes(fd));
	}
	assert_int_equal(read(ready[0], &taken, sizeof(taken)), sizeof(taken));
	address.qp_num = (uint32_t)taken.port << 8;
	end_to_rtr(&target, &address);
	end_to_rts(&target);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	OK(ibv_post_send(target.qp, &wr, &bad));
	EXPECT_WC(target.cq, 9, IBV_WC_RETRY_EXC_ERR);
	close(ready[0]);
	close(ready[1]);
}
