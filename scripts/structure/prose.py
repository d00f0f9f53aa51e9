"""Words of comments, by one method, so that two trees can be compared.

SPDX-License-Identifier: Apache-2.0

    python3 scripts/structure/prose.py [ROOT] [--rooms]

Counts, per 1,000 words of comments in product files: headless "what" ("what is left of",
"what a run needs"), "lies/stands", "behind".  The rule comments_are_sentences holds each
room to its counts.
"""
import collections
import re
import subprocess
import sys

PATTERNS = {
    "headless what": r"\b[Ww]hat (?:is|are|was|were|lies|stands|has|have|holds|it|they|a|an|the|can|may|must|follows|comes|goes|becomes|all|each|no|every|only|some|others?|of|to|does|do|did|makes|tells|needs|kind|takes)\b",
    "lies/stands": r"\b(?:lies|lie|stands|stand)\b",
    "behind": r"\bbehind\b"}
FILES = (r"(base|media|ir|compose|frontend|passes|codegen|runtime|driver|include|tools)/"
         r".*\.(c|h|def)$")


def list_comments(text):
    return [c for c in re.findall(r"/\*.*?\*/", text, re.S)
            if "SPDX" not in c or len(c) > 120]


def count_words(comments):
    """(words, {pattern: how often it is there})."""
    text = "\n".join(comments)
    return (max(1, len(re.findall(r"\w+", text))),
            {name: len(re.findall(pattern, text)) for name, pattern in PATTERNS.items()})


def main(arguments):
    root = next((a for a in arguments if not a.startswith("-")), ".")
    listed = subprocess.check_output(["git", "-C", root, "ls-files"], text=True).split("\n")
    rooms = collections.defaultdict(list)
    for name in (n for n in listed if re.match(FILES, n)):
        with open(f"{root}/{name}", errors="replace") as file:
            room = name.rpartition("/")[0] if "--rooms" in arguments else "all"
            rooms[room] += list_comments(file.read())
    for room, comments in sorted(rooms.items()):
        words, counts = count_words(comments)
        print(f"{room:40s} {words:7d} words  " +
              "  ".join(f"{k} {1000 * n / words:.2f}" for k, n in counts.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
