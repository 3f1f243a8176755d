# SPDX-License-Identifier: BSD-3-Clause
"""The C of the guide to porting compiles: what is "before" with Debian's header of librpma 1.2.0,
the rest with ours."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "doc/porting-from-librpma-1.md").read_text(encoding="utf-8")
# Includes and variables that the snippets rely on.
PROGRAM = """
#include <dlfcn.h>
#include <fcntl.h>
#include <librpma.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
void program(struct rpma_peer *peer, struct rpma_conn_cfg *cfg, struct rpma_ep *ep, struct rpma_conn *conn,
	     struct rpma_cq *cq, struct rpma_mr_local *src, struct rpma_mr_local *result,
	     struct rpma_mr_remote *dst, void *memory, size_t size, size_t records, size_t len, size_t end,
	     const char new_end[8]);
void program(struct rpma_peer *peer, struct rpma_conn_cfg *cfg, struct rpma_ep *ep, struct rpma_conn *conn,
	     struct rpma_cq *cq, struct rpma_mr_local *src, struct rpma_mr_local *result,
	     struct rpma_mr_remote *dst, void *memory, size_t size, size_t records, size_t len, size_t end,
	     const char new_end[8])
{
	struct rpma_conn_private_data pdata;
	struct rpma_conn_req *req = NULL;
	struct ibv_qp_init_attr init_attr;
	struct rpma_mr_local *mr = NULL;
	enum rpma_conn_event event;
	struct ibv_qp_attr attr;
	struct rdma_cm_id *id;
	uint32_t value;
	struct ibv_wc wc;
	int ret, fd = -1, signal_fd = -1;
	NEWER

	SNIPPET
}
"""
BLOCKS = re.findall(r"(?ms)^(\S[^\n]*)\n\n```c\n(.*?)^```", TEXT)


def compiles(snippet: str, include: Path, newer: str, folder: Path) -> None:
    source = folder / "snippet.c"
    source.write_text(PROGRAM.replace("NEWER", newer).replace("SNIPPET", snippet))
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable",
               "-Wno-unused-parameter", "-Wno-unused-but-set-variable", f"-I{include}", "-fsyntax-only",
               str(source)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{snippet}\n{done.stderr}"


@pytest.fixture(scope="session")
def include_of_1_2() -> Path:
    fetched = subprocess.run([ROOT / "tests/fetch-reference", "bookworm"], stdout=subprocess.PIPE, text=True)
    if fetched.returncode != 0:
        pytest.skip("no reference: Debian 12's librpma could not be fetched")
    return Path(fetched.stdout.strip()) / "usr/include"


def is_before(lead: str) -> bool:
    return lead.startswith("Before")


BEFORE = [snippet for lead, snippet in BLOCKS if is_before(lead)]
AFTER = [snippet for lead, snippet in BLOCKS if not is_before(lead)]


def test_all_of_the_guide_is_read() -> None:
    assert len(BLOCKS) == TEXT.count("```c\n")
    assert BEFORE and AFTER


@pytest.mark.parametrize("snippet", BEFORE)
def test_what_was_before_compiles_with_1_2(snippet: str, include_of_1_2: Path, tmp_path: Path) -> None:
    compiles(snippet, include_of_1_2, "", tmp_path)


@pytest.mark.parametrize("snippet", BEFORE + AFTER)
def test_compiles_with_ours(snippet: str, tmp_path: Path) -> None:
    compiles(snippet, ROOT / "librpma/include", "enum rpma_rejection rejection;", tmp_path)
