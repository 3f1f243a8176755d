/* SPDX-License-Identifier: BSD-3-Clause */
/* zoo.c -- see zoo.h: ends in one process or two. cm.c has those that the RDMA CM connects. */
#include "parts.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define PSN	 0x1234
#define LIMIT_MS 60000
#define HANG_S	 5
#define LIFE_S	 120 /* when a program spins for ever */

struct end near, far;
struct address there;

static int other = -1; /* the socket to the other process */
static pid_t child;

/* --- around the calls --- */

void show(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vdprintf(STDOUT_FILENO, format, args);
	va_end(args);
	dprintf(STDOUT_FILENO, "\n");
}

void names(const char *format, ...)
{
	va_list args;

	dprintf(STDOUT_FILENO, "names: ");
	va_start(args, format);
	vdprintf(STDOUT_FILENO, format, args);
	va_end(args);
	dprintf(STDOUT_FILENO, "\n");
}

void must(int result, const char *call)
{
	if (result == 0)
		return;
	show("%s: %s", call, strerror(result < 0 ? errno : result));
	exit(2);
}

void *have(void *object, const char *call)
{
	if (object != NULL && object != MAP_FAILED)
		return object;
	show("%s: %s", call, strerror(errno));
	exit(2);
}

void check(bool is_so, const char *what)
{
	if (is_so)
		return;
	show("not so: %s", what);
	exit(4);
}

static void hangs(int unused)
{
	static const char text[] = "hangs\n";

	(void)unused;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 3 : 4);
}

void may_hang(void)
{
	signal(SIGALRM, hangs);
	alarm(HANG_S);
}

static void may_not_hang(void)
{
	signal(SIGALRM, hangs);
	alarm(LIFE_S);
}

void fill(void *memory, size_t size, unsigned seed)
{
	unsigned char *bytes = memory;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)((i * 31 + (i >> 8) * 7 + seed * 101 + 1) & 0xff);
}

bool is_filled(const void *memory, size_t size, unsigned seed)
{
	unsigned char *wanted = HAVE(malloc(size));
	bool same;

	fill(wanted, size, seed);
	same = memcmp(memory, wanted, size) == 0;
	free(wanted);
	return same;
}

/* --- parts of an end --- */

struct options defaults(void)
{
	return (struct options){
		.type = IBV_QPT_RC,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
		.cqe = 64,
		.mr_access = ACCESS,
		.qp_access = ACCESS,
		.mtu = IBV_MTU_1024,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.retry_cnt = 6,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
	};
}

static bool is_ipv4(const union ibv_gid *gid)
{
	static const unsigned char before[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, before, sizeof(before)) == 0;
}

bool end_find_gid(struct end *end)
{
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;

	MUST(ibv_query_port(end->context, 1, &port));
	for (int i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(end->context, 1, (uint32_t)i, &entry, 0) != 0 ||
		    entry.gid_type != end->options.gid_type || !is_ipv4(&entry.gid))
			continue;
		end->gid = entry.gid;
		end->gid_index = (uint8_t)i;
		return true;
	}
	return false;
}

/* The first device that has an IPv4 address. */
static void open_device(struct end *end)
{
	struct ibv_device **list = HAVE(ibv_get_device_list(NULL));

	for (int i = 0; list[i] != NULL && end->context == NULL; i++) {
		end->context = HAVE(ibv_open_device(list[i]));
		if (end_find_gid(end))
			break;
		MUST(ibv_close_device(end->context));
		end->context = NULL;
	}
	ibv_free_device_list(list);
	CHECK(end->context != NULL);
}

struct ibv_qp_init_attr end_qp_init(const struct end *end)
{
	struct ibv_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->recv_cq,
		.srq = end->srq,
		.cap = end->options.cap,
		.qp_type = end->options.type,
		.sq_sig_all = end->options.sig_all,
	};

	if (end->srq != NULL)
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	return init;
}

void end_make_parts(struct end *end)
{
	const struct options *options = &end->options;
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = options->srq_wr, .max_sge = 1}};

	end->pd = HAVE(ibv_alloc_pd(end->context));
	if (options->has_channel)
		end->channel = HAVE(ibv_create_comp_channel(end->context));
	end->cq = HAVE(ibv_create_cq(end->context, options->cqe, end, end->channel, 0));
	end->recv_cq = end->cq;
	if (options->recv_cqe > 0)
		end->recv_cq = HAVE(ibv_create_cq(end->context, options->recv_cqe, end, NULL, 0));
	if (options->srq_wr > 0)
		end->srq = HAVE(ibv_create_srq(end->pd, &srq));
	end->memory =
		HAVE(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	end->mr = HAVE(ibv_reg_mr(end->pd, end->memory, SIZE, options->mr_access));
}

struct ibv_qp *end_make_qp(const struct end *end)
{
	struct ibv_qp_init_attr init = end_qp_init(end);

	return HAVE(ibv_create_qp(end->pd, &init));
}

void end_open(struct end *end, const struct options *options)
{
	may_not_hang();
	*end = (struct end){.options = options != NULL ? *options : defaults()};
	open_device(end);
	end_make_parts(end);
	end->qp = end_make_qp(end);
	qp_to_init(end, end->qp);
}

void end_close(struct end *end)
{
	if (end->qp != NULL && !end->is_of_cm)
		MUST(ibv_destroy_qp(end->qp));
	if (end->srq != NULL)
		MUST(ibv_destroy_srq(end->srq));
	if (end->mr != NULL)
		MUST(ibv_dereg_mr(end->mr));
	if (end->memory != NULL)
		MUST(munmap(end->memory, SIZE));
	if (end->recv_cq != end->cq)
		MUST(ibv_destroy_cq(end->recv_cq));
	if (end->cq != NULL)
		MUST(ibv_destroy_cq(end->cq));
	if (end->channel != NULL)
		MUST(ibv_destroy_comp_channel(end->channel));
	if (end->pd != NULL)
		MUST(ibv_dealloc_pd(end->pd));
	if (end->context != NULL && !end->is_of_cm)
		MUST(ibv_close_device(end->context));
	*end = (struct end){.cq = NULL};
}

struct address end_address(const struct end *end)
{
	return (struct address){
		.gid = end->gid,
		.qp_num = end->qp->qp_num,
		.rkey = end->mr->rkey,
		.memory = (uintptr_t)end->memory,
	};
}

static struct ibv_ah_attr path_to(const struct end *from, const union ibv_gid *gid)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = *gid, .sgid_index = from->gid_index, .hop_limit = 64},
	};
}

struct ibv_ah *end_ah(const struct end *from, const struct end *to)
{
	struct ibv_ah_attr path = path_to(from, &to->gid);

	return HAVE(ibv_create_ah(from->pd, &path));
}

void qp_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

void qp_to_init(const struct end *end, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = end->options.qp_access,
		.qkey = QKEY,
	};
	int kind = end->options.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | kind));
}

void qp_connect(const struct end *end, struct ibv_qp *qp, const struct address *peer)
{
	const struct options *options = &end->options;
	const bool is_ud = options->type == IBV_QPT_UD, is_rc = options->type == IBV_QPT_RC;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = options->mtu,
		.dest_qp_num = peer->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = options->min_rnr_timer,
		.ah_attr = path_to(end, &peer->gid),
	};
	int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	int answering = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	int sending =
		IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT;

	MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE | (is_ud ? 0 : path) | (is_rc ? answering : 0)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.max_rd_atomic = 4,
		.retry_cnt = options->retry_cnt,
		.rnr_retry = options->rnr_retry,
		.timeout = 14,
	};
	MUST(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | (is_rc ? sending : 0)));
}

/* --- two ends --- */

void pair_open_with(const struct options *of_near, const struct options *of_far)
{
	struct address here;

	end_open(&near, of_near);
	end_open(&far, of_far);
	here = end_address(&near);
	there = end_address(&far);
	qp_connect(&far, far.qp, &here);
	qp_connect(&near, near.qp, &there);
}

void pair_open(const struct options *options)
{
	pair_open_with(options, options);
}

void pair_close(void)
{
	end_close(&near);
	end_close(&far);
}

void tell(const void *data, size_t size)
{
	if (send(other, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		exit(5); /* the other process has ended */
}

void hear(void *data, size_t size)
{
	if (recv(other, data, size, MSG_WAITALL) != (ssize_t)size)
		exit(5);
}

void meet(void)
{
	char word = 'm';

	tell(&word, 1);
	hear(&word, 1);
}

bool processes_open(const struct options *options)
{
	struct address here;
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	child = fork();
	CHECK(child >= 0);
	other = ends[child == 0];
	close(ends[child != 0]);
	end_open(&near, options);
	here = end_address(&near);
	tell(&here, sizeof(here));
	hear(&there, sizeof(there));
	qp_connect(&near, near.qp, &there);
	meet();
	return child != 0;
}

int processes_close(void)
{
	int status = 0;

	meet();
	end_close(&near);
	close(other);
	if (child == 0)
		return 0;
	CHECK(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

/* --- requests --- */

struct ibv_sge piece(const struct end *end, size_t offset, size_t length)
{
	return (struct ibv_sge){(uintptr_t)end->memory + offset, (uint32_t)length, end->mr->lkey};
}

struct ibv_sge *keyed_piece(const void *memory, size_t length, uint32_t lkey)
{
	static struct ibv_sge pieces[64];
	static unsigned count;
	struct ibv_sge *one = &pieces[count++ % 64];

	*one = (struct ibv_sge){(uintptr_t)memory, (uint32_t)length, lkey};
	return one;
}

struct ibv_sge *one_piece(const struct end *end, size_t offset, size_t length)
{
	return keyed_piece(end->memory + offset, length, end->mr->lkey);
}

struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge, uint64_t addr,
			   uint32_t rkey)
{
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = sge,
				 .num_sge = sge != NULL,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED};

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	return wr;
}

struct ibv_send_wr to_peer(enum ibv_wr_opcode opcode, size_t offset, size_t length)
{
	return request(opcode, one_piece(&near, offset, length), there.memory, there.rkey);
}

struct ibv_send_wr at_peer(enum ibv_wr_opcode opcode, size_t length, uint64_t addr, uint32_t rkey)
{
	return request(opcode, one_piece(&near, 0, length), addr, rkey);
}

struct ibv_send_wr by_key(enum ibv_wr_opcode opcode, const void *memory, size_t length,
			  uint32_t lkey)
{
	return request(opcode, keyed_piece(memory, length, lkey), there.memory, there.rkey);
}

struct ibv_send_wr a_send(size_t offset, size_t length)
{
	return request(IBV_WR_SEND, one_piece(&near, offset, length), 0, 0);
}

struct ibv_send_wr datagram(struct ibv_sge *sge, struct ibv_ah *ah, uint32_t qp_num)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, sge, 0, 0);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return wr;
}

void receive(const struct end *end, size_t offset, size_t length)
{
	struct ibv_sge sge = piece(end, offset, length);
	struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;

	if (end->srq != NULL)
		MUST(ibv_post_srq_recv(end->srq, &wr, &bad));
	else
		MUST(ibv_post_recv(end->qp, &wr, &bad));
}

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool next_within(struct ibv_cq *cq, struct ibv_wc *wc, int limit_ms)
{
	const int64_t end_ms = now_ms() + limit_ms;
	int count;

	while ((count = ibv_poll_cq(cq, 1, wc)) == 0)
		if (now_ms() >= end_ms)
			return false;
	CHECK(count == 1);
	return true;
}

struct ibv_wc next_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (next_within(cq, &wc, LIMIT_MS))
		return wc;
	show("no completion");
	exit(3);
}

struct ibv_wc await(struct ibv_cq *cq)
{
	struct ibv_wc wc = next_wc(cq);

	if (wc.status == IBV_WC_SUCCESS)
		return wc;
	show("completion: %s", ibv_wc_status_str(wc.status));
	exit(1);
}
