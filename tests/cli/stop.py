"""Starts a command, sends it a signal after a while, and says how it ended.

    stop.py SIGNAL[,SIGNAL] SECONDS LOG COMMAND…    prints: exit status, milliseconds

The status is a shell's: 128 and the signal for what a signal ended.  The milliseconds are of
CPU time, spent after the signal by the command and by children it waited for: on a machine
with other work, a clock on the wall says nothing of the command, and more than QUICK are those
of within.py's yardstick.  One that is not gone after 60 s is killed, and has taken those.
SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import subprocess
import sys
import time

from within import slowness

SECONDS, QUICK = 60, 0.5


def spent(process):
    """Seconds of CPU time so far, of the process and of its children, gone or not: when it
    has waited for those, all of their time is its own."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        return 0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(spent, children))


def wait(child):
    """Status and use of the child, or None where it does not end."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        process, status, used = os.wait4(child.pid, os.WNOHANG)
        if process:
            return status, used
        time.sleep(0.002)
    child.kill()
    os.wait4(child.pid, 0)
    return None


def main():
    numbers = [int(word) if word.isdigit() else getattr(signal, "SIG" + word)
               for word in sys.argv[1].split(",")]
    with open(sys.argv[3], "wb") as log:
        child = subprocess.Popen(sys.argv[4:], stdout=log, stderr=log,
                                 stdin=subprocess.DEVNULL)
    time.sleep(float(sys.argv[2]))
    before = spent(child.pid)
    for number in numbers:
        os.kill(child.pid, number)
    ended = wait(child)
    child.returncode = 0
    if ended is None:
        print(137, 1000 * SECONDS)
        return
    status = os.waitstatus_to_exitcode(ended[0])
    seconds = max(0, ended[1].ru_utime + ended[1].ru_stime - before)
    if seconds > QUICK:
        seconds /= slowness()
    print(status if status >= 0 else 128 - status, round(1000 * seconds))


main()
