"""Follows pages of the guide to the letter, each in an empty folder: `follow.py [OLD=NEW…] PAGE.md…`, with `retake` in PATH. Where a
page installs OLD, NEW is installed. With `FOLLOW_IN` the one page is followed in that folder, which stays.

A block whose first line is a comment with a path (`# app.py`, `// index.ts`) is that file, and so is one below
`<!-- file: PATH -->`, for languages that have no comments. Of a `console` block the lines that begin with `$ ` are typed, all of a page in one shell, and what stands below a
command has to be in its output, line by line and in this order; `…` stands for anything. A command fails only where the block
says so: `console fails`. At `<!-- continues: PAGE.md -->` that page is followed first, in an
emptied folder, and this one goes on where it ended. A comment `<!-- before: … -->` holds commands that a reader has no need of. Other blocks are fragments: those in TOML and JSON have to
parse.
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
# Printed after each command with its exit code, on a line of its own.
DONE = "followed-to-here"


class Wrong(Exception):
    pass


class Shell:
    """One bash, as a reader's terminal is one."""

    def __init__(self, folder):
        # Beside the folder: nobody begins a project in their home.
        self.home = tempfile.mkdtemp(prefix="home-")
        home = {"HOME": self.home, "TERM": "dumb", "COLUMNS": "80"}
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "UPDATE_GOLDEN")}
        self.process = subprocess.Popen(
            ["bash"], cwd=folder, env=environment | home, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )

    def type(self, command):
        """The command's exit code and what it printed."""
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
    """Each command with the lines below it. A line that ends with a backslash goes on."""
    typed = []
    for line in text.splitlines():
        if line.startswith("$ "):
            typed.append((line[2:], []))
        elif typed and not typed[-1][1] and typed[-1][0].endswith("\\"):
            typed[-1] = (f"{typed[-1][0]}\n{line}", [])
        elif typed and line.strip():
            typed[-1][1].append(line)
    return typed


INSTEAD = dict(one.split("=", 1) for one in sys.argv[1:] if "=" in one)


def run(shell, command, below, fails):
    for old, new in INSTEAD.items():
        command = re.sub(rf"(?<=install )(.*)(?<!\S){re.escape(old)}(?!\S)", lambda found: found[1] + new, command)
    code, printed = shell.type(command)
    if (code != 0) != fails:
        raise Wrong(f"`{command}` ended with {code}:\n{printed}")
    rest = iter(printed.splitlines())
    for line in below:
        pattern = re.compile(".*".join(re.escape(part.rstrip()) for part in line.split("…")) + r"\s*")
        if line.strip() != "…" and not any(pattern.fullmatch(said) for said in rest):
            raise Wrong(f"`{command}` was to print\n    {line}\nand printed\n{printed}")


def write(folder, language, text, path):
    named = NAMED.match(text.splitlines()[0]) if text else None
    path = path or named and named["path"]
    try:
        if language == "toml":
            tomllib.loads(text)
        elif language == "json":
            json.loads(text)
    except ValueError as error:
        raise Wrong(f"a block of {language} does not parse: {error}\n{text}") from error
    if path:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


failed = False
for page in map(pathlib.Path, (one for one in sys.argv[1:] if "=" not in one)):
    try:
        follow(page)
        print(f"followed {page.name}", flush=True)
    except Wrong as wrong:
        failed = True
        print(f"{page}: {wrong}", flush=True)
sys.exit(failed)
