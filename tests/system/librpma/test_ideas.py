# SPDX-License-Identifier: BSD-3-Clause
"""The short programs of librpma(7), TEN IDEAS OF 1.4, compile as they stand, and run one after the other."""

import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "doc/librpma.7.in").read_text()
SECTION = PAGE.split(".SH TEN IDEAS OF 1.4\n")[1].split("\n.SH ")[0]
IDEAS = re.findall(r"(?ms)^\d+\. (.*?)\n\.PP\n\.RS 4\n\.nf\n(.*?)\n\.fi", SECTION)

# what a program has when it comes to the idea
PROLOGUE = """
#include <librpma.h>
#include <poll.h>

int idea(struct rpma_peer *peer, struct rpma_conn_cfg *cfg, struct rpma_conn *conn, struct rpma_cq *cq,
	 struct rpma_ep *ep, struct rpma_mr_remote *dst, struct rpma_mr_local *src, struct rpma_mr_local *mr,
	 void *memory, size_t size, int fd, uint64_t new_end);
int idea(struct rpma_peer *peer, struct rpma_conn_cfg *cfg, struct rpma_conn *conn, struct rpma_cq *cq,
	 struct rpma_ep *ep, struct rpma_mr_remote *dst, struct rpma_mr_local *src, struct rpma_mr_local *mr,
	 void *memory, size_t size, int fd, uint64_t new_end)
{
	enum rpma_conn_event event;
	struct ibv_wc wc;
	int ret = 0;

"""
EPILOGUE = """
	(void)peer, (void)cfg, (void)conn, (void)cq, (void)ep, (void)dst, (void)src, (void)mr;
	(void)memory, (void)size, (void)fd, (void)new_end, (void)event, (void)wc;
	return ret;
}
"""


# The ideas as functions, between a client and a server that accepts and does no more.
SERVER_AND_CLIENT = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST(call) do { int ret_ = (call); if (ret_) { \
	fprintf(stderr, "%s: %d, %s\n", #call, ret_, rpma_err_text()); _exit(1); } } while (0)

static char memory[65536], descriptors[32];
static const int all = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;

static struct rpma_peer *open_peer(struct rpma_mr_local **mr)
{
	struct ibv_context *device;
	struct rpma_peer *peer;

	MUST(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	MUST(rpma_peer_new(device, &peer));
	MUST(rpma_mr_reg(peer, memory, sizeof(memory), all, mr));
	return peer;
}

static void serve(int to_client)
{
	struct rpma_conn_private_data pdata = {descriptors, 23};
	struct rpma_peer_cfg *pcfg;
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	struct rpma_ep *ep;
	uint16_t port;

	MUST(rpma_ep_listen(open_peer(&mr), ADDRESS, "0", &ep));
	MUST(rpma_ep_get_port(ep, &port));
	MUST(rpma_mr_get_descriptor(mr, descriptors));
	MUST(rpma_peer_cfg_new(&pcfg));
	MUST(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	MUST(rpma_peer_cfg_get_descriptor(pcfg, descriptors + 22));
	MUST(write(to_client, &port, sizeof(port)) != sizeof(port));
	for (;;) {
		MUST(rpma_ep_next_conn_req(ep, NULL, &req));
		MUST(rpma_conn_req_connect(&req, &pdata, &conn));
	}
}

static char port_text[8];

static struct rpma_conn *connect_to_server(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg,
					   struct rpma_mr_remote **dst)
{
	struct rpma_conn_private_data pdata;
	enum rpma_conn_event event;
	struct rpma_peer_cfg *pcfg;
	struct rpma_conn *conn;

	MUST(rpma_conn_connect(peer, ADDRESS, port_text, cfg, NULL, &conn));
	MUST(rpma_conn_next_event(conn, &event));
	MUST(event != RPMA_CONN_ESTABLISHED);
	MUST(rpma_conn_get_private_data(conn, &pdata));
	MUST(rpma_mr_remote_from_descriptor(pdata.ptr, 22, dst));
	MUST(rpma_peer_cfg_from_descriptor((char *)pdata.ptr + 22, 1, &pcfg));
	MUST(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	return conn;
}

int main(void)
{
	int fds[2], done[2];
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_remote *dst;
	struct rpma_mr_local *src;
	struct rpma_cq *cq;
	struct rpma_ep *ep;
	struct ibv_wc wc;
	uint16_t port;
	pid_t server;

	MUST(pipe(fds) || pipe(done) || write(done[1], "", 1) != 1 || (server = fork()) < 0);
	if (server == 0)
		serve(fds[1]);
	MUST(read(fds[0], &port, sizeof(port)) != sizeof(port));
	snprintf(port_text, sizeof(port_text), "%u", port);
	struct rpma_peer *peer = open_peer(&src);
	MUST(rpma_ep_listen(peer, ADDRESS, "0", &ep));
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, 64));
	struct rpma_conn *conn = connect_to_server(peer, cfg, &dst);
	MUST(rpma_conn_get_cq(conn, &cq));
	for (unsigned i = 0; i < sizeof(ideas) / sizeof(ideas[0]); i++) {
		int ret = ideas[i](peer, cfg, conn, cq, ep, dst, src, NULL, memory, 256, done[0], 128);

		printf("%u: %d\n", i + 1, ret);
		while (rpma_cq_await_wc(cq, 1, &wc, NULL, 0, 100) == 0)
			MUST(wc.status != IBV_WC_SUCCESS);
	}
	return kill(server, SIGKILL);
}
"""


@pytest.mark.skipif("RPMA_LIBRARY" not in os.environ, reason="they run in builds without a sanitizer")
def test_they_run(tmp_path: Path) -> None:
    source = tmp_path / "ideas.c"
    text = "".join(
        (PROLOGUE if i == 1 else PROLOGUE.split("#include <poll.h>\n")[1]).replace("idea(", f"idea_{i}(")
        + textwrap.indent(code.replace(r"\en", r"\n"), "        ") + EPILOGUE
        for i, (_, code) in enumerate(IDEAS, 1)
    )  # fmt: skip
    text = text.replace('"server", "7204"', "ADDRESS, port_text").replace("#include <poll.h>\n", (
        '#include <poll.h>\n#include <stdio.h>\n#define ADDRESS "127.0.0.1"\nstatic char port_text[8];\n'), 1)  # fmt: skip
    table = ", ".join(f"idea_{i}" for i in range(1, 11))
    text += f"static __typeof__(idea_1) *const ideas[] = {{{table}}};\n"
    source.write_text(text + SERVER_AND_CLIENT)
    library = Path(os.environ["RPMA_LIBRARY"])
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", "-Wno-uninitialized", f"-I{os.environ['RPMA_INCLUDE']}",
                    source, library, "-libverbs", "-lrdmacm", f"-Wl,-rpath,{library.parent}", "-o", tmp_path / "ideas"],
                   check=True)  # fmt: skip
    done = subprocess.run([os.environ["RPMA_SOFT_LAUNCHER"], tmp_path / "ideas"], capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    assert done.stdout == "".join(f"{i}: 0\n" for i in range(1, 11)), done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("code", [code for _, code in IDEAS], ids=[title[:30] for title, _ in IDEAS])
@pytest.mark.parametrize("compiler", [["cc", "-std=c11"], ["c++", "-std=c++20", "-x", "c++"]], ids=["c", "c++"])
def test_it_compiles(compiler: list[str], code: str, tmp_path: Path) -> None:
    source = tmp_path / "idea.c"
    source.write_text(PROLOGUE + textwrap.indent(code.replace(r"\en", r"\n"), "        ") + EPILOGUE)
    done = subprocess.run(
        [*compiler, "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-Wno-uninitialized",
         f"-I{os.environ['RPMA_INCLUDE']}", "-fsyntax-only", source],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
