#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom, the sizes of files and the licence lines.

The table of folders in docs/architecture.md is the rule: this script reads it. Exits with 1 and one line for
each violation.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "architecture.md"

CODE_ENDS = {".h", ".hpp", ".c", ".cpp", ".def"}
LIMITS = {"header": 250, "source": 500, "pattern": 150}
# Written by a program, or texts for reading: no size limit, no licence line.
FREE = {".onnx", ".pb", ".json", ".npy", ".png", ".jpg", ".ppm", ".txt", ".golden", ""}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)/` \|[^|]*\|([^|]*)\|([^|]*)\|$", re.MULTILINE)
# Folders of headers that come with the system and belong to nobody in particular.
SYSTEM_FOLDERS = {"sys"}


def read_table():
    """Returns {folder: (own folders it may include, folders of third-party headers)}."""
    rows = {}
    for folder, own, third_party in ROW.findall(TABLE.read_text()):
        rows[folder] = (set(re.findall(r"[\w/]+", own)), set(re.findall(r"[\w/]+", third_party)))
    if len(rows) < 10:
        sys.exit(f"{TABLE}: the table of folders is not there")
    return rows


def folder_of(path, rows):
    """Returns the most specific row that `path` belongs to, or None."""
    names = [name for name in rows if path.is_relative_to(ROOT / name)]
    return max(names, key=len, default=None)


def check_includes(path, text, rows):
    folder = folder_of(path, rows)
    if folder is None:
        yield f"belongs to no folder of {TABLE.relative_to(ROOT)}"
        return
    own, third_party = rows[folder]
    here = folder.removeprefix("src/").removeprefix("include/").removeprefix("tools/")
    for mark, target in INCLUDE.findall(text):
        if mark == '"':
            yield from check_own(path, target, here, own)
        elif "/" in target and target.split("/")[0] not in third_party | SYSTEM_FOLDERS:
            yield f"<{target}>: third-party headers allowed here: {', '.join(sorted(third_party)) or 'none'}"


def check_own(path, target, here, own):
    if "/" not in target:
        if not path.is_relative_to(ROOT / "tools"):
            yield f'"{target}": name its folder too'
        return
    folder = target.rsplit("/", 1)[0]
    allowed = own | {here}
    if not any(folder == name or folder.startswith(name + "/") for name in allowed):
        yield f'"{target}": allowed here: {", ".join(sorted(allowed))}'


def is_pattern(path):
    return path.suffix == ".cpp" and (path.with_suffix(".graph").exists() and path.parent.name == "patterns")


def kind_of(path):
    if is_pattern(path):
        return "pattern"
    return "header" if path.suffix in {".h", ".hpp"} else "source"


def check_size(path, text):
    kind, lines = kind_of(path), text.count("\n")
    if lines > LIMITS[kind]:
        yield f"{lines} lines; a {kind} file has at most {LIMITS[kind]}"


def check_licence(text):
    head = "\n".join(text.split("\n", 4)[:4])
    if "SPDX-License-Identifier: Apache-2.0" not in head:
        yield "no SPDX-License-Identifier line at its top"


def files(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def violations():
    rows = read_table()
    for path in files("src", "tools", "include"):
        if path.suffix in CODE_ENDS:
            yield from ((path, v) for v in check_includes(path, path.read_text(), rows))
    for path in files("src", "tools", "include", "tests", "bench", "scripts", "cmake", "zoo"):
        if path.suffix in FREE and not path.read_bytes().startswith(b"#!"):
            continue
        text = path.read_text()
        yield from ((path, v) for v in check_licence(text))
        if path.suffix in CODE_ENDS:
            yield from ((path, v) for v in check_size(path, text))


def main():
    found = list(violations())
    for path, violation in found:
        print(f"{path.relative_to(ROOT)}: {violation}")
    print(f"layers, sizes, licences: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
