# SPDX-License-Identifier: MIT
# What a merge says: nothing that contradicts itself, advises what was done or shows names that look alike; and that it
# makes the same bytes every time.
# check_words.py INKMARK FIT_CAPTURE FOREIGN_TOOL
import json, sys
from inputs import *

tools = Inputs(*sys.argv[1:4])


def trace(name, events, base=BASE):
    return put(name, json.dumps({**({"baseTimeNanoseconds": base} if base else {}), "traceEvents": events}))


def check_kept():
    plain = trace("plain.json", EVENTS)
    capture = tools.capture(plain, "c.ink")
    assert "every argument kept" in tools.merge(capture, "--with", plain, "-o", here("m.pftrace"))
    deep = {"a": 1}
    for _ in range(70):
        deep = {"x": deep}
    for name, value, words in ("long", "y" * 20000, "1 texts were cut at 16 KiB"), ("deep", deep, "1 values were left out: nested deeper than 64"):
        other = trace(name + ".json", EVENTS[:-1] + [{**EVENTS[-1], "args": {"v": value}}])
        said = tools.merge(capture, "--with", other, "-o", here("m.pftrace"))
        assert words in said and "every argument kept" not in said and "0 " not in [line for line in said.splitlines() if words in line][0], said


def check_align():
    """Where the times have no base the offset is always taken out: nobody is told to do so."""
    capture = tools.capture(trace("fine.json", EVENTS, None), "fine.ink")
    coarse = trace("coarse.json", [{**e, "dur": 24} if e["cat"] == "kernel" else e for e in EVENTS], None)
    said = tools.merge(capture, "--with", coarse, "-o", here("m.json"))
    assert "stick out of their kernels" in said and "taken out" in said and "--align" not in said, said


def check_names():
    """Of kernels that begin alike what is listed is where they differ."""
    names = [f"void at::native::vectorized_elementwise_kernel<4, at::native::{f}Functor<float>, std::array<char*, 1ul> >(int)" for f in ("Fill", "Sqrt", "CUDA_add", "Exp")]
    events = [{**kernel(i, 1000 + 50 * i + i * i % 11, 30 + i % 4), "name": names[i % 4]} for i in range(24)]
    full = trace("names.json", events)
    first = tools.capture(trace("first.json", [e for i, e in enumerate(events) if i < 12]), "first.ink")
    said = tools.merge(first, "--with", full, "-o", here("m.json"))
    line, = [line for line in said.splitlines() if "have no launch here" in line]
    assert all(f in line for f in ("FillFunctor", "SqrtFunctor", "CUDA_addFunctor", "ExpFunctor")), line


def launches(path):
    with open(path) as file:
        return [e["name"] for e in json.load(file)["traceEvents"] if e.get("cat") == "inkmark" and e["ph"] == "B"]


def check_outside():
    """A launch that is drawn where nothing of its kernel is says so in its name."""
    plain = trace("out.json", EVENTS)
    late = tools.capture(plain, "late.ink", "--shift", "2200000")
    tools.merge(late, "--with", plain, "-o", here("late.json"))
    tools.merge(late, "--with", plain, "-o", here("aligned.json"), "--align")
    names, aligned = launches(here("late.json")), launches(here("aligned.json"))
    assert len(names) == 30 and all(n.startswith("(outside of its kernel by 2") and n.endswith(" us) step") for n in names), names
    assert aligned == ["step"] * 30, aligned
    near = tools.capture(plain, "near.ink", "--shift", "4000") # it sticks out, and most of it is inside
    tools.merge(near, "--with", plain, "-o", here("near.json"))
    assert launches(here("near.json")) == ["step"] * 30


def check_same_bytes():
    plain = trace("same.json", EVENTS)
    capture = tools.capture(plain, "same.ink")
    for name in "json", "json.gz", "pftrace", "zip":
        made = set()
        for _ in range(3):
            tools.merge(capture, "--with", plain, "-o", here("same." + name if name != "json" else "s.json"))
            made.add(bytes_of("same." + name if name != "json" else "s.json"))
        assert len(made) == 1, name


def check_nccl():
    """Events as NCCL's profiler plugin writes them: alone they are no kernels, which is said with what there is; in a
    list with kernels they stay what they are."""
    part = lambda ph, i, ts, **more: {"name": "KernelCh", "cat": "GPU", "ph": ph, "id": i, "pid": 77, "tid": 1, "ts": ts, **more}
    events = [e for i in range(5) for e in (part("b", i, 2000 + 40 * i, args={"Channel": 0, "StartGpuClk": 10 ** 9, "StopGpuClk": 10 ** 9 + 5}), part("e", i, 2020 + 40 * i))]
    plain = trace("with_nccl.json", EVENTS + events)
    capture = tools.capture(plain, "nccl.ink")
    said = tools.merge(capture, "--with", trace("nccl.json", events, None), "-o", here("x.json"), code=1)
    assert "holds no GPU kernels" in said and "'GPU'" in said, said
    said = tools.merge(capture, "--with", plain, "-o", here("nccl.pftrace"))
    assert "joined 30 of 30" in said and "10 asynchronous ends" in said, said
    tools.merge(capture, "--with", plain, "-o", here("nccl_merged.json"))
    assert bytes_of("nccl_merged.json").startswith(bytes_of("with_nccl.json")[:-2])


check_kept()
check_nccl()
check_align()
check_names()
check_outside()
check_same_bytes()
