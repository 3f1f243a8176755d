/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c -- see session.h. */
#include "session.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *program = "";
static const char *at = "start";
static const char *calling = "";

static void __attribute__((noreturn)) give_up(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s: %s\n", program, at, what, why);
	exit(1);
}

void session_at(const char *step)
{
	at = step;
}

void session_calls(const char *call)
{
	calling = call;
}

void session_must(int got, int expected, const char *call)
{
	char why[160];

	if (got == expected)
		return;
	snprintf(why, sizeof(why), "%d (%s), expected %d", got,
		 got ? rpma_err_2str(got) : "success", expected);
	give_up(call, why);
}

void session_must_hold(bool holds, const char *condition)
{
	if (!holds)
		give_up(condition, "does not hold");
}

/* In one piece, for another process may write as well. A handler may call stpncpy(). */
static void time_is_up(int signal_number)
{
	const char *const words[] = {program, ": ", at, ": time was up in ", calling, "\n"};
	char line[256], *end = line;

	(void)signal_number;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		end = stpncpy(end, words[i], (size_t)(line + sizeof(line) - end));
	(void)!write(STDERR_FILENO, line, (size_t)(end - line));
	_exit(1);
}

static void check_library(void)
{
	const char *directory = getenv("RPMA_TEST_LIBRARY");
	Dl_info info;

	if (directory == NULL)
		return;
	void *function = dlsym(RTLD_DEFAULT, "rpma_peer_new");
	if (function == NULL || !dladdr(function, &info))
		give_up("rpma_peer_new", "in no library");
	if (strncmp(info.dli_fname, directory, strlen(directory)) != 0)
		give_up("the loaded library is not RPMA_TEST_LIBRARY's", info.dli_fname);
}

void session_start(const char *name, unsigned limit_s)
{
	program = name;
	signal(SIGALRM, time_is_up);
	alarm(limit_s);
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_library();
}

void *session_memory(const char *place, size_t size)
{
	bool dram = strcmp(place, "dram") == 0;
	int fd = dram ? -1 : open(place, O_RDWR | O_CLOEXEC);

	if (!dram && fd < 0)
		give_up(place, strerror(errno));
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | (dram ? MAP_ANONYMOUS : 0), fd, 0);
	if (memory == MAP_FAILED)
		give_up("mmap()", strerror(errno));
	if (!dram)
		close(fd);
	return memory;
}

struct rpma_peer *session_peer(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context = NULL;
	struct rpma_peer *peer = NULL;

	MUST(rpma_utils_get_ibv_context(addr, type, &context));
	MUST(rpma_peer_new(context, &peer));
	return peer;
}

struct rpma_ep *session_listen(struct rpma_peer *peer, const char *addr, char port[8])
{
	unsigned first = 20000 + (unsigned)getpid() % 20000;
	struct rpma_ep *ep = NULL;

	for (unsigned number = first; number < first + 100; number++) {
		snprintf(port, 8, "%u", number % 100000);
		if (rpma_ep_listen(peer, addr, port, &ep) == 0)
			return ep;
	}
	give_up("rpma_ep_listen()", "no free port among 100");
}

struct rpma_ep *session_serve(struct rpma_peer *peer, const char *addr)
{
	char port[8];
	struct rpma_ep *ep = session_listen(peer, addr, port);

	printf("port %s\n", port);
	return ep;
}

struct rpma_conn *session_accept(struct rpma_conn_req *req, const struct rpma_mr_local *mr)
{
	struct exported_region region = {0};
	struct rpma_conn_private_data data = {&region, sizeof(region)};
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_conn *conn = NULL;
	size_t size = 0;

	MUST(rpma_mr_get_descriptor_size(mr, &size));
	MUST_HOLD(size <= sizeof(region.mr_desc));
	region.mr_desc_size = (uint8_t)size;
	MUST(rpma_mr_get_descriptor(mr, region.mr_desc));
	MUST(rpma_peer_cfg_new(&pcfg));
	MUST(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	MUST(rpma_peer_cfg_get_descriptor_size(pcfg, &size));
	MUST_HOLD(size <= sizeof(region.peer_cfg_desc));
	region.peer_cfg_desc_size = (uint8_t)size;
	MUST(rpma_peer_cfg_get_descriptor(pcfg, region.peer_cfg_desc));
	MUST(rpma_peer_cfg_delete(&pcfg));

	MUST(rpma_conn_req_connect(&req, &data, &conn));
	session_expect_event(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

struct rpma_conn *session_connect(struct rpma_conn_req *req, const char *text)
{
	char copy[56] = "";
	struct rpma_conn_private_data data = {copy, 0};
	struct rpma_conn *conn = NULL;

	MUST_HOLD(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	data.len = (uint8_t)(strlen(text) + 1);
	MUST(rpma_conn_req_connect(&req, &data, &conn));
	session_expect_event(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

void session_take_region(const struct rpma_conn *conn, struct rpma_mr_remote **mr,
			 struct rpma_peer_cfg **pcfg)
{
	struct rpma_conn_private_data data = {NULL, 0};
	struct exported_region region;

	MUST(rpma_conn_get_private_data(conn, &data));
	MUST_HOLD(data.ptr != NULL && data.len >= sizeof(region));
	memcpy(&region, data.ptr, sizeof(region));
	MUST(rpma_mr_remote_from_descriptor(region.mr_desc, region.mr_desc_size, mr));
	MUST(rpma_peer_cfg_from_descriptor(region.peer_cfg_desc, region.peer_cfg_desc_size, pcfg));
}

void session_expect_event(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	char why[128];

	MUST(rpma_conn_next_event(conn, &event));
	if (event == expected)
		return;
	snprintf(why, sizeof(why), "%s, expected %s", rpma_utils_conn_event_2str(event),
		 rpma_utils_conn_event_2str(expected));
	give_up("rpma_conn_next_event()", why);
}

void session_delete(struct rpma_conn *conn)
{
	MUST(rpma_conn_delete(&conn));
	MUST_HOLD(conn == NULL);
}

struct ibv_wc session_completion(struct rpma_cq *cq)
{
	struct ibv_wc wc;
	int got = rpma_cq_get_wc(cq, 1, &wc, NULL);

	while (got == RPMA_E_NO_COMPLETION) {
		MUST(rpma_cq_wait(cq));
		got = rpma_cq_get_wc(cq, 1, &wc, NULL);
	}
	session_must(got, 0, "rpma_cq_get_wc()");
	return wc;
}

struct ibv_wc session_conn_completion(struct rpma_conn *conn)
{
	struct rpma_cq *cq = NULL;

	MUST(rpma_conn_get_cq(conn, &cq));
	return session_completion(cq);
}
