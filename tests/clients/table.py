"""Prints the results of the runners: failures, a table, and the number of passed cases. Exits with 1 if one failed or none ran."""

import json
import sys
from collections import Counter
from pathlib import Path

results = [json.loads(line) for file in sys.argv[1:] for line in Path(file).read_text().splitlines()]
for result in results:
    if result["failure"]:
        print(f"{result['sdk']} | {result['fixture']} | {result['case']}\n    {result['failure'].strip()}\n")

passed = Counter((r["sdk"], r["case"]) for r in results if not r["failure"])
ran = Counter((r["sdk"], r["case"]) for r in results)
sdks = list(dict.fromkeys(r["sdk"] for r in results))
cases = list(dict.fromkeys(r["case"] for r in results))
fixtures = list(dict.fromkeys(r["fixture"] for r in results))

print(f"Passed with each SDK, over the fixtures {', '.join(fixtures)}:\n")
for number, case in enumerate(cases):
    print(f"  {chr(ord('a') + number)} {case}")
width = max(map(len, sdks), default=0)
print(f"\n{'':{width}} " + "".join(f"{chr(ord('a') + number):>6}" for number in range(len(cases))))
for sdk in sdks:
    cells = [f"{passed[sdk, case]}/{ran[sdk, case]}" if ran[sdk, case] else "" for case in cases]
    print(f"{sdk:{width}} " + "".join(f"{cell:>6}" for cell in cells))

failed = len(results) - passed.total()
print(f"\n{passed.total()} passed, {failed} failed")
sys.exit(1 if failed or not results else 0)
