"use strict";
// A graph of ops, drawn scope by scope.  Everything is in this page: the data are the
// JSON that `ingot dump --format json` writes, deflated, in base64.

const $ = (id) => document.getElementById(id);
const BOX = { height: 26, gap: 14, row: 30, pad: 16, head: 22, char: 7, most: 36 };
let data, graph, view = { x: 0, y: 0, zoom: 1 }, picked = null, matches = [], match = -1;

// ---- reading ----

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// A scope has children: ops and scopes.  An op is in the scope that the name of its
// first source says: /top/top.0/Gemm is in top.0 of top.
function scopeOf(root, op) {
  const path = ((op.sources || [])[0] || "").split("/").filter((part) => part);
  let at = root;
  for (const part of path.slice(0, -1)) {
    let next = at.scopes.get(part);
    if (!next) {
      next = newScope(part, at);
      at.scopes.set(part, next);
      at.children.push(next);
    }
    at = next;
  }
  return at;
}

function newScope(name, parent) {
  return { name, parent, scopes: new Map(), children: [], isScope: true, isOpen: !parent,
    count: 0, depth: parent ? parent.depth + 1 : 0 };
}

function label(item) {
  const text = item.isScope ? `${item.isOpen ? "▾" : "▸"} ${item.name} (${item.count})`
    : item.op.op + (item.op.node ? ` · ${item.op.node.split("/").pop()}` : "");
  return text.length > BOX.most ? text.slice(0, BOX.most - 1) + "…" : text;
}

function build(source) {
  const root = newScope(source.graph, null), maker = new Map(), items = [];
  for (const op of source.ops) {
    const scope = scopeOf(root, op);
    const item = { op, parent: scope, ins: [], outs: [], order: items.length };
    scope.children.push(item);
    items.push(item);
    for (const result of op.results) maker.set(result.id, item);
    for (let at = scope; at; at = at.parent) at.count++;
  }
  for (const item of items) {
    for (const id of item.op.operands) {
      const from = maker.get(id);
      if (from && from !== item) {
        item.ins.push(from);
        from.outs.push(item);
      }
    }
    item.text = (item.op.text + " " + (item.op.sources || []).join(" ")).toLowerCase();
  }
  return { root, items, source };
}

// ---- laying out: a scope when it is opened, its children alone ----

function childIn(scope, item) {
  while (item && item.parent !== scope) item = item.parent;
  return item;
}

function opsBelow(item, visit) {
  if (!item.isScope) return visit(item);
  for (const child of item.children) opsBelow(child, visit);
}

// Edges between children of a scope; found once.
function edgesOf(scope) {
  if (scope.edges) return scope.edges;
  const seen = new Set(), number = new Map();
  scope.children.forEach((child, i) => number.set(child, i));
  scope.edges = [];
  opsBelow(scope, (op) => {
    const to = childIn(scope, op);
    for (const maker of op.ins) {
      const from = childIn(scope, maker);
      const key = from && number.get(from) * scope.children.length + number.get(to);
      if (from && from !== to && !seen.has(key)) {
        seen.add(key);
        scope.edges.push([from, to]);
      }
    }
  });
  return scope.edges;
}

// Rows by the longest way from the top; edges against the order of ops do not count.
function rowsOf(scope) {
  const place = new Map(), row = new Map(), ins = new Map(), rows = [];
  scope.children.forEach((child, i) => place.set(child, i));
  for (const [from, to] of edgesOf(scope)) {
    if (place.get(from) < place.get(to)) ins.set(to, (ins.get(to) || []).concat([from]));
  }
  for (const child of scope.children) {
    let own = 0;
    for (const from of ins.get(child) || []) own = Math.max(own, row.get(from) + 1);
    row.set(child, own);
    (rows[own] = rows[own] || []).push(child);
  }
  return { rows, ins };
}

function layOut(item) {
  if (!item.isScope || !item.isOpen) {
    item.w = label(item).length * BOX.char + 16;
    item.h = BOX.height;
    return;
  }
  item.children.forEach(layOut);
  const { rows, ins } = rowsOf(item);
  let y = BOX.head, width = 0;
  for (const row of rows) {
    // Under the middle of what feeds it.
    for (const child of row) {
      const from = ins.get(child) || [];
      child.want = from.length ? from.reduce((sum, f) => sum + f.x + f.w / 2, 0) / from.length
        : child.want || 0;
    }
    row.sort((a, b) => a.want - b.want);
    let x = BOX.pad, height = 0;
    for (const child of row) {
      child.x = Math.max(x, child.want - child.w / 2);
      child.y = y;
      x = child.x + child.w + BOX.gap;
      height = Math.max(height, child.h);
    }
    width = Math.max(width, x - BOX.gap + BOX.pad);
    y += height + BOX.row;
  }
  item.w = Math.max(width, label(item).length * BOX.char + 2 * BOX.pad);
  item.h = y - BOX.row + BOX.pad;
}

function relayOut() {
  layOut(graph.root);
  graph.root.x = graph.root.y = 0;
  draw();
}

// ---- drawing ----

const canvas = $("canvas"), pen = canvas.getContext("2d");
let colours, isDue = false;

function draw() {
  if (!isDue) {
    isDue = true;
    requestAnimationFrame(paint);
  }
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  colours = {};
  for (const name of ["back", "text", "dim", "box", "scope", "line", "edge", "mark", "pick"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

function paint() {
  isDue = false;
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = colours.back;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  seen = { left: view.x, top: view.y, right: view.x + canvas.clientWidth / view.zoom,
    bottom: view.y + canvas.clientHeight / view.zoom };
  const zoom = view.zoom * ratio;
  pen.setTransform(zoom, 0, 0, zoom, -view.x * zoom, -view.y * zoom);
  pen.font = "12px ui-monospace, monospace";
  pen.textBaseline = "middle";
  pen.lineWidth = 1 / Math.min(view.zoom, 1);
  paintItem(graph.root, 0, 0, new Set(matches));
}

// What of the graph the canvas shows; the page is asked for its size once a picture.
let seen = { left: 0, top: 0, right: 0, bottom: 0 };

function isSeen(x, y, w, h) {
  return x < seen.right && x + w > seen.left && y < seen.bottom && y + h > seen.top;
}

// Near enough to be read; from afar thousands are seen, and each is drawn plainly.
function isNear() {
  return view.zoom > 0.35;
}

function paintItem(item, dx, dy, marked) {
  const x = dx + item.x, y = dy + item.y, isOpen = item.isScope && item.isOpen;
  if (!isSeen(x, y, item.w, item.h)) return;
  pen.fillStyle = marked.has(item) ? colours.mark : item.isScope ? colours.scope : colours.box;
  pen.strokeStyle = item === picked ? colours.pick : colours.line;
  pen.fillRect(x, y, item.w, item.h);
  if (isNear() || isOpen || item === picked) pen.strokeRect(x, y, item.w, item.h);
  if (isNear()) {
    pen.fillStyle = item.isScope && isOpen ? colours.dim : colours.text;
    pen.fillText(label(item), x + 8, y + (isOpen ? BOX.head / 2 : item.h / 2));
  }
  if (!isOpen) return;
  pen.strokeStyle = colours.edge;
  pen.beginPath();
  for (const [from, to] of edgesOf(item)) {
    const ax = x + from.x + from.w / 2, ay = y + from.y + from.h;
    const bx = x + to.x + to.w / 2, by = y + to.y;
    if (!isSeen(Math.min(ax, bx), Math.min(ay, by), Math.abs(ax - bx) + 1,
      Math.abs(ay - by) + 1)) continue;
    pen.moveTo(ax, ay);
    if (isNear()) pen.bezierCurveTo(ax, (ay + by) / 2, bx, (ay + by) / 2, bx, by);
    else pen.lineTo(bx, by);
  }
  pen.stroke();
  for (const child of item.children) paintItem(child, x, y, marked);
}

// ---- where things are ----

function position(item) {
  let x = 0, y = 0;
  for (let at = item; at; at = at.parent) {
    x += at.x;
    y += at.y;
  }
  return { x, y };
}

function itemAt(x, y, item = graph.root, dx = 0, dy = 0) {
  const left = dx + item.x, top = dy + item.y;
  if (x < left || y < top || x > left + item.w || y > top + item.h) return null;
  for (const child of item.isOpen ? item.children : []) {
    const found = itemAt(x, y, child, left, top);
    if (found) return found;
  }
  return item;
}

function fit() {
  const root = graph.root;
  view.zoom = Math.min(canvas.clientWidth / (root.w + 40),
    canvas.clientHeight / (root.h + 40), 1.5);
  view.zoom = Math.max(view.zoom, 0.02);
  view.x = -(canvas.clientWidth / view.zoom - root.w) / 2;
  view.y = -20;
  draw();
}

function show(item) {
  let isNew = false;
  for (let at = item.parent; at; at = at.parent) {
    isNew = isNew || !at.isOpen;
    at.isOpen = true;
  }
  if (isNew) layOut(graph.root);
  const at = position(item);
  view.zoom = Math.max(view.zoom, 0.6);
  view.x = at.x + item.w / 2 - canvas.clientWidth / view.zoom / 2;
  view.y = at.y + item.h / 2 - canvas.clientHeight / view.zoom / 2;
  pick(item);
}

// ---- what is picked ----

function make(tag, text, parent) {
  const made = document.createElement(tag);
  made.textContent = text;
  parent.append(made);
  return made;
}

function putLinks(side, title, items) {
  if (!items.length) return;
  make("h3", title, side);
  for (const item of items.slice(0, 50)) {
    const link = make("button", label(item), make("div", "", side));
    link.className = "link";
    link.onclick = () => show(item);
  }
}

function pick(item) {
  picked = item;
  const side = $("side");
  side.textContent = "";
  make("h2", item.isScope ? item.name || "graph" : item.op.op, side);
  if (item.isScope) {
    make("p", `${item.count} ops`, side);
    putLinks(side, "holds", item.children);
  } else {
    make("pre", item.op.text, side);
    make("h3", "results", side);
    for (const result of item.op.results) {
      make("div", `${result.name || "%" + result.id}: ${result.type}`, side);
    }
    if ((item.op.sources || []).length) {
      make("h3", "from nodes of the model", side);
      for (const source of item.op.sources) make("div", source, side);
    }
    putLinks(side, "reads", item.ins);
    putLinks(side, "is read by", item.outs);
  }
  draw();
}

function toggle(item) {
  if (!item.isScope || !item.parent) return;
  item.isOpen = !item.isOpen;
  relayOut();
}

function setAll(isOpen) {
  const visit = (item) => {
    if (item.isScope) {
      item.isOpen = isOpen || !item.parent;
      item.children.forEach(visit);
    }
  };
  visit(graph.root);
  relayOut();
  fit();
}

// ---- searching, and the table of the same ----

function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  matches = words.length
    ? graph.items.filter((item) => words.every((word) => item.text.includes(word))) : [];
  match = -1;
  $("found").textContent = words.length ? `${matches.length} found` : "";
  if (!$("rows").hidden) putTable();
  draw();
}

function nextMatch(step) {
  if (!matches.length) return;
  match = (match + step + matches.length) % matches.length;
  $("found").textContent = `${match + 1} of ${matches.length}`;
  show(matches[match]);
}

const COLUMNS = [
  ["#", (item) => item.order], ["op", (item) => item.op.op],
  ["results", (item) => item.op.results.map((r) => r.type).join(", ")],
  ["from", (item) => (item.op.sources || []).join(", ")],
];
let sortedBy = 0;

function putTable() {
  const rows = $("rows"), value = COLUMNS[sortedBy][1];
  const items = (matches.length || $("search").value ? matches : graph.items).slice();
  items.sort((a, b) => (value(a) > value(b)) - (value(a) < value(b)));
  rows.textContent = "";
  const table = make("table", "", rows), head = make("tr", "", make("thead", "", table));
  COLUMNS.forEach(([name], i) => {
    const cell = make("th", name, head);
    cell.tabIndex = 0;
    cell.onclick = () => { sortedBy = i; putTable(); };
  });
  const body = make("tbody", "", table);
  for (const item of items.slice(0, 2000)) {
    const row = make("tr", "", body);
    for (const [, cell] of COLUMNS) make("td", cell(item), row);
    row.tabIndex = 0;
    row.onclick = () => pick(item);
    row.ondblclick = () => { setTable(false); show(item); };
  }
  if (items.length > 2000) make("p", `and ${items.length - 2000} more: search`, rows);
}

function setTable(isShown) {
  $("rows").hidden = !isShown;
  canvas.hidden = isShown;
  if (isShown) putTable();
  else draw();
}

// ---- hands ----

let held = null;
canvas.onpointerdown = (e) => {
  held = { x: e.clientX, y: e.clientY, isMoved: false };
  canvas.setPointerCapture(e.pointerId);
};
canvas.onpointermove = (e) => {
  if (!held) return;
  held.isMoved = held.isMoved || Math.abs(e.clientX - held.x) + Math.abs(e.clientY - held.y) > 4;
  if (held.isMoved) {
    view.x -= (e.clientX - held.x) / view.zoom;
    view.y -= (e.clientY - held.y) / view.zoom;
    held.x = e.clientX;
    held.y = e.clientY;
    draw();
  }
};
canvas.onpointerup = (e) => {
  const item = held && !held.isMoved && itemAt(...pointOf(e));
  held = null;
  canvas.focus();
  if (item) pick(item);
};
canvas.ondblclick = (e) => {
  const item = itemAt(...pointOf(e));
  if (item) toggle(item);
};
canvas.onwheel = (e) => {
  e.preventDefault();
  const [x, y] = pointOf(e);
  const zoom = Math.min(Math.max(view.zoom * Math.exp(-e.deltaY / 400), 0.02), 4);
  view.x = x - (x - view.x) * view.zoom / zoom;
  view.y = y - (y - view.y) * view.zoom / zoom;
  view.zoom = zoom;
  draw();
};

function pointOf(e) {
  const box = canvas.getBoundingClientRect();
  return [view.x + (e.clientX - box.left) / view.zoom, view.y + (e.clientY - box.top) / view.zoom];
}

function step(by) {
  if (!picked) return show(graph.root.children[0]);
  const beside = picked.parent ? picked.parent.children : [picked];
  const to = by === "ArrowUp" ? (picked.ins || [])[0] || picked.parent
    : by === "ArrowDown" ? (picked.isScope ? picked.children[0] : picked.outs[0])
    : beside[beside.indexOf(picked) + (by === "ArrowLeft" ? -1 : 1)];
  if (to) show(to);
}

const KEYS = {
  "/": () => $("search").focus(), n: () => nextMatch(1), p: () => nextMatch(-1), f: fit,
  o: () => setAll(true), c: () => setAll(false), t: () => setTable($("rows").hidden),
  d: () => setTheme(!document.documentElement.classList.contains("dark")),
  Enter: () => picked && toggle(picked), ArrowUp: step, ArrowDown: step, ArrowLeft: step,
  ArrowRight: step,
  "+": () => { view.zoom *= 1.25; draw(); }, "-": () => { view.zoom /= 1.25; draw(); },
};
document.onkeydown = (e) => {
  if (e.target === $("search")) {
    if (e.key === "Enter") nextMatch(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") canvas.focus();
    return;
  }
  if (e.key === "Enter" && ["TR", "TH"].includes(e.target.tagName)) return e.target.click();
  const isButton = e.target.tagName === "BUTTON" || e.target.tagName === "SELECT";
  if (KEYS[e.key] && !e.ctrlKey && !e.metaKey && !(isButton && e.key.length > 1)) {
    e.preventDefault();
    KEYS[e.key](e.key);
  }
};

function setTheme(isDark) {
  document.documentElement.classList.toggle("dark", isDark);
  readColours();
  if (graph) draw();
}

// ---- opening ----

function choose(index) {
  graph = build(data.graphs[index]);
  picked = null;
  matches = [];
  relayOut();
  fit();
}

async function open() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  data = await inflate($("data").textContent.trim());
  document.title = `${data.module} – Ingot`;
  $("title").textContent = data.module;
  for (const source of data.graphs) {
    make("option", `${source.graph} (${source.stage}, ${source.ops.length})`, $("graphs"));
  }
  $("graphs").onchange = () => choose($("graphs").selectedIndex);
  $("search").oninput = search;
  $("fit").onclick = fit;
  $("open").onclick = () => setAll(true);
  $("close").onclick = () => setAll(false);
  $("table").onclick = KEYS.t;
  $("theme").onclick = KEYS.d;
  addEventListener("resize", draw);
  choose(0);
  document.body.dataset.ready = String(data.graphs.length);
}

open();
