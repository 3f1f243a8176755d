/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger.c -- a program over Debian's libpmemobj, whose pool tells whether a transaction
 * is missing, torn or half undone.
 *
 *	ledger work SET JOURNAL TRANSACTIONS WORDS	each of 16 threads performs that many more
 *	ledger check SET JOURNAL			opens the pool and looks at it
 *
 * Transaction n of a thread moves money from its account to another's, replaces the oldest of
 * its notes by note n, and writes n over some of its page, at most WORDS; every eighth is first
 * aborted half-way. Behind it n is written to a mark, and then to copies of the mark, whose words
 * may become durable in any order. JOURNAL is an ordinary file that is mapped: which transaction
 * each thread has begun, and which has returned, as of the moment when the program was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpmemobj.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "names/random.h"

#define LAYOUT	   "ledger"
#define THREADS	   16u
#define NOTES	   32u
#define PAGE_WORDS 8192u
#define NOTE_WORDS 64u /* at most */
#define BALANCE	   1000

/* Each piece is more than librpmem sends in a message: it is written by RDMA. */
#define PIECES	    8u
#define PIECE_WORDS 1040u
#define COPIES	    (PIECES * PIECE_WORDS)

struct note {
	uint64_t number;
	uint64_t count;
	uint64_t words[];
};

struct account {
	uint64_t number; /* the last transaction */
	int64_t balance;
	uint64_t mark;		 /* persisted by itself, behind each transaction */
	uint64_t copies[COPIES]; /* relaxed, behind the mark */
	PMEMoid notes[NOTES];
	uint64_t written; /* words of the page, by the last transaction */
	uint64_t page[PAGE_WORDS];
};

struct book {
	uint64_t is_open;
	struct account accounts[THREADS];
};

/* One thread's line of the journal. */
struct line {
	uint64_t begun, returned, marked, copied;
	uint64_t padding[4];
};

static PMEMobjpool *pool;
static struct book *book;
static struct line *journal;
static uint64_t transactions, most_words;
static pthread_mutex_t locks[THREADS];

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "ledger: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(1);
}

/* Random, and known again from its number. */
static uint64_t mix(uint64_t thread, uint64_t number, uint64_t i)
{
	return random_mix(thread * RANDOM_STEP + number * 0xbf58476d1ce4e5b9 + i);
}

static uint64_t note_words(uint64_t thread, uint64_t number)
{
	return 1 + mix(thread, number, 1) % NOTE_WORDS;
}

/* Half of them are small, as in programs. */
static uint64_t page_words(uint64_t thread, uint64_t number)
{
	return 1 + mix(thread, number, 3) % (mix(thread, number, 2) % 2 ? most_words : 16);
}

/* --- transactions ------------------------------------------------------------------ */

static PMEMoid write_note(uint64_t thread, uint64_t number)
{
	const uint64_t count = note_words(thread, number);
	const PMEMoid oid = pmemobj_tx_alloc(sizeof(struct note) + count * 8, 1);
	struct note *note = pmemobj_direct(oid);

	note->number = number;
	note->count = count;
	for (uint64_t i = 0; i < count; i++)
		note->words[i] = mix(thread, number, 100 + i);
	return oid;
}

static void write_page(struct account *account, uint64_t thread, uint64_t number)
{
	const uint64_t count = page_words(thread, number);

	pmemobj_tx_add_range_direct(&account->written, (1 + count) * 8);
	account->written = count;
	for (uint64_t i = 0; i < count; i++)
		account->page[i] = number;
}

static void change(uint64_t thread, uint64_t other, uint64_t number, bool abort)
{
	struct account *mine = &book->accounts[thread], *others = &book->accounts[other];
	PMEMoid *note = &mine->notes[number % NOTES];
	const int64_t amount = (int64_t)(mix(thread, number, 4) % BALANCE) - BALANCE / 2;

	pmemobj_tx_add_range_direct(&mine->number, 16); /* and the balance */
	pmemobj_tx_add_range_direct(&others->balance, 8);
	mine->balance -= amount;
	others->balance += amount;
	pmemobj_tx_add_range_direct(note, sizeof(*note));
	pmemobj_tx_free(*note);
	*note = write_note(thread, number);
	if (abort)
		pmemobj_tx_abort(ECANCELED);
	write_page(mine, thread, number);
	mine->number = number;
}

/* The locks are held until the transaction has returned: no other sees it half done. */
static void transact(uint64_t thread, uint64_t number, bool abort)
{
	const uint64_t other = (thread + 1 + mix(thread, number, 5) % (THREADS - 1)) % THREADS;
	pthread_mutex_t *first = &locks[thread < other ? thread : other];
	pthread_mutex_t *second = &locks[thread < other ? other : thread];

	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	TX_BEGIN(pool)
	{
		change(thread, other, number, abort);
	}
	TX_ONABORT
	{
		if (!abort)
			fail("transaction %lu of thread %lu: %s", number, thread,
			     pmemobj_errormsg());
	}
	TX_END
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void mark(struct account *account, struct line *line, uint64_t number)
{
	account->mark = number;
	pmemobj_persist(pool, &account->mark, sizeof(account->mark));
	__atomic_store_n(&line->marked, number, __ATOMIC_SEQ_CST);
	for (uint64_t i = 0; i < COPIES; i++)
		account->copies[i] = number;
	for (uint64_t i = 0; i < COPIES; i += PIECE_WORDS)
		pmemobj_xpersist(pool, &account->copies[i], PIECE_WORDS * sizeof(number),
				 PMEMOBJ_F_RELAXED);
	__atomic_store_n(&line->copied, number, __ATOMIC_SEQ_CST);
}

static void *work_thread(void *arg)
{
	const uint64_t thread = (uint64_t)(uintptr_t)arg;
	struct account *account = &book->accounts[thread];
	struct line *line = &journal[thread];
	const uint64_t first = account->number + 1;

	for (uint64_t number = first; number < first + transactions; number++) {
		if (number % 8 == 0)
			transact(thread, number, true);
		__atomic_store_n(&line->begun, number, __ATOMIC_SEQ_CST);
		transact(thread, number, false);
		__atomic_store_n(&line->returned, number, __ATOMIC_SEQ_CST);
		mark(account, line, number);
	}
	return NULL;
}

/* --- what must be true ------------------------------------------------------------- */

static void check_note(uint64_t thread, uint64_t number)
{
	const PMEMoid oid = book->accounts[thread].notes[number % NOTES];
	const struct note *note = pmemobj_direct(oid);

	if (note == NULL || note->number != number || note->count != note_words(thread, number))
		fail("thread %lu: note %lu of %lu is missing", thread, number,
		     book->accounts[thread].number);
	for (uint64_t i = 0; i < note->count; i++) {
		if (note->words[i] != mix(thread, number, 100 + i))
			fail("thread %lu: note %lu is torn at word %lu", thread, number, i);
	}
}

static void check_marks(uint64_t thread)
{
	const struct account *account = &book->accounts[thread];
	const struct line *line = &journal[thread];

	if (account->mark < line->marked || account->mark > line->returned)
		fail("thread %lu: the mark is %lu, of %lu to %lu", thread, account->mark,
		     line->marked, line->returned);
	for (uint64_t i = 0; i < COPIES; i++) {
		if (account->copies[i] < line->copied || account->copies[i] > line->marked)
			fail("thread %lu: copy %lu of the mark is %lu, of %lu to %lu", thread, i,
			     account->copies[i], line->copied, line->marked);
	}
}

static void check_account(uint64_t thread)
{
	const struct account *account = &book->accounts[thread];
	const struct line *line = &journal[thread];
	const uint64_t number = account->number;

	if (number < line->returned)
		fail("thread %lu: transaction %lu has returned, and the last one is %lu", thread,
		     line->returned, number);
	if (number > line->begun)
		fail("thread %lu: the last transaction is %lu, and %lu has begun", thread, number,
		     line->begun);
	check_marks(thread);
	for (uint64_t n = number > NOTES ? number - NOTES + 1 : 1; n <= number; n++)
		check_note(thread, n);
	for (uint64_t i = 0; i < account->written; i++) {
		if (account->page[i] != number)
			fail("thread %lu: word %lu of the page is of transaction %lu, not %lu",
			     thread, i, account->page[i], number);
	}
}

/* The notes that the accounts point to are all that was allocated, the root aside. */
static void check_allocations(void)
{
	uint64_t notes = 0, allocated = 0;
	PMEMoid oid;

	for (uint64_t t = 0; t < THREADS; t++)
		notes += book->accounts[t].number < NOTES ? book->accounts[t].number : NOTES;
	POBJ_FOREACH(pool, oid)
	{
		allocated++;
	}
	if (allocated != notes)
		fail("%lu notes are allocated, and the accounts have %lu", allocated, notes);
}

static void check_book(void)
{
	int64_t sum = 0;

	for (uint64_t t = 0; t < THREADS; t++) {
		if (book->is_open)
			check_account(t);
		else if (journal[t].begun != 0)
			fail("the book is empty, and thread %lu has begun", t);
		sum += book->accounts[t].balance;
	}
	if (sum != (book->is_open ? (int64_t)THREADS * BALANCE : 0))
		fail("the balances are %ld in all", sum);
	check_allocations();
}

/* --- the program ------------------------------------------------------------------- */

static void open_book(const char *set)
{
	pool = pmemobj_open(set, LAYOUT);
	if (pool == NULL)
		fail("cannot open %s: %s (errno %d)", set, pmemobj_errormsg(), errno);
	book = pmemobj_direct(pmemobj_root(pool, sizeof(*book)));
	if (book == NULL)
		fail("no root: %s", pmemobj_errormsg());
}

static void open_journal(const char *file)
{
	const size_t bytes = THREADS * sizeof(*journal);
	const int fd = open(file, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
		fail("cannot open %s: %s", file, strerror(errno));
	journal = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (journal == MAP_FAILED)
		fail("cannot map %s: %s", file, strerror(errno));
	close(fd);
}

static void begin_book(void)
{
	TX_BEGIN(pool)
	{
		pmemobj_tx_add_range_direct(book, sizeof(*book));
		for (uint64_t t = 0; t < THREADS; t++)
			book->accounts[t].balance = BALANCE;
		book->is_open = 1;
	}
	TX_ONABORT
	{
		fail("cannot begin the book: %s", pmemobj_errormsg());
	}
	TX_END
}

/*
 * The words found are those that returned, as far as this run can tell. If it was killed half-way,
 * the words of the last run are right as well.
 */
static void begin_line(struct line *line, const struct account *account)
{
	uint64_t oldest = account->mark;

	for (uint64_t i = 0; i < COPIES; i++)
		oldest = account->copies[i] < oldest ? account->copies[i] : oldest;
	*line = (struct line){account->number, account->number, account->mark, oldest, {0}};
}

static void work(void)
{
	pthread_t threads[THREADS];

	if (!book->is_open)
		begin_book();
	for (uint64_t t = 0; t < THREADS; t++) {
		begin_line(&journal[t], &book->accounts[t]);
		pthread_mutex_init(&locks[t], NULL);
	}
	printf("works\n");
	fflush(stdout);
	for (uintptr_t t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, work_thread, (void *)t);
	for (uint64_t t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
}

int main(int argc, char **argv)
{
	const bool works = argc == 6 && strcmp(argv[1], "work") == 0;
	uint64_t sum = 0;

	if (!works && !(argc == 4 && strcmp(argv[1], "check") == 0)) {
		fprintf(stderr, "usage: ledger work SET JOURNAL TRANSACTIONS WORDS | "
				"check SET JOURNAL\n");
		return 64;
	}
	open_journal(argv[3]);
	open_book(argv[2]);
	check_book();
	if (works) {
		transactions = strtoull(argv[4], NULL, 10);
		most_words = strtoull(argv[5], NULL, 10);
		if (most_words < 1 || most_words > PAGE_WORDS)
			fail("a page has %u words", PAGE_WORDS);
		work();
		check_book();
	}
	for (uint64_t t = 0; t < THREADS; t++)
		sum += book->accounts[t].number;
	pmemobj_close(pool);
	printf("%lu transactions\n", sum);
	return 0;
}
