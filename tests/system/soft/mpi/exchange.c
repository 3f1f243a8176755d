/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c -- every rank exchanges words with every other one, by messages and one-sided, and
 * checks what it got: each word names who wrote it, for whom, in which round and at which place.
 * Rank 0 prints "ok RANKS ranks, WORDS words checked".
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 4
#define ADDS   50

static int rank, ranks;
static uint64_t checked, wrong;

static uint64_t word_of(int from, int to, unsigned round, uint64_t at)
{
	return (uint64_t)from << 56 | (uint64_t)to << 48 | (uint64_t)round << 40 | at;
}

static void check(uint64_t got, uint64_t expected)
{
	checked++;
	wrong += got != expected;
}

static uint64_t *words(uint64_t count)
{
	uint64_t *all = calloc(count, sizeof(*all));

	if (all == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return all;
}

/* A block of COUNT words for each rank. */
static void put_blocks(uint64_t *all, unsigned round, uint64_t count)
{
	for (int to = 0; to < ranks; to++)
		for (uint64_t i = 0; i < count; i++)
			all[(uint64_t)to * count + i] = word_of(rank, to, round, i);
}

static void check_blocks(const uint64_t *all, unsigned round, uint64_t count)
{
	for (int from = 0; from < ranks; from++)
		for (uint64_t i = 0; i < count; i++)
			check(all[(uint64_t)from * count + i], word_of(from, rank, round, i));
}

static void all_to_all(uint64_t count)
{
	uint64_t *out = words(count * (uint64_t)ranks), *in = words(count * (uint64_t)ranks);

	for (unsigned round = 0; round < ROUNDS; round++) {
		put_blocks(out, round, count);
		MPI_Alltoall(out, (int)count, MPI_UINT64_T, in, (int)count, MPI_UINT64_T,
			     MPI_COMM_WORLD);
		check_blocks(in, round, count);
	}
	free(out);
	free(in);
}

/* Each puts its block into the window of every rank, and then gets from each the block for itself.
 */
static void one_sided(uint64_t count)
{
	const uint64_t all = count * (uint64_t)ranks;
	uint64_t *out = words(all), *in = words(all), *window = NULL;
	MPI_Win win;

	MPI_Win_allocate((MPI_Aint)(all * sizeof(*window)), sizeof(*window), MPI_INFO_NULL,
			 MPI_COMM_WORLD, (void *)&window, &win);
	put_blocks(out, 1, count);
	MPI_Win_fence(0, win);
	for (int to = 0; to < ranks; to++)
		MPI_Put(out + (uint64_t)to * count, (int)count, MPI_UINT64_T, to,
			(MPI_Aint)((uint64_t)rank * count), (int)count, MPI_UINT64_T, win);
	MPI_Win_fence(0, win);
	check_blocks(window, 1, count);
	MPI_Win_fence(0, win);
	put_blocks(window, 2, count);
	MPI_Win_fence(0, win);
	for (int from = 0; from < ranks; from++)
		MPI_Get(in + (uint64_t)from * count, (int)count, MPI_UINT64_T, from,
			(MPI_Aint)((uint64_t)rank * count), (int)count, MPI_UINT64_T, win);
	MPI_Win_fence(0, win);
	check_blocks(in, 2, count);
	MPI_Win_free(&win);
	free(out);
	free(in);
}

/* All add to one word of each rank: none is lost. */
static void atomics(void)
{
	const uint64_t one = 1;
	uint64_t *window = NULL, before;
	MPI_Win win;

	MPI_Win_allocate(sizeof(*window), sizeof(*window), MPI_INFO_NULL, MPI_COMM_WORLD,
			 (void *)&window, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	*window = 0;
	MPI_Win_unlock(rank, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < ADDS; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, (rank + i) % ranks, 0, MPI_SUM, win);
		MPI_Win_flush((rank + i) % ranks, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	uint64_t own = *window, sum = 0;
	MPI_Win_unlock(rank, win);
	MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	check(sum, (uint64_t)ranks * ADDS);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	uint64_t own[2], all[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	all_to_all(1);
	all_to_all(1000);
	all_to_all(40000); /* beyond what is sent before the receiver has asked for it */
	one_sided(100);
	one_sided(20000);
	atomics();
	own[0] = checked;
	own[1] = wrong;
	MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0 && all[1] == 0)
		printf("ok %d ranks, %" PRIu64 " words checked\n", ranks, all[0]);
	if (rank == 0 && all[1] != 0)
		printf("%" PRIu64 " of %" PRIu64 " words are wrong\n", all[1], all[0]);
	MPI_Finalize();
	return all[1] != 0;
}
