// Where things are: layers from top to bottom, a scope's children alone, and only when
// the scope is open (Sugiyama's method: rows by the longest way, places in a row by the
// middle of what is above and below, then as near to that as their order lets them be).

const BOX = { height: 40, port: 26, gap: 18, row: 38, pad: 18, head: 30, char: 6.8, most: 30,
  widest: 1500, routed: 2000 };

function cut(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// Two lines: what it is, and which.
function label(item) {
  if (item.port !== undefined) return cut(item.port, BOX.most);
  if (item.isScope && !item.op) {
    return cut(item.name || "graph", BOX.most);
  }
  return cut(item.isScope && item.op.family ? `fused ${item.op.family}` : item.op.name, BOX.most);
}

function subtitle(item) {
  if (item.port !== undefined) return "";
  if (item.isPorts) return `${item.children.length} values`;
  if (item.isScope) return `${item.count} op${item.count === 1 ? "" : "s"}`;
  const sources = sourcesOf(item.op), type = item.op.r.length ? typeOf(item.op.r[0]) : "";
  const which = sources.length ? lastPart(sources[0]) : type;
  return cut(sources.length > 1 ? `${cut(which, BOX.most - 6)} +${sources.length - 1}` : which,
    BOX.most);
}

function childIn(scope, item) {
  while (item && item.parent !== scope) item = item.parent;
  return item;
}

function opsBelow(item, visit) {
  if (item.isScope) {
    for (const child of item.children) opsBelow(child, visit);
  }
  if (!item.isScope || item.op) visit(item);
}

// Edges between children of a scope; found once.
function edgesOf(scope) {
  if (scope.edges) return scope.edges;
  const seen = new Map();
  scope.edges = [];
  for (const child of scope.children) {
    opsBelow(child, (op) => {
      for (const maker of op.ins) {
        const from = childIn(scope, maker);
        if (!from || from === child) continue;
        if (!seen.has(from)) seen.set(from, new Set());
        if (!seen.get(from).has(child)) {
          seen.get(from).add(child);
          scope.edges.push([from, child]);
        }
      }
    });
  }
  return scope.edges;
}

// ---- rows ----

// Sources of nothing else stand right above who reads them first.
function layersOf(scope) {
  const place = new Map(), row = new Map(), layers = [];
  scope.children.forEach((child, i) => place.set(child, i));
  const down = edgesOf(scope).filter(([from, to]) => place.get(from) < place.get(to));
  const ins = new Map(), outs = new Map();
  for (const [from, to] of down) {
    ins.set(to, [...(ins.get(to) || []), from]);
    outs.set(from, [...(outs.get(from) || []), to]);
  }
  for (const child of scope.children) {
    row.set(child, (ins.get(child) || []).reduce((most, from) => Math.max(most, row.get(from) + 1), 0));
  }
  for (const child of scope.children.slice().reverse()) {
    if (!ins.has(child) && outs.has(child)) {
      row.set(child, Math.min(...outs.get(child).map((to) => row.get(to))) - 1);
    }
  }
  const last = Math.max(0, ...row.values());
  for (const child of scope.children) {
    const own = child.isOutput ? last : row.get(child);
    (layers[own] = layers[own] || []).push(child);
  }
  return { layers: layers.filter((one) => one), down };
}

// A layer too wide to be looked at becomes several, in the order of the ops.
function splitLayers(layers) {
  const split = [];
  for (const layer of layers) {
    let own = [], width = 0;
    for (const child of layer) {
      if (own.length && width + child.w > BOX.widest) {
        split.push(own);
        own = [];
        width = 0;
      }
      own.push(child);
      width += child.w + BOX.gap;
    }
    split.push(own);
  }
  return split;
}

// A cell for each child, and one that takes no room where an edge passes a row.
function cellsOf(layers, down) {
  const cells = layers.map((layer, row) => layer.map((item) => ({ item, row, w: item.w, ups: [],
    downs: [] }))), cell = new Map();
  for (const own of cells.flat()) cell.set(own.item, own);
  let passes = cell.size > BOX.routed ? 0 : 4 * cell.size;
  const routes = new Map();
  for (const edge of down) {
    const from = cell.get(edge[0]), to = cell.get(edge[1]), span = to.row - from.row;
    if (span <= 0) continue;
    let before = from;
    if (span > 1 && span <= 40 && passes >= span) {
      passes -= span;
      const route = [];
      for (let row = from.row + 1; row < to.row; row++) {
        const pass = { item: null, row, w: 2, ups: [before], downs: [] };
        before.downs.push(pass);
        cells[row].push(pass);
        route.push(pass);
        before = pass;
      }
      routes.set(edge, route);
    }
    before.downs.push(to);
    to.ups.push(before);
  }
  return { cells, routes };
}

// ---- places in a row ----

const centre = (cell) => cell.x + cell.w / 2;

function middle(list) {
  return list.reduce((sum, cell) => sum + centre(cell), 0) / list.length;
}

// As near to where each wants to be as their order and gaps let them: blocks that meet
// move as one (pool adjacent violators, the least squares with an order).
function settle(row) {
  const blocks = [];
  let offset = 0;
  for (const cell of row) {
    cell.offset = offset;
    offset += cell.w + (cell.item ? BOX.gap : BOX.gap / 2);
    blocks.push({ sum: cell.want - cell.offset, count: 1 });
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1], other = blocks[blocks.length - 2];
      if (other.sum / other.count <= last.sum / last.count) break;
      other.sum += last.sum;
      other.count += last.count;
      blocks.pop();
    }
  }
  let index = 0;
  for (const block of blocks) {
    for (let i = 0; i < block.count; i++, index++) {
      row[index].x = row[index].offset + block.sum / block.count;
    }
  }
}

function sweep(cells, side, isOrdered) {
  const rows = side === "ups" ? cells : cells.slice().reverse();
  for (const row of rows) {
    for (const cell of row) {
      cell.want = cell[side].length ? middle(cell[side]) - cell.w / 2 : cell.x;
    }
    if (isOrdered) row.sort((a, b) => a.want + a.w / 2 - b.want - b.w / 2);
    settle(row);
  }
}

function placeCells(cells) {
  for (const row of cells) {
    let x = 0;
    for (const cell of row) {
      cell.x = x;
      x += cell.w + BOX.gap;
    }
    for (const cell of row) cell.x -= x / 2;
  }
  const rounds = cells.length * (cells[0]?.length || 0) > BOX.routed ? 1 : 2;
  for (let round = 0; round < rounds; round++) {
    sweep(cells, "ups", true);
    sweep(cells, "downs", true);
  }
  sweep(cells, "ups", false);
  sweep(cells, "downs", false);
}

// ---- a scope ----

function sizeOf(item) {
  const longest = Math.max(label(item).length + (item.isScope ? 2 : 0), subtitle(item).length * 0.92);
  item.w = Math.round(Math.max(longest, item.port === undefined ? 10 : 6) * BOX.char + 26);
  item.h = item.port !== undefined ? BOX.port : BOX.height;
}

function layOut(item) {
  if (!item.isScope || !item.isOpen) return sizeOf(item);
  item.children.forEach(layOut);
  const { layers, down } = layersOf(item), { cells, routes } = cellsOf(splitLayers(layers), down);
  placeCells(cells);
  const left = cells.flat().reduce((least, cell) => Math.min(least, cell.x), 0);
  let y = BOX.head + BOX.pad, width = 0;
  for (const row of cells) {
    const height = Math.max(...row.map((cell) => cell.item ? cell.item.h : 0));
    for (const cell of row) {
      cell.x = Math.round(cell.x - left + BOX.pad);
      cell.y = y;
      width = Math.max(width, cell.x + cell.w + BOX.pad);
      cell.h = height;
      if (cell.item) {
        cell.item.x = cell.x;
        cell.item.y = y + Math.round((height - cell.item.h) / 2);
      }
    }
    y += height + BOX.row;
  }
  for (const edge of edgesOf(item)) edge.span = spanOf(edge, routes.get(edge) || []);
  item.w = Math.max(width, Math.round((label(item).length + 12) * BOX.char));
  item.h = Math.max(y - BOX.row + BOX.pad, BOX.head + BOX.pad);
}

// The places that an edge passes on its way, and the box around all of it.
function spanOf([from, to], route) {
  const ax = from.x + from.w / 2, bx = to.x + to.w / 2, ay = from.y + from.h, by = to.y;
  let left = Math.min(ax, bx), right = Math.max(ax, bx);
  for (const cell of route) {
    left = Math.min(left, cell.x);
    right = Math.max(right, cell.x);
  }
  return { route, ax, ay, bx, by, left, top: Math.min(ay, by), w: right - left + 1,
    h: Math.abs(by - ay) + 1 };
}

// Opens scopes from the outermost on while there is not too much to look at.
function openUntil(graph, most) {
  const todo = [graph.root];
  let shown = graph.root.children.length;
  while (todo.length) {
    for (const child of todo.shift().children) {
      if (child.isScope && !child.op && shown + child.children.length <= most) {
        child.isOpen = true;
        shown += child.children.length;
        todo.push(child);
      }
    }
  }
}
