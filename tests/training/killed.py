"""Checkpoints survive whatever ends a training.

SPDX-License-Identifier: Apache-2.0

    killed.py INGOT CASE FOLDER TIMES [RANKS DATA | store MODEL DATA]

Trains 40 steps with a checkpoint after each.  The process is killed at TIMES moments, and each
time goes on behind the last checkpoint, which is whole; at the end weights and states have the
bits of a training that nobody ended.  A full disk and an interrupt are told, and leave the last
checkpoint as it was.  With RANKS, that many train on batches of DATA, and all are killed at once;
the rest is for one process.  With `store`, the table t of MODEL has a part of its rows in memory:
rows that left memory behind the last checkpoint are put back.  Where the file of those rows is
damaged, the training does not go on; what a step that did not begin left at its end is no damage.
"""
import contextlib
import glob
import os
import random
import resource
import signal
import subprocess
import sys
import time

ingot, case, folder, times = sys.argv[1:4] + [int(sys.argv[4])]
is_stored = sys.argv[5:6] == ["store"]
ranks = ["--ranks", sys.argv[5], "-j", "1"] if len(sys.argv) > 5 and not is_stored else []
data = sys.argv[6] if ranks else f"{case}/batch0.npz"
STEPS = 12 if ranks else 20 if is_stored else 40
random.seed(36)


def over_store(name, *more):
    return [ingot, "train", sys.argv[6], "--loss", "bce_logits:y=label", "--data", sys.argv[7],
            "--optimizer", "*=adam(lr=0.01)", "--store", f"t=lmdb://{folder}/{name}.mdb",
            "--store-memory", "2", "--epochs", "9", *more]


def command(name, *more):
    if is_stored:
        return over_store(name, "-q", "--steps", str(STEPS), "--checkpoint", f"{folder}/{name}",
                          "--checkpoint-every", "3", "-o", f"{folder}/{name}.npz", *more)
    return [ingot, "train", f"{case}/model.pt", "--loss", "bce_logits:=label", "-q", "--data",
            data, *ranks, "--optimizer", "tables.*=rowwise_adagrad(lr=0.02,eps=0.0001)",
            "--optimizer", "*=adamw(lr=0.002,eps=0.00001)", "--steps", str(STEPS),
            "--checkpoint", f"{folder}/{name}", "--checkpoint-every", "1", "-o",
            f"{folder}/{name}.npz", *more]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def checkpoints(name):
    there = os.listdir(f"{folder}/{name}") if os.path.isdir(f"{folder}/{name}") else []
    return sorted(c for c in there
                  if c.startswith("step-") and ".partial-" not in c
                  and os.path.exists(f"{folder}/{name}/{c}/.metadata"))


subprocess.run(command("whole"), check=True)
begin = time.monotonic()
subprocess.run(command("timed"), check=True)
lasts = time.monotonic() - begin

killed = 0
for trial in range(times):
    process = subprocess.Popen(command("killed", "--resume"), stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        _, words = process.communicate(timeout=random.uniform(0, 1.1 * lasts / 4))
        assert process.returncode == 0, words
        os.system(f"rm -r '{folder}/killed' '{folder}'/killed.mdb*")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        killed += 1
        # Ranks that have not met yet leave the segment in which they would.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"/dev/shm/ingot-{process.pid}")
subprocess.run(command("killed", "--resume"), check=True)
assert content(f"{folder}/whole.npz") == content(f"{folder}/killed.npz"), "other bits"
if is_stored:
    further = [subprocess.run(over_store(name, "--begin", f"{folder}/{name}.npz", "--json",
                                         "--steps", str(STEPS + 10)), check=True, capture_output=True)
               for name in ("whole", "killed")]
    assert further[0].stdout == further[1].stdout, "rows of other bits"
left = [n for n in os.listdir(f"{folder}/killed") if ".partial-" in n]
assert not left, left
assert checkpoints("killed")[-1] == f"step-{STEPS:012}", checkpoints("killed")
print(f"{killed} of {times} were killed")


def rows_file(name):
    """The newest file of rows, and its size."""
    newest = max(glob.glob(f"{folder}/{name}/rows-*"), default="")
    return newest, os.path.getsize(newest) if newest else 0


def damage():
    process = subprocess.Popen(command("damaged"))
    while rows_file("damaged")[1] < 1_000_000 and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.wait()
    path, size = rows_file("damaged")
    right = content(path)
    with open(path, "r+b") as file:
        file.seek(100_000)
        file.write(b"\xff" * 64)
    again = subprocess.run(command("damaged", "--resume"), capture_output=True, text=True)
    assert again.returncode == 1 and "is damaged at byte" in again.stderr, again
    assert os.path.getsize(path) == size, "the file is gone"
    with open(path, "wb") as file:
        file.write(right + bytes(30))
    subprocess.run(command("damaged", "--resume"), check=True)
    assert content(f"{folder}/whole.npz") == content(f"{folder}/damaged.npz"), "other bits"


if is_stored:
    damage()
if ranks or is_stored:
    sys.exit()

# No room: files of at most 100 KB.
before = checkpoints("whole")
full = subprocess.run(command("full"), capture_output=True, text=True,
                      preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                          resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))))
assert full.returncode != 0 and "cannot write" in full.stderr, full
assert not os.listdir(f"{folder}/full"), os.listdir(f"{folder}/full")

# An interrupt ends training behind a step, whose checkpoint is written.
process = subprocess.Popen(command("stopped"))
while not checkpoints("stopped") and process.poll() is None:
    time.sleep(0.001)
process.send_signal(signal.SIGINT)
process.wait()
if process.returncode != 0:
    assert checkpoints("stopped"), os.listdir(f"{folder}/stopped")
    subprocess.run(command("stopped", "--resume"), check=True)
    assert content(f"{folder}/whole.npz") == content(f"{folder}/stopped.npz"), "other bits"

again = subprocess.run(command("whole"), capture_output=True, text=True)
assert again.returncode != 0 and "--resume" in again.stderr, again
