// What is picked, in words: beside the graph.

let picked = null;

function make(tag, text, parent, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

function section(title) {
  make("h3", title, $("side"));
  return make("div", "", $("side"));
}

function putLinks(title, items) {
  if (!items.length) return;
  const list = section(`${title} (${items.length})`);
  for (const item of items.slice(0, 50)) {
    const link = make("button", label(item), make("div", "", list), "link");
    const type = item.value ? typeOf(item.value) : item.op?.r.length ? typeOf(item.op.r[0]) : "";
    make("span", ` ${type}`, link.parentNode, "dim");
    link.onclick = () => show(item);
  }
  if (items.length > 50) make("div", `and ${items.length - 50} more`, list, "dim");
}

function putPairs(title, pairs) {
  if (!pairs.length) return;
  const list = make("dl", "", section(title));
  for (const [key, value] of pairs) {
    make("dt", key, list);
    make("dd", value, list);
  }
}

// ---- texts ----

function valueName(graph, id) {
  const item = graph.names?.get(id);
  return item || `%${id}`;
}

function nameValues(graph) {
  if (graph.names) return;
  graph.names = new Map();
  for (const [id, , name] of graph.source.inputs) graph.names.set(id, `%${name || id}`);
  for (const op of graph.ops) {
    if (op.o === "weight" || op.o === "table") graph.names.set(op.r[0][0], `@${op.name}`);
  }
}

// An op as a line of the IR's text, with the ids that stay from pass to pass.
function textOf(graph, op) {
  nameValues(graph);
  const results = op.r.map(([id]) => `%${id}`).join(", ");
  const operands = op.u.map((id) => valueName(graph, id)).join(", ");
  return `${results}${results && " = "}${op.o}${operands && ` ${operands}`}${op.a || ""}` +
    (op.r.length ? ` : ${op.r.map(typeOf).join(", ")}` : "");
}

const micro = (seconds) => `${(seconds * 1e6).toPrecision(3)} µs`;
const percent = (share) => `${Math.round(100 * share)} %`;

function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < 3; unit++) bytes /= 1000;
  return `${Number(bytes.toPrecision(3))} ${units[unit]}`;
}

// ---- parts ----

function putSymbols(op) {
  const words = new Set(op.r.map(typeOf).join(" ").match(/[A-Za-z_]\w*/g) || []);
  putPairs("symbols", [...words].filter((word) => data.symbols[word])
    .map((word) => [word, data.symbols[word]]));
}

function putStep(op) {
  const step = op.step;
  if (!step) return;
  putPairs("measured", [["time", `${micro(step.seconds)} (95 %: ${micro(step.p95_seconds)})`],
    ["bytes", bytesText(step.bytes)],
    ["limit", step.limit_seconds ? `${micro(step.limit_seconds)} by ${step.bound}: ${
      percent(HEATS.limit(step))} reached` : "none"]]);
}

function putChange(item) {
  const mark = item.graph === panes.after.graph ? panes.after.marks.get(item.op.i) : "";
  const other = mark === "changed" && graphAt(state - 1, graphName)?.byId.get(item.op.i);
  if (mark) make("span", mark, $("side"), `mark ${mark}`);
  if (other) {
    make("pre", textOf(other.graph, other.op), section("before"), "removed");
    make("h3", "now", $("side"));
  }
}

// The code of a kernel is read when someone opens it.
function putKernel(op) {
  if (op.o !== "launch" || !$("code").textContent.trim()) return;
  const list = section("kernel");
  const titles = { kernel: "kernel form", llvm: "LLVM IR", cuda: "CUDA C", asm: "assembly" };
  const fill = async () => {
    code = code || await inflate("code");
    for (const [form, text] of Object.entries(code[op.name] || {})) {
      const part = make("details", "", list);
      make("summary", `${titles[form] || form} (${text.split("\n").length} lines)`, part);
      part.ontoggle = () => part.open && !part.querySelector("pre") && make("pre", text, part);
    }
    if (!list.firstChild) list.previousSibling.remove();
  };
  list.done = fill();
  side.done = list.done;
}
const side = { done: null };

function putOp(item) {
  const { op, graph } = item, hidden = item.isHidden ? " (not drawn)" : "";
  make("h2", op.name, $("side"));
  make("p", [op.name !== op.o ? op.o : "", kindOf(op), hidden].filter((one) => one).join(" · "),
    $("side"), "dim");
  putChange(item);
  make("pre", textOf(graph, op), $("side"));
  if (op.r.length) {
    putPairs("results", op.r.map((value) => [value[2] || `%${value[0]}`, typeOf(value)]));
  }
  putStep(op);
  putPairs("attributes", attributesOf(op));
  putSymbols(op);
  const sources = sourcesOf(op);
  if (sources.length) {
    const list = section(`from nodes of the model (${sources.length})`);
    for (const source of sources.slice(0, 200)) make("div", source, list);
    if (sources.length > 200) make("div", `and ${sources.length - 200} more`, list, "dim");
  }
  putKernel(op);
  putLinks("reads", [...item.ins, ...(item.constants || [])]);
  putLinks("is read by", item.isHidden ? graph.items.filter(
    (one) => one.constants?.includes(item)) : item.outs);
}

function putScope(item) {
  const isRoot = !item.parent;
  make("h2", isRoot ? data.module : item.name, $("side"));
  make("p", `${item.path && `${item.path.slice(1)} · `}${item.count} ops`, $("side"), "dim");
  if (isRoot) putOverview();
  if (heat && hottest) putHeat(item);
  putLinks("holds", item.children);
}

function putHeat(item) {
  const value = heatOf(item);
  if (value === null) return;
  putPairs("measured", [[heat, heat === "time" ? micro(value)
    : heat === "bytes" ? bytesText(value) : `${percent(value)} of the limit`]]);
}

const HELP = [["drag, wheel", "move, nearer and farther"], ["click", "what it is"],
  ["double click, Enter", "open or close a scope"], ["← ↑ ↓ →", "along the edges"],
  ["/  n  p", "search, next, previous"], ["[  ]", "the pass before, the next"],
  ["b", "before and after, side by side"], [".  ,", "next, previous op that the pass changed"],
  ["o  c  f", "open all, close all, all in view"], ["+  −", "nearer, farther"],
  ["t", "table"], ["h", "colours: kind, time, bytes, limit"], ["d", "light or dark"],
  ["Tab", "to links, buttons, rows"], ["Esc", "back to the graph"]];

function putOverview() {
  const removed = changesOf(state, graphName).removed;
  putPairs("values", [["inputs", String(graphNow().inputs.length)],
    ["outputs", String(graphNow().outputs.length)],
    ["not drawn", String(graphNow().items.filter((item) => item.isHidden).length)]]);
  if (removed.size) {
    const list = section(`removed by ${data.states[state].pass} (${removed.size})`);
    for (const op of [...removed.values()].slice(0, 12)) {
      make("div", `${nameOf(op)} ${sourcesOf(op).slice(0, 2).join(", ")}`, list, "removed");
    }
    if (removed.size > 12) make("div", `and ${removed.size - 12} more: see before`, list, "dim");
  }
  putPairs("keys", HELP);
}

function pick(item, isQuiet) {
  picked = item;
  const shown = item && shownFor(item);
  panes.after.picked = shown && shown.graph === panes.after.graph ? shown : null;
  panes.before.picked = null;
  const twin = isBeside && item?.op && panes.before.graph?.byId.get(item.op.i);
  if (item && item.graph === panes.before.graph) panes.before.picked = shown;
  else if (twin) panes.before.picked = shownFor(twin);
  $("side").textContent = "";
  $("side").scrollTop = 0;
  if (!item) putScope(graphNow().root);
  else if (item.op) putOp(item);
  else if (item.port !== undefined) putPort(item);
  else putScope(item);
  if (!isQuiet && !$("rows").hidden) markRow();
  panes.after.draw();
  panes.before.draw();
}

function putPort(item) {
  make("h2", item.port, $("side"));
  make("p", `${item.isOutput ? "output" : "input"}${item.value ? ` · ${typeOf(item.value)}` : ""}`,
    $("side"), "dim");
  if (item.value) putSymbols({ r: [item.value] });
  putLinks("comes from", item.ins);
  putLinks("is read by", item.outs);
}

function show(item) {
  const pane = item.graph === panes.before.graph && isBeside ? panes.before : panes.after;
  pane.reveal(shownFor(item));
  pick(item);
  const twin = isBeside && (pane === panes.before ? panes.after : panes.before).picked;
  if (twin) (pane === panes.before ? panes.after : panes.before).reveal(twin);
}
