#!/usr/bin/env python3
"""Runs the single-bottleneck ns-3 scenarios (bulk.*) and writes results/ns3_*.csv
usage: python3 run_ns3.py <build> <group> ...      build: opt (3.37 optimized) | w44 (3.44 wheel) | deb (Debian 3.37)
groups: es hystart geo.   Each finished run is appended to results/ns3_<group>_<build>.csv"""
import subprocess, csv, sys, os, gzip, time
W = "work"; os.makedirs(W, exist_ok=True); os.makedirs("results", exist_ok=True)
BUILD = sys.argv[1]; VER = {"opt": "3.37", "deb": "3.37deb", "w44": "3.44"}[BUILD]
TMO = int(os.environ.get("TMO", "3000"))

def run(group, lab, p, keep=None):
    out = f"{W}/n3_{BUILD}_{os.getpid()}"
    samp = {"out": out, "samp": 0.01 if float(p.get("dur", 20)) <= 20 else 0.02} if keep else {}
    if keep and lab.get("events"): samp["evt"] = lab["events"]
    args = [f"./bulk.{BUILD}"] + [f"--{k}={v}" for k, v in {**p, **samp}.items()]
    t0 = time.time()
    try: r = subprocess.run(args, capture_output=True, text=True, timeout=TMO)
    except subprocess.TimeoutExpired:
        print("TIMEOUT", lab, flush=True)
        with open(f"results/ns3_timeouts_{BUILD}.txt", "a") as f: f.write(f"wall>{TMO}s: {' '.join(args)}\n")
        return
    wall = time.time() - t0
    if "FLOW" not in r.stdout: print("FAIL", args, r.stderr[-500:]); return
    q = dict(x.split("=") for l in r.stdout.splitlines() if l.startswith("QUEUE") for x in l.split()[1:])
    rows = []
    for l in r.stdout.splitlines():
        if not l.startswith("FLOW"): continue
        f = dict(x.split("=", 1) for x in l.split()[1:])
        start, end = float(f["start"]), float(f["end"]); rx = int(f["rxbytes"]); done = float(f["doneRx"])
        rel = lambda k: round(float(f[k]) - start, 6) if float(f[k]) >= 0 else ""
        rows.append(dict(ns3=VER, **{k: v for k, v in lab.items() if k != "events"}, flow=f["i"], start_s=start, end_s=end, rx_bytes=rx,
            thr_mbps=round(rx*8/((done if done > 0 else end)-start)/1e6, 4), tx_segs=f["tx"], rtx_segs=f["rtx"], drops=f["drops"], rto=f["rto"], recoveries=f["recov"],
            first_drop_s=rel("firstDrop"), exit_s=rel("exitT"), exit_cwnd_segs=f["exitCwnd"], exit_ssthresh_segs=f["exitSst"], exit_kind=f["exitKind"],
            su_time_s=rel("suT"), su_tx=f["suTx"], su_drops=f["suDrops"], su_rx_bytes=f["suRx"], done_rx_s=rel("doneRx"), done_ack_s=rel("doneAck"),
            final_cwnd_segs=f["finalCwnd"], q_max=q["maxq"], q_departures=q["deq"], sim_events=q["events"], sockbuf=q["sockbuf"], wall_s=round(wall, 2)))
    fn = f"results/ns3_{group}_{BUILD}.csv"; new = not os.path.exists(fn)
    with open(fn, "a", newline="") as f:
        w = csv.DictWriter(f, list(rows[0])); 
        if new: w.writeheader()
        w.writerows(rows)
    if keep:
        n = int(p.get("n", 1)); hdr = ["t_s", "qlen_pkts", "drops_cum"] + sum([[f"cwnd{i}", f"ssthresh{i}", f"tx{i}", f"rtx{i}", f"rx_segs{i}", f"state{i}", f"rtt{i}"] for i in range(n)], [])
        with gzip.open(f"results/ns3_{group}_{BUILD}_{keep}_samples.csv.gz", "wt") as g:
            g.write(",".join(hdr) + "\n" + open(out + ".samp").read())
        with gzip.open(f"results/ns3_{group}_{BUILD}_{keep}_drops.csv.gz", "wt") as g: g.write("t_s,flow,seq_byte\n" + open(out + ".drop").read())
        os.remove(out + ".samp"); os.remove(out + ".drop")
        if "evt" in samp:
            with gzip.open(f"results/ns3_{group}_{BUILD}_{keep}_events.csv.gz", "wt") as g: g.write("t_s,flow,var,value\n" + open(out + ".ev").read())
            os.remove(out + ".ev")
    print(group, lab, round(wall, 1), flush=True)

ESB = dict(sideBw="500Mbps", sideDelay="0.1ms", seg=1000, iw=2, delack=1, ts=0, dur=20)
def es():
    b = {**ESB, "bw": "40Mbps", "delay": "50ms", "buf": 250}
    for cc in ("TcpNewReno", "TcpLinuxReno"):
        for ss, sn in ((32, "32"), (800, "800"), (0, "inf")):
            for sack in (1, 0):
                keep = f"{cc}_ss{sn}_sack{sack}" if sack else None
                run("es", dict(cc=cc, ssthresh=sn, sack=sack, variant="iw2 delack1 ts0", bw_mbps=40, delay_ms=50, buf_pkts=250, events=2.5), {**b, "cc": cc, "ssthresh": ss, "sack": sack}, keep)
            run("es", dict(cc=cc, ssthresh=sn, sack=1, variant="ns-3 defaults iw10 delack2 ts1 minrto1", bw_mbps=40, delay_ms=50, buf_pkts=250), {**b, "cc": cc, "ssthresh": ss, "iw": 10, "delack": 2, "ts": 1, "minrto": 1.0})
            run("es", dict(cc=cc, ssthresh=sn, sack=1, variant="iw2 delack1 ts0 ClassicRecovery", bw_mbps=40, delay_ms=50, buf_pkts=250), {**b, "cc": cc, "ssthresh": ss, "recovery": "TcpClassicRecovery"})
    run("es", dict(cc="TcpVegas", ssthresh="inf", sack=1, variant="iw2 delack1 ts0", bw_mbps=40, delay_ms=50, buf_pkts=250, events=2.5), {**b, "cc": "TcpVegas"}, "TcpVegas")
def cubic(group, bw, rtt, frac, hy, delack, detect=3, cc="TcpCubic", dur=60, maxb=0, keep=None, events=None, minrto=0.2, starts="0"):
    buf = int(bw*1e6*rtt*1e-3/8/1500*frac)
    lab = dict(cc=cc, hystart=hy if cc == "TcpCubic" else "", detect=detect if cc == "TcpCubic" else "", delack=delack, bw_mbps=bw, rtt_ms=rtt, buf_bdp=frac, buf_pkts=buf, max_bytes=maxb, starts=starts.replace(",", ";"))
    if events: lab["events"] = events
    run(group, lab, dict(cc=cc, hystart=hy, detect=detect, delack=delack, bw=f"{bw}Mbps", delay=f"{rtt/2-0.2:g}ms", sideBw="1Gbps", sideDelay="0.1ms", buf=buf, seg=1448, iw=10, ts=1, dur=dur, maxb=maxb, minrto=minrto, n=len(starts.split(",")), starts=starts), keep)
def hystart():
    for da in (1, 2):
        for hy in (1, 0): cubic("hystart", 100, 100, 1.0, hy, da, keep=f"100M_100ms_hy{hy}_da{da}", events=2.0 if da == 1 else None)
    for det in (1, 2): cubic("hystart", 100, 100, 1.0, 1, 1, detect=det)
    for fr in (0.25, 0.5, 2.0): cubic("hystart", 100, 100, fr, 1, 1); cubic("hystart", 100, 100, fr, 0, 1)
    cubic("hystart", 100, 100, 1.0, 0, 1, cc="TcpLinuxReno"); cubic("hystart", 100, 100, 1.0, 0, 1, cc="TcpNewReno")
def geo():
    for da in (1, 2):
        for fr in (1.0, 0.5, 0.25):
            for hy in (1, 0): cubic("geo", 150, 600, fr, hy, da, dur=200, maxb=80000000, keep=f"buf{fr}_hy{hy}" if da == 1 else None)
for g in sys.argv[2:]: globals()[g]()
