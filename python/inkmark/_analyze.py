# SPDX-License-Identifier: MIT
"""A function run over and over for some configurations, and one frame of what its sections took in each."""
from __future__ import annotations

import functools
import html
import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy
from numpy.typing import NDArray

from ._frames import Columns, Frames, _words
from ._library import Error
from ._session import session

SPREAD_DOUBTED = 0.10
"""A larger spread is not one number measured often."""
CLOCK_MOVED = 0.02
"""SMs whose rates lie further apart did not run at one clock."""
_Key = Tuple[int, str, str]
_STATISTICS = ("min", "median", "mean", "max", "spread")


def _statistics(values: NDArray[Any]) -> Dict[str, float]:
    """As `inkmark time` has them: the spread is that between the quartiles, of the median; of less than 4, all of it."""
    known = values[~numpy.isnan(values)]
    if not len(known):
        return dict.fromkeys(_STATISTICS, numpy.nan)
    median = float(numpy.median(known))
    low, high = (known.min(), known.max()) if len(known) < 4 else numpy.percentile(known, [25, 75])
    return {"min": float(known.min()), "median": median, "mean": float(known.mean()), "max": float(known.max()),
            "spread": float(high - low) / median if median else 0.0}


class Sweep(Frames):
    """What a function that analyze() wraps gives: to_pandas, to_arrow, columns, plot; a notebook shows its table."""

    def __init__(self, names: Sequence[str], configs: Sequence[Tuple[Any, ...]], runs: int) -> None:
        self.names, self.configs, self.runs = list(names), list(configs), runs
        self.simulated = False
        self.lost = 0
        """Tracks and marks that a run lost, the worst."""
        self.clock_hz: Optional[Tuple[float, float]] = None
        """The lowest and the highest rate that an SM had in a run; None: not known."""
        self.cycles: Dict[_Key, NDArray[Any]] = {}
        """(index of the configuration, kernel, section) -> array [run]: the mean of one slice, NaN where there was none."""
        self.ns: Dict[_Key, NDArray[Any]] = {}

    def _take(self, config: int, run: int, capture: Any) -> None:
        rows, totals = capture.table(), capture.totals()
        self.simulated = self.simulated or bool(capture.simulated)
        self.lost = max(self.lost, int((totals["tracks_lost"] + totals["marks_dropped"] + totals["missed"]).sum()))
        self._note_clock(capture.table("sm", raw=True))
        counts: Dict[_Key, int] = {}
        sums: Dict[_Key, Tuple[int, float]] = {}
        for row in rows:
            name = capture.section_name(row["section"])
            if name == "(unmarked)" or not row["count"]:
                continue
            key = (config, str(capture.kernels[int(row["kernel"])]["name"]), name)
            cycles, ns = sums.get(key, (0, 0.0))
            counts[key] = counts.get(key, 0) + int(row["count"])
            sums[key] = cycles + int(row["total_cycles"]), ns + float(row["total_ns"])
        for key, count in counts.items():
            for values, total in ((self.cycles, sums[key][0]), (self.ns, sums[key][1])):
                values.setdefault(key, numpy.full(self.runs, numpy.nan))[run] = total / count

    def _note_clock(self, rows: NDArray[Any]) -> None:
        for sm in numpy.unique(rows["group"]):
            own = rows[rows["group"] == sm]
            cycles, ns = float(own["total_cycles"].sum()), float(own["total_ns"].sum())
            if cycles > 0 and ns > 0:
                hz = cycles / ns * 1e9
                low, high = self.clock_hz or (hz, hz)
                self.clock_hz = min(low, hz), max(high, hz)

    @property
    def clock_moved(self) -> bool:
        """The GPU throttled, or came to its speed, between runs or in one: compare cycles, not ns."""
        return self.clock_hz is not None and self.clock_hz[1] / self.clock_hz[0] - 1 > CLOCK_MOVED

    def columns(self, by: str = "section", what: str = "table", kernel: Optional[str] = None,
                launch: Optional[int] = None, raw: bool = False) -> Columns:
        """name -> array: a row each of a configuration, kernel and section; the configuration under the function's own
        names, min, median, mean, max of the runs in cycles and ns of one slice, `spread` between the quartiles as a
        part of the median, `doubtful` where that of the cycles is over 10 %."""
        keys = sorted(self.cycles, key=lambda key: key[0])
        columns: Columns = {name: _column([self.configs[c][i] for c, _, _ in keys]) for i, name in enumerate(self.names)}
        columns["kernel"], columns["section"] = _words([k for _, k, _ in keys]), _words([s for _, _, s in keys])
        columns["runs"] = numpy.array([int((~numpy.isnan(self.cycles[key])).sum()) for key in keys], "i8")
        for unit, values in (("cycles", self.cycles), ("ns", self.ns)):
            found = [_statistics(values[key]) for key in keys]
            for name in _STATISTICS:
                columns[f"{name}_{unit}"] = numpy.array([one[name] for one in found], "f8")
        columns["doubtful"] = columns["spread_cycles"] > SPREAD_DOUBTED
        return columns

    def plot(self, value: str = "median_cycles", ax: Any = None) -> Any:
        """Bars of each section, stacked over the configurations, on matplotlib's Axes, new ones where none are given.
        Raises Error where matplotlib is not installed."""
        axes = _new_axes() if ax is None else ax
        columns = self.columns()
        labels = [", ".join(map(str, config)) for config in self.configs]
        bottom = numpy.zeros(len(labels))
        keys = sorted(self.cycles, key=lambda key: key[0])
        for pair in dict.fromkeys((k, s) for _, k, s in keys):
            heights = numpy.zeros(len(labels))
            for (config, kernel, section), height in zip(keys, columns[value]):
                if (kernel, section) == pair:
                    heights[config] = height
            axes.bar(labels, heights, bottom=bottom, label=f"{pair[0]}: {pair[1]}")
            bottom += heights
        axes.set_xlabel(", ".join(self.names))
        axes.set_ylabel(value + (" (simulated clock)" if self.simulated else ""))
        axes.legend()
        return axes

    def _attributes(self) -> Dict[str, str]:
        return {"clock": "simulated clock" if self.simulated else "clock64", "runs": str(self.runs)}

    def _repr_html_(self) -> str:
        columns = self.columns()
        shown = [name for name in columns if not name.endswith("_ns") and name != "doubtful"]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(columns[name][i]))}</td>" for name in shown) + "</tr>"
                       for i in range(len(columns["section"])))
        said = [f"{self.runs} runs" + (", simulated clock" if self.simulated else "")]
        if columns["doubtful"].any():
            said.append(f"in {int(columns['doubtful'].sum())} rows the runs are too far apart to give one number")
        if self.clock_moved and self.clock_hz:
            said.append(f"the clock moved: SMs ran at {self.clock_hz[0] / 1e6:.0f} to {self.clock_hz[1] / 1e6:.0f} MHz; "
                        "lock it (nvidia-smi --lock-gpu-clocks) or compare cycles")
        if self.lost:
            said.append(f"a run lost up to {self.lost} tracks or marks: the table is of the others")
        return f"<p>{'; '.join(said)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise Error(f"cannot import matplotlib: {error}") from None
    return pyplot.subplots()[1]


def _column(values: List[Any]) -> NDArray[Any]:
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return numpy.array(values)
    return _words([str(value) for value in values])


def _cell(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, (float, numpy.floating)) else str(value)


def _names(function: Callable[..., Any], width: int) -> List[str]:
    names = list(inspect.signature(function).parameters)
    return [names[i] if i < len(names) else f"config_{i}" for i in range(width)]


def analyze(configs: Sequence[Tuple[Any, ...]], runs: int = 10, warmup: int = 1, arm: Sequence[Any] = (),
            **options: Any) -> Callable[[Callable[..., Any]], Callable[[], Sweep]]:
    """Decorates a function that launches kernels: called, it is run `warmup` times and then `runs` times with each of
    `configs`, each run in a session of its own, and gives a Sweep. `arm`: modules that every session arms; `options`:
    those of session().

        @inkmark.analyze(configs=[(128,), (256,)], runs=20, arm=[module])
        def step(block):
            kernel((n // block,), (block,), (x,))
        step().to_pandas()
    """
    if runs < 1 or warmup < 0:
        raise ValueError(f"runs is at least 1 and warmup at least 0, not {runs} and {warmup}")
    listed = [tuple(config) for config in configs]
    if not listed or len({len(config) for config in listed}) != 1:
        raise ValueError("configs is a list of tuples of one length")

    def wrap(function: Callable[..., Any]) -> Callable[[], Sweep]:
        @functools.wraps(function)
        def measure() -> Sweep:
            sweep = Sweep(_names(function, len(listed[0])), listed, runs)
            for index, config in enumerate(listed):
                for _ in range(warmup):
                    function(*config)
                for run in range(runs):
                    with session(**options) as recording:
                        for module in arm:
                            recording.arm(module)
                        function(*config)
                    sweep._take(index, run, recording.capture)
            return sweep
        return measure
    return wrap
