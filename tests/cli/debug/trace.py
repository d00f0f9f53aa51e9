"""Judges a trace of ingot profile by what trace viewers draw.

    trace.py PROFILE.json TRACE.json THREADS

On each track an event lies beside or wholly inside another; each call of a kernel is an
event; threads are those of the session, and each has its name.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import json
import sys


def check_track(events):
    """Nested or apart, as calls on one thread are; microseconds have three digits."""
    around = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        end = event["ts"] + event["dur"]
        while around and around[-1] <= event["ts"] + 0.0005:
            around.pop()
        assert not around or end <= around[-1] + 0.002, f"{event} overlaps"
        around.append(end)


def main(profile, trace, threads):
    profile, trace = json.load(open(profile)), json.load(open(trace))
    events = trace["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    timed = [e for e in events if e["ph"] == "X"]
    tracks = collections.defaultdict(list)
    calls = collections.Counter()
    for event in timed:
        tracks[event["tid"]].append(event)
        calls[event["args"]["step"]] += 1
        step = profile["steps"][event["args"]["step"]]
        assert event["name"] in (step["name"], step["kind"]) and event["ts"] >= 0
        assert event["args"]["sources"] == step["sources"], event
    assert set(tracks) <= set(range(threads)) and set(names) >= set(tracks), names
    assert len(tracks) == threads or threads > 1, "a thread has no track"
    for track in tracks.values():
        check_track(track)
    for step in profile["steps"]:
        assert calls[step["step"]] == step["calls"] or threads > 1, (step, calls)
        assert bool(calls[step["step"]]) == bool(step["calls"]), step
    starts = [e["ts"] for e in timed if e["cat"] == "launch" and e["tid"] == 0]
    assert len(set(starts)) == len(starts), "launches share a time stamp"
    # It is a warm run, as those of the table are: the first takes tens of times as long.
    table = sum(step["seconds"] for step in profile["steps"] if step["depth"] == 0) * 1e6
    traced = sum(e["dur"] for e in timed
                 if profile["steps"][e["args"]["step"]]["depth"] == 0)
    assert threads > 1 or traced <= 8 * table + 20, (traced, table)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
