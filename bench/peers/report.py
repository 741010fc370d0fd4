#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Markdown tables and the SVG bar charts from the JSON that run.py writes.

    report.py RESULT.json...                      prints the tables, writes each chart beside its JSON
    report.py RESULT.json... --update FILE.md     also rewrites FILE.md between its peers markers
"""

import argparse
import html
import json
import os
import pathlib
import re

import peer_list

COLOURS = ["#2b6cb0", "#2f855a", "#9ae6b4", "#b7791f", "#6b46c1", "#c05621", "#b83280", "#4a5568", "#718096"]


def peers_of(document):
    seen = [r["name"] for m in document["models"] for r in m["results"] if r["name"] != "onepass"]
    return [name for name in peer_list.BY_NAME if name in seen]


def short_name(entry):
    return pathlib.Path(entry["model"].partition("@")[0]).name


def result(entry, name):
    return next((r for r in entry["results"] if r["name"] == name), None)


def scientific(value):
    return "-" if value is None else f"{value:.0e}".replace("e-0", "e-")


def milliseconds(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(found):
    if found is None:
        return "-"
    if found["status"] == "failed":
        return "failed"
    if found["status"] == "differs":
        return f"differs ({found['why']})"
    return f"{milliseconds(found['median_ms'])} · {found['ratio']:.2f}x · {scientific(found['error'])}"


def fastest(entry):
    """The best fp32 peer whose outputs agree."""
    fp32 = [r for r in entry["results"] if r["name"] in peer_list.BY_NAME and peer_list.BY_NAME[r["name"]].fp32]
    return min((r for r in fp32 if r["status"] == "ok"), key=lambda r: r["ratio"], default=None)


def fastest_cell(entry):
    best, own = fastest(entry), result(entry, "onepass")
    if best is None or own is None or own["status"] != "ok":
        return "-"
    low, high = best["ratio_quartiles"]
    return f"**{best['ratio']:.2f}x** ({low:.2f} to {high:.2f}) {peer_list.BY_NAME[best['name']].label}"


def own_cell(found):
    if found is None or found["status"] != "ok":
        return cell(found)
    return f"{milliseconds(found['median_ms'])} · {scientific(found['error'])}"


def rows(document):
    names = peers_of(document)
    yield ["network", "onepass: ms · error", "fastest fp32 peer / onepass", *(peer_list.BY_NAME[n].label for n in names)]
    for entry in document["models"]:
        own = own_cell(result(entry, "onepass"))
        peers = [cell(result(entry, n)) for n in names]
        yield [short_name(entry), own, fastest_cell(entry), *peers]


def failures(document):
    for entry in document["models"]:
        if "failure" in entry:
            yield f"- {entry['model']}: not timed: {entry['failure']}"
        for found in entry["results"]:
            if found["status"] == "failed":
                yield f"- {entry['model']}, {found['name']}: {found['reason']}"


def notes(document):
    host, names = document["host"], peers_of(document)
    if document["load_average_before"][0] > host["cpus"] + 1 or document["quick"]:
        yield "**Not a measurement: " + ("a quick run." if document["quick"] else "the machine was busy.") + "**"
    cpus = ", ".join(map(str, document["cpus"]))
    yield f"Host: {host['cpu']} (family, model, stepping {' '.join(host['family_model_stepping'])}), {host['cpus']} CPUs, " + (
        f"{'a virtual machine, ' if host['hypervisor'] else ''}flags {' '.join(host['flags'])}; Linux {host['kernel']}."
    )
    yield (
        f"{document['date']}, {document['threads']} thread(s) on CPU {cpus}, {document['rounds']} rounds of "
        f"{document['turn_ms']} ms per runtime; load average before {document['load_average_before'][0]:.1f}, "
        f"after {document['load_average_after'][0]:.1f}."
    )
    yield "Versions: " + "; ".join(version(document, name) for name in names) + "."
    yield from (peer_list.BY_NAME[name].note for name in names if peer_list.BY_NAME[name].note)


def version(document, name):
    ready = next((r["ready"] for m in document["models"] for r in m["results"] if r["name"] == name and "ready" in r), None)
    return f"{peer_list.BY_NAME[name].label} {ready['version'] if ready else '(never started)'}"


def table(document):
    lines = ["| " + " | ".join(row) + " |" for row in rows(document)]
    lines.insert(1, "|" + " --- |" * (lines[0].count("|") - 1))
    lines += [""] + [f"- {note}" for note in notes(document)]
    failed = list(failures(document))
    if failed:
        lines += ["", "Failed:", ""] + failed
    return "\n".join(lines)


def bars(document):
    """(network, [(peer, ratio)]) of all that may be drawn."""
    for entry in document["models"]:
        drawn = [(n, result(entry, n)) for n in peers_of(document)]
        kept = [(n, r["ratio"]) for n, r in drawn if r is not None and r["status"] == "ok"]
        own = result(entry, "onepass")
        if kept and own is not None and own["status"] == "ok":
            yield short_name(entry), kept


class Svg:
    def __init__(self):
        self.parts = []

    def rect(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')

    def text(self, x, y, text, anchor="start", weight="normal"):
        escaped = html.escape(text)
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escaped}</text>')

    def line(self, x, top, bottom, colour):
        self.parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>')

    def document(self, width, height):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}"'
        style = 'font-family="sans-serif" font-size="12"'
        white = f'<rect width="{width}" height="{height:.0f}" fill="white"/>'
        licence = "<!-- SPDX-License-Identifier: Apache-2.0 -->"
        return "\n".join([f"{head} {style}>", licence, white, *self.parts, "</svg>"]) + "\n"


def legend(svg, names, left, y):
    for i, name in enumerate(names):
        x = left + (i % 4) * 150
        row = y + (i // 4) * 18
        svg.rect(x, row - 10, 10, 10, COLOURS[i % len(COLOURS)])
        svg.text(x + 14, row, peer_list.BY_NAME[name].label)
    return y + (len(names) + 3) // 4 * 18


def chart(document):
    left, scale, most, bar, width = 190, 130, 4.0, 13, 800
    names, groups, svg = peers_of(document), list(bars(document)), Svg()
    title = f"time of each runtime / time of onepass (higher is better for onepass), {document['threads']} thread(s), batch 1"
    svg.text(20, 22, title, weight="bold")
    y = top = legend(svg, names, 20, 44) + 12
    for label, kept in groups:
        svg.text(left - 8, y + len(kept) * bar / 2 + 4, label, "end")
        for name, ratio in kept:
            length = min(ratio, most) * scale
            svg.rect(left, y, length, bar - 2, COLOURS[names.index(name) % len(COLOURS)])
            svg.text(left + length + 4, y + bar - 3, f"{ratio:.2f}" + (" (cut)" if ratio > most else ""))
            y += bar
        y += 10
    svg.line(left + scale, top - 6, y, "#c53030")
    svg.text(left + scale, y + 12, "onepass = 1", "middle")
    svg.text(20, y + 34, f"{document['host']['cpu']}, {' '.join(document['host']['flags'])}; {document['date']}")
    return svg.document(width, y + 48)


def write_chart(document, path):
    pathlib.Path(path).write_text(chart(document))


def section(document, path, markdown):
    title = f"### {document['set']}, {document['threads']} thread(s)"
    picture = os.path.relpath(path.with_suffix(".svg"), markdown.parent)
    command = f"    bench/peers/{document['command']}"
    return f"{title}\n\n{table(document)}\n\n![bars]({picture})\n\nMade by:\n\n{command}\n"


def update(markdown, paths):
    """Replaces the text between `<!-- peers SET-tN -->` and `<!-- end -->`, one pair per result file."""
    text = markdown.read_text()
    for path in map(pathlib.Path, paths):
        document = json.loads(path.read_text())
        mark = f"<!-- peers {path.stem} -->"
        block = re.compile(re.escape(mark) + r".*?<!-- end -->", re.DOTALL)
        if not block.search(text):
            raise SystemExit(f"report.py: {markdown} has no '{mark} ... <!-- end -->'")
        text = block.sub(lambda _: f"{mark}\n{section(document, path, markdown)}<!-- end -->", text)
    markdown.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--update", type=pathlib.Path, metavar="FILE.md")
    arguments = parser.parse_args()
    for path in arguments.results:
        document = json.loads(path.read_text())
        print(table(document), end="\n\n")
        write_chart(document, path.with_suffix(".svg"))
    if arguments.update:
        update(arguments.update, arguments.results)


if __name__ == "__main__":
    main()
