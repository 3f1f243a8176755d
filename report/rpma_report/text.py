# SPDX-License-Identifier: BSD-3-Clause
"""Text from a result file, made fit for showing.

Any text of a file may end up in a page, a chart or a message on a terminal.
Escaping for HTML and XML is done where the text is inserted; here go the
characters that no escaping makes harmless: controls, bidirectional overrides,
lone surrogates, and sheer length.
"""

import unicodedata
from collections.abc import Sequence

# Cc control, Cf format (bidirectional overrides, zero width), Cs surrogate,
# Co private use, Cn unassigned, Zl/Zp line and paragraph separators.
_UNFIT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown(value: object, limit: int = 200) -> str:
    """One line of printable text, at most `limit` characters long."""
    text = value if isinstance(value, str) else str(value)
    cut = text[: limit + 1]
    clean = "".join("\ufffd" if unicodedata.category(c) in _UNFIT else c for c in cut)
    return clean if len(clean) <= limit else clean[: limit - 1] + "\u2026"


def some(names: Sequence[str], limit: int = 8) -> str:
    """a, b and 3 more"""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")
