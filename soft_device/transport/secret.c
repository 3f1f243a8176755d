/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.c -- see secret.h. The process does not begin with a secret that it cannot use. */
#include "secret.h"

#include <errno.h>
#include <fcntl.h>
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

/* `where`: where the user gave it. 0 or -EINVAL. */
static int take(const char *where, const char *bytes, size_t length)
{
	if (length > 0 && bytes[length - 1] == '\n')
		length--;
	if (length < SECRET_BYTES_MIN || length > SECRET_BYTES_MAX) {
		process_warn("no device: %s: a secret of %zu bytes, expected %d to %d", where,
			     length, SECRET_BYTES_MIN, SECRET_BYTES_MAX);
		return -EINVAL;
	}
	memcpy(secret.bytes, bytes, length);
	secret.length = length;
	return 0;
}

/* No other user may read it, or have written it. 0 or -EACCES. */
static int check_file(const char *name, int fd)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    (status.st_mode & 077) == 0)
		return 0;
	process_warn("no device: secret:%s: expected a file of this user with mode 0600", name);
	return -EACCES;
}

static int read_file(const char *name)
{
	char bytes[SECRET_BYTES_MAX + 2]; /* a newline; and one more shows that it is too long */
	ssize_t length;
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int error;

	if (fd < 0) {
		error = -errno;
		process_warn("no device: secret:%s: %s", name, strerror(-error));
		return error;
	}
	error = check_file(name, fd);
	if (error == 0) {
		length = read(fd, bytes, sizeof(bytes));
		error = length < 0 ? -errno : take(name, bytes, (size_t)length);
	}
	close(fd);
	explicit_bzero(bytes, sizeof(bytes));
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
