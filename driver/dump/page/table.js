// Searching, and the same ops as a table.

let matches = [], match = -1, sortedBy = 0, isFalling = false;

function wordsOf(item) {
  item.words = item.words || [item.op.o, item.op.name, item.op.a || "", ...sourcesOf(item.op),
    ...item.op.r.map((value) => `${value[2] || ""} ${typeOf(value)}`), `%${item.op.i}`]
    .join(" ").toLowerCase();
  return item.words;
}

function search(isQuiet) {
  const words = $("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  matches = words.length
    ? graphNow().items.filter((item) => words.every((word) => wordsOf(item).includes(word))) : [];
  match = -1;
  $("found").textContent = words.length ? `${matches.length} found` : "";
  panes.after.found = new Set(matches.map(shownFor).filter((item) => item.parent));
  if (!$("rows").hidden) putTable();
  if (!isQuiet) panes.after.draw();
}

function nextMatch(step) {
  if (!matches.length) return;
  match = (match + step + matches.length) % matches.length;
  $("found").textContent = `${match + 1} of ${matches.length}`;
  show(matches[match]);
}

// ---- the table ----

const ofStep = (item, value) => item.op.step ? value(item.op.step) : null;
const COLUMNS = [
  ["#", (item) => item.order, String],
  ["op", (item) => item.op.name, String],
  ["results", (item) => item.op.r.map(typeOf).join(", "), String],
  ["from", (item) => sourcesOf(item.op).slice(0, 3).join(", "), String],
  ["pass", (item) => panes.after.marks.get(item.op.i) || "", String],
];
const MEASURED = [
  ["time", (item) => ofStep(item, HEATS.time), micro],
  ["bytes", (item) => ofStep(item, HEATS.bytes), bytesText],
  ["limit", (item) => ofStep(item, (step) => step.limit_seconds && HEATS.limit(step)), percent],
];

function columns() {
  return data.profile ? [...COLUMNS, ...MEASURED] : COLUMNS;
}

function sortBy(index) {
  isFalling = sortedBy === index ? !isFalling : index >= COLUMNS.length;
  sortedBy = index;
  putTable();
}

function putTable() {
  const rows = $("rows"), value = columns()[sortedBy][1];
  const items = ($("search").value ? matches : graphNow().items).slice();
  const order = (a, b) => (a === null) - (b === null) || (a > b) - (a < b);
  items.sort((a, b) => {
    const x = value(a), y = value(b), nulls = (x === null) - (y === null);
    return nulls || order(x, y) * (isFalling ? -1 : 1) || a.order - b.order;
  });
  rows.textContent = "";
  const table = make("table", "", rows), head = make("tr", "", make("thead", "", table));
  columns().forEach(([name], i) => {
    const cell = make("th", name + (i === sortedBy ? (isFalling ? " ↓" : " ↑") : ""), head);
    cell.tabIndex = 0;
    cell.onclick = () => sortBy(i);
    if (i >= COLUMNS.length) cell.className = "number";
  });
  const body = make("tbody", "", table);
  for (const item of items.slice(0, 2000)) putRow(body, item);
  if (items.length > 2000) make("p", `and ${items.length - 2000} more: search for them`, rows, "dim");
}

function putRow(body, item) {
  const row = make("tr", "", body);
  columns().forEach(([, value, format], i) => {
    const known = value(item), cell = make("td", known === null ? "" : format(known), row);
    if (i >= COLUMNS.length) cell.className = "number";
    if (i === 4 && known) cell.className = `text ${known}`;
  });
  row.tabIndex = 0;
  row.item = item;
  row.onclick = () => {
    pick(item);
    panes.after.reveal(shownFor(item));
  };
}

function markRow() {
  for (const row of document.querySelectorAll("tbody tr")) {
    row.classList.toggle("pick", row.item === picked);
  }
}

function setTable(isShown) {
  $("rows").hidden = !isShown;
  $("canvases").hidden = isShown;
  $("table").setAttribute("aria-pressed", isShown);
  if (isShown) putTable();
  else panes.after.draw();
  if (isShown) markRow();
}
