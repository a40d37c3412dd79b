import subprocess
import sys

from ._binary import find_retake

sys.exit(subprocess.run([find_retake(), *sys.argv[1:]]).returncode)
