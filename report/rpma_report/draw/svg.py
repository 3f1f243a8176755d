# SPDX-License-Identifier: BSD-3-Clause
"""Turns matplotlib's SVG document into an element that stands in the page.

Ids get the name of the chart as prefix, since a page holds several charts;
stand-in colours become CSS variables; sizes give way to the viewBox. The text of
labels is carried over by an XML parser and writer and so stays escaped.
"""

import re
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"

# Near-black colours that no drawing uses otherwise.
COLOURS = {
    name: f"#0101{code:02x}"
    for code, name in enumerate(
        ["--ink", "--muted", "--grid", "--alarm", *(f"--s{i}" for i in range(1, 7))], start=1
    )
}
_VARIABLE = {colour: f"var({name})" for name, colour in COLOURS.items()}


def for_page(document: str, prefix: str, alt: str) -> str:
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(document)
    for child in list(root):
        if child.tag == f"{{{_SVG}}}metadata":
            root.remove(child)
    for element in root.iter():
        for child in list(element):
            if child.tag == f"{{{_SVG}}}style":  # would apply to the whole page
                element.remove(child)
        _rewrite(element, prefix)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib.update({"class": prefix.rpartition("-")[2], "role": "img", "aria-label": alt})
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r"\n\s*", "\n", text).strip()


def _rewrite(element: ElementTree.Element, prefix: str) -> None:
    attributes = element.attrib
    if "id" in attributes:
        attributes["id"] = f"{prefix}-{attributes['id']}"
    link = attributes.pop(_LINK, None)
    if link is not None:
        attributes["href"] = f"#{prefix}-{link.removeprefix('#')}"
    if "clip-path" in attributes:
        attributes["clip-path"] = attributes["clip-path"].replace("url(#", f"url(#{prefix}-")
    if "style" in attributes:
        style = re.sub(r"#[0-9a-f]{6}", lambda m: _VARIABLE.get(m[0], m[0]), attributes["style"])
        attributes["style"] = re.sub(r"('DejaVu Sans')", r"\1, Verdana, sans-serif", style)
