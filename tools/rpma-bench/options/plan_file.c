/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_file.c -- a plan from JSON, through the parsers of the command line.
 *
 * Every value becomes the text that its option would have; so ranges, limits
 * and error messages are the same in both places. The file may come from anybody:
 * its size, its lists and its series are bounded before anything is made.
 */
#include "tables.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/text_writer.h"
#include "options.h"

#define FILE_MAX     (1 << 20)
#define SERIES_MAX   256
#define TEXT_MAX     8192 /* limit of one value, in the form an option has */
#define POSITION_MAX 64

/* Text of the file may be in the error message: no control characters for a terminal. */
static int wrong(const char *path, const char *position, const char *what)
{
	int ret = failure_set(EXIT_WRONG_USAGE, "plan", "%s: %s%s%s", path, position,
			      position[0] != '\0' ? ": " : "", what);

	text_replace_controls(failure_get()->text);
	return ret;
}

/* Puts the position before the error message of a parser, less the dashes of its option. */
static int wrong_value(const char *path, const char *position)
{
	struct failure inner = *failure_get();
	const char *text = inner.text;

	if (inner.code != EXIT_WRONG_USAGE)
		return -EIO;
	return wrong(path, position, strncmp(text, "--", 2) == 0 ? text + 2 : text);
}

static int cannot_read(const char *path, const char *cause)
{
	return failure_set(EXIT_RUN_FAILED, "plan", "cannot read the plan %s: %s", path, cause);
}

/* *length is at most FILE_MAX. */
static int read_all(const char *path, int fd, char *bytes, size_t *length)
{
	ssize_t n = 0;

	for (*length = 0; *length <= FILE_MAX; *length += (size_t)n) {
		n = read(fd, bytes + *length, FILE_MAX + 1 - *length);
		if (n <= 0)
			break;
	}
	if (n < 0)
		return cannot_read(path, strerror(errno));
	return *length <= FILE_MAX ? 0 : wrong(path, "", "expected a plan of at most 1 MiB");
}

/* A regular file alone: nothing that could make this wait. */
static int read_file(const char *path, char *bytes, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st = {0};
	int ret;

	if (fd < 0)
		return cannot_read(path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		ret = cannot_read(path, "expected a regular file");
	else
		ret = read_all(path, fd, bytes, length);
	close(fd);
	return ret;
}

/* Has standard input begin again, with a copy where it is a pipe. */
static int rewind_input(off_t begin, const char *bytes, size_t length)
{
	int fd = -1, ret = 0;

	if (begin >= 0)
		return lseek(STDIN_FILENO, begin, SEEK_SET) < 0 ? -errno : 0;
	fd = memfd_create("plan", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) < 0 ||
	    dup2(fd, STDIN_FILENO) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The program may start again, under the software device, and then reads the plan once more. */
static int read_input(const char *path, char *bytes, size_t *length)
{
	const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int ret = read_all(path, STDIN_FILENO, bytes, length);

	if (ret)
		return ret;
	ret = rewind_input(begin, bytes, *length);
	return ret ? cannot_read(path, strerror(-ret)) : 0;
}

/* Appends what stands for one scalar on a command line; -EINVAL: it cannot. */
static int append_scalar(char *text, const json_t *value)
{
	size_t used = strlen(text), room = TEXT_MAX - used;
	int length;

	if (json_is_string(value))
		length = snprintf(text + used, room, "%s", json_string_value(value));
	else if (json_is_integer(value))
		length = snprintf(text + used, room, "%" JSON_INTEGER_FORMAT,
				  json_integer_value(value));
	else if (json_is_real(value))
		length = snprintf(text + used, room, "%.15g", json_real_value(value));
	else if (json_is_boolean(value))
		length = snprintf(text + used, room, "%s", json_is_true(value) ? "yes" : "no");
	else
		return -EINVAL;
	return (size_t)length < room ? 0 : -EINVAL;
}

static int to_text(const json_t *value, bool lists, char text[TEXT_MAX])
{
	const json_t *item;
	size_t i;

	text[0] = '\0';
	if (!json_is_array(value))
		return append_scalar(text, value);
	if (!lists || json_array_size(value) == 0)
		return -EINVAL;
	json_array_foreach(value, i, item) {
		size_t used = strlen(text);

		if (i > 0 && snprintf(text + used, TEXT_MAX - used, ",") >= (int)(TEXT_MAX - used))
			return -EINVAL;
		if (append_scalar(text, item) != 0)
			return -EINVAL;
	}
	return 0;
}

static int set_axis(struct options *o, struct series *series, const char *path,
		    const char *position, const char *key, const json_t *value)
{
	char text[TEXT_MAX], what[128];
	int axis = 0, ret;

	while (axis < AXES && strcmp(key, axes[axis].name) != 0)
		axis++;
	if (axis == AXES) {
		snprintf(what, sizeof(what),
			 "unknown key \"%.40s\": expected the name of an axis, as \"size\"", key);
		return wrong(path, position, what);
	}
	if (to_text(value, true, text) != 0) {
		snprintf(what, sizeof(what),
			 "%s: expected a string, a number, true, false or a list of these", key);
		return wrong(path, position, what);
	}
	ret = axis == AXIS_TARGET ? target_selector_set(&o->selector, series, text)
				  : series_set(series, (enum axis_id)axis, text);
	return ret ? wrong_value(path, position) : 0;
}

static int take_series(struct options *o, const char *path, const json_t *list)
{
	char position[POSITION_MAX];
	size_t count = json_array_size(list);
	const char *key;
	json_t *item, *value;
	size_t i;

	if (!json_is_array(list) || count == 0 || count > SERIES_MAX)
		return wrong(path, "series", "expected a list of 1 to 256 objects");
	o->series = calloc(count, sizeof(*o->series));
	if (o->series == NULL)
		return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	o->series_count = count;
	json_array_foreach(list, i, item) {
		snprintf(position, sizeof(position), "series[%zu]", i);
		if (!json_is_object(item))
			return wrong(path, position, "expected an object");
		json_object_foreach(item, key, value) {
			int ret = set_axis(o, &o->series[i], path, position, key, value);

			if (ret)
				return ret;
		}
	}
	return 0;
}

/* The command line has the last word: what it gave stays. */
static int take_setting(struct options *o, unsigned given, const char *path, const char *key,
			const json_t *value)
{
	char text[TEXT_MAX], what[128];
	int setting = 0;

	while (setting < SETTINGS && strcmp(key, settings[setting].name) != 0)
		setting++;
	if (setting == SETTINGS) {
		snprintf(what, sizeof(what),
			 "unknown key \"%.40s\": expected \"series\" or a setting of the run, "
			 "as \"repeats\"",
			 key);
		return wrong(path, "", what);
	}
	if (to_text(value, false, text) != 0) {
		snprintf(what, sizeof(what), "%s: expected a string or a number", key);
		return wrong(path, "", what);
	}
	if (settings_overridden(given, (enum setting_id)setting))
		return 0;
	return settings_set(o, (enum setting_id)setting, text) ? wrong_value(path, "") : 0;
}

static int take(struct options *o, const char *path, json_t *root)
{
	unsigned given = o->given;
	const char *key;
	json_t *value;
	int ret = 0;

	if (!json_is_object(root) || json_object_get(root, "series") == NULL)
		return wrong(path, "", "expected an object with the key \"series\"");
	json_object_foreach(root, key, value) {
		ret = strcmp(key, "series") == 0 ? take_series(o, path, value)
						 : take_setting(o, given, path, key, value);
		if (ret)
			break;
	}
	return ret;
}

int plan_file_parse(struct options *options, const char *name, const char *bytes, size_t length)
{
	char what[JSON_ERROR_TEXT_LENGTH + 64];
	json_error_t error;
	json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
	int ret;

	if (root == NULL) {
		snprintf(what, sizeof(what), "line %d, column %d: %s", error.line, error.column,
			 error.text);
		return wrong(name, "", what);
	}
	ret = take(options, name, root);
	json_decref(root);
	return ret;
}

int plan_file_load(struct options *options, const char *path)
{
	char *bytes = malloc(FILE_MAX + 1);
	size_t length = 0;
	int ret;

	if (bytes == NULL)
		return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	if (strcmp(path, "-") == 0) {
		path = "standard input";
		ret = read_input(path, bytes, &length);
	} else {
		ret = read_file(path, bytes, &length);
	}
	if (ret == 0)
		ret = plan_file_parse(options, path, bytes, length);
	free(bytes);
	return ret;
}
