// SPDX-License-Identifier: BSD-3-Clause
// What the page adds where scripts run: values at the pointer, series to hide, tables to
// sort and filter, addresses of charts and rows, a dark mode. The page is whole without
// it. All that was chosen stands in the address, as #row&latency.off=1&theme=dark, so a
// link or a reload brings it back. Text goes into the page as text only.
"use strict";
(() => {
const VALUES = JSON.parse(document.getElementById("values").textContent);
const SVG = "http://www.w3.org/2000/svg", UNKNOWN = "\u2013";

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function make(tag, attributes = {}, ...children) {
  const element = set(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

const draw = (tag, attributes = {}) => set(document.createElementNS(SVG, tag), attributes);

// ---- The address: an anchor, then what was chosen

let anchor = "", chosen = new URLSearchParams();

function readAddress() {
  const [first, ...rest] = location.hash.slice(1).split("&");
  anchor = first.includes("=") ? "" : decodeURIComponent(first);
  chosen = new URLSearchParams(first.includes("=") ? location.hash.slice(1) : rest.join("&"));
}

function address(to = anchor) {
  return `#${[encodeURIComponent(to), chosen.toString()].filter((part, i) => part || !i).join("&")}`;
}

function choose(key, value) {
  if (value) chosen.set(key, value); else chosen.delete(key);
  history.replaceState(null, "", address());
}

// ---- Numbers as the rest of the page writes them

function digits(v) {
  const far = Math.abs(v);
  if (far >= 100) return Math.round(v).toLocaleString("en-US");
  return far >= 0.1 ? v.toFixed(far >= 10 ? 1 : far >= 1 ? 2 : 3) : String(Number(v.toPrecision(2)));
}

function scaled(v, steps, otherwise) {
  for (const [factor, unit] of steps) if (Math.abs(v) >= factor) return `${digits(v / factor)} ${unit}`;
  return otherwise(v);
}

const time = ns => scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"]],
  v => `${Number.isInteger(v) ? v : v.toFixed(1)} ns`);
const rate = unit => v => scaled(v, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].map(
  ([factor, prefix]) => [factor, `${prefix}${unit}/s`]), w => `${digits(w)} ${unit}/s`);

function size(bytes) {
  for (const [power, unit] of [[40, "TiB"], [30, "GiB"], [20, "MiB"], [10, "KiB"]]) {
    const part = bytes / 2 ** power;
    if (part >= 1) return `${Number.isInteger(part) ? part : Number(part.toPrecision(4))} ${unit}`;
  }
  return `${bytes} B`;
}

const fraction = v => `${Number((v * 100).toPrecision(3))} %`;
const FORMS = {
  time, latency: time, seconds: s => time(s * 1e9), bytes: rate("B"), ops: rate("op"), per_s: rate("op"),
  ratio: v => `${Number(v.toPrecision(4))}\u00d7`, size, fraction, tail: v => `${Number((100 - 100 / v).toPrecision(10))} %`,
};
const told = (scale, v) => (FORMS[scale] || (w => String(Number(w.toPrecision(6)))))(v);

// ---- The points of a drawing, where they stand in it

class Drawing {
  constructor(svg) {
    this.svg = svg;
    this.figure = svg.closest("figure");
    this.values = VALUES.charts[this.figure.id];
    this.axes = JSON.parse(svg.dataset.axes);
    this.lines = this.values.panels.flatMap((panel, i) => panel.lines.map(line => this.line(panel, this.axes[i], line)));
  }

  line(panel, axes, line) {
    const [left, top, right, bottom, x0, x1, xLog, y0, y1, yLog] = axes;
    const share = (v, from, to, log) => ((log ? Math.log(v) : v) - from) / (to - from);
    const rows = this.values.x === "rows"; // a place each row, from top to bottom, the values across
    const place = (x, y, mark) => ({
      left: left + (right - left) * share(rows ? y : x + (line.aside || 0), x0, x1, xLog),
      top: bottom - (bottom - top) * share(rows ? x : y, y0, y1, yLog),
      series: line.series, panel, x, y, mark,
    });
    const marks = line.marks.map(mark => place(mark[0], mark[1], mark)), path = line.path || [], between = [];
    for (let i = 0; i < path.length; i += 2) between.push(place(path[i], path[i + 1], null));
    return { series: line.series, panel, marks, between };
  }

  shown() {
    const off = hidden(this.figure);
    return this.lines.filter(line => !off.has(line.series));
  }

  nearest(left, top) {
    let best = null, least = 40 ** 2;
    for (const line of this.shown()) for (const [points, handicap] of [[line.marks, 0], [line.between, 36]])
      for (const point of points) {
        const far = (point.left - left) ** 2 + (point.top - top) ** 2 + handicap;
        if (far < least) { least = far; best = point; }
      }
    return best;
  }

  // From a point to its neighbour: along its line, or to the same place of another line.
  step(point, along, across) {
    const lines = this.shown(), steps = line => line.marks.length > 1 ? line.marks : [...line.marks, ...line.between];
    if (!lines.length) return null;
    const at = Math.max(0, lines.findIndex(l => l.series === point?.series && l.panel === point.panel));
    const points = steps(lines[(at + across + lines.length) % lines.length]);
    if (!points.length || !point) return points[0] || null;
    const close = points.reduce((a, b) => Math.abs(b.left - point.left) < Math.abs(a.left - point.left) ? b : a);
    const here = points.includes(point) ? points.indexOf(point) : points.indexOf(close);
    return points[Math.min(Math.max(here + along, 0), points.length - 1)];
  }
}

const drawings = [...document.querySelectorAll("figure svg[data-axes]")].map(svg => new Drawing(svg));
const inSight = figure => drawings.find(d => d.figure === figure && d.svg.getClientRects().length);

// ---- What is known of a point, beside it

function lines(drawing, point) {
  const { values } = drawing, { panel, mark } = point, head = values.series[point.series];
  const x = ["category", "rows"].includes(values.x) ? values.names[Math.round(point.x)] : told(values.x, point.x);
  const found = [head + (panel.title && panel.title !== head ? `, ${panel.title}` : "")];
  found.push([x && `${values.xTitle} ${x}`.trim(), `${panel.yTitle} ${told(panel.y, point.y)}`].filter(Boolean).join(": "));
  const [, , low, high, repeats, name] = mark || [], about = [];
  if (low != null && high != null) about.push(`95 % interval ${told(panel.y, low)} ${UNKNOWN} ${told(panel.y, high)}`);
  if (repeats) about.push(`${repeats} repeat${repeats > 1 ? "s" : ""}`);
  if (about.length) found.push(about.join(", "));
  if (name) found.push(`${VALUES.column} ${name}`);
  return found;
}

function show(drawing, point) {
  drop();
  if (!point) return;
  const { svg } = drawing, area = svg.parentElement;
  svg.append(draw("circle", { cx: point.left, cy: point.top, r: 7, class: "ring" }));
  const tip = area.querySelector(".tip") || area.appendChild(make("div", { class: "tip", role: "status" }));
  tip.replaceChildren(...lines(drawing, point).map((text, i) => make(i ? "span" : "b", {}, text)));
  tip.hidden = false;
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const left = point.left * scale, top = point.top * scale, room = area.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, left + 14 > room ? left - tip.offsetWidth - 14 : left + 14)}px`;
  tip.style.top = `${top > tip.offsetHeight + 14 ? top - tip.offsetHeight - 12 : top + 14}px`;
  drawing.at = point;
}

function drop() {
  for (const tip of document.querySelectorAll(".tip:not([hidden])")) tip.hidden = true;
  for (const ring of document.querySelectorAll(".ring")) ring.remove();
  for (const drawing of drawings) drawing.at = null;
}

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], Home: [-1e9, 0], End: [1e9, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function listen(drawing) {
  const { svg } = drawing;
  set(svg, { tabindex: 0, role: "group", "aria-roledescription": "chart: arrow keys show its points, Enter goes to the row" });
  const under = event => {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    return drawing.nearest((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  };
  svg.addEventListener("pointermove", event => show(drawing, under(event)));
  svg.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") drop(); });
  svg.addEventListener("blur", drop);
  svg.addEventListener("click", event => {
    const point = event.target.closest("[data-legend]") ? null : under(event);
    show(drawing, point);
    if (point && event.pointerType !== "touch") toRow(drawing, point);
  });
  svg.addEventListener("keydown", event => {
    if (event.target !== svg) return;
    if (event.key === "Escape") drop();
    else if (event.key === "Enter" && drawing.at) toRow(drawing, drawing.at);
    else if (event.key in KEYS) show(drawing, drawing.step(drawing.at, ...KEYS[event.key]));
    else return;
    event.preventDefault();
  });
}

// ---- Series to hide, by their entries in the legend

const hidden = figure => new Set((chosen.get(`${figure.id}.off`) || "").split(",").filter(Boolean).map(Number));

function legend(drawing) {
  const { svg, figure, values } = drawing;
  const numbers = new Set([...svg.querySelectorAll("[data-legend]")].map(e => e.dataset.legend));
  for (const number of numbers) {
    const parts = [...svg.querySelectorAll(`[data-legend="${number}"]`)], label = `series ${values.series[number]}`;
    const entry = draw("g", { role: "button", tabindex: 0, "data-legend": number, "aria-label": label });
    parts[0].before(entry);
    for (const part of parts) delete part.dataset.legend;
    entry.append(draw("rect", { rx: 3 }), ...parts);
    const toggle = () => {
      const off = hidden(figure);
      if (!off.delete(Number(number))) off.add(Number(number));
      choose(`${figure.id}.off`, [...off].sort((a, b) => a - b).join(","));
      drop(); hide(figure);
    };
    entry.addEventListener("click", toggle);
    entry.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
    });
  }
}

// A box to click on: known once the drawing has a size.
function boxes(svg) {
  for (const entry of svg.querySelectorAll("g[data-legend]")) {
    const area = entry.firstChild;
    area.removeAttribute("width");
    const box = entry.getBBox();
    set(area, { x: box.x - 3, y: box.y - 2, width: box.width + 6, height: box.height + 4 });
  }
}

function hide(figure) {
  const off = hidden(figure), is = number => off.has(Number(number));
  for (const part of figure.querySelectorAll("[data-series]")) part.classList.toggle("off", is(part.dataset.series));
  for (const entry of figure.querySelectorAll("g[data-legend]")) set(entry, { "aria-pressed": !is(entry.dataset.legend) });
}

// ---- Tables: sorted by a column, filtered by words

const UNITS = { "": 1, "%": 1, ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
const PREFIXES = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

// null for unknown, a number where the cell is one with a unit, else its text.
function worth(cell) {
  const text = (cell?.firstChild?.textContent || "").trim();
  if (text === "" || text === UNKNOWN) return null;
  const match = /^([+\u2212-]?)([\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)\s?(.*)$/.exec(text);
  const per = match && /^([kMGT]?)(?:B|bit|op)\/s$/.exec(match[3]);
  const unit = match && (per ? PREFIXES[per[1]] : UNITS[match[3]]);
  if (!unit) return text;
  return Number(match[2].replaceAll(",", "")) * unit * (match[1] && match[1] !== "+" ? -1 : 1);
}

function compare(one, other, sign) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return sign * (typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true }));
}

class Table {
  constructor(table) {
    this.table = table;
    this.bodies = [...table.tBodies];
    this.rows = this.bodies.flatMap(body => [...body.rows].filter(row => !row.classList.contains("group")).map(row => ({
      row, body, group: body.querySelector(".group")?.textContent.trim() || "", text: row.textContent.toLowerCase() })));
    this.heads = [...table.tHead.rows[0].cells];
    [this.all, this.order] = [make("tbody"), ""];
    if (this.rows.length < 2) return;
    for (const [number, head] of this.heads.entries()) {
      const button = make("button", { type: "button", class: "sort" }, ...set(head, { "aria-sort": "none" }).childNodes);
      button.addEventListener("click", () => {
        const now = chosen.get(`${table.id}.sort`);
        choose(`${table.id}.sort`, now === `${number}` ? `-${number}` : now === `-${number}` ? "" : `${number}`);
        this.sort();
      });
      head.append(button);
    }
    if (this.rows.length > 5) this.tools();
  }

  tools() {
    this.find = make("input", { type: "search", placeholder: "Filter rows", "aria-label": `Filter: ${this.table.caption.textContent}` });
    this.count = make("span", { role: "status" });
    this.find.addEventListener("input", () => { choose(`${this.table.id}.find`, this.find.value); this.filter(); });
    this.table.parentElement.before(make("div", { class: "tools" }, this.find, this.count));
  }

  sort() {
    const order = chosen.get(`${this.table.id}.sort`) || "";
    if (order === this.order) return;
    this.order = order;
    const wanted = /^(-?)(\d+)$/.exec(order), column = wanted ? Number(wanted[2]) : -1;
    this.heads.forEach((head, i) => head.setAttribute("aria-sort", i !== column ? "none" : wanted[1] ? "descending" : "ascending"));
    for (const name of this.table.querySelectorAll(".of")) name.remove();
    if (!this.heads[column]) {
      for (const { row, body } of this.rows) body.append(row);
      return this.all.replaceWith(...this.bodies);
    }
    const keyed = this.rows.map(entry => ({ ...entry, key: worth(entry.row.cells[column]) }));
    keyed.sort((a, b) => compare(a.key, b.key, wanted[1] ? -1 : 1));
    for (const { row, group } of keyed) if (group) row.cells[0].append(make("span", { class: "of" }, group));
    this.all.replaceChildren(...keyed.map(entry => entry.row));
    for (const body of this.bodies) body.remove();
    this.table.append(this.all);
  }

  filter() {
    if (!this.find) return;
    this.find.value = chosen.get(`${this.table.id}.find`) || "";
    const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let kept = 0;
    for (const { row, group, text } of this.rows) {
      const fits = words.every(word => text.includes(word) || group.toLowerCase().includes(word));
      row.classList.toggle("off", !fits);
      kept += fits;
    }
    for (const body of this.bodies)
      body.querySelector(".group")?.classList.toggle("off", !body.querySelector("tr:not(.group):not(.off)"));
    this.count.textContent = words.length ? `${kept} of ${this.rows.length} rows` : "";
  }
}

// A box that has more rows than it shows ends with a whole one, and with an edge.
function fit(box) {
  box.style.removeProperty("--whole-rows");
  box.classList.remove("more");
  if (box.scrollHeight <= box.clientHeight) return;
  box.classList.add("more");
  const top = box.getBoundingClientRect().top + box.clientTop - box.scrollTop;
  const ends = [...box.querySelectorAll("tbody tr:not(.off)")].map(row => row.getBoundingClientRect().bottom - top);
  const last = ends.filter(end => end <= box.clientHeight).at(-1);
  if (last) box.style.setProperty("--whole-rows", `${last + box.offsetHeight - box.clientHeight}px`);
}

// ---- From chart to row and back; addresses

function go(to, smoothly) {
  const element = document.getElementById(to);
  document.querySelector(".target")?.classList.remove("target");
  if (!element) return;
  element.classList.add("target");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ behavior: still || !smoothly ? "auto" : "smooth", block: element.matches("tr") ? "center" : "start" });
}

function visit(to) {
  if (to !== anchor) history.pushState(null, "", address(to));
  anchor = to;
  go(to, true);
}

const rowOf = (figure, name) => [...document.querySelectorAll(`#${CSS.escape(figure.id)}-table td.point`)]
  .find(cell => cell.textContent === name)?.parentElement;

function toRow(drawing, point) {
  const row = point.mark?.[5] && rowOf(drawing.figure, point.mark[5]);
  if (row) visit(row.id);
}

function toPoint(figure, name) {
  visit(figure.id);
  const drawing = inSight(figure);
  const point = drawing?.shown().flatMap(line => line.marks).find(found => found.mark[5] === name);
  if (point) show(drawing, point);
}

document.addEventListener("click", event => {
  const link = event.target.closest('a[href^="#"]'), modified = event.ctrlKey || event.metaKey || event.shiftKey;
  if (!link || modified) return;
  event.preventDefault();
  const cell = link.closest("td.point"), to = link.getAttribute("href").slice(1);
  if (cell) toPoint(document.getElementById(to), cell.textContent); else visit(to);
});

const permalink = id => make("a", { href: `#${id}`, class: "anchor", title: "link to this" }, "#");

// ---- Dark or light, whatever the system has

const darkRule = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
  .find(rule => rule.media?.mediaText.includes("prefers-color-scheme"));
const byItself = darkRule.media.mediaText, system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => chosen.has("theme") ? chosen.get("theme") === "dark" : system.matches;
const lamp = make("button", { type: "button", class: "lamp" }, "Dark");

function paint() {
  darkRule.media.mediaText = chosen.has("theme") ? (isDark() ? "screen" : "not all") : byItself;
  document.documentElement.style.colorScheme = chosen.has("theme") ? (isDark() ? "dark" : "light") : "";
  set(lamp, { "aria-pressed": isDark() });
}
lamp.addEventListener("click", () => { choose("theme", isDark() ? "light" : "dark"); paint(); });
system.addEventListener("change", paint);

// ---- Begin

const tables = [...document.querySelectorAll("table")].map(table => new Table(table));
for (const row of document.querySelectorAll("tbody tr[id]")) row.cells[0].append(permalink(row.id));
for (const section of document.querySelectorAll("section[id] > h2")) section.append(permalink(section.parentElement.id));
for (const title of document.querySelectorAll(".one > h3")) title.append(permalink(title.parentElement.querySelector("figure").id));
document.querySelector("nav").append(lamp);
for (const drawing of drawings) { listen(drawing); legend(drawing); }
const measured = new ResizeObserver(entries => entries.forEach(entry => boxes(entry.target)));
for (const { svg } of drawings) measured.observe(svg);
const grown = new ResizeObserver(entries => entries.forEach(entry => fit(entry.target.parentElement)));
for (const { table } of tables) grown.observe(table);

function all() {
  readAddress();
  paint();
  for (const drawing of drawings) hide(drawing.figure);
  for (const table of tables) { table.sort(); table.filter(); }
  if (anchor) go(anchor);
}
addEventListener("hashchange", all);
all();
})();
