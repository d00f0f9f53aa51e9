"""Files of the tree, their text and functions, and the findings about them.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODE = {".c", ".h"}
TEXT = CODE | {".def", ".py", ".cmake", ".sh", ".proto"}
PRODUCT = ("base/", "media/", "ir/", "compose/", "frontend/", "passes/", "codegen/",
           "runtime/", "driver/")

findings = []
warnings = []


def find(path, line, words):
    findings.append(f"{path}:{line}: {words}")


def warn(path, line, words):
    """What is not wrong yet: it is printed, and fails nothing."""
    warnings.append(f"{path}:{line}: {words}")


def list_files():
    """All files of the tree that are not ignored."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")]
        names = [n for n in names if not n.startswith(("build/", "."))]
    return sorted(n for n in names
                  if n and "__pycache__" not in n and (ROOT / n).is_file())


@functools.lru_cache(maxsize=None)
def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


@functools.lru_cache(maxsize=None)
def blank_out(name):
    """A C file's text without the insides of comments, strings and characters."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(pattern, blank, read(name), flags=re.S)


def suffix(name):
    return pathlib.Path(name).suffix


def code_files(files, folders=("",), suffixes=CODE):
    return [n for n in files if suffix(n) in suffixes and n.startswith(tuple(folders))]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@functools.lru_cache(maxsize=None)
def list_functions(files):
    """(path, name, first line, last line, signature) of every function; `files` is a
    tuple."""
    command = ["ctags", "-f", "-", "--language-force=C", "--kinds-C=f", "--fields=+neS",
               "-I", "_Noreturn,IG_API,IG_MUST_USE,IG_PRINTF+",
               "-D", "TEST(name)=void name(void)", "--param-CPreProcessor:_expand=1",
               "-L", "-"]
    run = subprocess.run(command, cwd=ROOT, input="\n".join(code_files(files)),
                         capture_output=True, text=True, check=True)
    functions = []
    for row in run.stdout.splitlines():
        fields = row.split("\t")
        facts = dict(f.split(":", 1) for f in fields[3:] if ":" in f)
        if "line" in facts and "end" in facts:
            functions.append((fields[1], fields[0], int(facts["line"]),
                              int(facts["end"]), facts.get("signature", "()")))
    return functions


def list_rows(files, folder, macro):
    """(path, line, text of the arguments) of every row `macro(…)` of the .def files."""
    for name in code_files(files, [folder], {".def"}):
        text = read(name)
        bare = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                      flags=re.S)
        for match in re.finditer(rf"^{macro}\((.*?)(?=^[A-Z_]+\(|^#|\Z)", bare,
                                 flags=re.M | re.S):
            yield name, line_of(bare, match.start()), match.group(1)
