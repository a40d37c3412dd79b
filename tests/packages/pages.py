"""Checks the report that `retake serve` wrote after the Playwright tests: each attempt of the first test was served the same
turn, and the miss of the second test is explained."""

import json
import pathlib
import sys

report = json.loads(pathlib.Path(sys.argv[1]).read_text())
assert [served["turn"] for served in report["served"]] == [0, 0], report
assert len(report["missed"]) == 1 and 'words "Hello" → "Hallo"' in report["missed"][0]["explanation"], report
