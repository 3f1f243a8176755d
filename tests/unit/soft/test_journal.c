/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_journal.c -- which bytes a power failure may take: the rules of durability of
 * each platform, on a journal in plain memory.
 */
#include "fault_test.h"
#include "soft_device/powerfail/journal.h"
#include "tests/lib/test.h"

#define LINE  0x10000u /* an address in a target; never touched */
#define QP    17u
#define OTHER 18u
#define ALL   UINT64_MAX
#define LOW   UINT64_C(0xffffffff)
#define HIGH  (ALL << 32)

static struct journal *journal;

static int teardown(void **state)
{
	free(journal);
	journal = NULL;
	return 0;
}

static void on_platform(const char *words)
{
	const struct fault_power power = power_of(words);

	journal = calloc(1, sizeof(*journal));
	assert_non_null(journal);
	journal_init(journal, 1, &power);
}

static void write_line(uint64_t addr, uint64_t mask, uint32_t qpn, int old)
{
	unsigned char bytes[JOURNAL_LINE];

	memset(bytes, old, sizeof(bytes));
	assert_true(journal_note(journal, addr, mask, qpn, bytes));
}

/* The bytes of a line that are not durable, by any writer. */
static uint64_t undurable(uint64_t addr)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < journal->count; i++) {
		if (journal->line[i].addr == addr)
			mask |= journal->line[i].mask;
	}
	return mask;
}

TEST(without_ddio_what_left_the_nic_is_durable, NULL, teardown)
{
	on_platform("powerfail:at=1,domain=adr,ddio=off");
	write_line(LINE, LOW, QP, 0);
	write_line(LINE + 64, ALL, QP, 0);
	assert_int_equal(undurable(LINE), LOW);
	assert_int_equal(undurable(LINE + 64), ALL);
	journal_push(journal, QP);
	assert_int_equal(journal->count, 0);
}

TEST(with_ddio_what_left_the_nic_is_in_a_cache, NULL, teardown)
{
	on_platform("powerfail:at=1,domain=adr,ddio=on");
	write_line(LINE, ALL, QP, 0);
	journal_push(journal, QP);
	assert_int_equal(undurable(LINE), ALL);
}

TEST(with_eadr_the_caches_are_durable, NULL, teardown)
{
	on_platform("powerfail:at=1,domain=eadr,ddio=on");
	write_line(LINE, ALL, QP, 0);
	assert_int_equal(undurable(LINE), ALL); /* but not what is in the NIC */
	journal_push(journal, QP);
	assert_int_equal(journal->count, 0);
}

TEST(another_qp_pushes_nothing, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=off");
	write_line(LINE, ALL, QP, 0);
	journal_push(journal, OTHER);
	assert_int_equal(undurable(LINE), ALL);
}

TEST(a_native_flush_makes_its_bytes_durable, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 0);
	write_line(LINE + 64, ALL, QP, 0);
	journal_flush(journal, LINE + 32, 64, QP, true);
	assert_int_equal(undurable(LINE), LOW);
	assert_int_equal(undurable(LINE + 64), HIGH);
	journal_flush(journal, LINE, 128, OTHER, true);
	assert_int_equal(undurable(LINE), LOW); /* a QP flushes what it wrote */
	journal_flush(journal, LINE, 128, QP, true);
	assert_int_equal(journal->count, 0);
}

TEST(a_flush_beside_a_line_leaves_it, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 0);
	journal_flush(journal, LINE - 64, 64, QP, true);
	journal_flush(journal, LINE + 64, 64, QP, true);
	journal_flush(journal, LINE, 0, QP, true);
	assert_int_equal(undurable(LINE), ALL);
	journal_flush(journal, LINE - 1, 2, QP, true);
	assert_int_equal(undurable(LINE), ALL << 1);
	journal_flush(journal, LINE + 63, 2, QP, true);
	assert_int_equal(undurable(LINE), ALL << 1 & ALL >> 1);
}

TEST(a_flush_to_visibility_moves_to_the_caches, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 0);
	journal_flush(journal, LINE, 64, QP, false);
	assert_int_equal(undurable(LINE), ALL);
	journal_cpu_flush(journal, LINE, 64, 1);
	journal_cpu_drain(journal, 1);
	assert_int_equal(journal->count, 0);
}

TEST(a_claim_tells_what_was_flushed_for_visibility_only, NULL, teardown)
{
	struct journal_line first;

	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 0);
	journal_push(journal, QP);
	assert_int_equal(journal_not_durable(journal, LINE, 64, QP, false, &first), 1);
	assert_false(first.visible);
	write_line(LINE, LOW, QP, 0);
	journal_flush(journal, LINE, 64, QP, false);
	assert_int_equal(journal_not_durable(journal, LINE, 64, QP, false, &first), 1);
	assert_true(first.visible);
}

TEST(the_cpu_flushes_whole_lines_in_its_caches, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 0);
	write_line(LINE + 64, ALL, QP, 0);
	journal_push(journal, QP);
	journal_cpu_flush(journal, LINE + 5, 1, 1);
	assert_int_equal(undurable(LINE), ALL); /* until the fence */
	journal_cpu_drain(journal, 2);
	assert_int_equal(undurable(LINE), ALL); /* the same thread's */
	journal_cpu_drain(journal, 1);
	assert_int_equal(undurable(LINE), 0);
	assert_int_equal(undurable(LINE + 64), ALL);
}

TEST(the_cpu_does_not_flush_what_is_in_the_nic, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 0);
	journal_cpu_flush(journal, LINE, 64, 1);
	journal_cpu_drain(journal, 1);
	assert_int_equal(undurable(LINE), ALL);
}

TEST(a_later_write_to_a_line_does_not_hold_the_first_back, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, LOW, QP, 0);
	journal_push(journal, QP);
	write_line(LINE, HIGH, QP, 0); /* on its way while the CPU flushes */
	journal_cpu_flush(journal, LINE, 64, 1);
	journal_cpu_drain(journal, 1);
	assert_int_equal(undurable(LINE), HIGH);
}

TEST(a_second_write_of_the_same_bytes_is_lost_alone, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, ALL, QP, 1);
	journal_push(journal, QP);
	write_line(LINE, ALL, QP, 2);
	journal_cpu_flush(journal, LINE, 64, 1);
	journal_cpu_drain(journal, 1);
	assert_int_equal(journal->count, 1);
	assert_int_equal(journal->line[0].mask, ALL);
	assert_int_equal(journal->line[0].old[0], 2); /* what the first write made */
}

TEST(the_oldest_content_is_kept, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=on");
	write_line(LINE, LOW, QP, 1);
	write_line(LINE, ALL, QP, 2);
	journal_push(journal, QP);
	write_line(LINE, ALL, QP, 3);
	journal_push(journal, QP);
	assert_int_equal(journal->count, 1);
	assert_int_equal(journal->line[0].old[0], 1);
	assert_int_equal(journal->line[0].old[63], 2);
}

TEST(a_flush_of_one_qp_keeps_the_bytes_of_another, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=off");
	write_line(LINE, LOW, QP, 0);
	write_line(LINE, HIGH, OTHER, 0);
	journal_push(journal, OTHER);
	assert_int_equal(undurable(LINE), LOW);
	write_line(LINE, ALL, OTHER, 0);
	journal_push(journal, OTHER); /* the same bytes, durable: never rolled back */
	assert_int_equal(undurable(LINE), 0);
}

TEST(many_lines_come_and_go, NULL, teardown)
{
	on_platform("powerfail:at=1,ddio=off");
	for (uint64_t i = 0; i < 10000; i++)
		write_line(LINE + 64 * i, ALL, i % 2 == 0 ? QP : OTHER, 0);
	journal_push(journal, QP);
	assert_int_equal(journal->count, 5000);
	for (uint64_t i = 0; i < 10000; i++) {
		journal_flush(journal, LINE + 64 * i, 64, OTHER, true);
		i += 99;
	}
	for (uint64_t i = 1; i < 10000; i += 2) { /* found again: no line twice */
		write_line(LINE + 64 * i, ALL, OTHER, 0);
	}
	assert_int_equal(journal->count, 5000);
	journal_push(journal, OTHER);
	assert_int_equal(journal->count, 0);
}

TEST(a_claim_of_one_qp_is_about_its_own_writes, NULL, teardown)
{
	struct journal_line first;

	on_platform("powerfail:at=1,domain=adr,ddio=on");
	write_line(LINE, LOW, QP, 0);
	write_line(LINE + 64, ALL, OTHER, 0);
	assert_int_equal(journal_not_durable(journal, LINE, 128, 0, false, &first), 2);
	assert_int_equal(first.addr, LINE);
	assert_int_equal(journal_not_durable(journal, LINE, 128, OTHER, false, &first), 1);
	assert_int_equal(first.addr, LINE + 64);
	assert_int_equal(journal_not_durable(journal, LINE + 32, 32, 0, false, &first), 0);
}

TEST(a_claim_may_leave_out_what_is_in_the_nic, NULL, teardown)
{
	struct journal_line first;

	on_platform("powerfail:at=1,domain=adr,ddio=on");
	write_line(LINE + 64, ALL, QP, 0);
	journal_push(journal, QP);
	write_line(LINE, ALL, QP, 0);
	assert_int_equal(journal_not_durable(journal, 0, UINT64_MAX, QP, false, &first), 2);
	assert_int_equal(first.addr, LINE);
	assert_int_equal(journal_not_durable(journal, 0, UINT64_MAX, QP, true, &first), 1);
	assert_int_equal(first.addr, LINE + 64);
}

static uint32_t in_nic(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < journal->count; i++)
		count += !journal->line[i].left;
	return count;
}

TEST(lines_in_the_nic_are_counted, NULL, teardown)
{
	on_platform("powerfail:at=1,domain=adr,ddio=on");
	for (uint64_t i = 0; i < 100; i++) {
		write_line(LINE + 64 * i, ALL, i % 2 == 0 ? QP : OTHER, 0);
		assert_int_equal(journal->in_nic, in_nic());
		if (i % 5 == 0)
			journal_push(journal, QP);
		assert_int_equal(journal->in_nic, in_nic());
	}
	write_line(LINE, LOW, QP, 1); /* again: joins what has left */
	journal_push(journal, QP);
	assert_int_equal(journal->in_nic, in_nic());
	journal_push(journal, OTHER);
	assert_int_equal(in_nic(), 0);
	assert_int_equal(journal->in_nic, 0);
	journal_cpu_flush(journal, LINE, 6400, 5);
	journal_cpu_drain(journal, 5);
	assert_int_equal(journal->count, 0);
}

TEST(a_full_journal_says_so, NULL, teardown)
{
	unsigned char bytes[JOURNAL_LINE] = {0};

	on_platform("powerfail:at=1,ddio=off");
	for (uint64_t i = 0; i < JOURNAL_LINES; i++)
		write_line(LINE + 64 * i, ALL, QP, 0);
	assert_false(journal_note(journal, 0, ALL, QP, bytes));
	assert_true(journal_note(journal, LINE, ALL, QP, bytes)); /* it has that line */
}

/* A fair coin of n throws is within 5 * sqrt(n) / 2 of the half, but for one in 1.7 million. */
TEST(half_of_the_lines_are_lost, NULL, teardown)
{
	int lost = 0, differ = 0;

	on_platform("powerfail:at=1");
	for (uint32_t i = 0; i < 10000; i++)
		lost += journal_loses(journal, i);
	assert_in_range(lost, 4750, 5250);
	lost = 0;
	for (journal->seed = 1; journal->seed <= 10000; journal->seed++) {
		lost += journal_loses(journal, 0);
		differ += journal_loses(journal, 0) != journal_loses(journal, 1);
	}
	assert_in_range(lost, 4750, 5250);
	assert_in_range(differ, 4750, 5250);
}
