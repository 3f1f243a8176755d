# SPDX-License-Identifier: BSD-3-Clause
"""The short programs of librpma(7), TEN IDEAS OF 1.4, compile as they stand."""

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


def test_there_are_ten() -> None:
    assert len(IDEAS) == 10


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
