#!/usr/bin/env python3
"""Draws rows of sixteen classes that draw.py leaves out and plays them in ns-2: parameters and results as one CSV file.

usage: python3 classes.py SEED ROWS FILE.csv.gz      (ns-2.35: apt-get install ns2)

The same seed and number give the same file. Lists in a field are parted by semicolons, one entry for each flow, or for each packet that is lost,
counted from 0. `again` holds what ns-2 does with everything 1 and 3 s later: received/done/drops/timeouts, parted by `|`.
"""

import csv
import gzip
import io
import math
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCRIPT = Path(__file__).with_name("classes.tcl")
CLASSES = "asym three tiny small huge long packet asymrate loss ackloss both delack single minrto window sized".split()
HEADER_BYTES = 40
# Packets that the bottleneck may carry in one run: what keeps the test quick.
PACKETS_MAX, PACKETS_MAX_LONG = 60_000, 150_000
AGAIN_S = (1, 3)


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def lost(rng, least, largest, longest):
    """Numbers of lost packets, of one probability between `least` and `largest`."""
    probability, number, numbers = log_uniform(rng, least, largest), 0, []
    while number < 40_000 and len(numbers) < longest:
        number += 1 + int(rng.expovariate(probability))
        numbers.append(number)
    return ";".join(map(str, numbers))


def draw(rng, number, kind):
    """The parameters of one row. The order of draws is part of the seed's meaning."""
    rate = round(log_uniform(rng, 500, 100_000))
    delay = round(log_uniform(rng, 1_000, 300_000))
    packet = rng.choice([1000, 1460, 536])
    if kind == "packet":
        packet = rng.choice([100, 200, 256, 4000, 8960])
    packets_per_s = rate * 1000 / 8 / (packet + HEADER_BYTES)
    flows = {"three": 3, "asym": 2}.get(kind, 1)
    # Shorter than a packet's service: see draw.py.
    nears = [round(rng.uniform(0, 1e9 / packets_per_s * 0.4)) for _ in range(flows)]
    fars = [round(1000 * log_uniform(rng, 100, 5000)) for _ in range(flows)]
    if flows > 1:
        fars = [round(1000 * log_uniform(rng, 100, 200_000)) for _ in range(flows)]
    bdp = packets_per_s * 2 * (delay + max(fars) / 1000) / 1e6
    buffer = min(2000, max(5, round(bdp * log_uniform(rng, 0.1, 2.5))))
    if kind == "tiny":
        buffer = rng.randint(2, 5)
    if kind == "small":
        buffer = max(3, round(bdp * log_uniform(rng, 0.01, 0.1)))
    if kind == "huge":
        buffer = min(6000, max(20, round(bdp * log_uniform(rng, 3, 20))))
    duration = min(60, max(8, PACKETS_MAX / packets_per_s))
    if kind == "long":
        duration = min(600, max(100, PACKETS_MAX_LONG / packets_per_s))
    agents = [rng.choices(["Sack1", "Newreno", "Newreno-steady", "Tahoe"], [50, 32, 8, 10])[0] for _ in range(flows)]
    starts = [rng.uniform(0, 1)] + [rng.uniform(0, duration / 2) for _ in range(flows - 1)]
    row = dict(
        row=number,
        cls=kind,
        agents=";".join(agents),
        nears=";".join(map(str, nears)),
        fars=";".join(map(str, fars)),
        starts=";".join(f"{start:.6f}" for start in starts),
        sizes=";".join(["-"] * flows),
        rate_kbps=rate,
        delay_us=delay,
        side_kbps=round(rate * rng.uniform(2.5, 20)),
        return_kbps=rate,
        buffer=buffer,
        return_buffer=1_000_000,
        packet=packet,
        iw=rng.choice([1, 2, 2, 3, 4, 10]),
        ssthresh=rng.choice(["", "", round(log_uniform(rng, 4, 1000))]),
        maxburst=rng.choice([0, 0, 5]),
        delack=int(rng.random() < 0.3),
        delack_s=0.1,
        window=1_000_000,
        minrto=0.2,
        tick=0.01,
        singledup=1,
        loss="",
        ackloss="",
        duration=f"{starts[0] + duration:.6f}",
        clock_seed=rng.randrange(1, 1 << 30),
    )
    if kind == "asymrate":
        share = HEADER_BYTES / (packet + HEADER_BYTES)
        row["return_kbps"] = round(rate * log_uniform(rng, share * 0.3, share * 2))
        row["return_buffer"] = rng.choice([3, 5, 10, 20, 50])
    if kind in ("loss", "both"):
        row["loss"] = lost(rng, 0.001, 0.05, 600)
    if kind in ("ackloss", "both"):
        row["ackloss"] = lost(rng, 0.01, 0.5, 4000)
    if kind == "delack":
        row["delack"] = 1
        row["delack_s"] = rng.choice([0.02, 0.05, 0.2, 0.5])
    if kind == "single":
        row["singledup"] = 0
    if kind == "minrto":
        row["minrto"] = rng.choice([0.05, 0.3, 0.5, 1.0])
        row["tick"] = rng.choice([0.01, 0.05, 0.1, 0.5])
    if kind == "window":
        row["window"] = round(log_uniform(rng, 4, max(8, bdp * 2)))
    if kind == "sized":
        row["sizes"] = str(round(log_uniform(rng, 1, 60)))
    return row


def run(row):
    """What ns-2 does with a row."""
    with tempfile.NamedTemporaryFile("r", suffix=".drops") as file:
        arguments = [f"{name}={value}" for name, value in row.items() if name not in ("row", "cls")]
        done = subprocess.run(["ns", str(SCRIPT), *arguments, f"drops={file.name}"], capture_output=True, text=True)
        said = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("FLOW")]
        if done.returncode or not said:
            sys.exit(f"row {row['row']}: {done.stderr[-800:]} {done.stdout[-500:]}")
        dropped = [line.split() for line in file]
    flows = [dict(pair.split("=", 1) for pair in words) for words in said]
    data = [[drop for drop in dropped if drop[7] == str(flow) and drop[4] != "ack"] for flow in range(len(flows))]
    result = {name: ";".join(flow[key] for flow in flows) for name, key in
              [("phases", "phase"), ("received", "received"), ("done", "done"), ("timeouts", "timeouts")]}
    result["drops"] = ";".join(str(len(drops)) for drops in data)
    return result


def play(row):
    """A row with ns-2's results, and those some seconds later."""
    result, again = run(row), []
    for seconds in AGAIN_S:
        starts = ";".join(f"{float(start) + seconds:.6f}" for start in row["starts"].split(";"))
        later = run({**row, "starts": starts, "duration": f"{float(row['duration']) + seconds:.6f}"})
        done = ";".join("-" if time == "-" else str(float(time) - seconds) for time in later["done"].split(";"))
        again.append("/".join([later["received"], done, later["drops"], later["timeouts"]]))
    return {**row, **result, "again": "|".join(again)}


def main():
    seed, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    rng = random.Random(seed)
    drawn = [draw(rng, number, CLASSES[number % len(CLASSES)]) for number in range(count)]
    with ThreadPoolExecutor() as pool:
        rows = list(pool.map(play, drawn))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    # Without a time, so that the same rows are the same bytes.
    Path(path).write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
