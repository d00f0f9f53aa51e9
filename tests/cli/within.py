"""Runs a command and holds what it spends against limits.

    within.py SECONDS MIB COMMAND…     seconds of CPU time; MIB 0: memory is not looked at

CPU time, of all threads and children: on a machine with other work, a clock on the wall
says nothing of the command.  Limits are those of a machine that counts a million in
PACE seconds; slower ones, and processors that two share, have as much more.
SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import time

PACE = 0.1


def is_over(seconds, limit):
    """Whether `seconds` are over a limit, as this machine is now."""
    if seconds <= limit:
        return False
    begin, total = time.process_time(), 0
    for i in range(1_000_000):
        total += i * i & 7
    return seconds > limit * max(1, (time.process_time() - begin) / PACE)


def run(command, out):
    """Exit status, CPU seconds, and peak memory in bytes of the child alone."""
    child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = 0
    return (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024)


def main():
    most_seconds, most_mib = float(sys.argv[1]), float(sys.argv[2])
    status, seconds, memory = run(sys.argv[3:], None)
    mib = memory / 2**20
    print(f"status {status}, {seconds:.2f} s of CPU time, {mib:.0f} MiB")
    sys.exit(status != 0 or is_over(seconds, most_seconds) or 0 < most_mib < mib)


if __name__ == "__main__":
    main()
