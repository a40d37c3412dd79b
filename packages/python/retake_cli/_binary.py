"""Finds the `retake` command."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def find_retake() -> str:
    """Returns the path of the command that this distribution installed, or of the one on PATH. `RETAKE_BIN` overrides both."""
    if named := os.environ.get("RETAKE_BIN"):
        return named
    name = "retake" + (sysconfig.get_config_var("EXE") or "")
    schemes = {"nt": "nt_user"}.get(os.name, "posix_user")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=schemes)]
    # `pip install --target` puts scripts into a folder `bin` next to the packages.
    folders += [Path(__file__).parent.parent / "bin", Path(sys.prefix) / "bin"]
    for folder in folders:
        if (file := Path(folder) / name).is_file():
            return str(file)
    if found := shutil.which("retake"):
        return found
    raise FileNotFoundError("the command `retake` is not installed: run `pip install --force-reinstall retake-cli`")
