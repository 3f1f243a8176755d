/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel_rdma.c -- what only a kernel can show of librpma: a case by its name.
 *
 *	kernel_rdma rejects-leave-nothing ADDR
 *	kernel_rdma connect-in-steps ADDR
 *	kernel_rdma dram-takes-persistent ADDR
 *	kernel_rdma set-up-at-once ADDR
 */
#include "session.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define REJECTS 200
#define THREADS 8
#define ROUNDS	25

/* The kernel's own count of connection identifiers on the device. */
static int kernel_cm_ids(void)
{
	char line[512] = "";
	int count = -1;
	FILE *pipe = popen("rdma resource show rxe0", "r");

	MUST_HOLD(pipe != NULL);
	MUST_HOLD(fgets(line, sizeof(line), pipe) != NULL);
	MUST_HOLD(pclose(pipe) == 0);
	const char *found = strstr(line, "cm_id ");
	MUST_HOLD(found != NULL && sscanf(found, "cm_id %d", &count) == 1);
	return count;
}

static int open_files(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");

	MUST_HOLD(directory != NULL);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static enum rpma_conn_event connect_event(struct rpma_peer *peer, const char *addr,
					  const char *port)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	MUST(rpma_conn_req_new(peer, addr, port, NULL, &req));
	MUST(rpma_conn_req_connect(&req, NULL, &conn));
	MUST(rpma_conn_next_event(conn, &event));
	session_delete(conn);
	return event;
}

/* The client is a process of its own: what it leaks ends with it. */
static pid_t start_rejected_client(const char *addr, int port_fd)
{
	char port[8] = "";
	pid_t child = fork();

	if (child != 0)
		return child;
	MUST_HOLD(read(port_fd, port, sizeof(port)) == sizeof(port));
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	for (int i = 0; i < REJECTS; i++)
		MUST_HOLD(connect_event(peer, addr, port) == RPMA_CONN_REJECTED);
	MUST(rpma_peer_delete(&peer));
	exit(0);
}

static void reject_one(struct rpma_ep *ep)
{
	struct rpma_conn_req *req = NULL;

	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	MUST(rpma_conn_req_delete(&req));
}

static int rejects_leave_nothing(const char *addr)
{
	int ports[2], status = -1;
	char port[8] = "";

	MUST_HOLD(pipe(ports) == 0);
	pid_t client = start_rejected_client(addr, ports[0]);
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_ep *ep = session_listen(peer, addr, port);
	int files = open_files(), ids = kernel_cm_ids();

	MUST_HOLD(write(ports[1], port, sizeof(port)) == sizeof(port));
	for (int i = 0; i < REJECTS; i++)
		reject_one(ep);
	MUST_HOLD(waitpid(client, &status, 0) == client && status == 0);
	MUST_HOLD(open_files() == files);
	/* the kernel forgets the client's when it gets to it */
	for (int tries = 0; tries < 100 && kernel_cm_ids() > ids; tries++)
		usleep(50000);
	printf("connection identifiers: %d before, %d after %d rejects\n", ids, kernel_cm_ids(),
	       REJECTS);
	MUST_HOLD(kernel_cm_ids() == ids);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

/* Without blocking, so that one thread can be both sides. */
static struct rpma_conn *begin(struct rpma_peer *peer, const char *addr, const char *port,
			       uint32_t timeout_ms)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn = NULL;
	int fd = -1;

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CONNECT_MS, timeout_ms));
	MUST(rpma_conn_connect(peer, addr, port, cfg, NULL, &conn));
	MUST(rpma_conn_get_event_fd(conn, &fd));
	MUST_HOLD(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
	MUST(rpma_conn_cfg_delete(&cfg));
	return conn;
}

/* How that ends; with an endpoint, up to a client's request only. */
static enum rpma_conn_event end_of(struct rpma_conn *conn, struct rpma_ep *ep)
{
	struct rpma_wait_item items[] = {{.conn = conn}, {.ep = ep}};
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret = RPMA_E_NO_EVENT;

	while (ret == RPMA_E_NO_EVENT && !items[1].ready) {
		MUST(rpma_wait(items, ep != NULL ? 2 : 1, -1, NULL));
		if (items[0].ready)
			ret = rpma_conn_next_event(conn, &event);
	}
	MUST_HOLD(ret == 0 || items[1].ready);
	return event;
}

static void connect_in_steps_to(struct rpma_ep *ep, struct rpma_peer *peer, const char *addr,
				const char *port)
{
	struct rpma_conn *client = begin(peer, addr, port, 60000), *server = NULL;
	struct rpma_conn_req *req = NULL;

	MUST_HOLD(end_of(client, ep) == RPMA_CONN_UNDEFINED);
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	MUST(rpma_conn_req_connect(&req, NULL, &server));
	MUST_HOLD(end_of(client, NULL) == RPMA_CONN_ESTABLISHED);
	session_expect_event(server, RPMA_CONN_ESTABLISHED);
	MUST(rpma_conn_disconnect(client));
	session_expect_event(server, RPMA_CONN_CLOSED);
	MUST(rpma_conn_disconnect(server));
	MUST_HOLD(end_of(client, NULL) == RPMA_CONN_CLOSED);
	session_delete(client);
	session_delete(server);
}

static void be_refused_by(struct rpma_ep *ep, struct rpma_peer *peer, const char *addr,
			  const char *port)
{
	struct rpma_conn_private_data full = {"full", 4}, reason = {0};
	struct rpma_conn *client = begin(peer, addr, port, 60000);
	enum rpma_rejection who = RPMA_REJECTION_NONE;
	struct rpma_conn_req *req = NULL;

	MUST_HOLD(end_of(client, ep) == RPMA_CONN_UNDEFINED);
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	MUST(rpma_conn_req_reject(&req, &full));
	MUST_HOLD(end_of(client, NULL) == RPMA_CONN_REJECTED);
	printf("%s\n", rpma_err_text());
	MUST(rpma_conn_get_rejection(client, &who));
	MUST_HOLD(who == RPMA_REJECTION_PROGRAM);
	MUST(rpma_conn_get_private_data(client, &reason));
	MUST_HOLD(reason.len >= full.len && memcmp(reason.ptr, full.ptr, full.len) == 0);
	session_delete(client);
}

/* The server does not look at the request. */
static void be_ignored(struct rpma_peer *peer, const char *addr, const char *port)
{
	struct rpma_conn *client = begin(peer, addr, port, 300);

	MUST_HOLD(end_of(client, NULL) == RPMA_CONN_UNREACHABLE);
	printf("%s\n", rpma_err_text());
	session_delete(client);
}

static int connect_in_steps(const char *addr)
{
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	enum rpma_conn_event event;
	struct rpma_ep *ep = NULL;
	uint16_t number = 0;
	char port[8] = "";

	MUST(rpma_ep_listen(peer, addr, "0", &ep));
	MUST(rpma_ep_get_port(ep, &number));
	snprintf(port, sizeof(port), "%u", number);
	connect_in_steps_to(ep, peer, addr, port);
	be_refused_by(ep, peer, addr, port);
	be_ignored(peer, addr, port);
	MUST(rpma_ep_shutdown(&ep));

	struct rpma_conn *client = begin(peer, addr, port, 60000);
	event = end_of(client, NULL);
	printf("%s\n", rpma_err_text());
	MUST_HOLD(event == RPMA_CONN_REJECTED || event == RPMA_CONN_UNREACHABLE);
	session_delete(client);
	MUST(rpma_peer_delete(&peer));
	return 0;
}

/* A device refuses the native persistent flush for DRAM; there the flush by
 * read remains, and registration goes well. */
static int dram_takes_persistent(const char *addr)
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr = NULL;
	void *memory = session_memory("dram", 4096);

	MUST(rpma_mr_reg(peer, memory, 4096, usage, &mr));
	MUST(rpma_mr_dereg(&mr));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

/* A connection of a thread with itself, from the first call to the last. */
static void connect_and_delete(struct rpma_peer *peer, const char *addr)
{
	struct rpma_ep *ep = NULL;
	struct rpma_conn_req *out = NULL, *in = NULL;
	struct rpma_conn *client = NULL, *server = NULL;
	uint16_t number = 0;
	char port[8];

	MUST(rpma_ep_listen(peer, addr, "0", &ep));
	MUST(rpma_ep_get_port(ep, &number));
	snprintf(port, sizeof(port), "%u", number);
	MUST(rpma_conn_req_new(peer, addr, port, NULL, &out));
	MUST(rpma_conn_req_connect(&out, NULL, &client));
	MUST(rpma_ep_next_conn_req(ep, NULL, &in));
	MUST(rpma_conn_req_connect(&in, NULL, &server));
	session_expect_event(client, RPMA_CONN_ESTABLISHED);
	session_expect_event(server, RPMA_CONN_ESTABLISHED);
	MUST(rpma_conn_req_new(peer, addr, port, NULL, &out));
	MUST(rpma_conn_req_delete(&out));
	MUST(rpma_conn_disconnect(client));
	session_delete(client);
	session_delete(server);
	MUST(rpma_ep_shutdown(&ep));
}

static void *set_up_often(void *addr)
{
	static _Thread_local char memory[4096];

	for (int i = 0; i < ROUNDS; i++) {
		struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
		struct rpma_mr_local *mr = NULL;
		struct rpma_srq *srq = NULL;

		MUST(rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_READ_SRC, &mr));
		MUST(rpma_srq_new(peer, NULL, &srq));
		connect_and_delete(peer, addr);
		MUST(rpma_srq_delete(&srq));
		MUST(rpma_mr_dereg(&mr));
		MUST(rpma_peer_delete(&peer));
	}
	return NULL;
}

/* Also the first calls of the process, in which libraries set themselves up. */
static int set_up_at_once(const char *addr)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST_HOLD(pthread_create(&threads[i], NULL, set_up_often,
					 (void *)(uintptr_t)addr) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST_HOLD(pthread_join(threads[i], NULL) == 0);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *addr);
	} cases[] = {
		{"rejects-leave-nothing", rejects_leave_nothing},
		{"connect-in-steps", connect_in_steps},
		{"dram-takes-persistent", dram_takes_persistent},
		{"set-up-at-once", set_up_at_once},
	};

	session_start("kernel_rdma", 120);
	for (size_t i = 0; argc == 3 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) == 0)
			return cases[i].run(argv[2]);
	}
	fprintf(stderr, "kernel_rdma: expected a case and an address\n");
	return 64;
}
