// The slider over passes: which state is shown, and the one before it beside it.

let state = 0, graphName = "", isBeside = false;
const panes = {};
const open = { paths: null }; // of scopes, so that they stay open from pass to pass

const graphNow = () => panes.after.graph;
const active = () => panes.after;

function rememberOpen(graph) {
  if (!graph) return;
  open.paths = new Set();
  const visit = (scope) => {
    if (!scope.isOpen) return;
    open.paths.add(scope.path);
    for (const child of scope.children) if (child.isScope) visit(child);
  };
  visit(graph.root);
}

function restoreOpen(graph) {
  if (!open.paths) return openUntil(graph, 40);
  const visit = (scope) => {
    scope.isOpen = !scope.parent || open.paths.has(scope.path);
    for (const child of scope.children) if (child.isScope) visit(child);
  };
  visit(graph.root);
}

// Marks of the state before: what is changed, and what is about to go.
function marksBefore(changes) {
  const marks = new Map();
  for (const [id, mark] of changes.marks) if (mark === "changed") marks.set(id, mark);
  for (const id of changes.removed.keys()) marks.set(id, "removed");
  return marks;
}

// Keeps the picked box where it is on the screen.
function keepPlace(pane, id, change) {
  const before = id !== undefined && pane.graph?.byId.get(id), old = before && positionOf(shownFor(before));
  change();
  const item = pane.graph.byId.get(id), shown = item && shownFor(item);
  if (!shown || !old) return;
  for (let at = shown.parent; at; at = at.parent) if (!at.isOpen) return;
  const now = positionOf(shown);
  pane.view.x += now.x - old.x;
  pane.view.y += now.y - old.y;
}

function graphNames() {
  return data.states[state].graphs.map((one) => one.graph);
}

// Shows state number `index`; what was picked stays picked where it is there still.
function showState(index) {
  const id = picked?.op?.i;
  rememberOpen(graphNow());
  state = Math.min(Math.max(index, 0), data.states.length - 1);
  if (!graphNames().includes(graphName)) graphName = graphNames()[0];
  const changes = changesOf(state, graphName), graph = graphAt(state, graphName);
  restoreOpen(graph);
  keepPlace(panes.after, id, () => panes.after.show(graph, changes.marks));
  showBefore(changes, id);
  putState();
  search(true);
  const item = graph.byId.get(id);
  pick(item || null, true);
}

function showBefore(changes, id) {
  const before = state ? graphAt(state - 1, graphName) : null, has = isBeside && before;
  $("before").hidden = !has;
  if (!has) return;
  restoreOpen(before);
  keepPlace(panes.before, id, () => panes.before.show(before, marksBefore(changes)));
  panes.before.draw();
}

function titleOf(index) {
  const { pass, number } = data.states[index];
  return pass ? (number ? `${number} · ${pass}` : pass) : "as it is";
}

function putState() {
  const count = countChanges(state, graphName), stage = data.states[state].graphs.find(
    (one) => one.graph === graphName).stage;
  $("slider").value = state;
  $("pass").value = state;
  $("changes").textContent = "";
  for (const [mark, sign] of [["added", "+"], ["removed", "−"], ["changed", "~"]]) {
    if (state) make("span", `${sign}${count[mark]} ${mark}`, $("changes")).className = `mark ${mark}`;
  }
  make("span", `${graphNow().items.length} ops, ${stage}`, $("changes")).className = "dim";
  putGraphs();
}

function putGraphs() {
  const list = $("graphs");
  list.textContent = "";
  for (const one of data.states[state].graphs) {
    const option = make("option", one.graph, list);
    option.selected = one.graph === graphName;
  }
  list.hidden = list.options.length < 2;
}

function setBeside(value) {
  isBeside = value && data.states.length > 1;
  document.body.classList.toggle("beside", isBeside);
  $("beside").setAttribute("aria-pressed", isBeside);
  if (isBeside && !state) return showState(1);
  showState(state);
  if (isBeside && panes.before.graph) {
    panes.before.view = { ...panes.after.view };
    requestAnimationFrame(() => [panes.before, panes.after].forEach((pane) => {
      if (!picked) pane.fit(0.5);
    }));
  }
}

function nextChange(step) {
  const changed = graphNow().items.filter((item) => panes.after.marks.has(item.op.i) && !item.isHidden);
  if (!changed.length) return;
  const at = changed.indexOf(picked);
  show(changed[(at + step + changed.length + (at < 0 && step < 0 ? 1 : 0)) % changed.length]);
}
