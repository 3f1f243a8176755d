/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_names.c -- pool sets whose names a shell or ssh would act on are taken literally. "MARK"
 * is a file that none of them may make.
 */
#include "accept.h"

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

const struct accept_case cases_of_names[] = {
	CASE(literal_sets),
	CASE(sets_like_options),
	{.name = NULL},
};
