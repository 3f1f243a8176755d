# SPDX-License-Identifier: BSD-3-Clause
"""Runs rpma-ddio-check on a tree: how the tests of this folder that do so call it."""

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

TOOL = os.environ["RPMA_DDIO_CHECK"]
SCHEMA = Path(__file__).resolve().parents[3] / "doc/schema/rpma-ddio-check-1.schema.json"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
Document = dict[str, Any]


def run(*arguments: str, before: list[str] | None = None,
        tool: str = TOOL) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*(before or []), tool, *arguments], capture_output=True, text=True,
                          timeout=180, check=False)


def look(tree: Path, *options: str, before: list[str] | None = None,
         tool: str = TOOL) -> Document:
    """The document of one look at TREE, which is valid and has the exit status."""
    done = run("--sysroot", str(tree), *options, "--json", before=before, tool=tool)
    assert done.stdout, (done.returncode, done.stderr)
    document: Document = json.loads(done.stdout)
    validate(document)
    assert document["run"]["exit_code"] == done.returncode, done.stderr
    return document


@functools.cache
def validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def validate(document: Document) -> None:
    error = next(validator().iter_errors(document), None)
    assert error is None, f"{error.json_path}: {error.message}"


def statuses(document: Document) -> dict[str, str]:
    return {check["id"]: check["status"] for check in document["checks"]}


def said(document: Document, number: str) -> str:
    """What the document reports of one check, for the reader of a failure."""
    for check in document["checks"]:
        if check["id"] == number:
            return f"{check['value']}: {check['meaning']} [{check['source']}]"
    return "not there"
