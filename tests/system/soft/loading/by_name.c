/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_name.c -- loads libibverbs at run time, as NCCL and others do, and writes within itself.
 *
 *     by_name LIBRARY FLAGS VERSION
 *
 * LIBRARY goes to dlopen(3) with the FLAGS now, local, global and deepbind, joined by '+'. Each
 * function is asked for by dlvsym(3) at VERSION, or by dlsym(3) if that is "none". It prints
 * "devices: N" and, if there are some, writes 4 KiB from one of two queue pairs to the other
 * and prints "written". Status 1: what failed is on standard error.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port
#undef ibv_reg_mr

#define BYTES 4096

static struct {
	struct ibv_device **(*get_device_list)(int *);
	struct ibv_context *(*open_device)(struct ibv_device *);
	int (*close_device)(struct ibv_context *);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, int);
	struct ibv_cq *(*create_cq)(struct ibv_context *, int, void *, struct ibv_comp_channel *,
				    int);
	struct ibv_qp *(*create_qp)(struct ibv_pd *, struct ibv_qp_init_attr *);
	int (*modify_qp)(struct ibv_qp *, struct ibv_qp_attr *, int);
	int (*query_gid)(struct ibv_context *, uint8_t, int, union ibv_gid *);
} verbs;

static void require(int good, const char *what)
{
	if (!good) {
		const char *why = dlerror();

		fprintf(stderr, "by_name: %s: %s\n", what, why != NULL ? why : "failed");
		exit(1);
	}
}

static int flags_of(char *words)
{
	int flags = 0;

	for (char *save, *word = strtok_r(words, "+", &save); word != NULL;
	     word = strtok_r(NULL, "+", &save)) {
		flags |= strcmp(word, "now") == 0      ? RTLD_NOW
			 : strcmp(word, "local") == 0  ? RTLD_LOCAL
			 : strcmp(word, "global") == 0 ? RTLD_GLOBAL
						       : RTLD_DEEPBIND;
	}
	return flags;
}

static void find_all(void *library, const char *version)
{
	const struct {
		const char *name;
		void *function;
	} rows[] = {
		{"ibv_get_device_list", &verbs.get_device_list},
		{"ibv_open_device", &verbs.open_device},
		{"ibv_close_device", &verbs.close_device},
		{"ibv_alloc_pd", &verbs.alloc_pd},
		{"ibv_reg_mr", &verbs.reg_mr},
		{"ibv_create_cq", &verbs.create_cq},
		{"ibv_create_qp", &verbs.create_qp},
		{"ibv_modify_qp", &verbs.modify_qp},
		{"ibv_query_gid", &verbs.query_gid},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *symbol = strcmp(version, "none") == 0
				       ? dlsym(library, rows[i].name)
				       : dlvsym(library, rows[i].name, version);

		require(symbol != NULL, rows[i].name);
		memcpy(rows[i].function, &symbol, sizeof(symbol));
	}
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	return verbs.create_qp(pd, &init);
}

static void connect_qp(struct ibv_qp *qp, uint32_t remote, const union ibv_gid *gid)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	require(verbs.modify_qp(qp, &attr,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					IBV_QP_ACCESS_FLAGS) == 0,
		"INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = remote,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = *gid, .hop_limit = 1}},
	};
	require(verbs.modify_qp(qp, &attr,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER) == 0,
		"RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7};
	require(verbs.modify_qp(qp, &attr,
				IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					IBV_QP_MAX_QP_RD_ATOMIC) == 0,
		"RTS");
}

static void write_within(struct ibv_context *context)
{
	static char memory[2][BYTES];
	struct ibv_pd *pd = verbs.alloc_pd(context);
	struct ibv_cq *cq = verbs.create_cq(context, 1, NULL, NULL, 0);
	struct ibv_mr *mr =
		pd == NULL ? NULL
			   : verbs.reg_mr(pd, memory, sizeof(memory),
					  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_qp *from, *to;
	struct ibv_wc wc;
	union ibv_gid gid;
	int got;

	require(mr != NULL && cq != NULL && verbs.query_gid(context, 1, 0, &gid) == 0, "objects");
	from = create_qp(pd, cq);
	to = create_qp(pd, cq);
	require(from != NULL && to != NULL, "queue pairs");
	connect_qp(from, to->qp_num, &gid);
	connect_qp(to, from->qp_num, &gid);

	struct ibv_sge sge = {(uintptr_t)memory[0], BYTES, mr->lkey};
	struct ibv_send_wr *bad,
		wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr = (uintptr_t)memory[1], .rkey = mr->rkey},
		};

	memset(memory[0], 'w', BYTES);
	require(ibv_post_send(from, &wr, &bad) == 0, "post");
	while ((got = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	require(got == 1 && wc.status == IBV_WC_SUCCESS, "completion");
	require(memcmp(memory[0], memory[1], BYTES) == 0, "bytes");
	puts("written");
}

int main(int argc, char **argv)
{
	struct ibv_device **list;
	void *library;
	int count = 0;

	require(argc == 4, "LIBRARY FLAGS VERSION");
	library = dlopen(argv[1], flags_of(argv[2]));
	require(library != NULL, "dlopen");
	find_all(library, argv[3]);
	list = verbs.get_device_list(&count);
	require(list != NULL || count == 0, "ibv_get_device_list");
	printf("devices: %d\n", count);
	if (count > 0) {
		struct ibv_context *context = verbs.open_device(list[0]);

		require(context != NULL, "ibv_open_device");
		write_within(context);
	}
	return 0;
}
