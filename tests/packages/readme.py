"""Follows a section of the README to the letter: `readme.py README SECTION [OLD=NEW]…`, in an empty folder.

A block whose first line is a comment with a path is that file, and the lines of a console block that begin with `$` are
typed in one shell. Where an OLD is given, the commands have NEW in its place: a package that is not published yet. Its exit
code is that of the first command that failed.
"""

import pathlib
import re
import subprocess
import sys

readme, name, *replaced = sys.argv[1:]
section = pathlib.Path(readme).read_text().split(f"\n## {name}\n")[1].split("\n## ")[0]
script = ["set -e"]
for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE):
    if language == "console":
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        for old, new in (one.split("=", 1) for one in replaced):
            commands = [re.sub(rf"(?<=install )(.*){re.escape(old)}\b", rf"\g<1>{new}", one) for one in commands]
        script += commands
    else:
        path = re.sub(r"^(#|//) ", "", block.splitlines()[0])
        script += [f"mkdir -p $(dirname {path})", f"cat >{path} <<'END_OF_BLOCK'\n{block}END_OF_BLOCK"]
sys.exit(subprocess.run(["bash", "-c", "\n".join(script)]).returncode)
