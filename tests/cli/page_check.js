// Runs the script of a dumped page with a stub of a browser, and says what it made:
//     node page_check.js PAGE.html [WORD]
// Fails when boxes of one scope overlap, or the graph lacks ops.
// SPDX-License-Identifier: Apache-2.0
"use strict";
const fs = require("fs"), vm = require("vm");

const page = fs.readFileSync(process.argv[2], "utf8");
const word = process.argv[3] || "";
const scripts = [...page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)];
const text = scripts.find((s) => s[1].includes("text/plain"))[2];
const elements = new Map();

function element(id) {
  const own = { id, children: [], dataset: {}, style: {}, value: "", hidden: false,
    textContent: id === "data" ? text : "", clientWidth: 1200, clientHeight: 800,
    selectedIndex: 0, classList: { toggle() {}, contains: () => false },
    append(child) { own.children.push(child); }, focus() {}, setPointerCapture() {},
    getBoundingClientRect: () => ({ left: 0, top: 0 }), getContext: () => pen };
  return own;
}

const pen = new Proxy({}, { get: () => () => {}, set: () => true });
const browser = {
  document: { getElementById: (id) => elements.get(id) || elements.set(id, element(id)).get(id),
    createElement: (tag) => element(tag), documentElement: element("html"),
    body: element("body"), title: "" },
  getComputedStyle: () => ({ getPropertyValue: () => "#000" }),
  matchMedia: () => ({ matches: false }), requestAnimationFrame: (f) => f(),
  addEventListener() {}, devicePixelRatio: 1, atob, Blob, Response, DecompressionStream,
  Uint8Array, console,
};
vm.createContext(browser);
const run = (code) => vm.runInContext(code, browser);

function overlaps(scope) {
  const open = scope.children.slice().sort((a, b) => a.y - b.y || a.x - b.x);
  for (let i = 1; i < open.length; i++) {
    const a = open[i - 1], b = open[i];
    if (a.y === b.y && a.x + a.w > b.x) return true;
  }
  return scope.children.some((child) => child.isScope && child.isOpen && overlaps(child));
}

async function main() {
  const begin = Date.now();
  run(scripts[scripts.length - 1][2]);
  while (!browser.document.body.dataset.ready) await new Promise((done) => setTimeout(done, 1));
  const ready = Date.now() - begin;
  run("setAll(true)");
  if (run("graph.items.length") !== run("data.graphs[0].ops.length")) throw Error("ops are missing");
  if (overlaps(run("graph.root"))) throw Error("boxes overlap");
  run("show(graph.items[graph.items.length - 1])");
  run(`$("search").value = ${JSON.stringify(word)}; search(); nextMatch(1); setTable(true)`);
  const scopes = run("(function count(s) { return s.children.reduce((n, c) => " +
    "n + (c.isScope ? 1 + count(c) : 0), 0); })(graph.root)");
  console.log(`${run("graph.items.length")} ops, ${scopes} scopes, ` +
    `${run("matches.length")} found`);
  console.error(`ready after ${ready} ms, all opened after ${Date.now() - begin} ms`);
}

main().catch((error) => { console.error(String(error.stack)); process.exit(1); });
