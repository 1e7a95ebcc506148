# SPDX-License-Identifier: MIT
"""Tables as columns, and columns as a pandas frame, an Arrow table, or the HTML that a notebook shows. pandas and
pyarrow are optional: they are imported where they are asked for."""
from __future__ import annotations

import html
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy
from numpy.typing import NDArray

from ._dtypes import ROW_NONE, ROW_UNKNOWN, UNMARKED
from ._library import Error

_HTML_ROWS = 200
_KINDS = {1: "kernel", 2: "copy", 3: "set", 4: "runtime call", 5: "driver call"}
_VALUES = ("count", "cut", "nested", "passes", "tracks", "total_cycles", "self_cycles", "min_cycles", "p1_cycles",
           "median_cycles", "p99_cycles", "max_cycles", "total_ns", "self_ns", "min_ns", "p1_ns", "median_ns", "p99_ns",
           "max_ns", "share", "imbalance", "marking_cycles", "marking_bound_cycles", "bound_ns")
Columns = Dict[str, Any]


def _words(values: Sequence[Optional[str]]) -> NDArray[Any]:
    out = numpy.empty(len(values), object)
    out[:] = values
    return out


def _section(index: int, sections: Sequence[str]) -> str:
    return "(unmarked)" if index == UNMARKED else sections[index]


def _group_columns(rows: NDArray[Any], by: str, sections: Sequence[str], instances: Sequence[Optional[str]]) -> Columns:
    group = rows["group"]
    if by == "section":
        return {}
    if by == "iteration":
        unknown = (group == ROW_NONE) | (group == ROW_UNKNOWN)
        kind = numpy.where(group == ROW_NONE, "before", numpy.where(group == ROW_UNKNOWN, "overwritten", "known"))
        return {"iteration": numpy.ma.array(numpy.where(unknown, 0, group), mask=unknown),
                "iteration_is": kind.astype(object)}
    if by == "role":
        return {"role": _words([None if g < 0 else _section(int(g), sections) for g in group])}
    if by == "instance":
        return {}
    return {by: group}


def table_columns(rows: NDArray[Any], by: str, kernels: Sequence[str], sections: Sequence[str], devices: Sequence[int],
                  instances: Sequence[Optional[str]]) -> Columns:
    """The columns of a table: names for indices, the group under the word that it is by, then all values."""
    part = rows["part"]
    inside = [", ".join(_section(int(s), sections) if s != UNMARKED else "" for s in r["inside"][:r["inside_count"]])
              for r in rows]
    columns: Columns = {"kernel": _words([kernels[k] for k in rows["kernel"]]),
                        "instance": _words([instances[p] for p in part]),
                        "device": numpy.array([devices[p] for p in part], "i4")}
    columns.update(_group_columns(rows, by, sections, instances))
    columns["section"] = _words([_section(int(s), sections) for s in rows["section"]])
    columns["inside"] = _words(inside)
    columns["depth"] = rows["depth"]
    columns["called"] = rows["called"].astype(bool)
    known = rows["self_known"].astype(bool)
    for name in _VALUES:
        column = rows[name]
        columns[name] = numpy.ma.array(column, mask=~known) if name.startswith("self_") else column
    return columns


def launch_columns(launches: NDArray[Any], kernels: Sequence[str]) -> Columns:
    columns: Columns = {"launch": numpy.arange(len(launches)), "kernel": _words([kernels[k] for k in launches["kernel"]])}
    for name in ("device", "grid_id"):
        columns[name] = launches[name]
    for name in ("grid", "block"):
        for i, axis in enumerate("xyz"):
            columns[f"{name}_{axis}"] = launches[name + "_dim"][:, i]
    columns["tracks"] = launches["track_count"]
    columns["first_open_global_ns"], columns["last_close_global_ns"] = (
        launches["first_open_global_ns"], launches["last_close_global_ns"])
    return columns


def range_columns(rows: NDArray[Any], read: Callable[[int], str]) -> Columns:
    """The columns of the host's ranges and marks; `read` gives the text at an address."""
    texts = {int(a): read(int(a)) for field in ("name", "domain", "category_name") for a in numpy.unique(rows[field])}
    kinds = ["mark" if r["kind"] == 5 else "process" if r["kind"] == 3 else "scope" if r["flags"] & 1 else "thread" for r in rows]
    kind, bits = rows["payload_type"], numpy.ascontiguousarray(rows["payload"])
    payload = numpy.zeros(len(rows))
    for number, values in ((1, bits), (2, bits.view("i8")), (3, bits.view("f8")), (4, bits.astype("u4")),
                           (5, bits.astype("u4").view("i4")), (6, bits.astype("u4").view("f4"))):
        payload[kind == number] = values[kind == number]
    columns: Columns = {"kind": _words(kinds)}
    columns.update({field: _words([texts[int(a)] for a in rows[field]]) for field in ("name", "domain")})
    columns.update({field: rows[field] for field in ("thread", "depth", "begin_ns", "end_ns")})
    columns["open"] = rows["open"] != 0
    columns["category"] = _words([texts[int(r["category_name"])] or str(r["category"]) if r["category"] else None for r in rows])
    columns["payload"] = numpy.ma.array(payload, mask=kind == 0)
    columns.update({"calls": rows["launches"], "kernels": rows["kernels"], "kernels_ns": rows["kernels_ns"]})
    return columns


def activity_columns(items: NDArray[Any], names: Sequence[str], copies: Sequence[Optional[str]], begin_ns: NDArray[Any],
                     end_ns: NDArray[Any], launches: NDArray[Any]) -> Columns:
    kind = items["kind"]
    none = launches == 0xFFFFFFFF
    columns: Columns = {"kind": _words([_KINDS.get(int(k), str(k)) for k in kind]), "name": _words(names),
                        "begin_ns": begin_ns, "end_ns": end_ns, "duration_ns": end_ns - begin_ns,
                        "launch": numpy.ma.array(numpy.where(none, 0, launches), mask=none)}
    for name in ("device", "context", "stream", "correlation", "grid_id", "bytes", "registers", "result"):
        columns[name] = items[name]
    columns["copy"] = _words([words if k == 2 else None for words, k in zip(copies, kind)])
    for name in ("grid", "block"):
        for i, axis in enumerate("xyz"):
            columns[f"{name}_{axis}"] = items[name + "_dim"][:, i]
    return columns


class Page:
    """A page of HTML that a notebook shows in a frame of its own. str() is its text."""

    def __init__(self, text: str, height: int) -> None:
        self._text, self._height = text, height

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts allow-downloads" style="width:100%;border:0" height="{int(self._height)}" '
                f'srcdoc="{html.escape(self._text, quote=True)}"></iframe>')


def _pandas_column(pandas: Any, column: Any) -> Any:
    if not isinstance(column, numpy.ma.MaskedArray):
        return numpy.ascontiguousarray(column)
    if column.dtype.kind == "f":
        return column.filled(numpy.nan)
    mask = numpy.ma.getmaskarray(column).copy()
    return pandas.arrays.IntegerArray(numpy.ascontiguousarray(column.data), mask)


class Frames:
    """What has columns(), as frames."""

    def columns(self, by: str = "section", what: str = "table", kernel: Optional[str] = None,
                launch: Optional[int] = None, raw: bool = False) -> Columns:
        raise NotImplementedError

    def _attributes(self) -> Dict[str, str]:
        raise NotImplementedError

    def _label(self) -> str:
        raise NotImplementedError

    def _html_parts(self) -> List[Tuple[str, NDArray[Any], str]]:
        raise NotImplementedError

    def section_name(self, section: int) -> str:
        raise NotImplementedError

    def to_pandas(self, by: str = "section", what: str = "table", kernel: Optional[str] = None,
                  launch: Optional[int] = None, raw: bool = False) -> Any:
        """A pandas DataFrame: a row each of what table(by) has, of a launch (what="launches"), of an activity
        (what="activity") or of a range of the host (what="ranges"). Iterations, and what else is not known in a row, are NA. frame.attrs has the capture's
        path, command and clock. Raises Error where pandas is not installed."""
        try:
            import pandas
        except ImportError as error:
            raise Error(f"cannot import pandas: {error}; pip install 'inkmark[pandas]'") from None
        columns = self.columns(by, what, kernel, launch, raw)
        frame = pandas.DataFrame({name: _pandas_column(pandas, column) for name, column in columns.items()})
        frame.attrs.update(self._attributes())
        return frame

    def to_arrow(self, by: str = "section", what: str = "table", kernel: Optional[str] = None,
                 launch: Optional[int] = None, raw: bool = False) -> Any:
        """A pyarrow Table of the same columns; what frame.attrs has is its schema's metadata. Raises Error where
        pyarrow is not installed."""
        try:
            import pyarrow
        except ImportError as error:
            raise Error(f"cannot import pyarrow: {error}; pip install 'inkmark[arrow]'") from None
        arrays = {}
        for name, column in self.columns(by, what, kernel, launch, raw).items():
            mask = numpy.ma.getmaskarray(column) if isinstance(column, numpy.ma.MaskedArray) else None
            data = numpy.ascontiguousarray(numpy.ma.getdata(column))
            arrays[name] = pyarrow.array(data, pyarrow.string() if data.dtype.kind == "O" else None, mask=mask)
        return pyarrow.table(arrays).replace_schema_metadata(self._attributes())

    def _repr_html_(self) -> str:
        """The report of each kernel, for notebooks."""
        out = [f"<p><b>{html.escape(self._label())}</b></p>"]
        parts = self._html_parts()
        for name, rows, said in parts:
            out.append(_html_table(name, rows, said, self.section_name))
        if not parts:
            out.append("<p>no kernel was recorded</p>")
        return "\n".join(out)


_HTML_COLUMNS = ("section", "count", "total cycles", "share", "median", "p99", "max", "total us")


def _html_row(row: Any, name: str) -> str:
    cells = [f'<td style="text-align:left;padding-left:{1 + int(row["depth"])}em">{html.escape(name)}</td>']
    values = [f"{row['count']:,}", f"{row['total_cycles']:,}", f"{100 * row['share']:.1f} %", f"{row['median_cycles']:,}",
              f"{row['p99_cycles']:,}", f"{row['max_cycles']:,}",
              f"{row['total_ns'] / 1000:,.1f}" if numpy.isfinite(row["total_ns"]) else ""]
    return "<tr>" + "".join(cells + [f"<td>{value}</td>" for value in values]) + "</tr>"


def _html_table(name: str, rows: NDArray[Any], said: str, section_name: Any) -> str:
    head = "".join(f"<th>{column}</th>" for column in _HTML_COLUMNS)
    body = "".join(_html_row(row, section_name(int(row["section"]))) for row in rows[:_HTML_ROWS])
    left_out = f"<p>{len(rows) - _HTML_ROWS} more rows are left out</p>" if len(rows) > _HTML_ROWS else ""
    return (f"<p>{html.escape(name)}: {html.escape(said)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{left_out}")
