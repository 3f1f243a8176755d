/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.c -- see secret.h. The process does not begin with a secret that it cannot use. */
#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "soft_device/process/process.h"

#define VARIABLE "RPMA_SOFT_SECRET"

static struct {
	unsigned char bytes[SECRET_BYTES_MAX];
	size_t length; /* 0: there is none */
} secret;

bool secret_is_set(void)
{
	return secret.length > 0;
}

void secret_prove(const void *bytes, size_t length, unsigned char proof[WIRE_PROOF_BYTES])
{
	struct hmac_sha256_ctx hmac;

	hmac_sha256_set_key(&hmac, secret.length, secret.bytes);
	hmac_sha256_update(&hmac, length, bytes);
	hmac_sha256_digest(&hmac, WIRE_PROOF_BYTES, proof);
}

bool secret_proofs_equal(const unsigned char a[WIRE_PROOF_BYTES],
			 const unsigned char b[WIRE_PROOF_BYTES])
{
	return memeql_sec(a, b, WIRE_PROOF_BYTES) != 0;
}

/* `where`: where the user gave it. */
static int refuse_length(const char *where, size_t length)
{
	process_warn("no device: %s: a secret of %zu bytes, expected %d to %d", where, length,
		     SECRET_BYTES_MIN, SECRET_BYTES_MAX);
	return -EINVAL;
}

/* 0 or -EINVAL. */
static int take(const char *where, const char *bytes, size_t length)
{
	if (length > 0 && bytes[length - 1] == '\n')
		length--;
	if (length < SECRET_BYTES_MIN || length > SECRET_BYTES_MAX)
		return refuse_length(where, length);
	memcpy(secret.bytes, bytes, length);
	secret.length = length;
	return 0;
}

/* The reason to refuse it: no other user may read it, or have written it. NULL: none. */
static const char *fault_of(const struct stat *file)
{
	if (S_ISDIR(file->st_mode))
		return "is a directory";
	if (!S_ISREG(file->st_mode))
		return "is not a regular file";
	if (file->st_uid != geteuid())
		return "belongs to another user";
	if ((file->st_mode & 077) != 0)
		return "may be used by other users";
	return NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Half of an old secret and half of a new one would be a third. */
static int read_whole(const char *name, int fd, const struct stat *before)
{
	char bytes[SECRET_BYTES_MAX + 1]; /* and a newline */
	struct stat after;
	ssize_t length;
	int error;

	if (before->st_size > (off_t)sizeof(bytes))
		return refuse_length(name, (size_t)before->st_size);
	length = read(fd, bytes, sizeof(bytes));
	if (length < 0 || fstat(fd, &after) != 0) {
		error = -errno;
		process_warn("no device: %s: %s", name, strerror(-error));
	} else if (length != before->st_size || !is_same(before, &after)) {
		error = -EBUSY;
		process_warn("no device: %s changed while it was read", name);
	} else {
		error = take(name, bytes, (size_t)length);
	}
	explicit_bzero(bytes, sizeof(bytes));
	return error;
}

static int read_file(const char *path)
{
	char name[SOFT_WORD_MAX + sizeof("secret:")];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *fault;
	struct stat file;
	int error = 0;

	snprintf(name, sizeof(name), "secret:%s", path);
	if (fd < 0 || fstat(fd, &file) != 0) {
		error = -errno;
		process_warn("no device: %s: %s", name, strerror(-error));
	} else if ((fault = fault_of(&file)) != NULL) {
		error = -EACCES;
		process_warn("no device: %s %s, expected a file of this user with mode 0600", name,
			     fault);
	} else {
		error = read_whole(name, fd, &file);
	}
	if (fd >= 0)
		close(fd);
	return error;
}

static int begin(struct process *process)
{
	const char *text = getenv(VARIABLE), *file = process->options.secret;

	secret.length = 0;
	if (text != NULL && file[0] != '\0') {
		process_warn("no device: secret:%s and " VARIABLE ": expected one of them", file);
		return -EINVAL;
	}
	if (file[0] != '\0')
		return read_file(file);
	return text != NULL ? take(VARIABLE, text, strlen(text)) : 0;
}

const struct process_part secret_part = {.begin = begin};
