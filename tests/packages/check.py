"""Runs a test program and holds what became of its tests: `check.py RED GREEN FILE… -- COMMAND…`.

RED tests fail and GREEN ones pass, as the program's last lines count them, and what it prints holds each text that the FILEs
announce: the docstring of a test in Python, the comment `// says: …` in JavaScript. Prints what it ran where it does not hold.
"""

import pathlib
import re
import subprocess
import sys

end = sys.argv.index("--")
red, green, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:end]
ran = subprocess.run(sys.argv[end + 1 :], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def counted(what):
    # pytest: "1 failed, 2 passed, 1 error"; vitest: "Tests  1 failed | 2 passed (3)"; node: "# fail 1"
    of_line = [line for line in ran.stdout.splitlines() if re.match(r"=.* in |\s+Tests |[#ℹ] (pass|fail) ", line)]
    found = re.findall(rf"(\d+) {what}(?!\w)|[#ℹ] {what[:4]} (\d+)", "\n".join(of_line))
    return sum(int(a or b) for a, b in found)


faults = []
found = counted("failed") + counted("errors") + counted("error"), counted("passed")
if found != (red, green):
    faults.append(f"{found[0]} tests failed and {found[1]} passed, not {red} and {green}")
for file in files:
    text = pathlib.Path(file).read_text()
    texts = re.findall(r"^// says: (.*)$", text, re.MULTILINE)
    texts += re.findall(r'^    """(.*?)"""$', text, re.MULTILINE) if file.endswith(".py") else []
    assert texts, file
    faults += [f"{one!r} of {file} is not said" for one in (t.replace('\\"', '"') for t in texts) if one not in ran.stdout]
if faults:
    print(ran.stdout)
print("\n".join(faults) or f"{red} red as they should be, {green} green")
sys.exit(1 if faults else 0)
