#!/usr/bin/env python3
"""ns-2 dumbbell (204 nodes per side) and parking lot with the shared workloads; writes results/dumbbell*.csv
usage: python3 run_net.py          the summaries that ns-2's default seed gives
       python3 run_net.py seeds    seeds 11 to 14 of its agents' clocks, for the workloads that the simulator plays: dumbbell_seeds.csv"""
import subprocess, csv, os, gzip, sys, statistics as st
from concurrent.futures import ThreadPoolExecutor
NW = int(os.environ.get("NW", "2")); W = "work"; os.makedirs(W, exist_ok=True)
LO, HI = 300, 2300     # monitored flows (after warm-up of 300 flows)

def one(job):
    wl, var, extra = job
    out = f"{W}/net_{wl}_{var}_{extra.get('seed', 0)}"
    topo = dict(routers=11, nsrc=6, ndst=6, buf=1000) if wl.startswith("pl") else dict(routers=2, nsrc=102, ndst=102, buf=100)
    p = dict(wl=f"results/workloads/{wl}.csv", out=out, tail=120, **topo, **extra)
    r = subprocess.run(["ns", "net.tcl"] + [f"{k}={v}" for k, v in p.items()], capture_output=True, text=True)
    if "NET" not in r.stdout: raise RuntimeError(r.stderr[-1000:])
    fl = {}; key = {}
    for l in open(out + ".flows"):
        f = l.split(); i = int(f[0])
        fl[i] = dict(id=i, start=float(f[1]), size=int(f[2]), end=float(f[3]), sent=int(f[4]), rtx=int(f[5]), rto=int(f[6]), drops=0, su=None, ackdrops=0, nd=0, sund=0, sud=0, prev=None, dt=[])
        key[(f[8], f[9])] = i
    for l in open(out + ".drop"):
        f = l.split(); i = int(f[7])
        if f[4] == "tcp": fl[i]["drops"] += 1; fl[i]["dt"].append(float(f[1]))
        else: fl[i]["ackdrops"] += 1
    for l in open(out + ".tr"):
        f = l.split(); i = key[(f[1], f[3])] if (f[1], f[3]) in key else key[(f[1], f[2])]
        d = fl[i]; t = float(f[0])
        if f[5] == "cwnd_":
            v = float(f[6]); p0 = d["prev"]
            if p0 is not None and p0 > 1 and d["su"] is None and v >= p0 and v - p0 < 0.9: d["su"] = t; d["sund"] = d["nd"]
            d["prev"] = v
        else: d["nd"] = int(f[6])
    rows = []
    for i, d in fl.items():
        su = d["su"] if d["su"] is not None else d["end"]
        d["sud"] = sum(1 for x in d["dt"] if x <= su) if su > 0 else d["drops"]
        dur = d["end"] - d["start"] if d["end"] > 0 else -1
        rows.append([i, d["size"], f'{d["start"]:.6f}', f"{dur:.6f}", f'{d["size"]*8000/dur/1e6:.5f}' if dur > 0 else "", d["sent"], d["rtx"], d["rto"], d["drops"], f'{(su-d["start"]):.5f}' if d["su"] is not None else "", d["sud"], d["ackdrops"]])
    with gzip.open(f"results/dumbbell_{wl}_{var}.csv.gz", "wt") as g:
        w = csv.writer(g); w.writerow("id,size_pkts,start_s,dur_s,thr_mbps,sent_pkts,rtx_pkts,timeouts,drops,startup_s,startup_drops,ack_drops".split(",")); w.writerows(rows)
    M = [d for i, d in fl.items() if LO <= i < HI]
    thr = sorted(d["size"]*8000/(d["end"]-d["start"])/1e6 for d in M if d["end"] > 0)
    q = lambda x: round(thr[min(len(thr)-1, int(x*len(thr)))], 4)
    sent = sum(d["sent"] for d in M); dr = sum(d["drops"] for d in M); sud = sum(d["sud"] for d in M)
    # time-average number of active flows over the monitored arrivals
    t0, t1 = M[0]["start"], M[-1]["start"]
    act = sum(max(0, min(t1, d["end"] if d["end"] > 0 else 1e9) - max(t0, d["start"])) for d in fl.values())/(t1-t0)
    for e in ("drop", "tr", "flows"): os.remove(f"{out}.{e}")
    return dict(workload=wl, variant=var, flows=len(M), unfinished=sum(1 for d in M if d["end"] < 0), mean_size=round(st.mean(d["size"] for d in M), 2), active_flows=round(act, 2),
                thr_p5=q(.05), thr_p10=q(.1), thr_p25=q(.25), thr_p50=q(.5), thr_p75=q(.75), thr_p90=q(.9), thr_p95=q(.95), thr_mean=round(st.mean(thr), 4),
                sent=sent, drops=dr, total_loss=round(dr/sent, 6), startup_drops=sud, startup_loss=round(sud/sent, 6), lossy_flows=sum(1 for d in M if d["drops"]), flows_with_rto=sum(1 for d in M if d["rto"]), rto=sum(d["rto"] for d in M), ack_drops=sum(d["ackdrops"] for d in M))
def write(name, rows):
    with open(f"results/{name}.csv", "w", newline="") as f:
        w = csv.DictWriter(f, list(rows[0])); w.writeheader(); w.writerows(rows)
VARIANTS = (("sack", dict(cc="Sack1")), ("sack_ss20", dict(cc="Sack1", ssthresh=20)))
if sys.argv[1:] == ["seeds"]:
    jobs = [(wl, var, dict(extra, seed=seed)) for wl in ("db50_bidir_s1", "db200_bidir_s1") for var, extra in VARIANTS for seed in range(11, 15)]
    with ThreadPoolExecutor(NW) as ex: res = list(ex.map(one, jobs))
    write("dumbbell_seeds", [dict(r, seed=extra["seed"]) for r, (_, _, extra) in zip(res, jobs)])
    sys.exit()
jobs = []
for m in ("db50_bidir", "db200_bidir"):
    for s in range(1, 6): jobs += [(f"{m}_s{s}", var, extra) for var, extra in VARIANTS]
for m in ("db50_onedir", "db200_onedir", "pl200"):
    for s in range(1, 4): jobs += [(f"{m}_s{s}", var, extra) for var, extra in VARIANTS]
with ThreadPoolExecutor(NW) as ex: res = list(ex.map(one, jobs))
write("dumbbell", res)
write("parking_lot", [r for r in res if r["workload"].startswith("pl200") and r["variant"] == "sack"])
