/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_names.c -- targets, pool sets and parts whose names want to be more: they are refused,
 * or taken literally. "MARK" is a file that none of them may make.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accept.h"

/* `name` with the path of MARK in place of each @. */
static const char *marked(const char *name)
{
	static char text[4096];
	char *end = text;

	for (; *name != '\0'; name++) {
		if (*name == '@')
			end = stpcpy(end, path_of("MARK"));
		else
			*end++ = *name;
		*end = '\0';
	}
	return text;
}

static void targets(void)
{
	static const char *const refused[] = {
		"",
		"-oProxyCommand=touch${IFS}@",
		"-oProxyCommand=touch @",
		"user\\-oProxyCommand=touch @",
		"x; touch @",
		"x y",
		" x",
		"x ",
		"x\ty",
		"x\n",
		"\n",
		"x\ntouch @",
		"$(touch @)",
		"x\x7f",
		"[::1",
		"[]",
		"[::1]x",
		"[::1]:",
		"x:",
		"x:0",
		"x:-1",
		"x:65536",
		"x:22x",
		"x:+22",
	};
	const char *set = set_of(HEADERS);
	void *memory = heap(PART);
	unsigned nlanes = 1;

	for (size_t i = 0; i < COUNT(refused); i++) {
		const char *host = marked(refused[i]);

		CHECK_NO_POOL(rpmem_create(host, set, memory, PART, &nlanes, kind_attr(HEADERS)),
			      EINVAL);
		CHECK_NO_POOL(rpmem_open(host, set, memory, PART, &nlanes, NULL), EINVAL);
		CHECK_ERRNO(rpmem_remove(host, set, 0), EINVAL);
	}
	CHECK(!file_exists("MARK"));
	no_part_is_left();
}

static void users_and_hosts(void)
{
	static const char *const refused[] = {"-lroot@x", "a b@x", "@x",   "a@",
					      "a@-x",	  "a\n@x", "a@x y"};
	void *memory = heap(PART);
	unsigned nlanes = 1;

	set_of(HEADERS);
	for (size_t i = 0; i < COUNT(refused); i++)
		CHECK_NO_POOL(rpmem_create(refused[i], name_of("my.set"), memory, PART, &nlanes,
					   kind_attr(HEADERS)),
			      EINVAL);
	no_part_is_left();
}

/* They do not lead out of the pool set directory, and what they name is there. */
static void sets_elsewhere(void)
{
	char name[4096];
	void *memory = heap(PART);

	set_of(HEADERS);
	snprintf(name, sizeof(name), "%s/../%s", setting("RPMEM_ACCEPT_CASE"), name_of("my.set"));
	CHECK_NO_POOL(try_create(name, memory, PART, kind_attr(HEADERS)), EINVAL);
	CHECK_NO_POOL(try_create(path_of("my.set"), memory, PART, kind_attr(HEADERS)), EINVAL);
	CHECK_ERRNO(rpmem_remove(target(), path_of("my.set"), RPMEM_REMOVE_POOL_SET), EINVAL);
	CHECK_ERRNO(rpmem_remove(target(), name, 3), EINVAL);
	CHECK_NO_POOL(try_open("../../etc/passwd", memory, PART), EINVAL);
	CHECK_NO_POOL(try_open("/etc/passwd", memory, PART), EINVAL);
	CHECK_NO_POOL(try_open("..", memory, PART), EINVAL);
	CHECK_NO_POOL(try_open(".", memory, PART), EINVAL);
	CHECK_NO_POOL(try_open("", memory, PART), EINVAL);
	CHECK(symlink(path_of("my.set"), path_of("link.set")) == 0);
	CHECK(symlink("/etc", path_of("etc")) == 0);
	CHECK_NO_POOL(try_create(name_of("link.set"), memory, PART, kind_attr(HEADERS)), EINVAL);
	CHECK_NO_POOL(try_open(name_of("etc/passwd"), memory, PART), EINVAL);
	CHECK_NO_POOL(try_open(name_of("."), memory, PART), EINVAL);
	CHECK(file_exists("my.set"));
	no_part_is_left();
}

/* Only what looks like a pool set is read at all: nothing of other files is in the message. */
static void files_that_are_no_sets(void)
{
	file_write("secret", "the secret line\nanother one\n");
	CHECK_NO_POOL(try_open(name_of("secret"), heap(PART), PART), EINVAL);
	CHECK(strstr(rpmem_errormsg(), "secret line") == NULL);
	CHECK(strstr(rpmem_errormsg(), "another") == NULL);
	CHECK(mkfifo(path_of("fifo"), 0600) == 0);
	CHECK_NO_POOL(try_open(name_of("fifo"), heap(PART), PART), EINVAL);
	CHECK_NO_POOL(try_open(name_of("secret/x"), heap(PART), PART), EINVAL);
}

static void literal_sets(void)
{
	static const char *const names[] = {
		"my set",
		"x; touch MARK",
		"$(touch MARK)",
		"`touch MARK`",
		"a\nb",
		"it's",
		"\"quoted\"",
		"a\\b",
		"*",
		"-f",
		"--force",
		"~",
		"$HOME",
		"a|b",
		"a&b",
		"> MARK",
		"caf\xc3\xa9",
		" ",
		"#",
	};
	void *memory = heap(PART);

	set_write("other.set", "8M @/other\n");
	close_pool(try_create(name_of("other.set"), memory, PART, kind_attr(HEADERS)));
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *set = set_write(names[i], "8M @/a\n");

		close_pool(try_create(set, memory, PART, kind_attr(HEADERS)));
		close_pool(try_open(set, memory, PART));
		CHECK(rpmem_remove(target(), set, RPMEM_REMOVE_POOL_SET) == 0);
		CHECK(!file_exists(names[i]) && !file_exists("a"));
	}
	CHECK(!file_exists("MARK") && file_exists("other"));
	CHECK(access("MARK", F_OK) != 0);
}

/* In the pool set directory itself, where they could be taken for options. */
static void sets_like_options(void)
{
	static const char *const names[] = {"-oProxyCommand=x", "--force", "-s"};
	void *memory = heap(PART);
	char path[4096], link_to[4096];

	snprintf(link_to, sizeof(link_to), "%s", path_of("my.set"));
	for (size_t i = 0; i < COUNT(names); i++) {
		set_of(HEADERS);
		snprintf(path, sizeof(path), "%s/%s", setting("RPMEM_ACCEPT_DIR"), names[i]);
		CHECK(rename(link_to, path) == 0);
		close_pool(try_create(names[i], memory, PART, kind_attr(HEADERS)));
		CHECK(rpmem_remove(target(), names[i], RPMEM_REMOVE_POOL_SET) == 0);
		CHECK(access(path, F_OK) != 0);
		no_part_is_left();
	}
}

static void parts_in_sets(void)
{
	static const char *const refused[] = {
		"8M a\n",
		"8M ../a\n",
		"8M ./a\n",
		"8M @/a b\n",
		"8M /dev/null\n",
		"8M /dev/zero\n",
		"8M @\n",
		"8M @/fifo\n",
		"8M -oProxyCommand\n",
		"8M @/a\n8M @/a\n",
		"AUTO @/victim\n",
		"8M @/victim\n",
		"REPLICA x y\n8M @/a\n",
		"8M @/a\nREPLICA\n8M @/b\n",
		"OPTION X\n8M @/a\n",
		"",
	};
	void *memory = heap(PART);

	file_write("victim", "not a part\n");
	CHECK(mkfifo(path_of("fifo"), 0600) == 0);
	for (size_t i = 0; i < COUNT(refused); i++) {
		const char *set = set_write("my.set", refused[i]);

		CHECK_NO_POOL(try_create(set, memory, PART, kind_attr(HEADERS)), EINVAL);
		CHECK(try_open(set, memory, PART) == NULL && (errno == EINVAL || errno == ENOENT));
		no_part_is_left();
	}
	CHECK(file_size("victim") == 11);
}

static void literal_parts(void)
{
	static const char *const names[] = {"x;touch@MARK", "$(MARK)", "`MARK`", "it's", "-a"};
	void *memory = heap(PART);
	char lines[128];

	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(lines, sizeof(lines), "8M @/%s\n", names[i]);
		if (strchr(names[i], '@') != NULL) /* which would be the directory */
			continue;
		close_pool(
			try_create(set_write("my.set", lines), memory, PART, kind_attr(HEADERS)));
		CHECK(file_size(names[i]) == (off_t)PART);
		CHECK(rpmem_remove(target(), name_of("my.set"), 0) == 0);
		CHECK(!file_exists(names[i]));
	}
	CHECK(!file_exists("MARK"));
}

const struct accept_case cases_of_names[] = {
	{"targets", targets, {NULL}, false},
	{"users_and_hosts", users_and_hosts, {NULL}, false},
	{"sets_elsewhere", sets_elsewhere, {NULL}, false},
	{"files_that_are_no_sets", files_that_are_no_sets, {NULL}, false},
	{"literal_sets", literal_sets, {NULL}, false},
	{"sets_like_options", sets_like_options, {NULL}, false},
	{"parts_in_sets", parts_in_sets, {NULL}, false},
	{"literal_parts", literal_parts, {NULL}, false},
	{NULL, NULL, {NULL}, false},
};
