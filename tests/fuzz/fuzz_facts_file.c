/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_facts_file.c -- facts.json of anybody.
 *
 * What is taken answers within the bounds of its types; what is refused has
 * one sentence, that no terminal can be harmed by.
 */
#include "common/base/failure.h"
#include "fuzz.h"
#include "readiness/answers.h"

static void check_sentence(void)
{
	const char *text = failure_get()->text;

	hold(text[0] != '\0');
	for (; *text != '\0'; text++)
		hold(*text >= ' ' && *text <= '~');
}

static void check_device(const struct answers *answers, const char *name)
{
	struct answers_device device;

	answers_of_device(answers, name, &device);
	hold(device.max_qp_wr >= -1 && device.max_cqe >= -1 && device.max_qp_rd_atom >= -1);
	hold(device.tph_handle >= -1 && device.tph_handle <= 1);
	hold(memchr(device.why, '\0', sizeof(device.why)) != NULL);
	hold(device.known || device.why[0] != '\0');
}

static void check_path(const struct answers *answers, const char *name)
{
	struct answers_path path;

	answers_of_path(answers, name, &path);
	hold(path.kind <= ANSWERS_OTHER && path.size_bytes >= -1);
	hold(path.dax >= -1 && path.dax <= 1 && path.map_sync >= -1 && path.error >= 0);
}

static void check_answers(struct answers *answers)
{
	struct answers_probe probe = {.done = false};
	const char *name;
	json_t *entry;

	json_object_foreach(json_object_get(answers->facts, "devices"), name, entry)
		check_device(answers, name);
	json_object_foreach(json_object_get(answers->facts, "targets"), name, entry)
		check_path(answers, name);
	answers_of_probe(answers, &probe);
	hold(!probe.done || (probe.rdma_bytes > 0 && probe.memory_write_bytes >= 0));
	hold(memchr(probe.events, '\0', sizeof(probe.events)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sysroot tree = {.fd = -1};
	struct answers answers = {.root = &tree};

	failure_get()->text[0] = '\0';
	answers.facts = answers_parse((const char *)data, size);
	if (answers.facts != NULL)
		check_answers(&answers);
	else
		check_sentence();
	answers_close(&answers);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const char *const seeds[] = {
		"{\"schema\":\"rpma-ddio-check-facts/1\",\"devices\":{\"mlx5_0\":{"
		"\"device_cap_flags_ex\":824633720832,\"odp_general\":3,\"odp_rc\":31,"
		"\"max_qp_wr\":32768,\"max_cqe\":4194303,\"max_qp_rd_atom\":16,\"tph_handle\":"
		"false}}}",
		"{\"schema\":\"rpma-ddio-check-facts/1\",\"devices\":{\"a\":{\"why\":\"busy\"}},"
		"\"targets\":null}",
		"{\"schema\":\"rpma-ddio-check-facts/1\",\"targets\":{\"/mnt/a\":{\"kind\":"
		"\"regular\",\"size_bytes\":4096,\"major\":259,\"minor\":1,\"dax\":true,"
		"\"map_sync\":\"ok\"},\"/b\":{\"kind\":\"none\",\"error\":\"ENOENT\"}}}",
		"{\"schema\":\"rpma-ddio-check-facts/1\",\"probe\":{\"rdma_bytes\":100,"
		"\"memory_write_bytes\":3,\"window_bytes\":4096,\"events\":\"uncore_imc_0\"}}",
	};

	return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), index, input);
}
