// Hands: mouse and keyboard; and how the page opens.

function setAll(isOpen) {
  const visit = (item) => {
    if (!item.isScope) return;
    item.isOpen = isOpen || !item.parent;
    item.children.forEach(visit);
  };
  for (const pane of [panes.after, isBeside && panes.before]) {
    if (!pane?.graph) continue;
    visit(pane.graph.root);
    pane.relayOut();
    pane.fit();
  }
}

function toggle(item) {
  const shown = shownFor(item);
  if (!shown.isScope || !shown.parent) return;
  const before = positionOf(shown), pane = shown.graph === panes.after.graph ? panes.after : panes.before;
  shown.isOpen = !shown.isOpen;
  pane.relayOut();
  const now = positionOf(shown);
  pane.view.x += now.x - before.x;
  pane.view.y += now.y - before.y;
}

function step(by) {
  const shown = picked ? shownFor(picked) : null;
  if (!shown || !shown.parent) return show(graphNow().root.children[0]);
  const beside = shown.parent.children.filter((item) => item.y === shown.y)
    .sort((a, b) => a.x - b.x);
  const to = by === "ArrowUp" ? shown.ins[0] || (shown.parent.parent && shown.parent)
    : by === "ArrowDown" ? (shown.isScope && shown.isOpen ? shown.children[0] : shown.outs[0]
      || (shown.isScope && shown.children[0]))
    : beside[beside.indexOf(shown) + (by === "ArrowLeft" ? -1 : 1)];
  if (to) show(to);
}

// ---- the mouse ----

function listenTo(pane) {
  const { canvas } = pane;
  let held = null;
  canvas.onpointerdown = (e) => {
    held = { x: e.clientX, y: e.clientY, isMoved: false };
    canvas.setPointerCapture(e.pointerId);
  };
  canvas.onpointermove = (e) => {
    if (!held) return;
    held.isMoved = held.isMoved || Math.abs(e.clientX - held.x) + Math.abs(e.clientY - held.y) > 4;
    if (!held.isMoved) return;
    pane.view.x -= (e.clientX - held.x) / pane.view.zoom;
    pane.view.y -= (e.clientY - held.y) / pane.view.zoom;
    Object.assign(held, { x: e.clientX, y: e.clientY });
    pane.draw();
  };
  canvas.onpointerup = (e) => {
    const item = held && !held.isMoved && pane.itemAt(...pane.pointOf(e));
    held = null;
    canvas.focus();
    if (item !== false) pick(item?.parent ? item : null);
  };
  canvas.ondblclick = (e) => {
    const item = pane.itemAt(...pane.pointOf(e));
    if (item) toggle(item);
  };
  canvas.onwheel = (e) => {
    e.preventDefault();
    pane.zoomBy(Math.exp(-e.deltaY / 400), ...pane.pointOf(e));
  };
  canvas.oncontextmenu = () => { held = null; };
}

// ---- keys ----

const KEYS = {
  "/": () => $("search").focus(), n: () => nextMatch(1), p: () => nextMatch(-1),
  f: () => [panes.after, panes.before].forEach((pane) => pane.graph && pane.fit()),
  o: () => setAll(true), c: () => setAll(false), t: () => setTable($("rows").hidden),
  d: () => setTheme(!document.documentElement.classList.contains("dark")),
  b: () => setBeside(!isBeside), h: () => nextHeat(), "?": () => pick(null),
  "[": () => showState(state - 1), "]": () => showState(state + 1),
  ".": () => nextChange(1), ",": () => nextChange(-1),
  Enter: () => picked && toggle(picked), Escape: () => panes.after.canvas.focus(),
  ArrowUp: step, ArrowDown: step, ArrowLeft: step, ArrowRight: step,
  "+": () => active().zoomBy(1.25), "-": () => active().zoomBy(0.8),
};

document.onkeydown = (e) => {
  const { target } = e;
  if (target === $("search")) {
    if (e.key === "Enter") nextMatch(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") panes.after.canvas.focus();
    return;
  }
  if (e.key === "Enter" && ["TR", "TH"].includes(target.tagName)) return target.click();
  const takesKeys = ["BUTTON", "SELECT", "INPUT", "SUMMARY"].includes(target.tagName);
  if (KEYS[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey &&
    !(takesKeys && e.key.length > 1 && e.key !== "Escape")) {
    e.preventDefault();
    KEYS[e.key](e.key);
  }
};

// ---- colours ----

function setTheme(isDark) {
  document.documentElement.classList.toggle("dark", isDark);
  readColours();
  panes.after.draw();
  panes.before.draw();
}

function setHeat(name) {
  heat = name;
  $("heat").value = name;
  hottest = 0;
  for (const op of data.ops) {
    if (name && op.step) hottest = Math.max(hottest, HEATS[name](op.step));
  }
  $("scale").hidden = !name;
  $("scale").textContent = name === "limit" ? "hot: far from its limit"
    : name ? `hot: ${name === "time" ? micro(hottest) : bytesText(hottest)}` : "";
  pick(picked, true);
}

function nextHeat() {
  const names = data.profile ? ["", ...Object.keys(HEATS)] : [""];
  setHeat(names[(names.indexOf(heat) + 1) % names.length]);
}

// ---- opening ----

function listen() {
  $("search").oninput = () => search();
  $("graphs").onchange = () => {
    graphName = $("graphs").value;
    open.paths = null;
    showState(state);
    panes.after.fit(0.85);
  };
  const buttons = { fit: KEYS.f, open: KEYS.o, close: KEYS.c, table: KEYS.t, theme: KEYS.d,
    beside: KEYS.b, back: KEYS["["], forth: KEYS["]"] };
  for (const [id, work] of Object.entries(buttons)) $(id).onclick = work;
  $("slider").oninput = () => showState(Number($("slider").value));
  $("pass").onchange = () => showState(Number($("pass").value));
  $("heat").onchange = () => setHeat($("heat").value);
  addEventListener("resize", () => {
    panes.after.draw();
    panes.before.draw();
  });
}

function putStates() {
  $("slider").max = data.states.length - 1;
  data.states.forEach((one, i) => { make("option", titleOf(i), $("pass")).value = i; });
  $("passes").hidden = data.states.length < 2;
  $("heat").hidden = !data.profile;
}

// The first look: what the user knows, the model; with a profile, where the time goes.
async function openPage() {
  panes.before = new Pane($("before"));
  panes.after = new Pane($("after"));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  data = await inflate("data");
  document.title = `${data.module} – Ingot`;
  $("title").textContent = data.module;
  joinProfile();
  listen();
  listenTo(panes.before);
  listenTo(panes.after);
  putStates();
  graphName = data.states[0].graphs[0]?.graph || "";
  showState(data.profile ? data.states.length - 1 : 0);
  if (data.profile) {
    setHeat("time");
    [sortedBy, isFalling] = [COLUMNS.length, true];
  }
  panes.after.fit(0.85);
  document.body.dataset.ready = String(data.states.length);
}

openPage();
