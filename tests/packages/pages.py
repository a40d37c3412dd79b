"""Holds the report of `retake serve` after Playwright: a turn was served for each attempt, and the one miss is explained."""

import json
import pathlib
import sys

report = json.loads(pathlib.Path(sys.argv[1]).read_text())
assert [served["turn"] for served in report["served"]] == [0, 0], report
assert len(report["missed"]) == 1 and 'words "Hello" → "Hallo"' in report["missed"][0]["explanation"], report
