/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codes.c -- the codes in vendor_err that neither mistakes.c nor the tests of the device have: each
 * is that of rpma-soft(1), COMPLETION ERRORS, at both ends. Both are in this process, unless one
 * has to die. What messages of unreliable queue pairs come to is here too: test_codes.py reads why,
 * on standard error.
 */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair.h"
#include "ud.h"

/* Ends soon where no answer comes. */
static int setup_impatient(void **unused)
{
	struct end_options options = end_defaults();

	options.timeout = 8;
	options.retry_cnt = 1;
	pair_make(&options, &options);
	return 0;
}

static void fails_with(struct ibv_send_wr *wr, enum ibv_wc_status status, unsigned code)
{
	post(wr);
	expect_code(EXPECT_WC(w.near.cq, 1, status), code);
}

PAIR_TEST(memory_of_a_receive_that_is_unmapped)
{
	far_recv(5, 4096, 64);
	OK(munmap(w.far_memory + 4096, 4096));
	fails_with(work(IBV_WR_SEND, 0, 64, 0), IBV_WC_REM_OP_ERR, 14);
	expect_code(far_expect(5, IBV_WC_LOC_PROT_ERR), 7);
}

/* max_rd_atomic of the requester, and max_dest_rd_atomic of the responder. */
OWN_PAIR_TEST(no_reads_at_either_end)
{
	struct end_options without = end_defaults(), with = end_defaults();

	without.reads = 0;
	pair_make(&without, &with);
	fails_with(work(IBV_WR_RDMA_READ, 0, 8, 0), IBV_WC_LOC_QP_OP_ERR, 10);
	teardown_pair(NULL);
	pair_make(&with, &without);
	fails_with(work(IBV_WR_RDMA_READ, 0, 8, 0), IBV_WC_REM_INV_REQ_ERR, 10);
	teardown_pair(NULL);
	pair_make(&with, &without);
	fails_with(work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 0), IBV_WC_REM_INV_REQ_ERR, 10);
}

/* A receive for each message, but no entry for its completion. */
OWN_PAIR_TEST(completion_queue_of_the_peer_is_full)
{
	struct end_options near = end_defaults(), far = end_defaults();
	int room;

	far.cqe = 4;
	pair_make(&near, &far);
	room = w.partner.end.cq->cqe;
	assert_in_range((unsigned)room, 4, 15); /* max_recv_wr is 16 */
	for (int i = 0; i < room; i++) {
		far_recv((uint64_t)i, 0, 8);
		done(work(IBV_WR_SEND, 0, 8, 0));
	}
	far_recv(99, 0, 8);
	fails_with(work(IBV_WR_SEND, 0, 8, 0), IBV_WC_REM_OP_ERR, 15);
	expect_async(w.partner.end.context, IBV_EVENT_CQ_ERR);
	expect_async(w.partner.end.context, IBV_EVENT_QP_FATAL);
}

/* The far end is connected to our first queue pair. */
TEST(peer_connected_to_another_one, setup_impatient, teardown_pair)
{
	struct ibv_qp *first = w.near.qp;
	struct ibv_qp *second = end_make_qp(&w.near);

	assert_non_null(second);
	w.near.qp = second;
	end_to_init(&w.near);
	end_to_rtr(&w.near, &w.far);
	end_to_rts(&w.near);
	fails_with(work(IBV_WR_SEND, 0, 8, 0), IBV_WC_RETRY_EXC_ERR, 17);
	w.near.qp = first;
	OK(ibv_destroy_qp(second));
}

/* It waits for a receive when the process with that ends. */
TWO_PROCESSES_TEST(peer_that_died)
{
	done(work(IBV_WR_RDMA_WRITE, 0, 8, 0));
	post(work(IBV_WR_SEND, 0, 8, 0));
	far_die();
	expect_code(EXPECT_WC(w.near.cq, 1, IBV_WC_RETRY_EXC_ERR), 20);
}

/* A socket that is bound keeps the port, and as it does not listen nothing is there. */
TEST(nothing_at_the_port_of_the_number, setup_impatient, teardown_pair)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = inet_addr("127.0.0.1")};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(here);

	assert_true(fd >= 0);
	OK(bind(fd, (struct sockaddr *)&here, sizeof(here)));
	OK(getsockname(fd, (struct sockaddr *)&here, &length));
	OK(ibv_modify_qp(w.near.qp, &(struct ibv_qp_attr){.qp_state = IBV_QPS_RESET},
			 IBV_QP_STATE));
	w.far.qp_num = (uint32_t)ntohs(here.sin_port) << 8 | 1;
	end_to_init(&w.near);
	end_to_rtr(&w.near, &w.far);
	end_to_rts(&w.near);
	fails_with(work(IBV_WR_SEND, 0, 8, 0), IBV_WC_RETRY_EXC_ERR, 21);
	close(fd);
}

PAIR_TEST(fault_that_was_asked_for)
{
	SKIP_UNLESS(getenv("FAULT") != NULL, "needs a fault: test_codes.py");
	fails_with(work(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 0), IBV_WC_REM_ACCESS_ERR, 24);
}

OWN_PAIR_TEST(unequal_path_mtus)
{
	struct end_options near = end_defaults(), far = end_defaults();

	near.mtu = IBV_MTU_256;
	pair_make(&near, &far);
	printf("expect: rpma-soft: QP %#x: RDMA write, wr_id 0x1, fails with "
	       "IBV_WC_REM_INV_REQ_ERR, path_mtu of the two ends differs: only one packet would "
	       "pass (vendor_err 23): rkey %#x, 257 bytes at %#llx of QP %#x; path_mtu is 256 "
	       "here\n",
	       w.near.qp->qp_num, w.far.rkey, (unsigned long long)w.far.memory, w.far.qp_num);
	fails_with(work(IBV_WR_RDMA_WRITE, 0, 257, 0), IBV_WC_REM_INV_REQ_ERR, 23);
}

/* --- messages that are lost: with the option `verbose` the reason is printed --- */

static struct end sender, receiver;
static struct ibv_ah *to_receiver;

static int setup_datagrams(void **unused)
{
	ud_open(&sender, 1);
	ud_open(&receiver, 2);
	to_receiver = ud_ah(&sender, &receiver.gid);
	return 0;
}

static int teardown_datagrams(void **unused)
{
	OK(ibv_destroy_ah(to_receiver));
	end_close(&sender);
	end_close(&receiver);
	return 0;
}

static void expect_loss(const struct end *from, uint32_t length, uint32_t qpn, const char *reason)
{
	printf("expect: rpma-soft: QP %#x: send, wr_id 0x1, of %u bytes to QP %#x is lost: %s\n",
	       from->qp->qp_num, length, qpn, reason);
}

TEST(datagrams_that_are_lost, setup_datagrams, teardown_datagrams)
{
	const uint32_t qpn = receiver.qp->qp_num;
	struct ibv_send_wr *wr;

	expect_loss(&sender, 100, qpn, "no receive was posted");
	ud_send(&sender, ud_work(&sender, to_receiver, qpn, 100));
	end_recv(&receiver, 7, 0, GRH + 100);
	expect_loss(&sender, 101, qpn, "the message is longer than the receive");
	ud_send(&sender, ud_work(&sender, to_receiver, qpn, 101));
	expect_loss(&sender, 100, qpn, "the Q_Key is not that of the receiving queue pair");
	wr = ud_work(&sender, to_receiver, qpn, 100);
	wr->wr.ud.remote_qkey = END_QKEY + 1;
	ud_send(&sender, wr);
	expect_loss(&sender, 100, qpn ^ 0x80, "the peer has no queue pair of this number");
	ud_send(&sender, ud_work(&sender, to_receiver, qpn ^ 0x80, 100));
	expect_loss(&sender, 4097, qpn, "the datagram is longer than the MTU of the port");
	ud_send(&sender, ud_work(&sender, to_receiver, qpn, 4097));
	ud_send(&sender, ud_work(&sender, to_receiver, qpn, 100));
	ud_arrived(&receiver, 7, 0, &sender, 100);
}

OWN_PAIR_TEST(write_that_is_lost)
{
	struct end_options options = end_defaults();
	struct ibv_send_wr *wr;

	options.type = IBV_QPT_UC;
	pair_make(&options, &options);
	wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	wr->wr.rdma.rkey = 0x10001;
	printf("expect: rpma-soft: QP %#x: RDMA write, wr_id 0x1, of 8 bytes to QP %#x is lost: no "
	       "region has this key\n",
	       w.near.qp->qp_num, w.far.qp_num);
	done(wr);
}

/* drop:after=2: a message takes the receive that the one before it did not take. */
TEST(datagrams_after_a_drop, setup_datagrams, teardown_datagrams)
{
	const uint32_t qpn = receiver.qp->qp_num;
	struct ibv_ah *back;

	SKIP_UNLESS(getenv("FAULT") != NULL, "needs a fault: test_codes.py");
	for (uint64_t id = 1; id <= 3; id++) /* one is left */
		end_recv(&receiver, id, 1024 * id, GRH + 64);
	for (int i = 0; i < 5; i++)
		ud_send(&sender, ud_work(&sender, to_receiver, qpn, 64));
	ud_arrived(&receiver, 1, 1024, &sender, 64);
	ud_arrived(&receiver, 2, 2048, &sender, 64);
	expect_no_wc(receiver.cq);
	assert_int_equal(end_state(&sender), IBV_QPS_RTS);
	/* another queue pair counts for itself */
	end_recv(&sender, 3, 1024, GRH + 64);
	back = ud_ah(&receiver, &sender.gid);
	ud_send(&receiver, ud_work(&receiver, back, sender.qp->qp_num, 64));
	ud_arrived(&sender, 3, 1024, &receiver, 64);
	OK(ibv_destroy_ah(back));
}

/* From here on the kernel denies this thread the memory of processes. The last test. */
PAIR_TEST(memory_that_the_kernel_denies)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {ARRAY_LENGTH(filter), filter};

	SKIP_UNLESS(strcmp(getenv("TRANSPORT"), "tcp") != 0,
		    "over TCP no process touches the memory of another");
	done(work(IBV_WR_RDMA_WRITE, 0, 8, 0));
	OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	fails_with(work(IBV_WR_RDMA_WRITE, 0, 8, 0), IBV_WC_RETRY_EXC_ERR, 22);
}
