/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c -- how a job of either role speaks to its user, fails and is told to end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "job.h"
#include "options.h"

void job_say(const struct thread_data *td, const char *text)
{
	fprintf(stderr, "librpma: %s: %s\n", td->o.name, text);
}

int job_file_name(const struct thread_data *td, const char *file, char *name, size_t size)
{
	int length = options_numjobs(td) > 1
			     ? snprintf(name, size, "%s.%u", file, td->subjob_number)
			     : snprintf(name, size, "%s", file);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int job_failed(struct thread_data *td)
{
	const struct failure *failure = failure_get();
	int error = failure->code == EXIT_WRONG_USAGE ? EINVAL : EIO;

	if (!td->terminate)
		job_say(td, failure->text);
	if (!td->error) {
		td->error = error;
		snprintf(td->verror, sizeof(td->verror), "librpma: %s", strerror(error));
	}
	return error;
}

bool job_stopped(void *arg)
{
	struct thread_data *td = arg;

	if (td->update_rusage) {
		td->update_rusage = 0;
		update_rusage_stat(td);
		fio_sem_up(td->rusage_sem);
	}
	return td->terminate;
}
