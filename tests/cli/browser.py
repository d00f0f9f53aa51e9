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
than 30 frames a second.  What is judged is the CPU time of all the browser's processes,
less that of an empty page: a busy machine's clock says nothing of the page.  Other programs
slow down CPU time, too, by caches and cores that they share, and machines differ: limits
are wider by as much as a yardstick, a plain page that draws boxes, takes longer than on
the machine on which they were set.  The clock's figures are printed beside.  The browser is driven over pipes, by its DevTools protocol.
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

TICK = os.sysconf("SC_CLK_TCK")
SECONDS, FRAMES_A_SECOND, FRAME_COUNT = 1, 30, 60
EMPTY = "<!DOCTYPE html><title>empty</title><body data-ready=1><canvas width=955 height=759>"
YARD_SECONDS = 0.35  # of CPU time for FRAME_COUNT frames, on a quiet core of 3 GHz
YARD = """new Promise(done => { let left = FRAME_COUNT;
    const pen = document.querySelector("canvas").getContext("2d");
    (function next() {
        pen.canvas.width = 955; pen.fillStyle = "white"; pen.fillRect(0, 0, 955, 759);
        for (let i = 0; i < 126; i++) {
            const x = i % 9 * 104 + left / 4, y = (i / 9 | 0) * 53;
            pen.fillStyle = "silver"; pen.beginPath(); pen.roundRect(x, y, 90, 30, 5); pen.fill();
            pen.stroke(); pen.font = `${12 + i % 2}px system-ui, sans-serif`;
            pen.fillStyle = "black"; pen.fillText("a box", x + 9, y + 15, 80);
            pen.beginPath(); pen.moveTo(x, y); pen.bezierCurveTo(x, y + 40, x + 90, y, x, y + 70);
            pen.stroke();
        }
        left-- ? requestAnimationFrame(next) : done(0);
    })(); })"""
NAMES = ("chromium-headless-shell", "chromium")
KEYS = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37,
        "ArrowRight": 39, "Tab": 9}
READY = """new Promise(done => { (function look() {
    document.body.dataset.ready ? requestAnimationFrame(() => done(performance.now()))
        : setTimeout(look, 1); })(); })"""
FRAMES = """new Promise(done => { let left = FRAME_COUNT; const begin = performance.now(),
        pane = panes.after, view = pane.view;
    (function next() { MOVE; pane.draw();
        left-- ? requestAnimationFrame(next) : done(FRAME_COUNT * 1000 / (performance.now() - begin));
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

    def cpu_seconds(self):
        """Of all the browser's processes that are there."""
        rows = {row[0]: row for row in map(read_stat, os.listdir("/proc")) if row}

        def is_family(pid):
            while pid in rows and pid != self.process.pid:
                pid = rows[pid][1]
            return pid == self.process.pid

        return sum(ticks for pid, _, ticks in rows.values() if is_family(pid)) / TICK

    def close(self):
        self.process.kill()
        self.process.wait()
        self.home.cleanup()


def read_stat(name):
    """A process, its parent, and ticks of CPU time; None where it is none or gone."""
    try:
        text = pathlib.Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    if not name.isdecimal():
        return None
    return int(name), int(fields[1]), int(fields[11]) + int(fields[12])


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


def open_for(browser, path):
    """CPU seconds until the page is painted, and the page's own milliseconds."""
    begin = browser.cpu_seconds()
    milliseconds = browser.open(path)
    return browser.cpu_seconds() - begin, milliseconds


def measure_open(browser, path):
    """The same, without what a page costs in which there is nothing, and how much slower
    than the yardstick's this machine is."""
    empty = pathlib.Path(browser.home.name, "empty.html")
    empty.write_text(EMPTY, encoding="utf-8")
    nothing = min(open_for(browser, empty)[0] for _ in range(3))
    begin = browser.cpu_seconds()
    browser.run(YARD.replace("FRAME_COUNT", str(FRAME_COUNT)))
    slowness = max(1, (browser.cpu_seconds() - begin) / YARD_SECONDS)
    cpu, milliseconds = open_for(browser, path)
    return cpu - nothing, milliseconds, slowness


def measure_frames(browser):
    """Frames a second by the clock, and of CPU time, of the slowest way to move."""
    browser.run("showState(0); setAll(true)")
    rates = {}
    for what, start in (("near", "show(shownFor(graphNow().items[graphNow().items.length >> 1]))"),
                        ("far", "panes.after.fit()")):
        browser.run(start)
        for how, move in (("pan", "view.x += 3; view.y += 3"), ("zoom", "view.zoom *= 1.005")):
            begin = browser.cpu_seconds()
            text = FRAMES.replace("MOVE", move).replace("FRAME_COUNT", str(FRAME_COUNT))
            by_clock = browser.run(text)
            used = browser.cpu_seconds() - begin
            rates[f"{what} {how}"] = (FRAME_COUNT / max(used, 1 / TICK), by_clock)
    slowest = min(rates, key=rates.get)
    return (*rates[slowest], slowest)


def check(browser, path, word):
    paint, paint_ms, slowness = measure_open(browser, path)
    begin = browser.cpu_seconds()
    search_ms = browser.run(f"""(() => {{ const begin = performance.now();
        $("search").value = {json.dumps(word)}; search(); return new Promise(done =>
        requestAnimationFrame(() => done(performance.now() - begin))); }})()""")
    search = browser.cpu_seconds() - begin
    browser.run('$("search").value = ""; search(); panes.after.canvas.focus()')
    check_keyboard(browser, word)
    frames, frames_by_clock, how = measure_frames(browser)
    print(f"first paint {paint * 1000:.0f} ms of CPU time ({paint_ms:.0f} by the clock), "
          f"search {search * 1000:.0f} ({search_ms:.0f}), {frames:.0f} frames/s or more "
          f"({frames_by_clock:.0f}; {how}); slower than the yardstick's {slowness:.2f} times")
    if browser.errors:
        sys.exit(f"the console says: {browser.errors}")
    net = [url for url in browser.fetched if not url.startswith(("file:", "data:"))]
    if net:
        sys.exit(f"the page asks for {net}")
    high = SECONDS * slowness
    if paint >= high or search >= high or frames < FRAMES_A_SECOND / slowness:
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
