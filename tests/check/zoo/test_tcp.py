# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check over TCP: what only the peer knows of its region is in the finding of who used it."""

import re

import pytest
from programs import Program, run

# the kind, and the functions of the peer where the region was registered and deregistered
CASES = {
    "offset_instead_of_an_address": ("range-beyond", "end_make_parts", None),
    "region_without_remote_read": ("right-missing", "end_make_parts", None),
    "rkey_of_the_smaller_buffer": ("rkey-stale", "end_make_parts", "serve"),
    "lkey_told_to_the_peer": ("lkey-for-rkey", "end_make_parts", None),
}


@pytest.mark.parametrize("name", CASES)
def test_the_peer_tells_of_its_region(name: str) -> None:
    program = Program("faulty", name)
    kind, made, gone = CASES[name]
    done = run(program, "--check", "--transport=tcp")
    found = [finding for finding in done.findings() if finding.identity == kind]
    assert len(found) == 1, done.err
    text = found[0].text
    place = program.expected().function
    assert any(f"{place} {name}.c:{line}" in text for line in program.lines()), text
    assert all(found[0].names(word) for word in done.named()), text
    assert re.search(r"(?m)^     region +0x[0-9a-f]+ \.\. 0x[0-9a-f]+   65536 bytes, LOCAL_WRITE ", text), text
    assert re.search(rf"(?m)^     registered at +{made} zoo\.c:\d+ < .*main {name}\.c:\d+$", text), text
    assert ("deregistered at" in text) == (gone is not None), text
    if gone is not None:
        assert re.search(rf"(?m)^     deregistered at +{gone} {name}\.c:\d+ < main ", text), text
