# SPDX-License-Identifier: MIT
"""Tables from arrays that a kernel filled with clocks by itself, without marks: [block][iteration][section] of int64,
of NumPy, torch, CuPy, Warp or gstaichi."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy
from numpy.typing import NDArray

from . import _frames
from ._dtypes import ROW_NONE, UNMARKED, row_dtype

_GROUPS = ("section", "iteration", "block")


def _on_host(array: Any) -> NDArray[Any]:
    """The array's numbers in the host's memory, by the way that its package has for it."""
    if isinstance(array, numpy.ndarray):
        return numpy.asarray(array)
    for copy in ("detach", "cpu"):  # torch
        if hasattr(array, copy):
            array = getattr(array, copy)()
    if hasattr(array, "to_numpy"):  # gstaichi, Taichi
        return numpy.asarray(array.to_numpy())
    if hasattr(array, "numpy"):  # torch, Warp
        return numpy.asarray(array.numpy())
    if hasattr(array, "get") and hasattr(array, "__cuda_array_interface__"):  # CuPy
        return numpy.asarray(array.get())
    if hasattr(array, "copy_to_host"):  # numba
        return numpy.asarray(array.copy_to_host())
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return numpy.asarray(numpy.from_dlpack(array))
    return numpy.asarray(array)


def _durations(values: NDArray[Any], stamps: bool) -> NDArray[Any]:
    """Times of sections; of stamps those between neighbours, modulo the width of the clock that was stored."""
    bits = values.dtype.itemsize * 8
    unsigned = values.astype(f"u{bits // 8}")
    if stamps:
        between: NDArray[Any] = unsigned[..., 1:] - unsigned[..., :-1]
        return between.astype("u8")
    if values.dtype.kind == "i" and (values < 0).any():
        block, row, section = (int(i[0]) for i in numpy.nonzero(values < 0))
        raise ValueError(f"array[{block}][{row}][{section}] is negative: durations are wanted, or stamps=True")
    return unsigned.astype("u8")


def _ranked(ordered: NDArray[Any], share: float) -> int:
    """The nearest rank, as in tables of captures."""
    return int(ordered[max(int(numpy.ceil(share * len(ordered))) - 1, 0)])


class Timed(_frames.Frames):
    """What table_from gives: the tables of such an array, like those of a Capture."""

    def __init__(self, times: NDArray[Any], sections: Sequence[str], kernel: str, hz: Optional[float]) -> None:
        self.times = times
        """Array [block][iteration][section] of uint64: cycles."""
        self.kernels: List[Dict[str, Any]] = [{"name": kernel}]
        self.sections: List[Dict[str, Any]] = [{"name": name} for name in sections]
        self._ns = 1e9 / hz if hz else numpy.nan

    def section_name(self, section: int) -> str:
        return "(unmarked)" if section == UNMARKED else str(self.sections[int(section)]["name"])

    def table(self, by: str = "section", kernel: Optional[str] = None, launch: Optional[int] = None,
              raw: bool = False) -> NDArray[Any]:
        """Array [row] of row_dtype, by "section", "iteration" or "block": one row for each group and section. Zeros
        count: what a section did not run in has one. `share` is of all times; ns are NaN without a rate."""
        if by not in _GROUPS:
            raise ValueError(f"by is one of {', '.join(_GROUPS)}, not {by!r}")
        blocks, iterations, sections = self.times.shape
        axis = {"section": None, "iteration": 1, "block": 0}[by]
        groups = 1 if axis is None else self.times.shape[axis]
        rows = numpy.zeros(groups * sections, row_dtype)
        for g in range(groups):
            cells = self.times if axis is None else numpy.take(self.times, [g], axis)
            for s in range(sections):
                self._fill(rows[g * sections + s], cells[:, :, s], g, s, axis)
        return rows

    def _fill(self, row: Any, cells: NDArray[Any], group: int, section: int, axis: Optional[int]) -> None:
        ordered, per_block = numpy.sort(cells, axis=None), cells.sum(axis=1)
        total, mean = int(cells.sum()), float(per_block.mean()) if len(per_block) else 0.0
        row["section"], row["group"], row["count"] = section, group, cells.size
        row["self_known"], row["tracks"] = axis != 1, cells.shape[0]
        row["max_iteration"] = ROW_NONE
        row["total_cycles"] = row["self_cycles"] = total
        everything = float(self.times.sum())
        row["share"] = total / everything if everything else 0.0
        row["imbalance"] = float(per_block.max()) / mean if mean else 1.0
        if cells.size:
            at = int(cells.argmax())
            row["max_track"] = at // cells.shape[1] if axis != 0 else group
            row["max_iteration"] = at % cells.shape[1] if axis != 1 else group
            for name, value in (("min", ordered[0]), ("p1", _ranked(ordered, 0.01)), ("median", _ranked(ordered, 0.5)),
                                ("p99", _ranked(ordered, 0.99)), ("max", ordered[-1])):
                row[name + "_cycles"] = value
        for name in ("total", "self", "min", "p1", "median", "p99", "max"):
            row[name + "_ns"] = float(row[name + "_cycles"]) * self._ns
        row["bound_ns"] = numpy.inf

    def matrix(self, by: str = "iteration") -> Tuple[NDArray[Any], List[str]]:
        """(cycles [group][section], names [section]), added up over all blocks, or all iterations."""
        if by not in ("iteration", "block"):
            raise ValueError(f"by is one of iteration, block, not {by!r}")
        return self.times.sum(axis=0 if by == "iteration" else 1), [s["name"] for s in self.sections]

    def columns(self, by: str = "section", what: str = "table", kernel: Optional[str] = None,
                launch: Optional[int] = None, raw: bool = False) -> Dict[str, Any]:
        """name -> array: the columns of to_pandas."""
        if what != "table":
            raise ValueError(f"what is table, not {what!r}: an array has no more")
        return _frames.table_columns(self.table(by), by, [k["name"] for k in self.kernels],
                                     [s["name"] for s in self.sections], [0], [None])

    def _attributes(self) -> Dict[str, str]:
        return {"clock": "the array's own"}

    def _label(self) -> str:
        return "an array of clocks"

    def _html_parts(self) -> List[Tuple[str, NDArray[Any], str]]:
        blocks, iterations, _ = self.times.shape
        return [(self.kernels[0]["name"], self.table(), f"{blocks} blocks, {iterations} iterations")]


def table_from(array: Any, sections: Sequence[str], kernel: str = "kernel", stamps: bool = False,
               hz: Optional[float] = None) -> Timed:
    """Tables from [block][iteration][section] whole numbers that a kernel stored: cycles of each section, or, with
    stamps=True, a clock before the first section and one after each, so one more than there are sections; of 32-bit
    clocks stored as 32 bits, wraps are taken out. [iteration][section] is one block's. `hz`: the clock's rate, for ns.

    >>> import inkmark, numpy
    >>> clocks = numpy.array([[[10, 30], [20, 40]], [[10, 50], [0, 40]]])  # 2 blocks, 2 iterations
    >>> timed = inkmark.table_from(clocks, sections=["Load", "Compute"])
    >>> [(timed.section_name(r["section"]), int(r["total_cycles"]), int(r["max_cycles"])) for r in timed.table()]
    [('Load', 40, 20), ('Compute', 160, 50)]
    >>> timed.matrix("iteration")[0].tolist()
    [[20, 80], [20, 80]]
    """
    values = _on_host(array)
    names = list(sections)
    if values.dtype.kind not in "iu":
        raise ValueError(f"the array holds {values.dtype}, not whole numbers of cycles")
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3:
        raise ValueError(f"the array has {values.ndim} dimensions, not [block][iteration][section]")
    wanted = len(names) + bool(stamps)
    if values.shape[2] != wanted:
        raise ValueError(f"the array has {values.shape[2]} columns, and {len(names)} sections " +
                         (f"lie between {wanted} stamps" if stamps else "are named"))
    return Timed(_durations(values, stamps), names, kernel, hz)
