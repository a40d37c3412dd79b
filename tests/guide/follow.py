"""Follows pages of the guide to the letter, each in an empty folder: `follow.py PAGE.md…`, with `retake` on PATH.

`FOLLOW_CHECKOUT` is this repository, which pages have at `~/retake`. If `FOLLOW_IN` is set, a page is followed in that folder, which
is kept. If `FOLLOW_PYTHON` is the folder in which a page was followed before, others use its environment instead of one of their own, so that
what all of them install is installed once.

- A block whose first line is a comment with a path (`# app.py`, `// index.ts`) is written to that file. For languages without
  comments, the path stands above the block: `<!-- file: PATH -->`.
- In a `console` block, the lines that begin with `$ ` are commands. All commands of a page run in one shell. The lines below a
  command must occur in its output, in this order; `…` matches anything. A command must succeed, unless the block is marked
  `console fails`: then it must fail.
- At `<!-- continues: PAGE.md -->` the folder is emptied and that page is followed; this page then continues where it ended.
- A comment `<!-- before: … -->` contains commands that the test needs and a reader does not.
- Every other block is a fragment. If it is TOML or JSON, it must parse.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

BLOCK = re.compile(r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$|^<!-- before:\n(?P<before>.*?)^-->$|^<!-- continues: (?P<earlier>\S+) -->$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?:#|//|--) (?P<path>[\w./-]+\.\w+)(?::.*)?$")
# The shell prints this after each command, on its own line, followed by the command's exit code.
DONE = "followed-to-here"


class Wrong(Exception):
    """The page does not work as it says."""


class Shell:
    """One bash process for a whole page, like a reader's terminal."""

    def __init__(self, folder):
        # Outside the page's folder, because nobody starts a project in their home folder.
        self.home = tempfile.mkdtemp(prefix="home-")
        if checkout := os.environ.get("FOLLOW_CHECKOUT"):
            os.symlink(checkout, f"{self.home}/retake")
        home = {"HOME": self.home, "TERM": "dumb", "COLUMNS": "80"}
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "UPDATE_GOLDEN")}
        self.process = subprocess.Popen(
            ["bash"], cwd=folder, env=environment | home, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )

    def type(self, command):
        """Runs a command; returns its exit code and its output."""
        self.process.stdin.write(f"{command}\nprintf '\\n{DONE} %s\\n' $?\n")
        self.process.stdin.flush()
        printed = []
        for line in self.process.stdout:
            if line.startswith(DONE):
                return int(line.split()[1]), "".join(printed)[:-1]
            printed.append(line)
        raise Wrong(f"the shell ended in `{command}`:\n{''.join(printed)}")

    def close(self):
        self.process.stdin.close()
        # What a page left running in the background ends with its shell.
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def follow(page):
    folder = os.environ.get("FOLLOW_IN") or tempfile.mkdtemp(prefix="guide-")
    shell = Shell(folder)
    try:
        read(page, shell, pathlib.Path(folder))
    finally:
        shell.close()
        if "FOLLOW_IN" not in os.environ:
            shutil.rmtree(folder, ignore_errors=True)


def read(page, shell, folder):
    text = page.read_text()
    for block in BLOCK.finditer(text):
        if block["earlier"]:
            for entry in folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
            read(page.parent / block["earlier"], shell, folder)
            continue
        if block["before"]:
            for command in block["before"].splitlines():
                run(shell, command, [], False)
            continue
        language, *words = re.split(r"[ ,]+", block["info"].strip())
        if language == "console":
            for command, below in commands(block["text"]):
                run(shell, command, below, "fails" in words)
        else:
            write(folder, language, block["text"], block["file"])


def commands(text):
    """Returns each command with the lines of expected output below it. A backslash at the end continues a command."""
    typed = []
    for line in text.splitlines():
        if line.startswith("$ "):
            typed.append((line[2:], []))
        elif typed and not typed[-1][1] and typed[-1][0].endswith("\\"):
            typed[-1] = (f"{typed[-1][0]}\n{line}", [])
        elif typed and line.strip():
            typed[-1][1].append(line)
    return typed


def run(shell, command, below, fails):
    code, printed = shell.type(in_shared(command))
    if (code != 0) != fails:
        raise Wrong(f"`{command}` exited with {code}:\n{printed}")
    rest = iter(printed.splitlines())
    for line in below:
        pattern = re.compile(".*".join(re.escape(part.rstrip()) for part in line.split("…")) + r"\s*")
        if line.strip() != "…" and not any(pattern.fullmatch(actual) for actual in rest):
            raise Wrong(f"`{command}` should have printed\n    {line}\nbut it printed\n{printed}")


def in_shared(command):
    """Returns the command with an environment that is there already in place of a new one."""
    shared = os.environ.get("FOLLOW_PYTHON")
    return command.replace("python3 -m venv .venv", f"ln -s '{shared}/.venv' .venv") if shared else command


def write(folder, language, text, path):
    named = NAMED.match(text.splitlines()[0]) if text else None
    path = path or named and named["path"]
    try:
        if language == "toml":
            tomllib.loads(text)
        elif language == "json":
            json.loads(text)
    except ValueError as error:
        raise Wrong(f"a {language} block does not parse: {error}\n{text}") from error
    if path:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


failed = False
for page in map(pathlib.Path, sys.argv[1:]):
    try:
        follow(page)
        print(f"followed {page.name}", flush=True)
    except Wrong as wrong:
        failed = True
        print(f"{page}: {wrong}", flush=True)
sys.exit(failed)
