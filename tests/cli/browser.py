#!/usr/bin/env python3
"""Opens pages of `ingot dump --format html` in a real browser, from disk, without a screen.

SPDX-License-Identifier: Apache-2.0

    browser.py check PAGE WORD     keyboard alone works, nothing is fetched, no error is
                                   told; prints how long paint, search and frames took
    browser.py layout PAGE         prints what the page shows and where, as JSON
    browser.py passes PAGE         prints what the slider shows of each pass, and the heat
                                   of the last state by time, bytes and limit, as JSON
    browser.py shot PAGE PNG [KEYS]  a picture, after these keys ("o f t")

Exit status 77: there is no browser (Debian's chromium or chromium-headless-shell).
`check` fails where the first paint or a search takes a second or more, or there are less
than 30 frames a second; INGOT_SLOW=1 leaves times out of the judgement (sanitizers, busy
machines).  The browser is driven over pipes, by its DevTools protocol.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium")
KEYS = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37,
        "ArrowRight": 39, "Tab": 9}
READY = """new Promise(done => { (function look() {
    document.body.dataset.ready ? requestAnimationFrame(() => done(performance.now()))
        : setTimeout(look, 1); })(); })"""
FRAMES = """new Promise(done => { let left = 60; const begin = performance.now(),
        pane = panes.after, view = pane.view;
    (function next() { MOVE; pane.draw();
        left-- ? requestAnimationFrame(next) : done(60000 / (performance.now() - begin));
    })(); })"""
LAYOUT = """(function boxes(item) { return { what: label(item), which: subtitle(item),
    at: [item.x, item.y, item.w, item.h].map(Math.round),
    ...(item.isScope ? { holds: item.isOpen ? item.children.map(boxes) : [],
        edges: item.isOpen ? edgesOf(item).map(edge => edge.map(label).join(" -> ")) : [] }
      : {}) }; })"""
STATES = """data.states.map((one, i) => { showState(i); return { pass: one.pass,
    ops: graphNow().items.length, changes: [...$("changes").children].map(one => one.textContent).join(", "),
    marked: graphNow().items.filter(item => panes.after.marks.has(item.op.i)).map(
        item => panes.after.marks.get(item.op.i) + " " + item.op.name),
    removed: [...changesOf(i, graphName).removed.values()].map(op => op.name) }; })"""
HEAT = """Object.fromEntries(Object.keys(data.profile ? HEATS : {}).map(name => { setHeat(name);
    return [name, { scale: $("scale").textContent, boxes: graphNow().items.filter(
        item => item.op.step).map(item => [item.op.name, heatOf(item), warmth(item).toFixed(2),
        panes.after.fillOf(item)]) }]; }))"""
# What is left and right of it in a row ends before it begins.
OVERLAPS = """(function overlaps(scope) {
    const open = scope.children.slice().sort((a, b) => a.y - b.y || a.x - b.x);
    return open.some((b, i) => i && open[i - 1].y === b.y && open[i - 1].x + open[i - 1].w > b.x)
        || scope.children.some(child => child.isScope && child.isOpen && overlaps(child)); })"""


class Browser:
    def __init__(self):
        path = next(filter(None, map(shutil.which, NAMES)), None)
        if not path:
            print("there is no browser: install chromium-headless-shell")
            sys.exit(77)
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()

        def set_pipes():
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--window-size=1280,800",
             f"--user-data-dir={self.home.name}"],
            preexec_fn=set_pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.session = 0, b"", None
        self.errors, self.fetched = [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise EOFError("the browser ended")
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        kind, params = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["exception"].get("description"))
        elif kind == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str(params["args"]))
        elif kind == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.fetched.append(params["request"]["url"])

    def run(self, text):
        """The value of an expression in the page; promises are waited for."""
        answer = self.ask("Runtime.evaluate", expression=text, awaitPromise=True,
                          returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def open(self, path):
        """Loads the page; returns the milliseconds from its start to the first paint."""
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "light"}])
        self.ask("Page.navigate", url=pathlib.Path(path).resolve(strict=True).as_uri())
        end = time.monotonic() + 60
        while self.run("document.readyState") != "complete" and time.monotonic() < end:
            time.sleep(0.005)
        return self.run(READY)

    def press(self, key):
        params = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0]))}
        if len(key) == 1 or key == "Enter":
            params["text"] = "\r" if key == "Enter" else key
        self.ask("Input.dispatchKeyEvent", type="keyDown", **params)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **params)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.home.cleanup()


def expect(browser, what, text):
    if not browser.run(f"Boolean({text})"):
        sys.exit(f"{what}: not so: {text}")


def check_keyboard(browser, word):
    """What hands do with a mouse, without one."""
    for key in "/" + word:
        browser.press(key)
    expect(browser, "search finds", 'matches.length > 0 && $("found").textContent')
    browser.press("Enter")
    expect(browser, "Enter shows a match", "picked === matches[0]")
    expect(browser, "and tells what it is",
           '$("side").textContent.includes(textOf(picked.graph, picked.op))')
    browser.press("Escape")
    browser.press("n")
    expect(browser, "n goes on", "picked === matches[1 % matches.length]")
    browser.press("ArrowUp")
    browser.press("ArrowDown")
    expect(browser, "arrows move", "picked !== null")
    browser.press("t")
    expect(browser, "t makes a table", '!$("rows").hidden && $("rows").innerText.length')
    browser.press("t")
    browser.press("d")
    expect(browser, "d is for dark", 'document.documentElement.classList.contains("dark")')
    browser.press("c")
    expect(browser, "c closes", "graphNow().root.children.every(item => !item.isOpen)")
    browser.press("o")
    expect(browser, "o opens", "graphNow().items.every(item => shownFor(item).parent?.isOpen ?? true)")
    expect(browser, "no boxes overlap", f"!{OVERLAPS}(graphNow().root)")
    browser.run("show(shownFor(graphNow().items.find(item => !item.isHidden && item.outs.length)));"
                "panes.after.canvas.focus(); window.shownFirst = picked; 0")
    browser.press("Tab")
    browser.press("Enter")
    expect(browser, "Tab and Enter follow a link", "picked !== window.shownFirst")
    check_passes(browser)


def check_passes(browser):
    """From pass to pass, where there is more than one state."""
    if browser.run("data.states.length") < 2:
        return
    browser.run("panes.after.canvas.focus(); showState(0)")
    browser.press("]")
    expect(browser, "] goes on a pass", 'state === 1 && $("slider").value === "1"')
    browser.press("b")
    expect(browser, "b shows before and after", '!$("before").hidden && panes.before.graph')
    browser.press(".")
    expect(browser, ". shows a change, if there is one", "!panes.after.marks.size || picked")
    browser.press("b")
    browser.press("[")
    expect(browser, "[ goes back", "state === 0")
    browser.run("showState(data.states.length - 1)")


def check(browser, path, word):
    paint = browser.open(path)
    search = browser.run(f"""(() => {{ const begin = performance.now();
        $("search").value = {json.dumps(word)}; search(); return new Promise(done =>
        requestAnimationFrame(() => done(performance.now() - begin))); }})()""")
    browser.run('$("search").value = ""; search(); panes.after.canvas.focus()')
    check_keyboard(browser, word)
    frames = {}
    browser.run("showState(0); setAll(true)")
    for what, start in (("near", "show(shownFor(graphNow().items[graphNow().items.length >> 1]))"),
                        ("far", "panes.after.fit()")):
        browser.run(start)
        for how, move in (("pan", "view.x += 3; view.y += 3"), ("zoom", "view.zoom *= 1.005")):
            frames[f"{what} {how}"] = browser.run(FRAMES.replace("MOVE", move))
    slowest = min(frames, key=frames.get)
    print(f"first paint {paint:.0f} ms, search {search:.0f} ms, "
          f"{frames[slowest]:.0f} frames/s or more ({slowest})")
    if browser.errors:
        sys.exit(f"the console says: {browser.errors}")
    net = [url for url in browser.fetched if not url.startswith(("file:", "data:"))]
    if net:
        sys.exit(f"the page asks for {net}")
    if os.environ.get("INGOT_SLOW") != "1" and (
            paint >= 1000 or search >= 1000 or frames[slowest] < 30):
        sys.exit("too slow")


def show_layout(browser, path):
    browser.open(path)
    browser.run("setAll(true); show(graphNow().items.findLast(item => !item.isHidden))")
    print(json.dumps({
        "title": browser.run("document.title"),
        "graphs": browser.run('[...$("graphs").options].map(one => one.text)'),
        "boxes": browser.run(f"{LAYOUT}(graphNow().root)"),
        "side": browser.run('$("side").innerText.split("\\n").filter(line => line)'),
        "table": browser.run('setTable(true); [...document.querySelectorAll("tr")].map('
                             'row => [...row.cells].map(cell => cell.textContent))')},
        indent=1, ensure_ascii=False))


def show_passes(browser, path):
    browser.open(path)
    print(json.dumps({"states": browser.run(STATES), "heat": browser.run(HEAT)}, indent=1,
                     ensure_ascii=False))


def take_shot(browser, path, picture, keys):
    browser.ask("Emulation.setDeviceMetricsOverride", width=1120, height=680,
                deviceScaleFactor=1, mobile=False)
    browser.open(path)
    for key in keys.split():
        browser.press(key)
    browser.run("new Promise(done => setTimeout(done, 200))")
    data = browser.ask("Page.captureScreenshot", format="png")["data"]
    pathlib.Path(picture).write_bytes(base64.b64decode(data))


def main():
    verb, path, *rest = sys.argv[1:]
    browser = Browser()
    try:
        if verb == "check":
            check(browser, path, rest[0])
        elif verb == "layout":
            show_layout(browser, path)
        elif verb == "passes":
            show_passes(browser, path)
        else:
            take_shot(browser, path, rest[0], rest[1] if rest[1:] else "")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
