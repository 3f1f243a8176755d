/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.c -- one line a repeat, appended with one write and synced.
 *
 * Killed at any moment, a run leaves whole lines and at most one torn at the
 * end, which is dropped. A lock keeps a second run out.
 */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/json/json_path.h"
#include "journal_line.h"

struct journal {
	char *path;
	int fd;	      /* locked */
	off_t length; /* length of the whole lines */
	size_t repeats;
	bool resumed;
	bool started; /* and so ours to remove */
	json_t *head; /* set in a resumed one; owned */
};

static int out_of_memory(void)
{
	return failure_set(EXIT_INTERNAL, "journal", "out of memory");
}

static int failed(const struct journal *j, const char *what, int error)
{
	return failure_set(EXIT_RUN_FAILED, "journal", "cannot %s the journal %s: %s", what,
			   j->path, strerror(error));
}

static void free_journal(struct journal *j)
{
	if (j == NULL)
		return;
	if (j->fd >= 0)
		close(j->fd); /* and unlocks */
	json_decref(j->head);
	free(j->path);
	free(j);
}

/* A lock of a file that was removed meanwhile is worth nothing: try again. */
static int open_locked(struct journal *j, int flags)
{
	struct stat mine, named;

	for (;;) {
		j->fd = open(j->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0644);
		if (j->fd < 0)
			return failed(j, "open", errno);
		if (fstat(j->fd, &mine) != 0 || !S_ISREG(mine.st_mode))
			return failure_set(EXIT_RUN_FAILED, "journal",
					   "the journal %s is not a regular file", j->path);
		if (flock(j->fd, LOCK_EX | LOCK_NB) != 0)
			return failure_set(EXIT_RUN_FAILED, "journal",
					   "another run is writing the journal %s", j->path);
		if (stat(j->path, &named) == 0 && named.st_ino == mine.st_ino &&
		    named.st_dev == mine.st_dev)
			return 0;
		close(j->fd);
		j->fd = -1;
	}
}

/* NULL with the error message set. */
static struct journal *open_new(const char *output, int flags)
{
	struct journal *j = calloc(1, sizeof(*j));

	if (j == NULL || asprintf(&j->path, "%s.jsonl", output) < 0) {
		free(j);
		out_of_memory();
		return NULL;
	}
	j->fd = -1;
	if (open_locked(j, flags) == 0)
		return j;
	free_journal(j);
	return NULL;
}

static int damaged(const struct journal *j, size_t line, const char *why)
{
	return failure_set(EXIT_RUN_FAILED, "journal",
			   "line %zu of the journal %s is not what a run of this tool wrote: %s",
			   line, j->path, why);
}

static int damaged_head(const struct journal *j)
{
	return damaged(j, 1, "expected " JOURNAL_SCHEMA " with the run_id and the seed of a run");
}

/* Reads the lines from the first; a stream of its own, so that j->fd stays open. */
struct reader {
	FILE *file;
	char *line;
	size_t room;
	size_t number; /* the current line's, from 1 */
};

static int reader_open(struct reader *reader, struct journal *j)
{
	int fd = dup(j->fd);

	*reader = (struct reader){.file = fd >= 0 ? fdopen(fd, "r") : NULL};
	j->length = 0;
	if (reader->file == NULL) {
		int error = errno;

		if (fd >= 0)
			close(fd);
		return failed(j, "read", error);
	}
	rewind(reader->file);
	return 0;
}

static void reader_close(struct reader *reader)
{
	free(reader->line);
	fclose(reader->file);
}

/* The next whole line as JSON: 1; 0 at the end, or at a torn line. */
static int next_line(struct reader *reader, struct journal *j, json_t **value)
{
	ssize_t n = getline(&reader->line, &reader->room, reader->file);

	if (n < 0 && !feof(reader->file))
		return failed(j, "read", errno);
	/* at the end of the file the buffer is left as it was allocated */
	if (n < 0 && reader->line != NULL)
		reader->line[0] = '\0';
	if (n <= 0 || reader->line[n - 1] != '\n')
		return 0;
	j->length += n;
	reader->number++;
	*value = json_loadb(reader->line, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	return *value != NULL ? 1 : damaged(j, reader->number, "expected JSON");
}

/* Puts the repeat of a line where it belongs. */
static bool take_line(const json_t *line, const struct plan *plan, json_t **repeats,
		      char why[SCHEMA_WHY_MAX])
{
	json_t *repeat = json_object_get(line, "repeat"), *index = json_object_get(repeat, "index");
	const json_t *other;
	size_t p, i;

	if (!journal_line_good(line, plan, why))
		return false;
	p = (size_t)path_whole(line, "point");
	snprintf(why, SCHEMA_WHY_MAX, "expected each repeat once");
	json_array_foreach(repeats[p], i, other) {
		if (json_equal(json_object_get(other, "index"), index))
			return false;
	}
	if (repeats[p] == NULL)
		repeats[p] = json_array();
	return json_array_append(repeats[p], repeat) == 0;
}

/* Everything after the head; then nothing torn is left at the end. */
static int take_repeats(struct journal *j, const struct plan *plan, json_t **repeats)
{
	char why[SCHEMA_WHY_MAX];
	struct reader reader;
	json_t *value = NULL;
	size_t taken = 0;
	int ret = reader_open(&reader, j);

	if (ret)
		return ret;
	while ((ret = next_line(&reader, j, &value)) > 0) {
		bool good = reader.number == 1 || take_line(value, plan, repeats, why);

		json_decref(value);
		if (!good) {
			ret = damaged(j, reader.number, why);
			break;
		}
		taken = reader.number - 1;
	}
	reader_close(&reader);
	if (ret == 0 && ftruncate(j->fd, j->length) != 0)
		ret = failed(j, "repair", errno);
	j->repeats = taken;
	return ret;
}

/*
 * Reads the head that the file has already, NULL for an empty file and for a
 * head of ours that is torn; tells if there is more.
 */
static int read_head(struct journal *j, bool *more)
{
	static const char begin[] = "{\"schema\":\"" JOURNAL_SCHEMA "\",";
	struct reader reader;
	json_t *value = NULL;
	size_t torn;
	int ret = reader_open(&reader, j);

	if (ret)
		return ret;
	ret = next_line(&reader, j, &j->head);
	torn = reader.line != NULL ? strlen(reader.line) : 0;
	if (ret == 0 && feof(reader.file) && torn > 0 &&
	    strncmp(reader.line, begin, torn < strlen(begin) ? torn : strlen(begin)) != 0)
		ret = damaged_head(j);
	*more = ret == 1 && next_line(&reader, j, &value) != 0;
	json_decref(value);
	reader_close(&reader);
	return ret < 0 ? ret : 0;
}

int journal_resume(struct journal **journal, const struct options *options, struct journal_run *run)
{
	char path[PATH_MAX];
	struct journal *j;
	bool more;
	int ret;

	*journal = NULL;
	snprintf(path, sizeof(path), "%s.jsonl", options->output);
	if (access(path, F_OK) != 0)
		return failure_set(EXIT_RUN_FAILED, "journal",
				   "nothing to resume: there is no %s, which an interrupted run of "
				   "-o %s leaves",
				   path, options->output);
	j = open_new(options->output, 0);
	if (j == NULL)
		return -EIO;
	ret = read_head(j, &more);
	if (ret == 0 && !journal_head_read(j->head, run))
		ret = damaged_head(j);
	if (ret) {
		free_journal(j);
		return ret;
	}
	j->resumed = true;
	*journal = j;
	return 0;
}

/* One write, so that a line is there or is the torn last one. */
static int append(struct journal *j, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
	size_t length = text != NULL ? strlen(text) : 0;
	ssize_t written;
	int ret = 0;

	if (text == NULL)
		return out_of_memory();
	text[length++] = '\n'; /* in place of its end */
	written = TEMP_FAILURE_RETRY(write(j->fd, text, length));
	free(text);
	if (written != (ssize_t)length)
		ret = failed(j, "write", written < 0 ? errno : ENOSPC);
	else if (fdatasync(j->fd) != 0)
		ret = failed(j, "write", errno);
	else
		j->length += written;
	/* the next line must not begin in the middle of this one */
	if (ret && ftruncate(j->fd, j->length) != 0)
		ret = failed(j, "repair", errno);
	return ret;
}

/* The name of a new file outlives the machine's power once its directory is on disk. */
static int sync_directory(const struct journal *j)
{
	char *copy = strdup(j->path);
	int fd = copy != NULL ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int ret = fd >= 0 ? fsync(fd) : 0;

	free(copy);
	if (fd >= 0)
		close(fd);
	return ret == 0 ? 0 : failed(j, "write", errno);
}

static int begin(struct journal *j, const json_t *head)
{
	struct journal_run other;
	bool more;
	int ret = read_head(j, &more);

	if (ret)
		return ret;
	if (j->head != NULL && !journal_head_read(j->head, &other))
		return damaged_head(j);
	if (more)
		return failure_set(EXIT_RUN_FAILED, "journal",
				   "%s holds what an interrupted run measured: --resume continues "
				   "it, removing it loses it",
				   j->path);
	j->started = true;
	j->length = 0;
	if (ftruncate(j->fd, 0) != 0)
		return failed(j, "write", errno);
	ret = append(j, head);
	return ret ? ret : sync_directory(j);
}

static int go_on(struct journal *j, const json_t *head, const struct options *o,
		 const struct plan *plan, json_t **repeats)
{
	char difference[JOURNAL_DIFFERENCE_MAX];
	int ret;

	if (journal_head_same(j->head, head, difference)) {
		ret = take_repeats(j, plan, repeats);
		j->started = ret == 0;
		return ret;
	}
	return failure_set(EXIT_WRONG_USAGE, "journal",
			   "--resume %s: options differ from those of the saved run: %s", o->output,
			   difference);
}

int journal_start(struct journal **journal, const struct options *options,
		  const struct journal_run *run, const struct plan *plan, json_t **repeats,
		  size_t *resumed)
{
	struct journal *j = *journal;
	json_t *head;
	int ret;

	*resumed = 0;
	if (options->output == NULL)
		return 0;
	if (j == NULL)
		j = open_new(options->output, O_CREAT);
	if (j == NULL)
		return -EIO;
	*journal = j;
	head = journal_head_make(options, run, plan);
	if (head == NULL)
		return out_of_memory();
	ret = j->resumed ? go_on(j, head, options, plan, repeats) : begin(j, head);
	json_decref(head);
	if (ret == 0)
		*resumed = j->repeats;
	return ret;
}

int journal_add(struct journal *journal, size_t point, const json_t *repeat)
{
	json_t *line;
	int ret;

	if (journal == NULL || !json_is_true(json_object_get(repeat, "complete")))
		return 0;
	line = json_pack("{s:I, s:O}", "point", (json_int_t)point, "repeat",
			 (json_t *)(uintptr_t)repeat);
	if (line == NULL)
		return out_of_memory();
	ret = append(journal, line);
	json_decref(line);
	journal->repeats += ret == 0;
	return ret;
}

void journal_close(struct journal **journal, bool done)
{
	struct journal *j = *journal;

	/* while it is still locked */
	if (j != NULL && j->started && (done || j->repeats == 0))
		unlink(j->path);
	free_journal(j);
	*journal = NULL;
}

const char *journal_path(const struct journal *journal)
{
	return journal != NULL && journal->repeats > 0 ? journal->path : NULL;
}
