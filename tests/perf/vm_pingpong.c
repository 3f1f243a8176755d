// SPDX-License-Identifier: BSD-3-Clause
/*
 * vm_pingpong.c -- what ib_write_lat measures, without RDMA: two processes write to each other
 * with process_vm_writev, each as soon as it sees the last byte of the other's message.
 *
 * Usage: vm_pingpong SIZE ROUNDS
 *
 * Prints the median of half a round in nanoseconds. soft_latency.py runs it.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set); /* fewer processors: as it is */
}

static unsigned char *make_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED) {
		perror("vm_pingpong: no memory");
		_exit(2);
	}
	return memory;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void send_round(pid_t other, unsigned char *from, void *to, size_t size, unsigned round)
{
	struct iovec local = {from, size}, remote = {to, size};

	from[size - 1] = (unsigned char)round;
	if (process_vm_writev(other, &local, 1, &remote, 1, 0) != (ssize_t)size) {
		perror("vm_pingpong: process_vm_writev");
		_exit(2);
	}
}

static void await(const volatile unsigned char *last, unsigned round)
{
	while (*last != (unsigned char)round)
		;
}

/* The other process: until it is killed. */
static void answer(pid_t parent, unsigned char *from, unsigned char *to, size_t size)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned round = 1;; round++) {
		await(to + size - 1, round);
		send_round(parent, from, to, size, round);
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	size_t size = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned rounds = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	double *halves = NULL;
	pid_t parent = getpid(), child = -1;

	if (size == 0 || rounds == 0) {
		fprintf(stderr, "Usage: vm_pingpong SIZE ROUNDS\n");
		return 64;
	}
	halves = (double *)(void *)make_memory(rounds * sizeof(*halves));
	unsigned char *from = make_memory(size), *to = make_memory(size);

	child = fork();
	if (child < 0) {
		perror("vm_pingpong: fork");
		return 2;
	}
	/* private pages of its own before the first round */
	memset(from, 0, size);
	memset(to, 0, size);
	pin(child == 0);
	if (child == 0)
		answer(parent, from, to, size);
	usleep(100000); /* the child waits by then, or takes the first round late */
	for (unsigned round = 1; round <= rounds; round++) {
		double start = now_ns();

		send_round(child, from, to, size, round);
		await(to + size - 1, round);
		halves[round - 1] = (now_ns() - start) / 2;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	qsort(halves, rounds, sizeof(*halves), compare);
	printf("%.0f\n", halves[rounds / 2]);
	return 0;
}
