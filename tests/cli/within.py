"""Runs a command and holds what it spends against limits.

    within.py SECONDS MIB COMMAND…     seconds of CPU time; MIB 0: memory is not looked at

CPU time, of all threads and children: on a machine with other work, a clock on the wall
says nothing of the command.  Limits are those of a machine that compiles YARD in
YARD_SECONDS; a slower one, or one that shares its caches and cores with other work, has as
much more.  What is over is measured again: work that is too much is so each time, what
others do to it is not.
SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

YARD_SECONDS = 0.18
YARD = "\n".join(f"int f{i}(int *x, int n) {{ int s = {i}; for (int k = 0; k < n; k++) "
                 f"s = x[k] > s ? s + x[k] * {i} : s ^ k; return s; }}" for i in range(50))
TRIES = 3


def slowness():
    """How many times as long as on the yardstick's machine fixed work takes now, at least 1."""
    with subprocess.Popen(["cc", "-O2", "-S", "-x", "c", "-o", "/dev/null", "-"],
                          stdin=subprocess.PIPE, text=True) as child:
        child.stdin.write(YARD)
        child.stdin.close()
        used = os.wait4(child.pid, 0)[2]
        child.returncode = 0
    return max(1, (used.ru_utime + used.ru_stime) / YARD_SECONDS)


def run(command, out):
    """Exit status, CPU seconds, and peak memory in bytes of the child alone; what it says is
    all that `out` holds then."""
    if out:
        out.seek(0)
        out.truncate()
    child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = 0
    return (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024)


def run_within(command, out, limit):
    """The same with the seconds of the yardstick's machine; again where they are over."""
    for _ in range(TRIES):
        status, seconds, memory = run(command, out)
        if seconds > limit:
            seconds /= slowness()
        if seconds <= limit:
            break
    return status, seconds, memory


def main():
    max_seconds, max_mib = float(sys.argv[1]), float(sys.argv[2])
    status, seconds, memory = run_within(sys.argv[3:], None, max_seconds)
    mib = memory / 2**20
    print(f"status {status}, {seconds:.2f} s of CPU time, {mib:.0f} MiB")
    sys.exit(status != 0 or seconds > max_seconds or 0 < max_mib < mib)


if __name__ == "__main__":
    main()
