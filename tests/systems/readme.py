"""Follows the README's section "A Python service in five minutes" to the letter: `readme.py README`, in an empty folder.

A block whose first line is a comment with a path is that file, and the lines of a console block that begin with `$` are
typed in one shell. Its exit code is that of the first command that failed.
"""

import pathlib
import re
import subprocess
import sys

section = pathlib.Path(sys.argv[1]).read_text().split("\n## A Python service in five minutes\n")[1].split("\n## ")[0]
script = ["set -e"]
for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE):
    if language == "console":
        script += [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    else:
        path = block.splitlines()[0].removeprefix("# ")
        script += [f"mkdir -p $(dirname {path})", f"cat >{path} <<'END_OF_BLOCK'\n{block}END_OF_BLOCK"]
sys.exit(subprocess.run(["bash", "-c", "\n".join(script)]).returncode)
