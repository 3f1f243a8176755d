/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c -- rpmemd: serves a client over standard input and output, removes a
 * pool, or checks what it could serve.
 *
 * librpmem and libpmempool start it over ssh. With --remove its exit status is an
 * errno and its standard output stays empty: libpmempool depends on both. Wrong options
 * give 64, as with all tools; the rpmemd of PMDK gave 255, as ssh does when it fails itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/host/rlimits.h"
#include "common/rdma/connection.h"
#include "common/rdma/resolve.h"
#include "config.h"
#include "log.h"
#include "pool.h"
#include "reason.h"
#include "session.h"

#define TOOL	      "rpmemd"
#define EXIT_VIOLATED 255 /* the client broke the protocol */
#define LOOPBACK      "127.0.0.1"

const char *argp_program_version = TOOL " " RPMA_VERSION;

static int open_log(const struct config *config)
{
	return log_open(config->use_syslog ? LOG_TO_SYSLOG : LOG_TO_FILE, config->log_file,
			config->log_level);
}

/* Negative errno: the configuration cannot be used. */
static int configure(struct config *config, const struct options *options)
{
	int ret = config_load(config, options, CONFIG_SYSTEM_FILE, config_home());

	return ret == 0 ? open_log(config) : ret;
}

/*
 * The address at which ssh reached this host is the third word of "CLIENT PORT SERVER
 * PORT". Without ssh, in a test, clients are on this host alone.
 */
static void find_address(const struct config *config, char address[RESOLVE_ADDRESS_MAX])
{
	const char *connection = getenv("SSH_CONNECTION");

	if (config->rdma_addr != NULL)
		snprintf(address, RESOLVE_ADDRESS_MAX, "%s", config->rdma_addr);
	else if (connection == NULL || sscanf(connection, "%*s %*s %63s", address) != 1)
		snprintf(address, RESOLVE_ADDRESS_MAX, LOOPBACK);
}

/* The client's bytes go out of a descriptor that nothing else knows of. */
static int keep_output(void)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (out >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return out;
}

static int refuse(int out, int ret)
{
	session_refuse(out, -ret);
	log_line(LEVEL_ERR, "%s", failure_get()->text);
	return EXIT_FAILURE;
}

static int serve(const struct options *options)
{
	static const int exit_codes[] = {EXIT_SUCCESS, EXIT_FAILURE, EXIT_VIOLATED};
	char address[RESOLVE_ADDRESS_MAX];
	struct session_cfg cfg = {.in = STDIN_FILENO, .out = keep_output(), .address = address};
	struct config config = {.log_file = NULL};
	enum session_end end;
	int ret;

	if (cfg.out < 0)
		return EXIT_FAILURE;
	ret = configure(&config, options);
	if (ret) {
		config_free(&config);
		return refuse(cfg.out, ret);
	}
	open_files_raise();
	find_address(&config, address);
	cfg.stop_fd = cli_stop_fd();
	cfg.poolset_dir = config.poolset_dir;
	cfg.persist_apm = config.persist_apm;
	cfg.busy_wait_ms = BUSY_WAIT_MS;
	end = session_run(&cfg);
	config_free(&config);
	log_close();
	return exit_codes[end];
}

static int remove_pool(const struct options *options)
{
	struct busy busy = busy_begin(BUSY_WAIT_MS);
	struct config config = {.log_file = NULL};
	int ret = configure(&config, options);

	if (ret == 0) {
		do
			ret = pool_remove(config.poolset_dir, options->remove, options->force,
					  options->pool_set);
		while (busy_wait(&busy, ret));
	}
	if (ret) {
		fprintf(stderr, TOOL ": %s\n", failure_get()->text);
		log_line(LEVEL_ERR, "--remove %s: %s", options->remove, failure_get()->text);
	}
	config_free(&config);
	log_close();
	return -ret;
}

static int check(const struct options *options)
{
	struct config config = {.log_file = NULL};
	char address[RESOLVE_ADDRESS_MAX];
	int ret = config_load(&config, options, CONFIG_SYSTEM_FILE, config_home());

	find_address(&config, address);
	ret = ret == 0 ? check_run(&config, address) : cli_report_failure(TOOL);
	config_free(&config);
	return ret;
}

int main(int argc, char **argv)
{
	struct options options;

	cli_reserve_standard_fds();
	connection_log_to_failures(false);
	if (options_parse(&options, argc, argv) != 0)
		return cli_report_failure(TOOL);
	if (options.cli.done)
		return EXIT_SUCCESS;
	if (cli_catch_signals() != 0)
		return cli_report_failure(TOOL);
	if (options.check)
		return check(&options);
	if (options.remove != NULL)
		return remove_pool(&options);
	if (isatty(STDIN_FILENO)) {
		fprintf(stderr,
			TOOL ": standard input is a terminal, but librpmem starts " TOOL
			     " through ssh (" TOOL " --check prints what it could serve)\n");
		return EXIT_WRONG_USAGE;
	}
	return serve(&options);
}
