#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts recorded calls to ramp's headers and compares the decisions: what an implementation in another language does with vectors.

Usage: check_vectors.py INCLUDE FILE.jsonl...

INCLUDE is the directory that has `ramp/`. A file is what `ramp run --decisions FILE.jsonl` writes: after the first line, one
object for each call. `before_…` is the decision to begin with, the rest what the algorithm is told, `after_…` what it has to leave.
An absent field stands for RAMP_UNSET where interface.h has that, and for 0 elsewhere. Exit code 1: a decision differs.
"""

import ctypes
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

UNSET = 2**64 - 1
MAY_BE_UNSET = {"ssthresh_bytes", "initial_ssthresh_bytes", "size_bytes", "receive_window_bytes", "pacing_bytes_per_s"}
C_TYPES = {"ramp_u64": ctypes.c_uint64, "ramp_u32": ctypes.c_uint32}


def structures(interface):
    """The contract's structures, as interface.h has them."""
    found = {}
    for name, body in re.findall(r"^struct ramp_(\w+) \{(.*?)^\};", interface, re.S | re.M):
        fields = []
        for kind, field in re.findall(r"^\t(ramp_u64|ramp_u32|struct ramp_hint) (\w+)(?:\[\w+\])?;", body, re.M):
            of = found["hint"] if kind.startswith("struct") else C_TYPES[kind]
            fields.append((field, of * 24 if field == "parameter" else of))
        found[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return found


def words(interface, listed):
    """The words of one of the contract's lists, in the order of their numbers."""
    body = re.search(rf"#define {listed}\(X\)(.*?)\n\n", interface, re.S)[1]
    return re.findall(r'X\(\w+,\s*(?:\\\s*)?"([^"]+)"', body)


def library(include, algorithm, folder):
    """The algorithm's three functions, compiled."""
    source = Path(folder) / f"{algorithm}.c"
    call = "void {0}(void *s, const struct ramp_{1} *t, struct ramp_decision *d) {{ ramp_{2}_{0}(s, t, d); }}\n"
    text = f"#include <ramp/{algorithm}.h>\n#include <stddef.h>\n"
    text += f"extern const size_t state_bytes; const size_t state_bytes = sizeof(struct ramp_{algorithm});\n"
    for function, told in (("init", "config"), ("on_ack", "ack"), ("on_event", "event")):
        text += call.format(function, told, algorithm)
    source.write_text(text)
    built = source.with_suffix(".so")
    subprocess.run(["cc", "-std=c99", "-shared", "-fPIC", "-I", include, "-o", built, source], check=True)
    return ctypes.CDLL(str(built))


def filled(structure, line, prefix=""):
    one = structure()
    for field, kind in structure._fields_:
        if kind in C_TYPES.values():
            value = line.get(prefix + field, UNSET if field in MAY_BE_UNSET else 0)
            setattr(one, field, value if isinstance(value, int) else 0)
    return one


def check(include, path, folder):
    interface = (Path(include) / "ramp/interface.h").read_text()
    kinds = structures(interface)
    phases, exits, events, hints = (words(interface, f"RAMP_{name}") for name in ("PHASES", "EXITS", "EVENTS", "HINTS"))

    def decision(line, side):
        one = filled(kinds["decision"], line, side)
        one.phase, one.exit_reason = phases.index(line[side + "phase"]), exits.index(line[side + "exit_reason"])
        return one

    core = state = None
    calls = 0
    for number, text in enumerate(Path(path).read_text().splitlines()[1:], 2):
        line = json.loads(text)
        left = decision(line, "before_")
        if line["record"] == "open":
            core = library(include, line["algorithm"], folder)
            state = ctypes.create_string_buffer(ctypes.c_size_t.in_dll(core, "state_bytes").value)
            told, left = filled(kinds["config"], line), kinds["decision"]()
            told.hint = filled(kinds["hint"], line, "hint_")
            told.hint.source = hints.index(line.get("hint_source", "none"))
            for place, parameter in enumerate(line["parameters"].split()):
                told.parameter[place] = int(parameter.split("=")[1])
            core.init(state, ctypes.byref(told), ctypes.byref(left))
        elif line["record"] == "ack":
            core.on_ack(state, ctypes.byref(filled(kinds["ack"], line)), ctypes.byref(left))
        else:
            told = filled(kinds["event"], line)
            told.kind = events.index(line["kind"])
            core.on_event(state, ctypes.byref(told), ctypes.byref(left))
        calls += 1
        if bytes(left) != bytes(decision(line, "after_")):
            wrong = [f"{f} {getattr(left, f)} instead of {getattr(decision(line, 'after_'), f)}" for f, _ in left._fields_
                     if getattr(left, f) != getattr(decision(line, "after_"), f)]
            sys.exit(f"{path}:{number}: {line['record']}: {', '.join(wrong)}")
    print(f"{path}: {calls} calls, every decision as recorded")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    with tempfile.TemporaryDirectory() as folder:
        for path in sys.argv[2:]:
            check(sys.argv[1], path, folder)


if __name__ == "__main__":
    main()
