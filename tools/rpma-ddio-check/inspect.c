/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspect.c -- opens the root, probes where asked to, has all inspected, and
 * prints what was found.
 */
#include "inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "device_query.h"
#include "document.h"
#include "dump.h"
#include "pairs.h"
#include "probe.h"
#include "readiness/gather.h"
#include "recommend.h"
#include "set_ddio.h"
#include "summary.h"
#include "table.h"

static int print(const struct options *o, const struct readiness *readiness,
		 const struct sysroot *root, const struct timespec *started)
{
	json_t *document;
	int ret;

	if (o->cli.quiet && !o->json && readiness->row->exit_code == EXIT_GOOD)
		return 0;
	document = document_make(o, readiness, root->refused, started);
	if (o->json || o->short_form) {
		json_t *advice = recommend(o, root, readiness);

		if (advice == NULL) {
			json_decref(document);
			return -EIO;
		}
		json_object_set_new(document, "advice", advice);
	}
	if (o->json)
		ret = result_print(document);
	else if (o->short_form)
		ret = summary_print(document);
	else if (o->cli.quiet)
		ret = table_print_line(document);
	else
		ret = table_print(document, o->cli.verbose);
	json_decref(document);
	return ret;
}

static void say_why(struct answers_probe *probe, const char *why)
{
	snprintf(probe->why, sizeof(probe->why), "%s", why);
}

/*
 * Traffic needs the one device that all else is about, and this machine: of a
 * tree that came from elsewhere facts.json has what its probe saw, if anything.
 */
static int probe(const struct options *o, const struct sysroot *root, struct answers_probe *probe)
{
	struct answers answers = {.root = root};
	struct facts_device *device = calloc(1, sizeof(*device));
	int ret = 0;

	if (device == NULL)
		return failure_set(EXIT_INTERNAL, "probe", "out of memory");
	if (!root->machine) {
		say_why(probe,
			"traffic can be sent on this machine only, and facts.json has no probe");
		goto out;
	}
	gather_device(&(struct gather){root, &answers}, o->device, device);
	if (!device->found)
		say_why(probe, "there is no RDMA device to send traffic with");
	else if (adapter_find(device->kind, &device->ids)->placement == ADAPTER_BY_CPU)
		say_why(probe, "the processor does the writes of this device");
	else
		ret = probe_run(root, device, probe);
out:
	free(device);
	return ret;
}

static int inspect_below(const struct options *o, const struct sysroot *root, json_t *record,
			 int *exit_code)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	struct facts_claims claims = o->claims;
	struct timespec started;
	int ret = 0;

	if (readiness == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	clock_gettime(CLOCK_REALTIME, &started);
	if (o->probe)
		ret = probe(o, root, &claims.probe);
	if (ret == 0)
		ret = readiness_inspect(readiness, &(struct readiness_cfg){.root = root,
									   .device = o->device,
									   .target = o->target,
									   .claims = &claims,
									   .lenient = o->lenient,
									   .record = record});
	if (ret == 0) {
		*exit_code = readiness->row->exit_code;
		ret = print(o, readiness, root, &started);
	}
	readiness_free(readiness);
	free(readiness);
	return ret;
}

static int inspect_and_dump(const struct options *o, struct sysroot *root, int *exit_code)
{
	json_t *record = json_object();
	int ret = dump_begin(root, o->dump_facts);

	if (ret == 0)
		ret = inspect_below(o, root, record, exit_code);
	if (ret == 0)
		ret = dump_end(root, o->dump_facts, record);
	json_decref(record);
	return ret;
}

int inspect(const struct options *options, int *exit_code)
{
	const char *path = options->sysroot != NULL ? options->sysroot : "/";
	struct sysroot_refusals refusals = {0};
	char device[DEVICE_NAME_MAX];
	struct options own = *options; /* with the device that is meant */
	struct sysroot root;
	int ret = sysroot_open(&root, path);

	if (ret != 0 && root.machine)
		return failure_call("start", -ret, "open /");
	if (ret != 0)
		return failure_set(EXIT_WRONG_USAGE, "options", "--sysroot %s: %s", path,
				   strerror(-ret));
	root.refused = &refusals;
	if (own.device != NULL) {
		ret = device_query(&root, own.device, device);
		own.device = device;
	}
	if (ret == 0 && own.set != SET_NOTHING)
		ret = set_ddio(&own, &root);
	else if (ret == 0 && own.all)
		ret = pairs_inspect(&own, &root, exit_code);
	else if (ret == 0)
		ret = own.dump_facts != NULL ? inspect_and_dump(&own, &root, exit_code)
					     : inspect_below(&own, &root, NULL, exit_code);
	sysroot_close(&root);
	if (refusals.count > 0)
		fprintf(stderr, "rpma-ddio-check: not taken below %s: %s%s\n", path, refusals.first,
			refusals.count > 1 ? ", and more" : "");
	return ret;
}
