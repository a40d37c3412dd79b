"""Draws terminal output as a picture: `terminal.py < TEXT > PICTURE.svg`. TEXT is the output of a command with its colour codes,
which `script -qc COMMAND TEXT` captures. The picture follows the reader's light or dark theme."""

import html
import re
import sys

COLUMNS, WIDTH, HEIGHT = 80, 8.4, 18
CLASSES = {"31": "red", "32": "green", "91": "red", "1": "bold"}


def spans(line):
    """Returns a line as SVG, with one `tspan` for each coloured piece."""
    classes, pieces = [], []
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if colour := re.fullmatch(r"\x1b\[([0-9;]*)m", piece):
            classes = [] if colour[1] in ("", "0") else [*classes, CLASSES.get(colour[1], "")]
        elif piece:
            pieces.append(f'<tspan class="{" ".join(classes)}">{html.escape(piece)}</tspan>' if classes else html.escape(piece))
    return "".join(pieces)


printed = [line.rstrip("\r\n") for line in sys.stdin if not line.startswith("Script ")]
# Wrap long lines. Lines with colour codes stay as they are.
lines = [part for line in printed for part in ([line] if "\x1b" in line else re.findall(f".{{1,{COLUMNS}}}", line) or [""])]
while lines and not lines[0].strip():
    lines.pop(0)
while lines and not lines[-1].strip():
    lines.pop()
width, height = int(COLUMNS * WIDTH + 40), len(lines) * HEIGHT + 32
print(f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<style>
  text {{ fill: #1f2328; white-space: pre }} rect {{ fill: #f6f8fa; stroke: #d0d7de }} .red {{ fill: #b3261e }} .green {{ fill: #17692f }} .bold {{ font-weight: bold }}
  @media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} rect {{ fill: #161b22; stroke: #30363d }} .red {{ fill: #ff8a80 }} .green {{ fill: #7ee787 }} }}
</style>
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>""")
for number, line in enumerate(lines):
    print(f'<text x="20" y="{30 + number * HEIGHT}" xml:space="preserve">{spans(line)}</text>')
print("</svg>")
