/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept.c -- the acceptance tests of librpmem and rpmemd. test_accept.py runs each in a process
 * of its own, as the library reads most of its environment when it is loaded.
 */
#include "accept.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/lib/scratch.h"

#define LIMIT_S 900 /* a case that takes longer hangs, and fails */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("%s: errno %d, message '%s'", #condition, errno,                  \
				 rpmem_errormsg());                                                \
	} while (0)
/* It fails with this errno, and a sentence. */
#define CHECK_NO_POOL(call, error)                                                                 \
	CHECK((call) == NULL && errno == (error) && rpmem_errormsg()[0] != '\0')

/* --- the setting, and pools in it --------------------------------------------------------- */

const char *setting(const char *name)
{
	const char *value = getenv(name);

	if (value == NULL)
		fail_msg("%s is not set", name);
	return value;
}

/* A directory of the case, in that of the daemon. */
static int set_up(void **state)
{
	alarm(LIMIT_S);
	setenv("TMPDIR", setting("RPMEM_ACCEPT_DIR"), 1);
	return scratch_setup(state) != 0 ? -1 : chmod(scratch, 0755);
}

#define CASE(name) TEST(name, set_up, scratch_teardown)

static const char *target(void)
{
	return setting("RPMEM_ACCEPT_TARGET");
}

/* The name of a pool set for the daemon, until the next call. */
static const char *set_name(const char *set)
{
	static char path[PATH_MAX];

	return scratch_path(set, path) + strlen(setting("RPMEM_ACCEPT_DIR")) + 1;
}

/* Writes a pool set; each %s stands for the directory of the case. */
static const char *set_write(const char *set, const char *lines)
{
	char text[2048];

	strcpy(text, "PMEMPOOLSET\n");
	snprintf(text + strlen(text), sizeof(text) - strlen(text), lines, scratch, scratch);
	scratch_write(set, text);
	return set_name(set);
}

static const char *set_of(enum kind kind)
{
	static const char *const lines[KINDS] = {
		"8M %s/a\n8M %s/b\n",
		"OPTION SINGLEHDR\n8M %s/a\n8M %s/b\n",
		"OPTION NOHDRS\n8M %s/a\n8M %s/b\n",
	};

	return set_write("my.set", lines[kind]);
}

const struct rpmem_pool_attr *kind_attr(enum kind kind)
{
	static struct rpmem_pool_attr attr = {
		.signature = "ACCEPT",
		.major = 3,
		.compat_features = 0x10,
		.poolset_uuid = "set's uuid",
		.uuid = "part's uuid",
		.next_uuid = "next uuid",
		.prev_uuid = "previous uuid",
		.user_flags = "flags of user",
	};

	attr.incompat_features = kind == SINGLEHDR;
	return kind == NOHDRS ? NULL : &attr;
}

static bool no_part_is_left(void)
{
	char a[PATH_MAX], b[PATH_MAX];

	return access(scratch_path("a", a), F_OK) != 0 && access(scratch_path("b", b), F_OK) != 0;
}

/* A file of this size, as this host sees it. */
static unsigned char *map_file(const char *file, size_t size)
{
	char path[PATH_MAX];
	const int fd = open(scratch_path(file, path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory;

	CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	close(fd);
	return memory;
}

unsigned char *memory_new(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

void fill(unsigned char *bytes, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i += sizeof(seed)) {
		const uint64_t random = test_random(&seed);

		memcpy(bytes + i, &random, count - i < sizeof(random) ? count - i : sizeof(random));
	}
}

/* One lane. */
static RPMEMpool *try_create(const char *set, void *memory, size_t size, enum kind kind)
{
	unsigned nlanes = 1;

	return rpmem_create(target(), set, memory, size, &nlanes, kind_attr(kind));
}

static RPMEMpool *try_open(const char *set, void *memory, size_t size)
{
	struct rpmem_pool_attr attr;
	unsigned nlanes = 1;

	return rpmem_open(target(), set, memory, size, &nlanes, &attr);
}

static RPMEMpool *created(enum kind kind, void *memory, size_t size)
{
	RPMEMpool *pool = try_create(set_of(kind), memory, size, kind);

	CHECK(pool != NULL);
	return pool;
}

static void remove_pool(void)
{
	CHECK(rpmem_remove(target(), set_name("my.set"), 0) == 0);
}

/* The pool has the bytes that were persisted. */
static void read_back(RPMEMpool *pool, const unsigned char *memory, size_t offset, size_t length)
{
	unsigned char *copy = memory_new(length);

	CHECK(rpmem_read(pool, copy, offset, length, 0) == 0);
	assert_memory_equal(copy, memory + offset, length);
	munmap(copy, length);
}

/* --- cases --------------------------------------------------------------------------------- */

/* The software device has no such limit: there the environment makes registrations fail. */
CASE(the_daemon_may_lock_too_little_memory)
{
	const char *verbs = getenv("RPMEM_ENABLE_VERBS");
	void *memory = memory_new(PART);

	if (verbs != NULL && strcmp(verbs, "0") == 0) {
		CHECK(rpmem_close(created(SINGLEHDR, memory, PART)) == 0);
		return;
	}
	CHECK_NO_POOL(try_create(set_of(SINGLEHDR), memory, PART, SINGLEHDR), EREMOTEIO);
	EQUAL((rpmem_errormsg(), HAS("ulimit -l")), (rpmem_errormsg(), HAS("16 MiB")),
	      (rpmem_errormsg(), HAS("64 KiB")), (no_part_is_left(), true));
}

/* A call that needs a descriptor fails as a whole, or not at all. */
CASE(too_few_descriptors)
{
	const struct rlimit limit = {256, 256};
	unsigned char *memory = memory_new(PART);
	int fds[256], count = 0, succeeded = 0;

	CHECK(rpmem_close(created(HEADERS, memory, PART)) == 0); /* the device stays open */
	remove_pool();
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	for (int spare = 0; spare < 40 && succeeded < 3; spare++) {
		unsigned nlanes = 4;
		RPMEMpool *pool = rpmem_create(target(), set_name("my.set"), memory, PART, &nlanes,
					       kind_attr(HEADERS));

		if (pool == NULL) {
			CHECK(errno == EMFILE && no_part_is_left());
		} else {
			succeeded++;
			CHECK(rpmem_close(pool) == 0);
			close(fds[--count]); /* remove has no need of more */
			remove_pool();
		}
		close(fds[--count]);
	}
	while (count > 0)
		close(fds[--count]);
	assert_int_equal(succeeded, 3);
}

CASE(two_pools_of_one_client)
{
	unsigned char *memory = memory_new(2 * PART);
	RPMEMpool *first, *second;

	first = try_create(set_write("1.set", "8M %s/1\n"), memory, PART, HEADERS);
	second = try_create(set_write("2.set", "8M %s/2\n"), memory + PART, PART, HEADERS);
	CHECK(first != NULL && second != NULL);
	fill(memory, 2 * PART, 3);
	CHECK(rpmem_persist(first, HEADER, PART - HEADER, 0, 0) == 0);
	CHECK(rpmem_close(first) == 0);
	CHECK(rpmem_persist(second, HEADER, PART - HEADER, 0, 0) == 0);
	read_back(second, memory + PART, PART - 4096, 4096);
	CHECK(rpmem_close(second) == 0);
	first = try_open(set_name("1.set"), memory + PART, PART);
	CHECK(first != NULL);
	read_back(first, memory, PART - 4096, 4096);
	CHECK(rpmem_close(first) == 0);
}

/* By both kinds of persists; what this host sees in the parts is what was written. */
CASE(persist_the_whole_pool)
{
	unsigned char *memory = map_file("local", 2 * PART);

	for (unsigned round = 0; round < 2 * KINDS; round++) {
		const enum kind kind = round / 2;
		/* the second part of a set without options has a header, too */
		const size_t skipped = kind == HEADERS ? HEADER : 0, size = 2 * PART - skipped;
		const size_t begin = kind == NOHDRS ? 0 : HEADER;
		RPMEMpool *pool = created(kind, memory, size);
		unsigned char *a = map_file("a", PART), *b = map_file("b", PART);

		fill(memory, size, round);
		CHECK(rpmem_persist(pool, begin, size - begin, 0,
				    round % 2 != 0 ? RPMEM_PERSIST_RELAXED : 0) == 0);
		assert_memory_equal(a + begin, memory + begin, PART - begin);
		assert_memory_equal(b + skipped, memory + PART, PART - skipped);
		munmap(a, PART);
		munmap(b, PART);
		CHECK(rpmem_close(pool) == 0);
		remove_pool();
	}
}

/* Takes minutes. */
CASE(more_than_4_gib_in_a_call)
{
	const size_t large = ((size_t)4 << 30) + 2 * MIB;
	unsigned char *memory = map_file("local", large); /* sparse */
	RPMEMpool *pool = try_create(set_write("my.set", "4098M %s/a\n"), memory, large, HEADERS);
	unsigned char *copy = memory_new(MIB);

	CHECK(pool != NULL);
	for (size_t at = HEADER; at < large; at += 512 * MIB)
		fill(memory + at, 8, at);
	fill(memory + large - MIB, MIB, 1);
	CHECK(rpmem_persist(pool, HEADER, large - HEADER, 0, RPMEM_PERSIST_RELAXED) == 0);
	for (size_t at = HEADER; at < large; at += 512 * MIB)
		read_back(pool, memory, at, 8);
	read_back(pool, memory, large - MIB, MIB);
	memcpy(copy, memory + large - MIB, MIB);
	CHECK(rpmem_read(pool, memory + HEADER, HEADER, large - HEADER, 0) == 0);
	assert_memory_equal(memory + large - MIB, copy, MIB);
	CHECK(rpmem_close(pool) == 0);
}

CASE(a_pool_on_device_dax)
{
	const char *device = getenv("RPMEM_ACCEPT_DEVDAX"), *set;
	unsigned char *memory = memory_new(PART);
	RPMEMpool *pool;
	char lines[256];

	if (device == NULL) {
		print_message("there is no device DAX to overwrite\n");
		skip();
	}
	snprintf(lines, sizeof(lines), "AUTO %s\n", device);
	set = set_write("my.set", lines);
	rpmem_remove(target(), set, RPMEM_REMOVE_FORCE);
	for (unsigned round = 0; round < 2; round++) { /* remove makes room for the next */
		pool = try_create(set, memory, PART, HEADERS);
		CHECK(pool != NULL);
		fill(memory, PART, round);
		CHECK(rpmem_persist(pool, HEADER, PART / 2, 0, 0) == 0);
		CHECK(rpmem_persist(pool, PART / 2, PART / 2, 0, RPMEM_PERSIST_RELAXED) == 0);
		CHECK(rpmem_deep_persist(pool, HEADER, PART - HEADER, 0) == 0);
		CHECK_NO_POOL(try_open(set, memory, PART), EBUSY);
		CHECK(rpmem_close(pool) == 0);
		CHECK_NO_POOL(try_create(set, memory, PART, HEADERS), EEXIST);
		pool = try_open(set, memory, PART);
		CHECK(pool != NULL);
		read_back(pool, memory, HEADER, PART - HEADER);
		CHECK(rpmem_close(pool) == 0);
		remove_pool();
		CHECK_NO_POOL(try_open(set, memory, PART), EINVAL);
	}
}
