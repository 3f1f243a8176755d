/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c -- see pair.h. */
#include "pair.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARTNER_FD 10 /* in the partner program; the memory is the next */

struct pair w;

static bool wants_two_processes(void)
{
	const char *processes = getenv("RPMA_TEST_PROCESSES");

	return processes != NULL && strcmp(processes, "2") == 0;
}

/* Its path, and not /proc/self/exe: under valgrind that would be valgrind. */
static void this_program(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	assert_true(length > 0);
	path[length] = '\0';
}

/* Start this program again as the partner and share LENGTH bytes with it. */
static void start_with_memory(size_t length)
{
	char *argv[] = {(char *)"partner", (char *)"--partner", (char *)"10", NULL};
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int sockets[2], made = memfd_create("far memory", MFD_CLOEXEC);
	/* above both numbers, or the first dup2 of the child might close the second's source */
	int memory = fcntl(made, F_DUPFD_CLOEXEC, PARTNER_FD + 2);

	assert_true(made >= 0 && memory >= 0);
	close(made);
	OK(ftruncate(memory, (off_t)length));
	OK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	OK(posix_spawn_file_actions_init(&actions));
	OK(posix_spawn_file_actions_adddup2(&actions, sockets[1], PARTNER_FD));
	OK(posix_spawn_file_actions_adddup2(&actions, memory, PARTNER_FD + 1));
	this_program(path);
	OK(posix_spawn(&w.process, path, &actions, NULL, argv, environ));
	OK(posix_spawn_file_actions_destroy(&actions));
	w.socket = sockets[0];
	close(sockets[1]);
	w.mapped = length;
	w.far_memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	assert_ptr_not_equal(w.far_memory, MAP_FAILED);
	close(memory);
}

void partner_start(void)
{
	start_with_memory(END_MEMORY);
}

struct partner_answer far_do(const struct partner_order *order)
{
	struct partner_answer answer = {0};

	if (w.process == 0) {
		partner_obey(&w.partner, order, &answer);
		return answer;
	}
	assert_int_equal(send(w.socket, order, sizeof(*order), MSG_NOSIGNAL), sizeof(*order));
	wait_readable(w.socket, "an answer of the partner");
	if (recv(w.socket, &answer, sizeof(answer), 0) != (ssize_t)sizeof(answer))
		fail_msg("the partner has failed, see its message");
	return answer;
}

static struct partner_answer far_simply(enum partner_verb verb)
{
	struct partner_order order = {.verb = verb};

	return far_do(&order);
}

static void make(const struct end_options *near, const struct end_options *far, bool two_processes)
{
	struct partner_order order = {.verb = PARTNER_OPEN, .options = *far};

	end_open(&w.near, near, -1);
	w.partner.memory_fd = -1;
	if (two_processes)
		start_with_memory(far->memory_size);
	w.far = far_do(&order).address;
	if (!two_processes)
		w.far_memory = w.partner.end.memory;
	order.verb = PARTNER_CONNECT;
	order.peer = end_address(&w.near);
	end_to_rtr(&w.near, &w.far);
	far_do(&order);
	end_to_rts(&w.near);
	fill(w.near.memory, near->memory_size, 1);
	fill(w.far_memory, far->memory_size, 2);
}

void pair_make(const struct end_options *near, const struct end_options *far)
{
	make(near, far, wants_two_processes());
}

int setup_nothing(void **unused)
{
	(void)unused;
	return 0;
}

int setup_pair(void **unused)
{
	struct end_options options = end_defaults();

	(void)unused;
	pair_make(&options, &options);
	return 0;
}

int setup_two_processes(void **unused)
{
	struct end_options options = end_defaults();

	(void)unused;
	make(&options, &options, true);
	return 0;
}

static void stop_partner(void)
{
	int status = 0;

	close(w.socket);
	assert_int_equal(waitpid(w.process, &status, 0), w.process);
	OK(munmap(w.far_memory, w.mapped));
	w.process = 0;
	assert_int_equal(status, 0);
}

int teardown_pair(void **unused)
{
	(void)unused;
	end_close(&w.near);
	if (w.process != 0 || w.partner.end.context != NULL)
		far_simply(PARTNER_CLOSE);
	if (w.process != 0)
		stop_partner();
	memset(&w, 0, sizeof(w));
	return 0;
}

struct ibv_send_wr *work(enum ibv_wr_opcode opcode, size_t near_offset, size_t length,
			 size_t far_offset)
{
	static struct {
		struct ibv_sge sge[4];
		struct ibv_send_wr wr;
	} ring[8];
	static unsigned next;
	struct ibv_sge *sge = ring[next % 8].sge;
	struct ibv_send_wr *wr = &ring[next++ % 8].wr;
	bool atomic = opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	sge[0] = (struct ibv_sge){(uintptr_t)(w.near.memory + near_offset), (uint32_t)length,
				  w.near.mr->lkey};
	*wr = (struct ibv_send_wr){.wr_id = 1,
				   .sg_list = sge,
				   .num_sge = 1,
				   .opcode = opcode,
				   .send_flags = IBV_SEND_SIGNALED};
	if (atomic) {
		wr->wr.atomic.remote_addr = w.far.memory + far_offset;
		wr->wr.atomic.rkey = w.far.rkey;
	} else {
		wr->wr.rdma.remote_addr = w.far.memory + far_offset;
		wr->wr.rdma.rkey = w.far.rkey;
	}
	return wr;
}

void post(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	OK(ibv_post_send(w.near.qp, wr, &bad));
}

void done(struct ibv_send_wr *wr)
{
	post(wr);
	EXPECT_WC(w.near.cq, wr->wr_id, IBV_WC_SUCCESS);
}

void recv_near(uint64_t wr_id, size_t offset, size_t length)
{
	end_recv(&w.near, wr_id, offset, length);
}

void far_recv(uint64_t wr_id, size_t offset, size_t length)
{
	struct partner_order order = {
		.verb = PARTNER_RECV, .wr_id = wr_id, .offset = offset, .length = length};

	far_do(&order);
}

void far_send(uint64_t wr_id, size_t offset, size_t length)
{
	struct partner_order order = {
		.verb = PARTNER_SEND, .wr_id = wr_id, .offset = offset, .length = length};

	far_do(&order);
}

void far_send_solicited(uint64_t wr_id, size_t offset, size_t length)
{
	struct partner_order order = {.verb = PARTNER_SEND,
				      .wr_id = wr_id,
				      .offset = offset,
				      .length = length,
				      .solicited = true};

	far_do(&order);
}

struct ibv_wc far_wc(void)
{
	return far_simply(PARTNER_WC).wc;
}

struct ibv_wc far_expect(uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = far_wc();

	if (wc.wr_id != wr_id || wc.status != status)
		fail_msg("far completion of %llu: %s, expected %llu: %s",
			 (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
			 (unsigned long long)wr_id, ibv_wc_status_str(status));
	return wc;
}

void far_expect_nothing(void)
{
	far_simply(PARTNER_NO_WC);
}

uint32_t far_reg(size_t offset, size_t length, int access)
{
	struct partner_order order = {
		.verb = PARTNER_REG, .offset = offset, .length = length, .access = access};

	return far_do(&order).rkey;
}

void far_dereg(void)
{
	far_simply(PARTNER_DEREG);
}

uint32_t far_bind_mw(enum ibv_mw_type type, size_t offset, size_t length, int access)
{
	struct partner_order order = {.verb = PARTNER_MW_BIND,
				      .offset = offset,
				      .length = length,
				      .access = access,
				      .mw_type = type};

	return far_do(&order).rkey;
}

void far_invalidate_mw(void)
{
	far_simply(PARTNER_MW_INVALIDATE);
}

void far_dealloc_mw(void)
{
	far_simply(PARTNER_MW_DEALLOC);
}

enum ibv_qp_state far_state(void)
{
	return far_simply(PARTNER_STATE).state;
}

void far_expect_error(void)
{
	double until = deadline();

	while (far_state() != IBV_QPS_ERR)
		wait_a_little(until, "the far state ERR");
}

void far_expect_async(enum ibv_event_type type)
{
	struct partner_order order = {.verb = PARTNER_ASYNC, .event = type};

	far_do(&order);
}

void far_to_error(void)
{
	far_simply(PARTNER_TO_ERROR);
}

void far_destroy_qp(void)
{
	far_simply(PARTNER_DESTROY_QP);
}

void far_die(void)
{
	assert_true(w.process > 0);
	OK(kill(w.process, SIGKILL));
	assert_int_equal(waitpid(w.process, NULL, 0), w.process);
	close(w.socket);
	OK(munmap(w.far_memory, w.mapped));
	w.process = 0;
}

void far_leave(void)
{
	stop_partner();
}
