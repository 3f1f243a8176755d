/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_secret.c -- where the secret of a process comes from: what is taken, and what is refused in
 * which words.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft_device/process/process.h"
#include "soft_device/transport/secret.h"
#include "tests/lib/test.h"

#define SECRET	"a secret that two hosts share"
#define FILE_OF "secret"
#define MINE	", expected a file of this user with mode 0600"

static char warned[256];
static void (*before_read)(void); /* once */
static uid_t user;		  /* not 0: this process's */

void process_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(warned, sizeof(warned), format, args);
	va_end(args);
}

ssize_t __real_read(int fd, void *bytes, size_t length);
uid_t __real_geteuid(void);

ssize_t __wrap_read(int fd, void *bytes, size_t length)
{
	void (*hook)(void) = before_read;

	before_read = NULL;
	if (hook != NULL)
		hook();
	return __real_read(fd, bytes, length);
}

uid_t __wrap_geteuid(void)
{
	return user != 0 ? user : __real_geteuid();
}

static int begin(const char *text, const char *file)
{
	struct process process = {0};

	warned[0] = '\0';
	snprintf(process.options.secret, sizeof(process.options.secret), "%s",
		 file != NULL ? file : "");
	if (text != NULL)
		setenv("RPMA_SOFT_SECRET", text, 1);
	else
		unsetenv("RPMA_SOFT_SECRET");
	return secret_part.begin(&process);
}

static void expect_refused(int error, const char *words)
{
	assert_int_equal(begin(NULL, FILE_OF), error);
	assert_string_equal(warned, words);
	assert_false(secret_is_set());
}

static void put(const char *text, size_t length)
{
	FILE *file = fopen(FILE_OF, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(FILE_OF, 0600), 0);
}

static void put_bytes(size_t length)
{
	char *bytes = malloc(length + 1);

	assert_non_null(bytes);
	memset(bytes, 's', length);
	put(bytes, length);
	free(bytes);
}

static int setup(void **state)
{
	static char folder[32];

	strcpy(folder, "/tmp/rpma-secret-XXXXXX");
	*state = mkdtemp(folder);
	return *state == NULL || chdir(folder) != 0;
}

static int teardown(void **state)
{
	before_read = NULL;
	user = 0;
	unlink(FILE_OF);
	return chdir("/") != 0 || rmdir(*state) != 0;
}

TEST(variable__has_a_least_length, setup, teardown)
{
	assert_int_equal(begin("fifteen bytes..", NULL), -EINVAL);
	assert_string_equal(
		warned, "no device: RPMA_SOFT_SECRET: a secret of 15 bytes, expected 16 to 1024");
	assert_false(secret_is_set());
	assert_int_equal(begin("", NULL), -EINVAL);
	assert_int_equal(begin(NULL, NULL), 0);
	assert_false(secret_is_set());
}

TEST(variable__and_file_are_one_too_many, setup, teardown)
{
	put_bytes(20);
	assert_int_equal(begin(SECRET, FILE_OF), -EINVAL);
	assert_non_null(strstr(warned, "expected one of them"));
}

/* The newline of an editor is not part of it. */
TEST(file__has_the_same_secret_as_the_variable, setup, teardown)
{
	unsigned char proofs[2][WIRE_PROOF_BYTES];

	put(SECRET "\n", strlen(SECRET "\n"));
	assert_int_equal(begin(NULL, FILE_OF), 0);
	secret_prove("x", 1, proofs[0]);
	assert_int_equal(begin(SECRET, NULL), 0);
	secret_prove("x", 1, proofs[1]);
	assert_memory_equal(proofs[0], proofs[1], WIRE_PROOF_BYTES);
}

TEST(file__has_a_least_and_a_greatest_length, setup, teardown)
{
	put_bytes(0);
	expect_refused(-EINVAL,
		       "no device: secret:secret: a secret of 0 bytes, expected 16 to 1024");
	put_bytes(1025);
	expect_refused(-EINVAL,
		       "no device: secret:secret: a secret of 1025 bytes, expected 16 to 1024");
	put_bytes(1 << 20);
	expect_refused(-EINVAL,
		       "no device: secret:secret: a secret of 1048576 bytes, expected 16 to 1024");
	put_bytes(1024);
	assert_int_equal(begin(NULL, FILE_OF), 0);
	put_bytes(16);
	assert_int_equal(begin(NULL, FILE_OF), 0);
}

TEST(file__is_for_its_user_alone, setup, teardown)
{
	static const struct {
		mode_t mode;
		int result;
	} cases[] = {{0600, 0}, {0400, 0}, {0640, -EACCES}, {0604, -EACCES}, {0620, -EACCES}};

	put_bytes(20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(chmod(FILE_OF, cases[i].mode), 0);
		assert_int_equal(begin(NULL, FILE_OF), cases[i].result);
		assert_int_equal(secret_is_set(), cases[i].result == 0);
		assert_string_equal(
			warned,
			cases[i].result == 0
				? ""
				: "no device: secret:secret may be used by other users" MINE);
	}
	assert_int_equal(chmod(FILE_OF, 0600), 0);
	user = geteuid() + 1;
	expect_refused(-EACCES, "no device: secret:secret belongs to another user" MINE);
}

/* A pipe without a writer would be waited for without end. */
TEST(file__is_a_regular_one, setup, teardown)
{
	assert_int_equal(mkfifo(FILE_OF, 0600), 0);
	expect_refused(-EACCES, "no device: secret:secret is not a regular file" MINE);
	assert_int_equal(unlink(FILE_OF), 0);
	assert_int_equal(mkdir(FILE_OF, 0700), 0);
	expect_refused(-EACCES, "no device: secret:secret is a directory" MINE);
	assert_int_equal(rmdir(FILE_OF), 0);
	assert_int_equal(symlink("nowhere", FILE_OF), 0);
	expect_refused(-ENOENT, "no device: secret:secret: No such file or directory");
}

static void write_as_many(void)
{
	put_bytes(20);
}

static void write_fewer(void)
{
	put_bytes(16);
}

static void write_more(void)
{
	put_bytes(1024);
}

TEST(file__does_not_change_while_it_is_read, setup, teardown)
{
	static void (*const writers[])(void) = {write_as_many, write_fewer, write_more};
	const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		put_bytes(20);
		assert_int_equal(utimensat(AT_FDCWD, FILE_OF, long_ago, 0), 0);
		before_read = writers[i];
		expect_refused(-EBUSY, "no device: secret:secret changed while it was read");
	}
	assert_int_equal(begin(NULL, FILE_OF), 0);
}
