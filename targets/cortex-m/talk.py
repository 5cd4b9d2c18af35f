#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""talk.py COMMAND: starts a firmware of firmware.cpp, sends the lines of stdin, each when the one before has its
answer ("> " asks for the next), shows what comes and ends it. Exit code 1 where it ends by itself or is silent."""
import os
import select
import shlex
import subprocess
import sys

SILENCE = 60  # seconds

if len(sys.argv) != 2:
    sys.exit(__doc__)
lines = sys.stdin.buffer.read().replace(b"\0", b"").splitlines()
process = subprocess.Popen(shlex.split(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
tail = b""
try:
    while True:
        ready, _, _ = select.select([process.stdout], [], [], SILENCE)
        shown = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not shown:
            sys.exit("talk.py: " + ("the firmware has ended" if ready else f"no answer in {SILENCE} seconds"))
        sys.stdout.buffer.write(shown)
        sys.stdout.buffer.flush()
        tail = (tail + shown)[-2:]
        if tail != b"> ":
            continue
        if not lines:
            sys.stdout.buffer.write(b"\n")
            break
        line = lines.pop(0) + b"\n"
        sys.stdout.buffer.write(line)
        process.stdin.write(line)
        tail = b""
finally:
    process.terminate()
    process.wait()
