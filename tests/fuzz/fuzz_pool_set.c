/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_pool_set.c -- pool set files of any user, as rpmemd reads them.
 *
 * What is taken is within its ranges and can be laid out or refused; what is refused has one
 * sentence, that no terminal can be harmed by.
 */
#include "common/base/failure.h"
#include "fuzz.h"
#include "tools/rpmemd/pool_set.h"

static void check_set(const struct pool_set *set)
{
	hold(set->count > 0 && set->count <= POOL_SET_PARTS_MAX);
	hold(!set->single_header || !set->no_headers);
	for (size_t i = 0; i < set->count; i++) {
		hold(set->parts[i].path[0] == '/' && strpbrk(set->parts[i].path, " \t#\n") == NULL);
		hold(set->parts[i].bytes <= INT64_MAX);
	}
}

static void check_layout(const struct pool_set *set)
{
	struct pool_layout_part *parts = calloc(set->count, sizeof(*parts));
	size_t bytes = 0, end = 0;

	hold(parts != NULL);
	for (size_t i = 0; i < set->count; i++) {
		parts[i].file_bytes = set->parts[i].bytes;
		parts[i].alignment = 4096;
	}
	if (pool_layout(set, parts, &bytes) == 0) {
		for (size_t i = 0; i < set->count; i++) {
			hold(parts[i].offset == end && parts[i].length > 0);
			hold(parts[i].file_offset + parts[i].length <= parts[i].file_bytes);
			end += parts[i].length;
		}
		hold(end == bytes);
	} else {
		hold_sentence(failure_get()->text);
	}
	free(parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pool_set set;

	failure_get()->text[0] = '\0';
	if (pool_set_parse(&set, "my.set", (const char *)data, size) != 0) {
		hold_sentence(failure_get()->text);
		return 0;
	}
	check_set(&set);
	check_layout(&set);
	pool_set_free(&set);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const char *const seeds[] = {
		"PMEMPOOLSET\n16M /mnt/pmem0/a\n8MiB /mnt/pmem1/b # second\n",
		"PMEMPOOLSET\r\nOPTION SINGLEHDR\r\n2097152 /a\r\n3GB /b\r\n",
		"PMEMPOOLSET\n#\n\n1T\t/a\nOPTION NOHDRS\n9223372036854775807B /b\n",
		"PMEMPOOLSET\nAUTO /dev/dax0.0\nAUTO /dev/dax1.0\n",
		"PMEMPOOLSET\n16M /a\nREPLICA host other.set\n",
	};

	return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), index, input);
}
