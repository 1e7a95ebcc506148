# SPDX-License-Identifier: MIT
# Captures of many ranks as Parquet: 40 made-up ones, 1,000 in tests/long.sh. What DuckDB, Polars and two Dask workers answer is
# what the C report says; sizes, rates and memory are printed.
import json
import os
import random
import resource
import subprocess
import time
import warnings

import dask.dataframe
import polars
from dask.distributed import Client, LocalCluster

import inkmark


def main():
    ranks = int(os.environ.get("INKMARK_RANKS", "1000" if os.environ.get("INKMARK_LONG") else "40"))
    launches = 30 if ranks > 100 else 6
    build = os.path.dirname(os.path.dirname(os.environ["INKMARK_SHARED_LIBRARY"]))
    plan_capture = os.path.join(build, "tests", "merge", "plan_capture")
    seed = int(os.environ.get("INKMARK_SEED", random.randrange(1 << 30)))
    print("seed", seed, "ranks", ranks)
    random.seed(seed)
    slow = sorted(random.sample(range(ranks), 3))


    def make(rank):
        at, lines = 1000000, [f"fact rank {rank}", f"fact host node{rank // 8}", "fact command solver", "fact pid 1",
                              "device 0 1700000000000000000 1000000 100000000 32", "kernel solve", "kernel exchange", "begin"]
        for i in range(launches):
            lasted = random.randrange(2000, 3000) * (5 if rank in slow else 1)
            lines.append(f"launch 0 {i % 2} {i + 1} 4 1 1 32 1 1 {at} {at + lasted}")
            at += lasted + 1000
        with open("plan", "w") as file:
            file.write("\n".join(lines) + "\n")
        subprocess.run([plan_capture, "plan", f"run.{rank}.ink"], check=True)


    for rank in range(ranks):
        make(rank)
    with open("run.bad.ink", "w") as file:
        file.write("no capture")

    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ds = inkmark.dataset("run.*.ink", to="out", run="first")
    seconds = time.perf_counter() - began
    assert [os.path.basename(p) for p, _ in ds.failed] == ["run.bad.ink"] and "1 of" in str(said[0].message), (ds.failed, said)
    sizes = {name: sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(os.path.join("out", name)) for f in files)
             for name in ("captures", "sections", "slices")}
    rows = {name: getattr(ds, name).count_rows() for name in sizes}
    captured = sum(os.path.getsize(f"run.{r}.ink") for r in range(ranks))
    print(f"{ranks} captures of {captured} bytes in {seconds:.1f} s; rows {rows}; bytes {sizes}; "
          f"resident at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
    assert rows["captures"] == ranks


    def report(rank, by):
        out = subprocess.run(["inkmark", "report", "-f", "json", "--all", "--by", by, f"run.{rank}.ink"], check=True,
                             capture_output=True, text=True).stdout
        return json.loads(out)["captures"][0]["kernels"]


    def told(rank):
        """(kernel, section) -> (count, ns) of the C report."""
        return {(k["kernel"], row["section"]): (int(row["count"]), row["total_ns"]) for k in report(rank, "section")
                for row in k["rows"]}


    # every section of some ranks, and of the slow ones
    query = "select kernel, section, sum(count), sum(total_ns) from sections where rank = {} and run = 'first' group by all"
    for rank in {*random.sample(range(ranks), min(5, ranks)), *slow}:
        found = {tuple(row[:2]): row[2:] for row in zip(*ds.sql(query.format(rank)).to_pydict().values())}
        wanted = told(rank)
        assert wanted and found.keys() == wanted.keys(), (found, wanted)
        for key, (count, ns) in wanted.items():
            assert found[key][0] == count and abs(found[key][1] - ns) <= 1e-6 * ns + 1e-3, (rank, key, found[key], count, ns)
        lasted = ds.sql(f"select section, count(*), sum(duration_ns) from slices where rank = {rank} and kind = 'mark' group by 1")
        for section, count, ns in zip(*lasted.to_pydict().values()):
            rows_of = [w for (_, s), w in wanted.items() if s == section]
            assert count == sum(c for c, _ in rows_of) and abs(float(ns) - sum(n for _, n in rows_of)) <= count, (section, count, ns, rows_of)

    # the slowest section of the slowest ranks
    slowest = ds.sql("""with r as (select rank, sum(total_ns) as ns from sections group by rank order by ns desc limit 3)
      select s.rank, arg_max(s.section, s.ns) as section, max(s.ns) as ns from
      (select rank, section, sum(total_ns) as ns from sections where rank in (select rank from r) group by all) s
      group by s.rank order by s.rank""").to_pydict()
    assert slowest["rank"] == slow, (slowest, slow)
    for rank, section, ns in zip(*slowest.values()):
        sums = {}
        for (_, name), (_, lasted_ns) in told(rank).items():
            sums[name] = sums.get(name, 0) + lasted_ns
        assert abs(max(sums.values()) - ns) < 1 and abs(sums[section] - ns) < 1, (rank, sums, section, ns)

    # again: the same captures take their own place; another run stands beside them
    assert inkmark.dataset([f"run.{slow[0]}.ink"], to="out", run="first").captures.count_rows() == ranks
    both = inkmark.dataset([f"run.{slow[0]}.ink"], to="out", run="it's 2/3", slices=False)
    assert both.sql("select run, count(*) as n from captures group by 1 order by 1").to_pydict() == \
        {"run": ["first", "it's 2/3"], "n": [ranks, 1]}
    assert inkmark.dataset("out").path == "out"
    os.makedirs("a")
    os.makedirs("b")
    for folder in "ab":
        os.link(f"run.{slow[0]}.ink", os.path.join(folder, "x.ink"))
    same = inkmark.dataset("[ab]/x.ink")
    assert sorted(same.captures.to_table()["capture"].to_pylist()) == ["a/x.ink", "b/x.ink"]
    gone = same.path
    del same
    assert not os.path.exists(gone)
    for call, words in ((lambda: inkmark.dataset("none.*.ink"), "no capture is named"), (lambda: inkmark.dataset("a"), "no dataset"),
                        (lambda: inkmark.dataset("run.bad.ink"), "none of the captures"),
                        (lambda: inkmark.dataset("run.0.ink", to="a"), "nothing is written into it")):
        try:
            call()
        except inkmark.Error as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)

    # the same on a cluster of two workers; processes of their own in tests/long.sh
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=ranks > 100, dashboard_address=None) as cluster, Client(cluster):
        frame = dask.dataframe.read_parquet("out/sections", columns=["rank", "run", "section", "total_ns"])
        frame = frame[frame["run"].astype(str) == "first"]
        sums = frame.assign(rank=frame["rank"].astype(int)).groupby("rank")["total_ns"].sum().compute()
    by_sql = dict(zip(*ds.sql("select rank, sum(total_ns) from sections where run = 'first' group by 1").to_pydict().values()))
    assert len(sums) == ranks and all(abs(sums[r] - ns) < 1 for r, ns in by_sql.items()), sums
    assert sorted(sums.nlargest(3).index) == slow
    lazy = polars.scan_parquet("out/sections", hive_partitioning=True).filter(polars.col("run").cast(str) == "first")
    by_polars = lazy.group_by(polars.col("rank").cast(int)).agg(polars.col("total_ns").sum()).collect()
    assert by_polars.height == ranks and all(abs(by_sql[r] - ns) < 1 for r, ns in by_polars.iter_rows()), by_polars
    print("PASS")

if __name__ == "__main__":  # workers import this file
    main()
