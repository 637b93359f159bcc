#!/usr/bin/env python3
"""Draws rows at random and plays them in ns-2: parameters and results as one CSV file.

usage: python3 draw.py SEED ROWS FILE      (ns-2.35: apt-get install ns2)

The same seed and number give the same file. Rates and times are not round, so that few packets meet at one instant.
A sender whose ACKs come at the bottleneck's pace does make them meet: its packets arrive there just when another leaves.
ns-2 then takes first what it planned first, which is the departure where side links are shorter than a packet's
service, as here; the packet that arrives finds the room.
"""

import csv
import math
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCRIPT = Path(__file__).with_name("row.tcl")
HEADER_BYTES = 40
# Packets that the bottleneck may carry in one run: what keeps the test quick.
PACKETS_MAX = 40_000
# Where packets meet at one instant, the last digit of a number decides. So each row is played again with everything so
# many seconds later, which changes no more than ns-2's rounding: what it does not do again is no rule of its.
AGAIN_S = (1, 3, 7)
TIMES = ("start", "duration", "cross_start")


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def draw(rng, number):
    """The parameters of one row."""
    rate_kbps = round(log_uniform(rng, 1_000, 100_000))
    delay_us = round(log_uniform(rng, 2_000, 150_000))
    far_us = round(log_uniform(rng, 100, 5_000))
    packet = rng.choice([1000, 1000, 1000, 536, 1460])
    packets_per_s = rate_kbps * 1000 / 8 / (packet + HEADER_BYTES)
    bdp = packets_per_s * 2 * (delay_us + far_us) / 1e6
    buffer = min(2000, max(5, round(bdp * log_uniform(rng, 0.1, 2.5))))
    agent = rng.choices(["Sack1", "Newreno", "Newreno-steady", "Vegas"], [53, 36, 8, 3])[0]
    duration = min(60, max(8, PACKETS_MAX / packets_per_s))
    cross = rng.choices(["none", "cbr", "onoff", "flow", "reverse", "cbr-reverse"], [40, 14, 14, 14, 12, 6])[0]
    start = rng.uniform(0, 1)
    two_way = cross in ("reverse", "cbr-reverse")
    # Shorter than a packet's service, together with the time that a packet takes to enter.
    near_ns = 1e9 / packets_per_s * 0.4
    row = dict(
        row=number,
        agent=agent,
        rate_kbps=rate_kbps,
        delay_us=delay_us,
        side_kbps=round(rate_kbps * rng.uniform(2.5, 20)),
        near_ns=round(rng.uniform(0, near_ns)),
        far_ns=round(rng.uniform(0, near_ns)) if two_way else 1000 * far_us,
        buffer=buffer,
        return_buffer=buffer if two_way else 1_000_000,
        packet=packet,
        iw=rng.choice([1, 2, 2, 2, 3, 4, 10]),
        ssthresh=rng.choice(["", "", round(log_uniform(rng, 4, 1000))]),
        maxburst=rng.choice([0, 0, 5]),
        delack=rng.choices([0, 1], [70, 30])[0],
        packets=rng.choice(["", "", "", round(log_uniform(rng, 50, 10_000))]),
        start=f"{start:.6f}",
        duration=f"{start + duration:.6f}",
        cross=cross,
        cross_near_ns=round(rng.uniform(0, near_ns)),
        cross_far_ns=round(rng.uniform(0, near_ns) if two_way else 1000 * log_uniform(rng, 100, 20_000)),
        cross_kbps=round(rate_kbps * rng.uniform(0.1, 0.9)),
        cross_start=f"{rng.uniform(0, duration / 2):.6f}",
        cross_times="",
        clock_seed=rng.randrange(1, 1 << 30),
    )
    if cross in ("cbr", "cbr-reverse"):
        row["cross_times"] = f"{rng.uniform(0, 0.01):.6f}"
    elif cross == "onoff":
        times = sorted(rng.uniform(0, start + duration) for _ in range(2 * rng.randint(1, 4)))
        row["cross_times"] = ";".join(f"{time:.6f}" for time in times)
    return row


def play(row):
    """The row with what ns-2 did, and what it did later: Mbit/s, drops and timeouts of each time."""
    packet = int(row["packet"])
    again = []
    for later in AGAIN_S:
        shifted = {**row, **{name: f"{float(row[name]) + later:.6f}" for name in TIMES}}
        times = [f"{float(time) + later:.6f}" for time in row["cross_times"].split(";") if time]
        shifted["cross_times"] = ";".join(times)
        result = run(shifted)
        span = float(result["done"] or shifted["duration"]) - float(shifted["start"])
        rate = int(result["received"]) * packet * 8 / 1e6 / span
        again.append(f"{rate:.5f}:{result['drops']}:{result['timeouts']}")
    return {**row, **run(row), "again": ";".join(again)}


def run(row):
    """What ns-2 does with a row."""
    with tempfile.NamedTemporaryFile("r", suffix=".drops") as drops:
        arguments = [f"{key}={value}" for key, value in row.items() if key != "row"]
        done = subprocess.run(
            ["ns", SCRIPT, *arguments, f"drops={drops.name}"], capture_output=True, text=True, check=False
        )
        result = dict(pair.split("=", 1) for pair in done.stdout.split() if "=" in pair)
        if done.returncode or "received" not in result:
            sys.exit(f"row {row['row']}: {done.stderr[-1000:]}{done.stdout[-1000:]}")
        # event, time, from, to, kind, bytes, flags, flow, ...
        lost = [line.split() for line in drops]
    lost = [fields for fields in lost if fields[7] == "0" and fields[4] != "ack"]
    start = float(row["start"])
    return {
        "phases": result["phases"],
        "received": result["received"],
        "done": f"{float(result['done']):.6f}" if result["done"] else "",
        "drops": len(lost),
        "first_drop": f"{float(lost[0][1]) - start:.5f}" if lost else "",
        "timeouts": result["timeouts"],
    }


def main():
    seed, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    rng = random.Random(seed)
    drawn = [draw(rng, number) for number in range(count)]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(play, drawn))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
