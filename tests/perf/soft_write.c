// SPDX-License-Identifier: BSD-3-Clause
/*
 * soft_write.c -- what an RDMA write on the software device costs above moving the same bytes
 * to the same process with process_vm_writev, or through a plain socket.
 *
 * Usage: rpma-soft soft_write SIZE WRITES PAIRS
 *        rpma-soft --transport tcp soft_write SIZE WRITES PAIRS tcp
 *
 * Makes a second process with SIZE bytes of registered memory, then PAIRS times WRITES bare
 * calls and WRITES posts, each waited for, in turns, and the posts from one place. Prints for
 * each pair the nanoseconds of one write: bare, RDMA. With `tcp` the bare
 * way is a TCP connection over loopback, and up to DEPTH writes are under way. soft_write.py
 * runs it and judges.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 16

/* The connection of `tcp`, whose other end is the second process's. */
static struct stream {
	int fd;
	size_t size;
	unsigned writes;
} stream;

struct address {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t rkey;
	uint64_t memory;
};

struct end {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned char *memory;
	struct address own;
	struct address peer;
};

static void fail(const char *what)
{
	fprintf(stderr, "soft_write: %s: %s\n", what, strerrordesc_np(errno));
	_exit(2);
}

static void pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set); /* fewer processors: as it is */
}

static void open_end(struct end *end, size_t size)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	if (devices != NULL && devices[0] != NULL)
		context = ibv_open_device(devices[0]);
	if (context == NULL)
		fail("no RDMA device");
	end->memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	end->pd = ibv_alloc_pd(context);
	end->cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	end->mr = ibv_reg_mr(end->pd, end->memory, size,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	init.send_cq = init.recv_cq = end->cq;
	end->qp = ibv_create_qp(end->pd, &init);
	if (end->mr == NULL || end->qp == NULL || ibv_query_gid(context, 1, 0, &end->own.gid) != 0)
		fail("cannot open the device");
	end->own.qpn = end->qp->qp_num;
	end->own.rkey = end->mr->rkey;
	end->own.memory = (uintptr_t)end->memory;
}

static void connect_end(struct end *end, int socket)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	int error =
		ibv_modify_qp(end->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	if (write(socket, &end->own, sizeof(end->own)) != sizeof(end->own) ||
	    read(socket, &end->peer, sizeof(end->peer)) != sizeof(end->peer))
		fail("the other process");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = end->peer.qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = end->peer.gid}},
	};
	error |= ibv_modify_qp(end->qp, &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
	error |= ibv_modify_qp(end->qp, &attr,
			       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (error != 0)
		fail("cannot connect");
}

static void write_bare(pid_t target, const struct iovec *local, const struct iovec *remote)
{
	if (process_vm_writev(target, local, 1, remote, 1, 0) != (ssize_t)local->iov_len)
		fail("process_vm_writev");
}

static void write_rdma(const struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	struct ibv_wc wc;

	if (ibv_post_send(end->qp, wr, &bad) != 0)
		fail("ibv_post_send");
	while (ibv_poll_cq(end->cq, 1, &wc) == 0)
		;
	if (wc.status != IBV_WC_SUCCESS)
		fail(ibv_wc_status_str(wc.status));
}

/* Measures processor time: this thread never sleeps, and others may want its processor. */
static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds of one write; its description is made once, for both. */
static double measure(const struct end *end, pid_t target, size_t size, unsigned writes, bool bare)
{
	struct iovec local = {end->memory, size};
	struct iovec remote = {(void *)(uintptr_t)end->peer.memory, size};
	struct ibv_sge sge = {(uintptr_t)end->memory, (uint32_t)size, end->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {end->peer.memory, end->peer.rkey}};
	double start = now_ns();

	for (unsigned i = 0; i < writes; i++) {
		if (bare)
			write_bare(target, &local, &remote);
		else
			write_rdma(end, &wr);
	}
	return (now_ns() - start) / writes;
}

static double wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void stream_connect(int accepted_of)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(at);
	const int on = 1;

	if (getsockname(accepted_of, (struct sockaddr *)&at, &bytes) != 0)
		fail("getsockname");
	stream.fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(stream.fd, (struct sockaddr *)&at, bytes) != 0 ||
	    setsockopt(stream.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		fail("connect");
}

static int stream_listen(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(listener, 1) != 0)
		fail("listen");
	return listener;
}

/* Receives, and answers as many writes as a turn has with one byte. */
static void *stream_serve(void *memory)
{
	for (unsigned writes = 0;; writes++) {
		for (size_t got = 0; got < stream.size;) {
			const ssize_t more =
				recv(stream.fd, (char *)memory + got, stream.size - got, 0);

			if (more <= 0)
				return NULL;
			got += (size_t)more;
		}
		if ((writes + 1) % stream.writes == 0 && send(stream.fd, "", 1, 0) != 1)
			return NULL;
	}
}

static double measure_stream(const struct end *end)
{
	const double start = wall_ns();
	char byte;

	for (unsigned i = 0; i < stream.writes; i++)
		for (size_t sent = 0; sent < stream.size;) {
			const ssize_t more =
				send(stream.fd, end->memory + sent, stream.size - sent, 0);

			if (more <= 0)
				fail("send");
			sent += (size_t)more;
		}
	if (recv(stream.fd, &byte, 1, 0) != 1)
		fail("recv");
	return (wall_ns() - start) / stream.writes;
}

static double measure_pipeline(const struct end *end)
{
	struct ibv_sge sge = {(uintptr_t)end->memory, (uint32_t)stream.size, end->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {end->peer.memory, end->peer.rkey}},
			   *bad;
	const double start = wall_ns();
	unsigned posted = 0, done = 0;
	struct ibv_wc wc[DEPTH];

	while (done < stream.writes) {
		int got;

		for (; posted < stream.writes && posted - done < DEPTH; posted++)
			if (ibv_post_send(end->qp, &wr, &bad) != 0)
				fail("ibv_post_send");
		got = ibv_poll_cq(end->cq, DEPTH, wc);
		for (int i = 0; i < got; i++)
			if (wc[i].status != IBV_WC_SUCCESS)
				fail(ibv_wc_status_str(wc[i].status));
		done += (unsigned)got;
	}
	return (wall_ns() - start) / stream.writes;
}

static void serve(int socket, size_t size, int listener)
{
	struct end end = {0};
	pthread_t thread;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (listener < 0)
		pin(1);
	open_end(&end, size);
	connect_end(&end, socket);
	if (listener >= 0) {
		stream.fd = accept(listener, NULL, NULL);
		pthread_create(&thread, NULL, stream_serve, end.memory);
	}
	if (read(socket, &byte, 1) != 0)
		fail("the other process");
	_exit(0);
}

/* Nanoseconds of one write, the bare way or not; not inlined: that would make several places. */
static __attribute__((noinline)) double turn(const struct end *end, pid_t target, bool bare)
{
	if (stream.fd < 0)
		return measure(end, target, stream.size, stream.writes, bare);
	return bare ? measure_stream(end) : measure_pipeline(end);
}

int main(int argc, char **argv)
{
	const bool tcp = argc == 5 && strcmp(argv[4], "tcp") == 0, ok = argc == 4 || tcp;
	unsigned pairs = ok ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	struct end end = {0};
	int sockets[2], listener = tcp ? stream_listen() : -1;
	pid_t target = -1;
	double ns[2]; /* RDMA, bare */

	stream = (struct stream){-1, ok ? strtoul(argv[1], NULL, 10) : 0,
				 ok ? (unsigned)strtoul(argv[2], NULL, 10) : 0};
	if (stream.size == 0 || stream.writes == 0 || pairs == 0) {
		fprintf(stderr, "Usage: rpma-soft soft_write SIZE WRITES PAIRS [tcp]\n");
		return 64;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || (target = fork()) < 0)
		fail("cannot start");
	if (target == 0) {
		close(sockets[0]);
		serve(sockets[1], stream.size, listener);
	}
	close(sockets[1]);
	if (!tcp)
		pin(0);
	open_end(&end, stream.size);
	connect_end(&end, sockets[0]);
	if (tcp)
		stream_connect(listener);
	for (unsigned i = 0; i < 2 * pairs; i++) {
		const bool bare = i % 2 == i / 2 % 2;

		ns[bare] = turn(&end, target, bare);
		if (i % 2 != 0)
			printf("%.1f %.1f\n", ns[true], ns[false]);
	}
	close(sockets[0]);
	return waitpid(target, NULL, 0) == target ? 0 : 2;
}
