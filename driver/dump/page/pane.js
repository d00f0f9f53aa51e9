// A pane: a canvas that shows one graph.  There are two side by side, or one.

const KINDS = { gemm: "product", dot: "product", conv: "product", interact: "product", map: "map",
  bag: "lookup", gather: "lookup", scatter: "lookup", reduce: "sum", softmax: "sum", pool: "sum",
  scan: "sum", arg: "sum", search: "sum", view: "view", copy: "view", pad: "view", host: "effect",
  effect: "effect", rank: "effect", body: "flow" };
const COLOURS = ["back", "ground", "text", "dim", "box", "scope", "line", "edge", "found", "pick",
  "product", "map", "lookup", "sum", "view", "effect", "flow", "port", "added", "removed",
  "changed", "hot"];
const NEAR = 0.42, LEAST_ZOOM = 0.001, MOST_ZOOM = 4;
const CURVES = 4; // in a path: browsers take twice as long for one path of hundreds
let colours = {}, heat = "", hottest = 0;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of COLOURS) colours[name] = style.getPropertyValue(`--${name}`).trim();
}

// A launch is coloured as what its kernel does, which its kernel's name begins with.
function colourOf(item) {
  if (item.port !== undefined) return colours.port;
  if (!item.op) return colours.flow;
  const kind = item.op.o === "launch" ? KINDS[item.op.name.split("_")[0]] || "map"
    : KINDS[kindOf(item.op)];
  return colours[kind] || colours.view;
}

// What the steps of an item come to; the time of a step that has others in it is theirs too.
function stepsOf(item) {
  let sum = { seconds: 0, bytes: 0, limit_seconds: 0 };
  for (const child of item.isScope ? item.children : []) {
    const inner = stepsOf(child);
    for (const key of Object.keys(sum)) sum[key] += inner[key];
  }
  const step = item.op?.step;
  for (const key of Object.keys(sum)) sum[key] = Math.max(sum[key], step?.[key] || 0);
  return sum;
}

// By the profile; null where nothing was measured.
function heatOf(item) {
  item.steps = item.steps || stepsOf(item);
  return item.steps.seconds ? HEATS[heat](item.steps) : null;
}

// 0 … 1: how much it matters.  Little of a limit reached is hot.
function warmth(item) {
  const value = heatOf(item);
  if (value === null || (heat !== "limit" && !value)) return 0;
  return heat === "limit" ? 1 - Math.min(value, 1) : Math.sqrt(Math.min(value / (hottest || 1), 1));
}

class Pane {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.view = { x: 0, y: 0, zoom: 1 };
    this.graph = null;
    this.picked = null;
    this.marks = new Map();
    this.found = new Set();
    this.isDue = false;
    this.seen = { left: 0, top: 0, right: 0, bottom: 0 };
  }

  draw() {
    if (!this.isDue) {
      this.isDue = true;
      requestAnimationFrame(() => this.paint());
    }
  }

  show(graph, marks) {
    this.graph = graph;
    this.marks = marks;
    this.scopeMarks = new Map();
    this.relayOut();
  }

  relayOut() {
    layOut(this.graph.root);
    this.graph.root.x = this.graph.root.y = 0;
    this.draw();
  }

  // ---- drawing ----

  paint() {
    this.isDue = false;
    const { canvas, pen, view } = this, ratio = devicePixelRatio || 1;
    if (!this.graph || !canvas.clientWidth) return;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    this.seen = { left: view.x, top: view.y, right: view.x + canvas.clientWidth / view.zoom,
      bottom: view.y + canvas.clientHeight / view.zoom };
    const zoom = view.zoom * ratio;
    pen.setTransform(zoom, 0, 0, zoom, -view.x * zoom, -view.y * zoom);
    pen.textBaseline = "middle";
    this.fine = 1 / Math.min(view.zoom, 1);
    this.paintItem(this.graph.root, 0, 0);
    if (this.picked) this.paintNeighbours();
  }

  isSeen(x, y, w, h) {
    const { seen } = this;
    return x < seen.right && x + w > seen.left && y < seen.bottom && y + h > seen.top;
  }

  // From afar a scope that is a few pixels is one box.
  isOpened(item) {
    return item.isScope && item.isOpen && item.h * this.view.zoom > 34;
  }

  paintItem(item, dx, dy) {
    const x = dx + item.x, y = dy + item.y;
    if (!this.isSeen(x, y, item.w, item.h)) return;
    if (!this.isOpened(item)) return this.paintBox(item, x, y);
    this.paintScope(item, x, y);
    this.paintEdges(item, x, y);
    for (const child of item.children) this.paintItem(child, x, y);
    this.paintTitle(item, x, y);
  }

  fillOf(item) {
    if (this.found.has(item)) return colours.found;
    if (!heat) return item.isScope ? colours.scope : colours.box;
    const warm = warmth(item);
    return warm ? `color-mix(in oklab, ${colours.hot} ${Math.round(10 + 85 * warm)}%, ${colours.box})`
      : colours.box;
  }

  outline(item) {
    const mark = this.markOf(item);
    return item === this.picked ? colours.pick : mark ? colours[mark] : colours.line;
  }

  // A closed scope has the mark of what is in it.
  markOf(item) {
    if (heat) return "";
    if (item.op && this.marks.has(item.op.i)) return this.marks.get(item.op.i);
    if (!item.isScope || !this.marks.size) return "";
    if (!this.scopeMarks.has(item)) {
      let mark = "";
      opsBelow(item, (one) => { mark = mark || (one.op && this.marks.get(one.op.i)) || ""; });
      this.scopeMarks.set(item, mark);
    }
    return this.scopeMarks.get(item);
  }

  // From afar thousands are seen, and each is drawn plainly.
  paintFar(item, x, y) {
    const { pen } = this, mark = this.markOf(item);
    let fill = mark ? colours[mark] : item.isScope || this.marks.size ? colours.line : colourOf(item);
    if (heat || this.found.has(item)) fill = this.fillOf(item);
    if (fill !== this.lastFill) pen.fillStyle = this.lastFill = fill;
    pen.fillRect(x, y, item.w, item.h);
    if (item === this.picked) this.strokeBox(item, x, y, 3);
    if (item.isOpen) {
      this.paintTitle(item, x, y);
      this.lastFill = "";
    }
  }

  paintBox(item, x, y) {
    if (this.view.zoom < NEAR || item.isOpen) return this.paintFar(item, x, y);
    const { pen } = this, mark = this.markOf(item);
    pen.fillStyle = this.fillOf(item);
    this.lastFill = "";
    pen.beginPath();
    pen.roundRect(x, y, item.w, item.h, item.port !== undefined ? item.h / 2 : 5);
    pen.fill();
    pen.strokeStyle = this.outline(item);
    pen.lineWidth = item === this.picked ? 2.5 : mark ? 2 : 1;
    pen.stroke();
    if (item.port === undefined) {
      pen.fillStyle = colourOf(item);
      pen.fillRect(x + 5, y + 8, 3, item.h - 16);
    }
    this.paintText(item, x, y, mark);
  }

  strokeBox(item, x, y, width) {
    this.pen.strokeStyle = this.outline(item);
    this.pen.lineWidth = width * this.fine;
    this.pen.strokeRect(x, y, item.w, item.h);
  }

  // Two lines, or from farther the first alone, larger, as far as there is room.
  paintText(item, x, y, mark) {
    const { pen, view } = this, isPort = item.port !== undefined, isOne = isPort || view.zoom < 0.75;
    const signs = { added: "+ ", changed: "~ ", removed: "− " };
    const size = isOne ? Math.min(Math.max(12.5, 10 / view.zoom), 22) : 12.5;
    const text = (signs[mark] || "") + (item.isScope ? `▸ ${label(item)}` : label(item));
    const title = isOne ? cut(text, Math.floor((item.w - (isPort ? 12 : 20)) / size / 0.52)) : text;
    pen.textAlign = isPort ? "center" : "left";
    pen.fillStyle = colours.text;
    pen.font = `${isPort ? "" : "600 "}${size}px system-ui, sans-serif`;
    if (isPort) return pen.fillText(title, x + item.w / 2, y + item.h / 2 + 0.5, item.w - 16);
    pen.fillText(title, x + 14, y + (isOne ? item.h / 2 + 0.5 : 14.5), item.w - 20);
    if (isOne) return;
    pen.fillStyle = heat ? colours.text : colours.dim;
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(subtitle(item), x + 14, y + 28.5, item.w - 20);
  }

  paintScope(item, x, y) {
    const { pen } = this;
    if (!item.parent) return;
    pen.fillStyle = colours.scope;
    pen.beginPath();
    pen.roundRect(x, y, item.w, item.h, 8);
    pen.fill();
    pen.strokeStyle = this.outline(item);
    pen.lineWidth = (item === this.picked ? 2 : 1) * this.fine;
    pen.stroke();
  }

  // As large as can be read, at any zoom, where there is room for it.
  paintTitle(item, x, y) {
    const { pen, view } = this, size = Math.max(12, 11 / view.zoom);
    const isFar = view.zoom < 0.75, text = `${item.isOpen ? "▾" : "▸"} ${label(item)}`;
    if (!item.parent || text.length * size * 0.58 > item.w || size * 1.4 > item.h) return;
    pen.textAlign = "left";
    pen.font = `600 ${size}px system-ui, sans-serif`;
    if (isFar) {
      pen.lineWidth = size / 4;
      pen.lineJoin = "round";
      pen.strokeStyle = colours.scope;
      pen.strokeText(text, x + size / 2, y + size * 0.85);
    }
    pen.fillStyle = isFar ? colours.text : colours.dim;
    pen.fillText(text, x + size / 2, y + (isFar ? size * 0.85 : BOX.head / 2));
  }

  // ---- edges ----

  paintEdges(item, x, y) {
    const { pen } = this;
    this.lastFill = "";
    pen.strokeStyle = colours.edge;
    pen.lineWidth = Math.min(1.2 * this.fine, 6);
    let left = this.view.zoom < NEAR ? Infinity : CURVES;
    pen.beginPath();
    for (const { span } of edgesOf(item)) {
      if (!this.isSeen(x + span.left, y + span.top, span.w, span.h)) continue;
      this.traceEdge(span, x, y);
      if (--left) continue;
      pen.stroke();
      pen.beginPath();
      left = CURVES;
    }
    pen.stroke();
  }

  traceEdge(span, x, y) {
    const { pen } = this, { route } = span;
    const ax = x + span.ax, ay = y + span.ay, bx = x + span.bx, by = y + span.by;
    pen.moveTo(ax, ay);
    if (this.view.zoom < NEAR) {
      if (this.view.zoom > NEAR / 3) for (const pass of route) pen.lineTo(x + pass.x, y + pass.y);
      return pen.lineTo(bx, by);
    }
    let px = ax, py = ay;
    const isAway = (nx, ny) =>
      !this.isSeen(Math.min(px, nx) - 1, Math.min(py, ny) - 1, Math.abs(nx - px) + 2, ny - py + 2);
    const bend = (nx, ny) => {
      if (isAway(nx, ny)) pen.moveTo(nx, ny);
      else pen.bezierCurveTo(px, py + (ny - py) / 2, nx, ny - (ny - py) / 2, nx, ny);
      [px, py] = [nx, ny];
    };
    for (const pass of route) {
      bend(x + pass.x, y + pass.y);
      py = y + pass.y + pass.h;
      pen.lineTo(px, py);
    }
    bend(bx, by);
  }

  // What the picked box reads and is read by, as straight as the eye follows.
  paintNeighbours() {
    const { pen } = this, drawn = (item) => {
      let shown = item;
      for (let at = item; at; at = at.parent) if (at.isScope && !at.isOpen) shown = at;
      return shown;
    };
    pen.strokeStyle = colours.pick;
    pen.lineWidth = 1.8 * this.fine;
    pen.beginPath();
    opsBelow(this.picked, (one) => {
      for (const [list, isUp] of [[one.ins, true], [one.outs, false]]) {
        for (const other of list.slice(0, 60)) {
          if (isWithin(other, this.picked)) continue;
          const ends = isUp ? [drawn(other), drawn(one)] : [drawn(one), drawn(other)];
          const [a, b] = ends.map((end) => ({ ...positionOf(end), w: end.w, h: end.h }));
          const ax = a.x + a.w / 2, ay = a.y + a.h, bx = b.x + b.w / 2;
          pen.moveTo(ax, ay);
          pen.bezierCurveTo(ax, (ay + b.y) / 2, bx, (ay + b.y) / 2, bx, b.y);
        }
      }
    });
    pen.stroke();
    const { x, y } = positionOf(this.picked);
    if (this.isOpened(this.picked)) this.strokeBox(this.picked, x, y, 2);
  }

  // ---- where things are ----

  itemAt(x, y, item = this.graph.root, dx = 0, dy = 0) {
    const left = dx + item.x, top = dy + item.y;
    if (x < left || y < top || x > left + item.w || y > top + item.h) return null;
    for (const child of this.isOpened(item) || (!item.parent && item.isOpen) ? item.children : []) {
      const found = this.itemAt(x, y, child, left, top);
      if (found) return found;
    }
    return item;
  }

  pointOf(e) {
    const box = this.canvas.getBoundingClientRect();
    return [this.view.x + (e.clientX - box.left) / this.view.zoom,
      this.view.y + (e.clientY - box.top) / this.view.zoom];
  }

  // All of it, unless that is too small to be read: then its top.
  fit(least = LEAST_ZOOM) {
    const { canvas, view } = this, root = this.graph.root;
    view.zoom = Math.min(canvas.clientWidth / (root.w + 20), canvas.clientHeight / (root.h + 20), 1.25);
    view.zoom = Math.max(view.zoom, least);
    view.x = -(canvas.clientWidth / view.zoom - root.w) / 2;
    view.y = Math.min(-(canvas.clientHeight / view.zoom - root.h) / 2, 0);
    if (root.h * view.zoom > canvas.clientHeight) view.y = 0;
    this.draw();
  }

  zoomBy(factor, x, y) {
    const { view, canvas } = this;
    x = x ?? view.x + canvas.clientWidth / view.zoom / 2;
    y = y ?? view.y + canvas.clientHeight / view.zoom / 2;
    const zoom = Math.min(Math.max(view.zoom * factor, LEAST_ZOOM), MOST_ZOOM);
    view.x = x - (x - view.x) * view.zoom / zoom;
    view.y = y - (y - view.y) * view.zoom / zoom;
    view.zoom = zoom;
    this.draw();
  }

  // Opens what it is in, and brings it to the middle.
  reveal(item) {
    let isNew = false;
    for (let at = item.parent; at; at = at.parent) {
      isNew = isNew || !at.isOpen;
      at.isOpen = true;
    }
    if (isNew) layOut(this.graph.root);
    const at = positionOf(item), { view, canvas } = this;
    view.zoom = Math.max(view.zoom, 0.7);
    view.x = at.x + item.w / 2 - canvas.clientWidth / view.zoom / 2;
    view.y = at.y + Math.min(item.h / 2, 200) - canvas.clientHeight / view.zoom / 2;
    this.draw();
  }
}

function positionOf(item) {
  let x = 0, y = 0;
  for (let at = item; at; at = at.parent) {
    x += at.x;
    y += at.y;
  }
  return { x, y };
}
