"""Runs a test program and checks its results: `check.py RED GREEN FILE… -- COMMAND…`.

According to the program's summary, RED tests must fail and GREEN tests must pass; the program itself must fail even if RED is 0.
The output must contain every text that the FILEs announce: the docstrings of tests in Python, the comments `// says: …` in JavaScript. If not, the output is printed.
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
    summary = [line for line in ran.stdout.splitlines() if re.match(r"=.* in |\s+Tests |[#ℹ] (pass|fail) ", line)]
    found = re.findall(rf"(\d+) {what}(?!\w)|[#ℹ] {what[:4]} (\d+)", "\n".join(summary))
    return sum(int(a or b) for a, b in found)


faults = []
found = counted("failed") + counted("errors") + counted("error"), counted("passed")
if found != (red, green):
    faults.append(f"{found[0]} tests failed and {found[1]} passed, expected {red} and {green}")
if ran.returncode == 0:
    faults.append("the program exits with 0, expected an error")
for file in files:
    text = pathlib.Path(file).read_text()
    texts = re.findall(r"^// says: (.*)$", text, re.MULTILINE)
    texts += re.findall(r'^    """(.*?)"""$', text, re.MULTILINE) if file.endswith(".py") else []
    assert texts, file
    texts = [text.replace('\\"', '"') for text in texts]
    faults += [f"the output does not contain {text!r}, which {file} announces" for text in texts if text not in ran.stdout]
if faults:
    print(ran.stdout)
print("\n".join(faults) or f"{red} red as expected, {green} green")
sys.exit(1 if faults else 0)
