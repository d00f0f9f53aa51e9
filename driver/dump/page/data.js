"use strict";
// What became of a model, pass by pass.  Everything is in this page: JSON (its form is
// written down in driver/dump/states.h), deflated, in base64.

const $ = (id) => document.getElementById(id);
let data, code = null;

async function inflate(id) {
  const bytes = Uint8Array.from(atob($(id).textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// ---- ops ----

// Kinds that are drawn as something else than a box.
const HIDDEN = { constant: true, guard: true, end: true, memory: true };

function kindOf(op) {
  return op.family || data.kinds[op.o] || "";
}

// "{kernel = @gemm, perm = [0, 1]}" as pairs.
function attributesOf(op) {
  const pairs = [], text = (op.a || "").trim().slice(1, -1);
  let depth = 0, quoted = false, begin = 0;
  const add = (end) => {
    const [key, ...rest] = text.slice(begin, end).split(" = ");
    if (key.trim()) pairs.push([key.trim(), rest.length ? rest.join(" = ") : "yes"]);
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"') quoted = false;
    } else if (c === '"') {
      quoted = true;
    } else if ("[({".includes(c)) {
      depth++;
    } else if ("])}".includes(c)) {
      depth--;
    } else if (c === "," && !depth) {
      add(i);
      begin = i + 1;
    }
  }
  add(text.length);
  return pairs;
}

function attributeOf(op, name) {
  const pair = attributesOf(op).find(([key]) => key === name);
  return pair ? pair[1].replace(/^[@"]+|"$/g, "") : "";
}

// What an op is called: a launch by its kernel, a region by its family.
function nameOf(op) {
  if (op.name === undefined) {
    const named = { launch: "kernel", host: "function", weight: "name", table: "name" }[op.o];
    op.name = (named && attributeOf(op, named)) || op.o;
    if (op.o === "fused") op.family = attributeOf(op, "family");
  }
  return op.name;
}

const typeOf = (value) => data.types[value[1]];
const sourcesOf = (op) => (op.s || []).map((number) => data.sources[number]);
const lastPart = (path) => path.split("/").filter((part) => part).pop() || path;

// ---- a graph as a tree of scopes ----

// `item`: what is drawn.  A scope has children: items and scopes; an op with bodies is
// both.  Inputs and outputs are items too.  What is not drawn has a `home` that is.
function newItem(op, graph) {
  return { op, graph, parent: null, ins: [], outs: [], order: 0, children: null };
}

function newScope(name, parent, graph) {
  return { name, parent, graph, scopes: new Map(), children: [], isScope: true, isOpen: !parent,
    ins: [], outs: [], count: 0, path: parent ? `${parent.path}/${name}` : "" };
}

// The boxes that all sources of an op are in: /top/top.0/Gemm is in top.0 of top.
function commonPath(op) {
  let common = null;
  for (const source of sourcesOf(op).slice(0, 400)) {
    const parts = source.split("/").filter((part) => part).slice(0, -1);
    if (!common) common = parts;
    let same = 0;
    while (same < common.length && common[same] === parts[same]) same++;
    common.length = same;
  }
  return common || [];
}

function scopeAt(root, path) {
  let at = root;
  for (const part of path) {
    if (!at.scopes.has(part)) {
      const next = newScope(part, at, root.graph);
      at.scopes.set(part, next);
      at.children.push(next);
    }
    at = at.scopes.get(part);
  }
  return at;
}

function opsOfRuns(runs) {
  const ops = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let n = 0; n < runs[i + 1]; n++) ops.push(data.ops[runs[i] + n]);
  }
  return ops;
}

function put(item, parent) {
  item.parent = parent;
  parent.children.push(item);
  for (let at = parent; at; at = at.parent) at.count++;
}

// Which values are the same memory, seen through views of it.
function rootsOf(ops, isPlan) {
  const root = new Map();
  for (const op of ops) {
    if (isPlan && op.o === "view") root.set(op.r[0][0], root.get(op.u[0]) ?? op.u[0]);
  }
  return (id) => root.get(id) ?? id;
}

// Launches write their last operands: what they read is of who wrote that memory.
function outCount(op, isPlan) {
  return isPlan && op.a ? Number(/\bouts = (\d+)/.exec(op.a)?.[1] || 0) : 0;
}

function connect(from, to) {
  if (from && from !== to && !to.ins.includes(from)) {
    to.ins.push(from);
    from.outs.push(to);
  }
}

function isDrawn(op, isPlan) {
  return !HIDDEN[kindOf(op)] && !(isPlan && op.o === "view");
}

function build(source) {
  const graph = { source, items: [], byId: new Map(), hidden: [], isPlan: source.stage === "plan" };
  const ops = opsOfRuns(source.ops), root = newScope(source.graph, null, graph);
  graph.root = root;
  graph.ops = ops;
  const makers = new Map(), constants = new Map(), roots = rootsOf(ops, graph.isPlan);
  for (const op of ops) {
    nameOf(op);
    const item = newItem(op, graph);
    graph.byId.set(op.i, item);
    item.order = graph.items.length;
    graph.items.push(item);
    item.isHidden = !isDrawn(op, graph.isPlan);
    if (kindOf(op) === "constant") constants.set(op.r[0][0], item);
  }
  putInputs(graph, makers);
  for (const item of graph.items) place(graph, item, { makers, constants, roots });
  putOutputs(graph, makers, roots);
  return graph;
}

function place(graph, item, known) {
  const { makers, constants, roots } = known, op = item.op;
  if (item.isHidden) {
    item.home = item.home || null;
    return;
  }
  const outs = outCount(op, graph.isPlan);
  const inner = op.in === undefined ? null : graph.byId.get(op.in);
  const parent = inner && !inner.isHidden ? inner : scopeAt(graph.root, commonPath(op));
  put(item, parent);
  if (data.kinds[op.o] === "body" || graph.ops[item.order + 1]?.in === op.i) {
    Object.assign(item, { isScope: true, children: [], scopes: new Map(), isOpen: false, count: 0,
      path: `${parent.path}/%${op.i}` });
  }
  item.constants = [];
  op.u.forEach((id, i) => {
    const isWritten = i >= op.u.length - outs;
    if (constants.has(id)) {
      item.constants.push(constants.get(id));
      constants.get(id).home = constants.get(id).home || item;
    } else if (!isWritten) {
      for (const maker of makers.get(roots(id)) || []) connect(maker, item);
    }
  });
  for (const id of op.u.slice(op.u.length - outs)) {
    makers.set(roots(id), [...(makers.get(roots(id)) || []), item]);
  }
  for (const result of op.r) makers.set(result[0], [item]);
}

// ---- inputs and outputs ----

const MANY_INPUTS = 8;

function newPort(graph, name, value) {
  const item = newItem(null, graph);
  return Object.assign(item, { port: name, value });
}

function putInputs(graph, makers) {
  graph.inputs = graph.source.inputs.map((value) => newPort(graph, value[2] || `%${value[0]}`, value));
  graph.inputs.forEach((item, i) => makers.set(graph.source.inputs[i][0], [item]));
}

// An input is where all that reads it is; what nobody reads is at the top.
function putOutputs(graph, makers, roots) {
  const end = graph.ops.findLast((op) => op.o === "ret" && op.in === undefined);
  for (const item of graph.inputs) {
    let home = item.outs.length ? item.outs[0].parent : graph.root;
    for (const reader of item.outs) {
      while (!isWithin(reader, home)) home = home.parent;
    }
    while (home.op) home = home.parent;
    item.isInput = true;
    item.parent = home;
    home.inputs = [...(home.inputs || []), item];
  }
  for (const home of new Set(graph.inputs.map((item) => item.parent))) putBefore(home);
  graph.outputs = (end ? end.u : []).map((id, i) => {
    const item = newPort(graph, graph.source.outputs[i] || `output ${i}`, null);
    item.isOutput = true;
    for (const maker of makers.get(roots(id)) || []) {
      connect(maker, item);
      const made = maker.op?.r.find((value) => value[0] === id);
      item.value = item.value || made || maker.value;
    }
    item.parent = graph.root;
    graph.root.children.push(item);
    return item;
  });
}

// Inputs stand before what reads them; many of one scope are a scope of their own.
function putBefore(home) {
  if (home.inputs.length <= MANY_INPUTS) return home.children.unshift(...home.inputs);
  const scope = newScope("inputs", home, home.graph);
  Object.assign(scope, { isPorts: true, children: home.inputs });
  for (const item of home.inputs) item.parent = scope;
  home.children.unshift(scope);
}

function isWithin(item, scope) {
  while (item && item !== scope) item = item.parent;
  return item === scope;
}

// What is drawn for an item, hidden or not.
function shownFor(item) {
  return item.isHidden ? item.home || item.graph.root : item;
}

// ---- states ----

// The graph of a name in state number `index`; built when it is asked for.
function graphAt(index, name) {
  const state = data.states[index];
  if (!state) return null;
  state.built = state.built || new Map();
  const source = state.graphs.find((one) => one.graph === name);
  if (source && !state.built.has(name)) state.built.set(name, build(source));
  return state.built.get(name) || null;
}

// What state `index` did to a graph: id → "added", "changed"; and ids that it removed.
function changesOf(index, name) {
  const state = data.states[index];
  state.changes = state.changes || new Map();
  if (!state.changes.has(name)) state.changes.set(name, findChanges(index, name));
  return state.changes.get(name);
}

function findChanges(index, name) {
  const opsAt = (i) => {
    const source = data.states[i]?.graphs.find((one) => one.graph === name);
    return new Map(source ? opsOfRuns(source.ops).map((op) => [op.i, op]) : []);
  };
  const now = opsAt(index), changes = { marks: new Map(), removed: new Map() };
  const before = index ? opsAt(index - 1) : now;
  for (const [id, op] of now) {
    if (!before.has(id)) changes.marks.set(id, "added");
    else if (before.get(id) !== op) changes.marks.set(id, "changed");
  }
  for (const [id, op] of before) {
    if (!now.has(id)) changes.removed.set(id, op);
  }
  return changes;
}

function countChanges(index, name) {
  const { marks, removed } = changesOf(index, name);
  const count = { added: 0, changed: 0, removed: removed.size };
  for (const mark of marks.values()) count[mark]++;
  return count;
}

// ---- the profile ----

const STEPS = { launch: "launch", host: "host", bind: "read", let: "set", guard: "guard",
  store_dims: "store", if: "if", loop: "loop", rows: "rows" };
const HEATS = { time: (step) => step.seconds, bytes: (step) => step.bytes,
  limit: (step) => step.seconds > 0 ? step.limit_seconds / step.seconds : 0 };

// Steps are the ops of the plan in order; each takes the next that could be it.
function joinProfile() {
  const plans = data.states[data.states.length - 1].graphs.filter((one) => one.stage === "plan");
  if (!data.profile || !plans.length) return;
  const ops = opsOfRuns(plans[0].ops);
  let at = 0;
  for (const step of data.profile.slice().sort((a, b) => a.step - b.step)) {
    let next = at;
    while (next < ops.length && !(STEPS[ops[next].o] === step.kind &&
      (ops[next].o !== "launch" || nameOf(ops[next]) === step.name))) next++;
    if (next < ops.length) {
      ops[next].step = step;
      at = next + 1;
    }
  }
}
