#!/usr/bin/env python3
"""Runs the single-bottleneck ns-2 scenarios (bulk.tcl) and writes results/*.csv.
usage: python3 run_ns2.py [es] [es7] [ps] [ps03] [qs]      (run from the directory that holds this file)"""
import subprocess, csv, sys, os, gzip, itertools, tempfile
from concurrent.futures import ThreadPoolExecutor
NW = int(os.environ.get("NW", "2"))
WORK = "work"; os.makedirs(WORK, exist_ok=True); os.makedirs("results", exist_ok=True)
cnt = itertools.count()

def parse_kv(line): return dict(x.split("=", 1) for x in line.split()[1:])

def run(params, keep=False):
    """run one simulation; returns list of per-flow dicts (metrics), and file prefix when keep"""
    out = f"{WORK}/r{os.getpid()}_{next(cnt)}"
    args = ["ns", "bulk.tcl"] + [f"{k}={v}" for k, v in params.items()] + [f"out={out}"]
    r = subprocess.run(args, capture_output=True, text=True)
    if r.returncode or "FLOW" not in r.stdout: raise RuntimeError(str(args) + r.stderr[-2000:] + r.stdout[-500:])
    flows, q, cbr = [], {}, {}
    for l in r.stdout.splitlines():
        if l.startswith("FLOW"): flows.append(parse_kv(l))
        elif l.startswith("QUEUE"): q = parse_kv(l)
        elif l.startswith("CBR"): cbr = parse_kv(l)
    n = len(flows)
    pkt = int(params.get("pkt", 1000)); dur = float(params.get("dur", 20))
    drops = [[] for _ in range(n)]; cbrdrops = 0
    for l in open(out + ".drop"):
        f = l.split(); fid = int(f[7])
        if fid == 99: cbrdrops += 1
        else: drops[fid-1].append((float(f[1]), int(f[10])))
    # address of flow i's source node: nodes are created r0=0, r1=1, s0=2, d0=3, s1=4, ...
    st = [dict(prev=None, su_end=None, nd=0, nr=0, ack=0, su=None, exit_t=None, exit_cwnd=None, exit_kind=None, maxc=0.0) for _ in range(n)]
    for l in open(out + ".tr"):
        f = l.split(); i = (int(f[1]) - 2)//2
        s = st[i]; name = f[5]
        if name == "cwnd_":
            v = float(f[6]); p = s["prev"]; t = float(f[0])
            if p is not None and t > 0:
                if s["exit_t"] is None and p > 1:
                    if v < p and p > 2: s["exit_t"], s["exit_cwnd"], s["exit_kind"] = t, p, "decrease"
                    elif v - p < 0.9: s["exit_t"], s["exit_cwnd"], s["exit_kind"] = t, p, "linear"
                if s["su"] is None and p > 1 and v >= p and v - p < 0.9:
                    s["su"] = (t, s["nd"], s["nr"], s["ack"])
            s["prev"] = v
        elif name == "ndatapack_": s["nd"] = int(f[6])
        elif name == "nrexmitpack_": s["nr"] = int(f[6])
        elif name == "ack_": s["ack"] = int(f[6])
    res = []
    for i, fl in enumerate(flows):
        s = st[i]; t0 = float(fl["start"]); end = float(fl["end"]); D = drops[i]
        sent = int(fl["ndatapack"]); acked = max(0, int(fl["ack"]))
        su = s["su"]
        m = dict(flow=i, start_s=t0, end_s=end, acked_pkts=acked,
                 thr_mbps=round(acked*pkt*8/(end-t0)/1e6, 4), sent_pkts=sent, rtx_pkts=int(fl["nrexmitpack"]),
                 drops=len(D), loss=round(len(D)/sent, 6), timeouts=int(fl["timeouts"]), cwnd_cuts=int(fl["cwndcuts"]),
                 first_drop_s=round(D[0][0]-t0, 5) if D else "",
                 ss_exit_s=round(s["exit_t"]-t0, 5) if s["exit_t"] is not None else "", ss_exit_cwnd=s["exit_cwnd"] if s["exit_cwnd"] is not None else "", ss_exit_kind=s["exit_kind"] or "")
        if su:
            t, nd, nr, ack = su; sd = sum(1 for x in D if x[0] <= t)
            m.update(su_time_s=round(t-t0, 5), su_acked_pkts=ack, su_thr_mbps=round(max(ack,0)*pkt*8/(t-t0)/1e6, 4), su_sent_pkts=nd, su_drops=sd, su_loss=round(sd/nd, 6) if nd else 0)
        else: m.update(su_time_s="", su_acked_pkts="", su_thr_mbps="", su_sent_pkts="", su_drops="", su_loss="")
        m.update(final_cwnd=fl["cwnd"], final_ssthresh=fl["ssthresh"], q_drops=q["pdrop"], q_departures=q["pdep"], cbr_drops=cbrdrops)
        if "npkts" in params: m["done_s"] = round(float(fl["done"]) - t0, 6)
        res.append(m)
    if not keep:
        for e in ("drop", "tr", "samp"): os.remove(f"{out}.{e}")
    return res, out

def sweep(name, jobs):
    """jobs: list of (label dict, params dict)"""
    def one(j): return run(j[1])[0]
    with ThreadPoolExecutor(NW) as ex: out = list(ex.map(one, jobs))
    rows = []
    for (lab, p), rs in zip(jobs, out):
        for m in rs: rows.append({**lab, **m})
    with open(f"results/{name}.csv", "w", newline="") as f:
        w = csv.DictWriter(f, list(rows[0])); w.writeheader(); w.writerows(rows)
    print(name, len(rows)); return rows

def series(name, label, params, events_until=None):
    res, out = run(params, keep=True)
    n = int(params.get("n", 1))
    hdr = ["t_s", "qlen_pkts", "drops_cum"] + sum([[f"cwnd{i}", f"ssthresh{i}", f"sent{i}", f"rtx{i}", f"ack{i}"] for i in range(n)], [])
    with gzip.open(f"results/{name}_{label}_10ms.csv.gz", "wt") as g:
        g.write(",".join(hdr) + "\n")
        for l in open(out + ".samp"): g.write(",".join(l.split()) + "\n")
    with open(f"results/{name}_{label}_drops.csv", "w") as g:
        g.write("t_s,flow,seqno\n")
        for l in open(out + ".drop"):
            f = l.split()
            if int(f[7]) != 99: g.write(f"{f[1]},{int(f[7])-1},{f[10]}\n")
    if events_until:
        with gzip.open(f"results/{name}_{label}_events.csv.gz", "wt") as g:
            g.write("t_s,flow,var,value\n")
            for l in open(out + ".tr"):
                f = l.split()
                if float(f[0]) > events_until: break
                if f[5] in ("cwnd_", "ack_", "ndatapack_"): g.write(f"{f[0]},{(int(f[1])-2)//2},{f[5].rstrip('_')},{f[6]}\n")
    for e in ("drop", "tr", "samp"): os.remove(f"{out}.{e}")

ALG = {  # label -> params (Enhanced Start paper section V)
 "nr_ss32":   dict(cc="Newreno", ssthresh=32), "nr_ss800": dict(cc="Newreno", ssthresh=800), "nr_huge": dict(cc="Newreno"),
 "nr_hoe":    dict(cc="Newreno", hoe=1), "nr_lss100": dict(cc="Newreno", maxss=100), "vegas": dict(cc="Vegas"),
 "sack_huge": dict(cc="Sack1"), "sack_lss100": dict(cc="Sack1", maxss=100),
 "nr_huge_slowsteady": dict(cc="Newreno", sets="Agent/TCP/Newreno:newreno_changes1_:0"),
 "tahoe_ss800": dict(cc="Tahoe", ssthresh=800), "tahoe_huge": dict(cc="Tahoe"),
}
def es():
    base = dict(bw="40Mb", delay="50ms", side_bw="500Mb", side_delay="0.1ms", buf=250, pkt=1000, maxburst=5, dur=20)
    jobs = []
    for a, p in ALG.items():
        for mb in (5, 0): jobs.append((dict(alg=a, bw_mbps=40, delay_ms=50, buf_pkts=250, maxburst=mb, variant="2.35"), {**base, **p, "maxburst": mb}))
        leg = "Agent/TCP:precisionReduce_:false;Agent/TCP:rtxcur_init_:6.0;Agent/TCP:updated_rttvar_:false;Agent/TCP:bugfix_ss_:0"
        jobs.append((dict(alg=a, bw_mbps=40, delay_ms=50, buf_pkts=250, maxburst=5, variant="2.28-like defaults"), {**base, **p, "sets": leg + ((";" + p["sets"]) if "sets" in p else "")}))
        jobs.append((dict(alg=a, bw_mbps=40, delay_ms=50, buf_pkts=250, maxburst=5, variant="delayed ACK"), {**base, **p, "delack": 1}))
        jobs.append((dict(alg=a, bw_mbps=40, delay_ms=50, buf_pkts=250, maxburst=5, variant="windowInit_=1"), {**base, **p, "iw": 1}))
        for sd in (1, 2, 3): jobs.append((dict(alg=a, bw_mbps=40, delay_ms=50, buf_pkts=250, maxburst=5, variant=f"seed{sd}"), {**base, **p, "seed": sd}))
    sweep("single", jobs)
    for a, p in ALG.items(): series("single", a, {**base, **p}, 2.5 if a in ("nr_ss32", "nr_ss800", "nr_huge", "sack_huge", "vegas", "nr_lss100") else None)

def es7():
    """Figure 7 of the Enhanced Start paper: NewReno's start-ups over the size of the buffer"""
    base = dict(bw="40Mb", delay="50ms", side_bw="500Mb", side_delay="0.1ms", pkt=1000, maxburst=5, dur=20)
    jobs = [(dict(alg=a, buf_pkts=b), {**base, **ALG[a], "buf": b}) for a in ("nr_huge", "nr_ss32", "nr_lss100", "nr_hoe", "vegas") for b in range(100, 301, 50)]
    sweep("over_buffer", jobs)

def full():
    """First overflows of other paths: 40 Mbit/s with 100 to 180 packets of buffer, 60 to 100 Mbit/s with half a BDP and one. At 90 and
    100 Mbit/s a packet takes longer over the side link than over the bottleneck."""
    paths = [(40, b) for b in range(100, 181, 20)] + [(r, round(share * r * 12.5)) for r in (60, 70, 80, 90, 100) for share in (0.5, 1)]
    base = dict(delay="50ms", side_bw="500Mb", side_delay="0.1ms", pkt=1000, maxburst=5, dur=20)
    jobs = [(dict(alg=a, bw_mbps=r, buf_pkts=b), {**base, **ALG[a], "bw": f"{r}Mb", "buf": b}) for a in ("nr_hoe", "nr_huge", "sack_huge") for r, b in paths]
    sweep("full_queue", jobs)

def ps():
    # side links 1 Gb/s 5 ms, bottleneck 30 ms one way -> rtt 80 ms; CBR starts at 0, TCP at 1 s, TCP runs 50 s
    base = dict(bw="100Mb", delay="30ms", side_bw="1000Mb", side_delay="5ms", buf=1000, pkt=1000, starts="1.0", dur=51, cbr_pkt=1000)
    jobs = []
    A = {"sack_huge": dict(cc="Sack1", window=20000), "newreno_hoe": dict(cc="Newreno", window=20000, hoe=1), "newreno_huge": dict(cc="Newreno", window=20000), "vegas": dict(cc="Vegas", window=20000)}
    for a, p in A.items():
        for cbw in range(0, 91, 5):
            for rnd, seeds in ((0, (0,)), (1, (1, 2, 3, 4, 5) if a == "sack_huge" else (1, 2))):
                if cbw == 0 and rnd: continue
                for sd in seeds:
                    jobs.append((dict(alg=a, cbw_mbps=cbw, bw_mbps=100, rtt_ms=80, buf_pkts=1000, cbr_random=rnd, seed=sd),
                                 {**base, **p, "cbw": f"{cbw}Mb" if cbw else 0, "cbr_random": rnd, "seed": sd}))
    sweep("beside_cbr", jobs)
    for c in (0, 40, 80): series("beside_cbr", f"{c}", {**base, **A["sack_huge"], "cbw": f"{c}Mb" if c else 0, "dur": 51})

def ps03():
    """Slow start of `ps` with the defaults of 2003, which ns-2's own test suites name under "FOR UPDATING GLOBAL DEFAULTS"."""
    base = dict(bw="100Mb", delay="30ms", side_bw="1000Mb", side_delay="5ms", buf=1000, pkt=1000, starts="1.0", dur=51, cbr_pkt=1000)
    sets = "Agent/TCP:minrto_:1;Agent/TCP:rtxcur_init_:6.0;Agent/TCP:updated_rttvar_:false;Agent/TCP:precisionReduce_:false"
    jobs = []
    for cbw in range(5, 91, 5):
        for rnd, seeds in ((0, (0,)), (1, (1, 2, 3, 4, 5))):
            for sd in seeds:
                jobs.append((dict(alg="sack_huge", cbw_mbps=cbw, bw_mbps=100, rtt_ms=80, buf_pkts=1000, cbr_random=rnd, seed=sd),
                             {**base, "cc": "Sack1", "window": 20000, "cbw": f"{cbw}Mb", "cbr_random": rnd, "seed": sd, "sets": sets, "minhdr": 1}))
    sweep("beside_cbr_2003", jobs)

def window_opened(out):
    """the window that flow 0's first ACK, that of its SYN, has opened"""
    times = [(float(f[0]), float(f[6])) for f in (l.split() for l in open(out + ".tr")) if f[5] == "cwnd_"]
    later = [(t, v) for t, v in times if t > 0]
    return [v for t, v in later if t == later[0][0]][-1]

def qs():
    """Quick-Start over the first path: what is approved, and the download from the start of the SYN. `again`: the same
    with the flow a second later."""
    base = dict(bw="40Mb", delay="50ms", side_bw="500Mb", side_delay="0.1ms", pkt=1000, maxburst=0, dur=60)
    idle = dict(qs="grant,grant,grant", buf=250, cbw_mbps=0, cbr_start_s=0, cbr_stop_s="", cc="Sack1", npkts=1000, maxss=100, mend="")
    rows = []
    for name, change in QS:
        p = {**idle, **change}
        ns = {**base, **p, "cbw": f"{p['cbw_mbps']}Mb" if p["cbw_mbps"] else 0}
        for k in ("cbw_mbps", "cbr_start_s", "cbr_stop_s"): del ns[k]
        def play(start):
            late = start - 1.0 if p["cbr_start_s"] else 0
            mend = p["mend"].split(":")
            ns.update(starts=start, cbr_start=p["cbr_start_s"] + late)
            ns["cbr_stop"] = p["cbr_stop_s"] + late if p["cbr_stop_s"] else ""
            ns["mend"] = f"{float(mend[0]) + late}:{mend[1]}" if p["mend"] else ""
            res, out = run(ns, keep=True)
            window = window_opened(out)
            for e in ("drop", "tr", "samp"): os.remove(f"{out}.{e}")
            return res[0], window
        (first, window), (again, _) = play(1.0), play(2.0)
        rows.append(dict(run=name, **p, window_pkts=window, download_s=first["done_s"], drops=first["drops"], timeouts=first["timeouts"], again_s=again["done_s"]))
    with open("results/quickstart.csv", "w", newline="") as f:
        w = csv.DictWriter(f, list(rows[0])); w.writeheader(); w.writerows(rows)
    print("quickstart", len(rows))

LOSS = dict(cbw_mbps=22, cbr_start_s=1.05, buf=20)
QS = [
 ("idle", {}), ("idle, slow start not limited", dict(maxss=0)), ("idle, Newreno", dict(cc="Newreno")),
 ("idle, 3000 packets", dict(npkts=3000)), ("idle, 3000 packets, not limited", dict(npkts=3000, maxss=0)),
 ("beside 10 Mbit/s", dict(cbw_mbps=10)), ("beside 20 Mbit/s", dict(cbw_mbps=20)), ("beside 30 Mbit/s", dict(cbw_mbps=30)),
 ("beside 36 Mbit/s", dict(cbw_mbps=36)),
 ("refused by the sender's host", dict(qs="refuse,grant,grant")), ("refused at the bottleneck", dict(qs="grant,refuse,grant")),
 ("unknown at the bottleneck", dict(qs="grant,unaware,grant")), ("unknown at the last router", dict(qs="grant,grant,unaware")),
 ("little loss", dict(cbw_mbps=22, cbr_start_s=1.05, buf=35, npkts=300)),
 ("burst loss", dict(cbw_mbps=100, cbr_start_s=1.13, cbr_stop_s=1.134, buf=20)),
 ("loss", LOSS), ("loss, Newreno", dict(LOSS, cc="Newreno")),
 ("loss, RFC's ssthresh", dict(LOSS, mend="1.6258:123")),
]

if __name__ == "__main__":
    for w in (sys.argv[1:] or ["es", "ps"]): globals()[w]()
