# SPDX-License-Identifier: BSD-3-Clause
"""Turns matplotlib's SVG document into an element that stands in the page.

Ids get the name of the chart as prefix, since a page holds several charts;
stand-in colours become CSS variables; sizes give way to the viewBox. The text of
labels is carried over by an XML parser and writer and so stays escaped. What the
page does not need is left out: unused ids, decimals below a hundredth of a
point, and a style that all members of a group repeat.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_URL = re.compile(r"url\(#(.*)\)")
_FRACTION = re.compile(r"-?[0-9]*\.[0-9]+")
_FONT = re.compile(r"font: [^;]*(; )?")

# Near-black colours that no drawing uses otherwise.
COLOURS = {
    name: f"#0101{code:02x}"
    for code, name in enumerate(
        ["--ink", "--muted", "--grid", "--alarm", "--good", *(f"--s{i}" for i in range(1, 7))], start=1
    )
}
_VARIABLE = {colour: f"var({name})" for name, colour in COLOURS.items()}


def part(name: str, number: int, counter: int) -> str:
    """The gid of an artist that is a part of a series or of its entry in the legend."""
    return f"{name} {number} {counter}"


def for_page(document: str, prefix: str, attributes: Mapping[str, str]) -> str:
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(document)
    for child in list(root):
        if child.tag == f"{{{_SVG}}}metadata":
            root.remove(child)
    names = {id: f"{prefix}-{number}" for number, id in enumerate(dict.fromkeys(_used(root)))}
    for element in root.iter():
        for child in list(element):
            if child.tag == f"{{{_SVG}}}style":  # would apply to the whole page
                element.remove(child)
        _rewrite(element, names)
    _gather(root)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib.update({"class": prefix.rpartition("-")[2], "role": "img", **attributes})
    _common_font(root)
    return re.sub(r">\s+<", ">\n<", ElementTree.tostring(root, encoding="unicode")).strip()


def _used(root: Element) -> Iterator[str]:
    """The ids that anything refers to."""
    for element in root.iter():
        if link := element.get(_LINK):
            yield link.removeprefix("#")
        if clip := _URL.fullmatch(element.get("clip-path", "")):
            yield clip[1]


def _rewrite(element: Element, names: Mapping[str, str]) -> None:
    attributes = element.attrib
    id = attributes.pop("id", "")
    if id in names:
        attributes["id"] = names[id]
    elif id.count(" ") == 2:  # that of part()
        name, number, _ = id.split(" ")
        attributes[f"data-{name}"] = number
    link = attributes.pop(_LINK, None)
    if link is not None:
        attributes["href"] = f"#{names[link.removeprefix('#')]}"
    if clip := _URL.fullmatch(attributes.get("clip-path", "")):
        attributes["clip-path"] = f"url(#{names[clip[1]]})"
    if "style" in attributes:
        style = re.sub(r"#[0-9a-f]{6}", lambda m: _VARIABLE.get(m[0], m[0]), attributes["style"])
        attributes["style"] = re.sub(r"('DejaVu Sans')", r"\1, Verdana, sans-serif", style)
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    for key in {"d", "x", "y", "transform"} & set(attributes):
        attributes[key] = _FRACTION.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), attributes[key])
    if "d" in attributes:
        attributes["d"] = re.sub(r" *([A-Za-z]) *", r"\1", attributes["d"].strip())


def _gather(element: Element) -> None:
    """Attributes that all members of a group have go to the group; a group that has nothing is dissolved."""
    for child in element:
        _gather(child)
    members = [child for child in element if not child.tag.endswith("}defs")]
    if element.tag == f"{{{_SVG}}}g" and len(members) > 1:
        for key in ("style", "clip-path"):
            values = {child.get(key, "") for child in members}
            value = next(iter(values))
            shared = len(values) == 1 and value and key not in element.attrib
            if shared and not re.search(r"(^|; )opacity", value):
                element.set(key, value)
                for child in members:
                    del child.attrib[key]
    for index in range(len(element) - 1, -1, -1):
        child = element[index]
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            element[index : index + 1] = list(child)


def _common_font(root: Element) -> None:
    """The font of most texts is that of the drawing."""
    styled = [e for e in root.iter(f"{{{_SVG}}}text") if "style" in e.attrib]
    fonts = Counter(m[0] for e in styled if (m := _FONT.search(e.attrib["style"])))
    if fonts:
        common = fonts.most_common(1)[0][0]
        root.set("style", common.removesuffix("; "))
        for element in styled:
            element.set("style", element.attrib["style"].replace(common, ""))
