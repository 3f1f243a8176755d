/* SPDX-License-Identifier: BSD-3-Clause */
/* accept_setting.c -- pool sets, memory, parts and daemons of a case. */
#include "accept.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/lib/random.h"

/* --- checks ------------------------------------------------------------------------- */

_Noreturn void accept_fail(const char *file, int line, const char *what)
{
	const int error = errno;

	printf("%s:%d: %s: errno %d (%s), message '%s'\n", strrchr(file, '/') + 1, line, what,
	       error, strerrorname_np(error), rpmem_errormsg());
	exit(EXIT_FAILURE);
}

void accept_errno(const char *file, int line, const char *call, int result, int expected)
{
	char what[512];

	if (result == -1 && errno == expected && rpmem_errormsg()[0] != '\0')
		return;
	snprintf(what, sizeof(what), "%s gave %d, expected %s", call, result,
		 strerrorname_np(expected));
	accept_fail(file, line, what);
}

_Noreturn void accept_skip(const char *why)
{
	printf("skip %s: %s\n", setting("RPMEM_ACCEPT_CASE"), why);
	exit(ACCEPT_SKIPPED);
}

/* --- names -------------------------------------------------------------------------- */

const char *setting(const char *name)
{
	const char *value = getenv(name);

	if (value != NULL)
		return value;
	fprintf(stderr, "accept: %s is not set\n", name);
	exit(EXIT_FAILURE);
}

const char *target(void)
{
	return setting("RPMEM_ACCEPT_TARGET");
}

bool over_tcp(void)
{
	const char *verbs = getenv("RPMEM_ENABLE_VERBS");

	return verbs != NULL && strcmp(verbs, "0") == 0;
}

const char *path_of(const char *file)
{
	static char paths[64][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % COUNT(paths)];

	snprintf(path, PATH_MAX, "%s/%s/%s", setting("RPMEM_ACCEPT_DIR"),
		 setting("RPMEM_ACCEPT_CASE"), file);
	return path;
}

const char *name_of(const char *file)
{
	return path_of(file) + strlen(setting("RPMEM_ACCEPT_DIR")) + 1;
}

static void write_lines(const char *file, const char *lines)
{
	const char *path = path_of(file), *directory = path_of("");
	FILE *out = fopen(path, "we");

	CHECK(out != NULL);
	for (; *lines != '\0'; lines++) {
		if (*lines == '@')
			fprintf(out, "%.*s", (int)strlen(directory) - 1, directory);
		else
			fputc(*lines, out);
	}
	CHECK(fclose(out) == 0);
}

const char *set_write(const char *file, const char *lines)
{
	char text[2048];

	snprintf(text, sizeof(text), "PMEMPOOLSET\n%s", lines);
	write_lines(file, text);
	return name_of(file);
}

bool file_exists(const char *file)
{
	return access(path_of(file), F_OK) == 0;
}

off_t file_size(const char *file)
{
	struct stat st;

	return stat(path_of(file), &st) == 0 ? st.st_size : -1;
}

void no_part_is_left(void)
{
	CHECK(!file_exists("a"));
	CHECK(!file_exists("b"));
}

/* --- kinds -------------------------------------------------------------------------- */

/* The second part of a set without options has a header, too. */
static size_t skipped(enum kind kind)
{
	return kind == HEADERS ? HEADER : 0;
}

size_t kind_size(enum kind kind)
{
	return 2 * PART - skipped(kind);
}

size_t kind_begin(enum kind kind)
{
	return kind == NOHDRS ? 0 : HEADER;
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

const char *set_of(enum kind kind)
{
	static const char *const lines[KINDS] = {
		"8M @/a\n8M @/b\n",
		"OPTION SINGLEHDR\n8M @/a\n8M @/b\n",
		"OPTION NOHDRS\n8M @/a\n8M @/b\n",
	};

	return set_write("my.set", lines[kind]);
}

/* --- pools -------------------------------------------------------------------------- */

/* What a case does not free stays reachable until its process ends: it is not a leak. */
unsigned char *heap(size_t size)
{
	static unsigned char *kept[256];
	static unsigned count;
	unsigned char *memory = aligned_alloc(PAGE, size);

	CHECK(memory != NULL && count < COUNT(kept));
	kept[count++] = memory;
	memset(memory, 0, size);
	return memory;
}

unsigned char *file_memory(size_t size)
{
	int fd = open(path_of("local"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory;

	CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	close(fd);
	return memory;
}

RPMEMpool *try_create(const char *set, void *memory, size_t size,
		      const struct rpmem_pool_attr *attr)
{
	unsigned nlanes = 1;

	return rpmem_create(target(), set, memory, size, &nlanes, attr);
}

RPMEMpool *try_open(const char *set, void *memory, size_t size)
{
	struct rpmem_pool_attr attr;
	unsigned nlanes = 1;

	return rpmem_open(target(), set, memory, size, &nlanes, &attr);
}

RPMEMpool *create_pool(enum kind kind, void *memory, size_t size)
{
	RPMEMpool *pool = try_create(set_of(kind), memory, size, kind_attr(kind));

	CHECK(pool != NULL);
	return pool;
}

RPMEMpool *open_pool(void *memory, size_t size)
{
	RPMEMpool *pool = try_open(name_of("my.set"), memory, size);

	CHECK(pool != NULL);
	return pool;
}

void close_pool(RPMEMpool *pool)
{
	CHECK(rpmem_close(pool) == 0);
}

/* --- the far side --------------------------------------------------------------------- */

static unsigned char *map_part(const char *file)
{
	int fd = open(path_of(file), O_RDWR | O_CLOEXEC);
	void *memory;

	CHECK(fd >= 0);
	memory = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	close(fd);
	return memory;
}

struct remote remote_map(void)
{
	return (struct remote){{map_part("a"), map_part("b")}};
}

void remote_copy(const struct remote *remote, enum kind kind, unsigned char *bytes)
{
	memcpy(bytes, remote->part[0], PART);
	memcpy(bytes + PART, remote->part[1] + skipped(kind), PART - skipped(kind));
	munmap(remote->part[0], PART);
	munmap(remote->part[1], PART);
}

void fill(unsigned char *bytes, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i += sizeof(seed)) {
		const uint64_t random = test_random(&seed);

		memcpy(bytes + i, &random, count - i < sizeof(random) ? count - i : sizeof(random));
	}
}

void compare(const unsigned char *bytes, const unsigned char *expected, size_t count)
{
	size_t at = 0;

	if (memcmp(bytes, expected, count) == 0)
		return;
	while (bytes[at] == expected[at])
		at++;
	printf("byte %zu of %zu is 0x%02x, expected 0x%02x\n", at, count, bytes[at], expected[at]);
	exit(EXIT_FAILURE);
}
