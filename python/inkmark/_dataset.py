# SPDX-License-Identifier: MIT
"""Many captures as Parquet: a row a slice, a row a (launch, section) and a row a capture, in folders by run and rank, so that
DuckDB, Polars, Dask or Spark answer questions over all ranks. pyarrow is optional: it is imported where it is asked for."""
from __future__ import annotations

import glob
import os
import shutil
import tempfile
import urllib.parse
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

import numpy

from ._capture import Capture
from ._library import Error

Path = Union[str, "os.PathLike[str]"]
_TABLES = ("captures", "sections", "slices")
_BLOCK_BYTES = 4 << 20  # of CSV at a time
_WORDS = ("kernel", "role", "section", "kind")
_NUMBERS = {"device": "int32", "launch": "uint32", "grid_id": "uint64", "sm": "uint32", "block": "uint64", "warp": "uint32",
            "thread": "uint32", "called": "uint8", "cycles": "uint64", "ns": "int64", "duration_cycles": "uint64",
            "duration_ns": "int64", "marking_cycles": "uint64"}


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.dataset
        import pyarrow.parquet
    except ImportError as error:
        raise Error(f"cannot import pyarrow: {error}; pip install 'inkmark[arrow]'") from None
    return pyarrow


class Dataset:
    """A folder of Parquet files. `failed`: [(path, message)] of the captures that are not in it."""

    def __init__(self, path: str, failed: List[Tuple[str, str]]) -> None:
        self.path, self.failed = path, failed

    def _table(self, name: str) -> Any:
        pa = _arrow()
        parts = pa.dataset.partitioning(pa.schema([("run", pa.string()), ("rank", pa.int32())]), flavor="hive")
        return pa.dataset.dataset(os.path.join(self.path, name), format="parquet", partitioning=parts)

    @property
    def slices(self) -> Any:
        """A pyarrow Dataset: a row each time that a section was passed. The columns are those of the csv output."""
        return self._table("slices")

    @property
    def sections(self) -> Any:
        """A pyarrow Dataset: a row a launch and section; the columns are those of to_arrow(by="launch")."""
        return self._table("sections")

    @property
    def captures(self) -> Any:
        """A pyarrow Dataset: a row a capture."""
        return self._table("captures")

    def sql(self, query: str) -> Any:
        """A pyarrow Table of what DuckDB answers about captures, sections and slices. Raises Error where DuckDB is not
        installed."""
        try:
            import duckdb
        except ImportError as error:
            raise Error(f"cannot import duckdb: {error}; pip install duckdb") from None
        with duckdb.connect() as connection:
            for name in _TABLES:
                where = os.path.join(glob.escape(os.path.join(self.path, name)), "**", "*.parquet").replace("'", "''")
                connection.execute(f"create view {name} as select * from read_parquet('{where}', hive_partitioning = true, "
                                   "hive_types = {'run': varchar, 'rank': integer})")
            return connection.sql(query).to_arrow_table()

    def _repr_html_(self) -> str:
        n = self.captures.count_rows()
        return f"<p>inkmark dataset of {n} captures: {self.sections.count_rows()} rows of launches and sections</p>"


def _rank(capture: Capture) -> int:
    rank = capture.fact("rank") or ""
    return int(rank) if rank.isdecimal() and len(rank) < 10 else -1


def _capture_columns(capture: Capture, name: str) -> Dict[str, List[Any]]:
    def total(field: str) -> int:
        return sum(int(k[field]) for k in capture.kernels)
    totals = capture.totals()
    facts = {key: capture.fact(key) or "" for key in ("command", "host", "pid", "version", "started_ns")}
    row = {"capture": name, "command": facts["command"], "host": facts["host"], "version": facts["version"],
           "pid": int(facts["pid"]) if facts["pid"].isdecimal() else None,
           "started_ns": int(facts["started_ns"]) if facts["started_ns"].isdecimal() else None,
           "complete": bool(capture.facts["complete"]), "simulated": bool(capture.simulated),
           "launches": len(capture.launches), "tracks": int(capture.track_count), "tracks_lost": total("tracks_lost"),
           "marks_kept": int(totals["marks_kept"].sum()), "marks_dropped": int(totals["marks_dropped"].sum()),
           "open_tracks": int(capture.facts["open_tracks"]), "note": capture.facts["note"] or ""}
    return {key: [value] for key, value in row.items()}


def _capture_schema(pa: Any) -> Any:
    words, numbers = ("capture", "command", "host", "version", "note"), ("launches", "tracks", "tracks_lost", "marks_kept",
                                                                         "marks_dropped", "open_tracks")
    order = ("capture", "command", "host", "version", "pid", "started_ns", "complete", "simulated", *numbers, "note")
    return pa.schema([(n, pa.string() if n in words else pa.bool_() if n in ("complete", "simulated") else pa.int64())
                      for n in order])


def _slices(pa: Any, path: str, name: str, marking: bool) -> Iterable[Any]:
    """Batches of the csv output's rows that lasted."""
    types = {n: pa.type_for_alias(t) for n, t in _NUMBERS.items()}
    types.update({n: pa.string() for n in (*_WORDS, "iteration")})
    numbers = [n for n in _NUMBERS if marking or n != "marking_cycles"]
    convert = pa.csv.ConvertOptions(column_types=types, include_columns=[*numbers, *_WORDS, "iteration"],
                                    null_values=[""], strings_can_be_null=False)
    with pa.csv.open_csv(path, read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
                         parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=convert) as reader:
        for batch in reader:
            rows = pa.Table.from_batches([batch])
            rows = rows.filter(pa.compute.is_valid(rows["duration_cycles"]))
            known = pa.compute.match_substring_regex(rows["iteration"], "^-?[0-9]+$")
            number = pa.compute.if_else(known, rows["iteration"], None).cast(pa.int64())
            rows = rows.set_column(rows.schema.get_field_index("iteration"), "iteration", number)
            for word in _WORDS:
                rows = rows.set_column(rows.schema.get_field_index(word), word, rows[word].dictionary_encode())
            yield rows.add_column(0, "capture", pa.repeat(name, len(rows)).dictionary_encode()).unify_dictionaries()


def _has_marking(path: str) -> bool:
    with open(path, encoding="utf-8") as file:
        return "marking_cycles" in file.readline()


class _File:
    """A Parquet file that is there when it is whole."""

    def __init__(self, root: str, table: str, run: str, rank: int, name: str) -> None:
        folder = os.path.join(root, table, "run=" + urllib.parse.quote(run, safe=""), f"rank={rank}")
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, urllib.parse.quote(name, safe="") + ".parquet")
        self.making = os.path.join(folder, f".{os.getpid()}.{os.path.basename(self.path)}.making")

    def write(self, pa: Any, tables: Iterable[Any], schema: Any = None) -> None:
        writer = None
        try:
            for table in tables:
                writer = writer or pa.parquet.ParquetWriter(self.making, schema or table.schema, compression="zstd")
                writer.write_table(table.cast(writer.schema))
            if writer is None:  # none at all, but the columns
                writer = pa.parquet.ParquetWriter(self.making, schema, compression="zstd") if schema else None
            if writer is not None:
                writer.close()
                writer = None
                os.replace(self.making, self.path)
        finally:
            if writer is not None:
                writer.close()
            if os.path.exists(self.making):
                os.remove(self.making)


def _convert(pa: Any, path: str, name: str, root: str, run: str, slices: bool, raw: bool) -> None:
    with Capture(path) as capture, tempfile.TemporaryDirectory(prefix="inkmark-") as folder:
        where = (root, run, _rank(capture))
        if slices:
            csv = os.path.join(folder, "slices.csv")
            capture.export(csv, "csv", marking="in" if raw else "out")
            _File(where[0], "slices", *where[1:], name).write(pa, _slices(pa, csv, name, _has_marking(csv)))
        sections = capture.to_arrow(by="launch", raw=raw).replace_schema_metadata(None)
        sections = sections.add_column(0, "capture", pa.array(numpy.full(len(sections), name, object), pa.string()))
        _File(where[0], "sections", *where[1:], name).write(pa, [sections])
        row = pa.table(_capture_columns(capture, name), schema=_capture_schema(pa))
        _File(where[0], "captures", *where[1:], name).write(pa, [row])


def _paths(captures: Union[Path, Iterable[Path]]) -> List[str]:
    if isinstance(captures, (str, os.PathLike)):
        pattern = os.fspath(captures)
        found = [pattern] if os.path.isfile(pattern) else sorted(glob.glob(pattern, recursive=True))
        if not found:
            raise Error(f"no capture is named {pattern!r}")
        return found
    return [os.fspath(p) for p in captures]


def _names(paths: List[str]) -> List[str]:
    """What tells the captures apart: the files' names, with folders where these alone do not."""
    names = [os.path.basename(p) for p in paths]
    if len(set(names)) == len(names):
        return names
    paths = [os.path.abspath(p) for p in paths]
    return [os.path.relpath(p, os.path.commonpath(paths)) for p in paths]


def dataset(captures: Union[Path, Iterable[Path]], to: Optional[Path] = None, *, run: str = "0", slices: bool = True,
            raw: bool = False, workers: Optional[int] = None) -> Dataset:
    """Writes captures into a folder of Parquet files, or opens such a folder.

        ds = inkmark.dataset("run.*.ink", to="run.dataset")
        ds.sql("select rank, section, sum(total_ns) as ns from sections group by all order by ns desc limit 10")

    `captures`: a name with *, names, or a folder that was written before. `to`: where; it may hold a dataset already, to which
    the captures are added, those of the same run, rank and name in the place of what was there; None: a temporary folder,
    which goes with the Dataset. `run`: what tells these from captures of other runs. `slices`: False leaves out the
    rows a slice, which are most. `raw`: leaves the marks' own cost in the times. `workers`: threads, one a CPU and eight at most
    unless given. The rank is that of the launcher, -1 where it gave none. Captures that cannot be read are left out, with a
    warning; raises Error where all are."""
    pa = _arrow()
    if isinstance(captures, (str, os.PathLike)) and os.path.isdir(captures):
        path = os.fspath(captures)
        if to is not None or not os.path.isdir(os.path.join(path, "captures")):
            raise Error(f"{path!r} is a folder, and no dataset" if to is None else f"{path!r} is a folder: name the captures in it")
        return Dataset(path, [])
    paths = _paths(captures)
    root = tempfile.mkdtemp(prefix="inkmark-") if to is None else os.fspath(to)
    if os.path.isdir(root) and os.listdir(root) and not os.path.isdir(os.path.join(root, "captures")):
        raise Error(f"{root!r} is there and is no dataset: nothing is written into it")
    failed: List[Tuple[str, str]] = []

    def one(path: str, name: str) -> None:
        try:
            _convert(pa, path, name, root, run, slices, raw)
        except Error as error:
            failed.append((path, str(error)))
    with ThreadPoolExecutor(workers or min(8, os.cpu_count() or 1)) as pool:
        list(pool.map(one, paths, _names(paths)))
    made = Dataset(root, sorted(failed))
    if to is None:
        weakref.finalize(made, shutil.rmtree, root, True)
    if len(failed) == len(paths):
        raise Error(f"none of the captures can be read: {made.failed[0][1]}" if failed else "no captures are named")
    if failed:
        warnings.warn(f"{len(failed)} of {len(paths)} captures are left out, the first: {made.failed[0][1]}", stacklevel=2)
    return made
