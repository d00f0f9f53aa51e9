"""Runs the blocks of commands in README.md and docs/*.md, one test a block.

    run.py [PAGE…]

A block (fenced, or indented by four) is one of commands when a line of it begins with "$ "
or with a word of COMMANDS.  Lines after "$ " commands are what they print: they must stand
in the output in this order, where "…" is any text, numbers with a point agree to 1 in 10,000,
and sizes, times and levels of x86-64 are not compared.  In other blocks, what stands three
spaces behind a command is its explanation; [options] are left out, and of A|B A is taken.

A comment on the line before a block changes that:

    <!-- not run: REASON -->      at most one block in ten
    <!-- output: REASON -->       what is printed is not compared
    <!-- help -->                 a list of verbs: each has a --help
    <!-- root: NAMES : REASON --> tests/install runs it

tests/docs/pages/PAGE.sh is run by bash in the folder of the page's commands, before them.
It makes the files that the page names; lines "# OLD => NEW" of it say which words of the
page stand for others.  A command that fails for want of what a machine may lack (NVRTC) is
a skip.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests" / "docs"
COMMANDS = r"(ingot|igcheck|mpirun|unzip|perf|gdb|for \w+ in|INGOT_\w+=\S+|\./scripts/\S+) "
MARK = re.compile(r"<!-- (not run|output|help|root)(?:: (.*?))? -->$")
LACKS = re.compile(r"libnvrtc|mpirun\S*: (command )?not found|perf_event_paranoid|No permission"
                   r"|(perf|gdb): (command )?not found|failed to open perf.data|not supported by"
                   r"|there is no CUDA driver here")
UNSTABLE = [(r"\b\d[\d.]* (KB|MB|GB|bytes|s|ms|µs)\b", "SIZE"), (r"\bv[234](-\w+)?\b", "LEVEL")]
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


class Block:
    def __init__(self, page, number, mark, lines):
        self.page, self.number, self.lines = page, number, lines
        self.kind, self.reason = mark or (None, None)

    def is_command(self):
        return any(re.match(r"\$ |" + COMMANDS, line) for line in self.lines)

    def find_commands(self, words):
        """Pairs of a command and the lines that it prints (None: they are not told)."""
        if self.kind == "help":
            verbs = (re.match(r"ingot\s+(\S+)", line) for line in self.lines)
            return [(f"ingot {verb[1]} --help", None) for verb in verbs if verb]
        text = "\n".join(self.lines).replace("\\\n", " ")
        for old, new in words:
            text = text.replace(old, new)
        lines = text.split("\n")
        if not any(line.startswith("$ ") for line in lines):
            return [(strip_explanation(line), None) for line in lines
                    if re.match(COMMANDS, line)]
        pairs = []
        for line in lines:
            if line.startswith("$ "):
                pairs.append((line[2:], []))
            elif pairs and line.strip():
                pairs[-1][1].append(line)
        return [(command, report if report and self.kind != "output" else None)
                for command, report in pairs]


def strip_explanation(line):
    line = re.sub(r"^(\S+)\s+", r"\1 ", line)
    line = re.split(r"(?<=\S) {3,}", re.sub(r"^(ingot \S+) +", r"\1 ", line))[0]
    line = re.sub(r" \[[^\]]*\]", "", line)
    return re.sub(r"(?<=[\w.])\|[\w.|]+", "", line)


def read_blocks(path):
    """All blocks of a page."""
    lines = path.read_text(encoding="utf-8").split("\n")
    mark, at = None, 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = lines.index("```", at + 1)
            yield Block(path, at + 1, mark, lines[at + 1:end])
            mark, at = None, end
        elif line.startswith("    ") and not lines[at - 1].strip():
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield Block(path, at + 1, mark, [text[4:] for text in lines[at:end]])
            mark, at = None, end - 1
        elif line.strip():
            found = MARK.match(line)
            mark = found.groups() if found else None
        at += 1


def pattern_of(line):
    """A regular expression for the line, with a group for each number that is near."""
    for form, name in UNSTABLE:
        line = re.sub(form, name, line)
    line = re.sub(r"\s+", " ", line.strip())
    line = re.escape(NUMBER.sub("NUMBER", line)).replace("…", ".*")
    return re.compile(line.replace("NUMBER", f"({NUMBER.pattern})"))


def is_printed(line, want):
    for form, name in UNSTABLE:
        line = re.sub(form, name, line)
    found = pattern_of(want).search(re.sub(r"\s+", " ", line.strip()))
    for form, name in UNSTABLE:
        want = re.sub(form, name, want)
    return found is not None and all(
        abs(float(a) - float(b)) <= 1e-4 * max(1e-3, abs(float(b)))
        for a, b in zip(found.groups(), NUMBER.findall(want)))


def find_untold(output, report):
    """The first line that the output has not got, or None."""
    lines = iter(output.split("\n"))
    for want in report:
        if want.strip() != "…" and not any(is_printed(line, want) for line in lines):
            return want
    return None


class Page:
    """A folder in which the commands of a page are run, one after the other."""

    def __init__(self, name, folder):
        self.folder = folder
        build = pathlib.Path(os.environ.get("INGOT_BUILD", "build/release"))
        self.env = dict(
            os.environ, ROOT=str(ROOT), BUILD=str(ROOT / build), TMPDIR=folder,
            INGOT_CACHE_DIR=f"{folder}/.cache", PYTHON=sys.executable,
            PATH=f"{folder}/bin:{ROOT / build}:{os.environ['PATH']}")
        os.mkdir(f"{folder}/bin")
        setup = HERE / "pages" / f"{name}.sh"
        self.words = []
        if setup.is_file():
            text = setup.read_text(encoding="utf-8")
            self.words = re.findall(r"^# (.*?) =>(?: (.*))?$", text, flags=re.M)
            ended = self.run(text)
            if ended.returncode:
                sys.exit(f"{setup}: status {ended.returncode}: {ended.stdout[-2000:]}")

    def run(self, command):
        return subprocess.run(["bash", "-c", "set -e\n" + command], cwd=self.folder, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False)

    def judge(self, block):
        """Why the block does not hold ("skip: …" where the machine lacks something)."""
        for command, report in block.find_commands(self.words):
            ended = self.run(command)
            is_error = any(re.search("^error: |: absent$", line) for line in report or [])
            if (ended.returncode != 0) != is_error:
                lack = LACKS.search(ended.stdout)
                return f"skip: {lack[0]}" if lack else \
                    f"{command}\n    status {ended.returncode}: {ended.stdout[-1500:]}"
            untold = find_untold(ended.stdout, report or [])
            if untold is not None:
                return f"{command}\n    does not print: {untold}\n{ended.stdout[-1500:]}"
        return None


def main(names):
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    passed = failed = skipped = unrun = 0
    for path in pages:
        blocks = [block for block in read_blocks(path)
                  if block.is_command() and block.kind != "root"]
        if not blocks or (names and path.stem not in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            page = Page(path.stem, folder)
            for block in blocks:
                where = f"{path.relative_to(ROOT)}:{block.number}"
                if block.kind == "not run":
                    unrun += "scripts/test" not in " ".join(block.lines)
                    print(f"skip: {where}: {block.reason}")
                    continue
                why = page.judge(block)
                passed += why is None
                skipped += bool(why) and why.startswith("skip: ")
                failed += bool(why) and not why.startswith("skip: ")
                if why:
                    print(f"skip: {where}: {why[6:]}" if why.startswith("skip: ")
                          else f"FAIL {where}: {why}")
    if not names and unrun * 10 > unrun + passed + failed + skipped:
        failed += 1
        print(f"FAIL {unrun} blocks are not run, more than one in ten")
    print(f"{passed} passed, {failed} failed, {skipped + unrun} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
