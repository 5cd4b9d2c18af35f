#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""talk.py COMMAND: starts the firmware, sends each line of stdin when the firmware asks for it ("> "), shows the answers, and
ends the firmware. Exits with 1 if the firmware ends by itself or is silent."""

import os
import select
import shlex
import signal
import subprocess
import sys

SILENCE = 60  # seconds until the firmware counts as silent


def talk(process):
    lines = []
    tail = b""
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
            read = sys.stdin.buffer.readline()
            if not read:
                return
            lines = read.replace(b"\0", b"").splitlines() or [b""]
        line = lines.pop(0) + b"\n"
        if not sys.stdin.isatty():  # a terminal shows the line already
            sys.stdout.buffer.write(line)
        process.stdin.write(line)
        tail = b""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    command = shlex.split(sys.argv[1])
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )  # Ctrl-C reaches only this program, which ends the firmware
    except OSError as error:
        sys.exit(f"talk.py: {error}")
    try:
        talk(process)
        print()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes stdout at its end
        sys.exit("talk.py: the firmware, or who reads this, has gone")
    finally:
        # QEMU's plugins write their counts only if QEMU ends itself; it then also writes a line that nobody else wants.
        process.terminate() if "-plugin" in command else process.kill()
        process.wait()


main()
