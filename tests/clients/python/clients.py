"""Runs the cases of `../cases.json` with each Python SDK and each fixture. Prints one JSON line for each result.

With arguments, it runs only the cases with all of these texts in `SDK | fixture | case`.
"""

import faulthandler
import functools
import gc
import importlib
import json
import os
import re
import ssl
import subprocess
import sys
import traceback
from pathlib import Path

from model import Model
from neutral import Question

# Each SDK client reads all certificates again, although none is used here. Without the cache, that takes most of the time.
ssl.create_default_context = functools.cache(ssl.create_default_context)

HERE = Path(__file__).resolve().parent
TABLE = json.loads((HERE.parent / "cases.json").read_text())
# The time limit for a case, in seconds.
TIME_LIMIT = 120
MODULES = [importlib.import_module(f"adapters.{file.stem}") for file in sorted((HERE / "adapters").glob("[a-z]*.py"))]
SDKS = {f"{name} (Python)": (module, ask) for module in MODULES for name, ask in module.ADAPTERS.items()}


@functools.cache
def answer_of(fixture, turn):
    """Returns a recorded answer in Retake's own form, which is the same for all APIs."""
    command = [os.environ["RETAKE"], "show", str(fixture), "--answer", str(turn + 1)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads("{" + shown + "}")["output"]


def turns_of(fixture, conversation):
    """Returns the answers of the fixture to a conversation, by their turns, which have the order of the table."""
    counts = {name: sum("finish" in step for step in steps) for name, steps in TABLE["conversations"].items()}
    names = list(counts)
    first = sum(counts[name] for name in names[: names.index(conversation)])
    return {first + i: answer_of(fixture, first + i) for i in range(counts[conversation])}


def run(ask, model, fixture, case):
    steps = TABLE["conversations"][case["conversation"]]
    turns = turns_of(fixture, case["conversation"])
    model.serve(fixture)
    failure = converse(ask, model, case, steps, list(turns.values()))
    if failure:
        return failure
    report = model.reported()
    served, missed = [turn["turn"] for turn in report["served"]], [miss["call"] for miss in report["missed"]]
    if served != list(turns) or len(missed) != (0 if turns else 1):
        return f"served {served}, expected {list(turns)}; missed {missed}"


def converse(ask, model, case, steps, expected):
    question = Question(TABLE["system"], TABLE["tools"], case["stream"])
    expected = iter(expected)
    if "finish" not in steps[-1]:
        question.steps.append(("user", steps[0]["user"]))
        return missed(ask, model, question)
    for step in steps:
        if "user" in step:
            question.steps.append(("user", step["user"]))
        elif "results" in step:
            question.steps.append(("results", list(zip(question.steps[-1][1].calls, step["results"], strict=True))))
        else:
            answer = ask(model, question)
            found, wanted = neutral_of_answer(answer), neutral_of_output(next(expected))
            for what in case["compare"]:
                if found[what] != wanted[what]:
                    return f"{what}: {found[what]!r}, expected {wanted[what]!r}"
            if any(not call.id for call in answer.calls):
                return f"a call without an id: {answer.calls}"
            question.steps.append(("answer", answer))


def missed(ask, model, question):
    try:
        answer = ask(model, question)
    except Exception as error:
        return None if "replay miss" in str(error) else f"the error does not mention the miss: {error!r}"
    return f"no error, but {answer}"


def neutral_of_answer(answer):
    calls = [[call.name, call.args] for call in answer.calls]
    return {"text": answer.text, "calls": calls, "finish": answer.finish, "usage": answer.usage}


def neutral_of_output(output):
    blocks = output["blocks"]
    return {
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "calls": [[block["name"], block["args"]] for block in blocks if block["type"] == "tool_call"],
        "finish": output["finish"],
        "usage": {key: output["usage"][key] for key in ("input", "output")},
    }


def main(words):
    # LiteLLM leaves unread streams behind. If the garbage collector frees one while httpcore's pool is locked, that is a
    # deadlock, so garbage is collected only between the cases.
    gc.disable()
    model = Model()
    for sdk, (module, ask) in SDKS.items():
        chosen = getattr(module, "FIXTURES", "(?!bedrock)")
        for fixture in sorted((HERE.parent / "fixtures").glob("*.json")):
            if not re.match(chosen, fixture.stem):
                continue
            for case in TABLE["cases"]:
                if not all(word in f"{sdk} | {fixture.stem} | {case['name']}" for word in words):
                    continue
                faulthandler.dump_traceback_later(TIME_LIMIT, exit=True)
                try:
                    failure = run(ask, model, fixture, case)
                except Exception:
                    failure = traceback.format_exc()
                result = {"sdk": sdk, "fixture": fixture.stem, "case": case["name"], "failure": failure}
                print(json.dumps(result), flush=True)
                gc.collect()
                gc.freeze()  # what SDKs have imported is not looked through again
    model.end()


main(sys.argv[1:])
