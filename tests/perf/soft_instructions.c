/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_instructions.c -- on the software device: writes of 8 and 64 bytes and a read of 8 with
 * their completions, and calls that change mappings between registered pages; soft_instructions.py
 * runs it and counts.
 *
 * Usage: rpma-soft soft_instructions REGIONS
 *
 * REGIONS are registered beside those in use.
 */
#include "counting.h"
#include "tests/device/pair.h"

#include <sys/mman.h>

#define PAGE 4096

static unsigned char *page; /* with the next one; those before and behind them are registered */
static struct ibv_send_wr *write_wr, *line_wr, *read_wr;

static int nothing(void)
{
	return 0;
}

static int complete(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int polled;

	if (ibv_post_send(w.near.qp, wr, &bad) != 0)
		return -1;
	do /* once, but for the adversary */
		polled = ibv_poll_cq(w.near.cq, 1, &wc);
	while (polled == 0);
	return polled == 1 && wc.status == IBV_WC_SUCCESS ? 0 : -1;
}

static int write_8(void)
{
	return complete(write_wr);
}

static int write_64(void)
{
	return complete(line_wr);
}

static int read_8(void)
{
	return complete(read_wr);
}

static int map_over(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	return mmap(page, PAGE, PROT_READ, flags, -1, 0) == page ? 0 : -1;
}

static int unmap_nothing(void)
{
	return munmap(page, PAGE);
}

static int discard(void)
{
	return madvise(page, PAGE, MADV_DONTNEED);
}

/* To the other one of the two pages. */
static int move(void)
{
	static bool is_second;
	unsigned char *const from = is_second ? page + PAGE : page;
	unsigned char *const to = is_second ? page : page + PAGE;

	is_second = !is_second;
	return mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to ? 0 : -1;
}

/* Four pages, of which the middle two are not registered, and the other regions. */
static void register_around(unsigned regions)
{
	unsigned char *first = mmap(NULL, (size_t)4 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(first, MAP_FAILED);
	page = first + PAGE;
	for (unsigned i = 0; i < regions; i++)
		assert_non_null(ibv_reg_mr(w.near.pd, first, PAGE, END_ACCESS));
	assert_non_null(ibv_reg_mr(w.near.pd, first + (size_t)3 * PAGE, PAGE, END_ACCESS));
}

/* From one place: with checks more of the first ones are held than of the last. */
static int count_rounds(const char *first, const char *last, int (*call)(void))
{
	const char *const names[] = {first, "second", "third", "fourth", "fifth", last};
	int ret = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ret |= count(names[i], call);
	return ret;
}

int main(int argc, char **argv)
{
	const unsigned regions = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	int ret = 0;

	if (regions == 0) {
		fprintf(stderr, "Usage: rpma-soft soft_instructions REGIONS\n");
		return 64;
	}
	setup_pair(NULL);
	register_around(regions);
	write_wr = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	line_wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);
	read_wr = work(IBV_WR_RDMA_READ, 0, 8, 0);
	done(write_wr); /* the ends are linked then */
	ret |= count("nothing", nothing);
	ret |= count_rounds("write", "write again", write_8);
	ret |= count_rounds("write of 64", "write of 64 again", write_64);
	ret |= count_rounds("read", "read again", read_8);
	ret |= count("mmap", map_over);
	ret |= count("madvise", discard);
	ret |= count("mremap", move);
	ret |= count("munmap", unmap_nothing);
	return ret != 0;
}
