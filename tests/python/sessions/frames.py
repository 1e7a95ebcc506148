# SPDX-License-Identifier: MIT
# Frames of a session's capture and of an array, against the tables; notebooks' HTML.
import cupy
import numpy
import pandas
import pyarrow

import inkmark
from marked import SOURCE, module, refused, run

compiled = module(SOURCE.replace("PROF_ITER(i);", "if (i) PROF_ITER(i);"))
with inkmark.session() as s:
    s.arm(compiled)
    run(compiled, 2)
capture = s.capture
for by in ("section", "iteration", "block", "sm", "launch", "warp", "device", "instance", "role"):
    rows, frame, table = capture.table(by), capture.to_pandas(by=by), capture.to_arrow(by=by)
    assert len(rows) == len(frame) == table.num_rows and list(frame) == table.column_names
    assert list(frame["section"]) == [capture.section_name(r) for r in rows["section"]] == table["section"].to_pylist()
    for name in ("count", "total_cycles", "median_cycles", "total_ns", "share"):
        assert (frame[name].to_numpy() == rows[name]).all() and (table[name].to_numpy() == rows[name]).all(), (by, name)
frame = capture.to_pandas(by="iteration")
assert frame["iteration"].isna().sum() == (frame["iteration_is"] == "before").sum() > 0
assert sorted(set(frame["iteration"].dropna())) == [1, 2]
assert frame.groupby("section")["count"].sum()["Load"] == 6
assert frame["self_cycles"].isna().all() and not capture.to_pandas()["self_cycles"].isna().any()
assert frame.attrs["clock"] == "simulated clock" and capture.to_arrow().schema.metadata[b"clock"] == b"simulated clock"
assert list(capture.to_pandas(what="launches")["grid_x"]) == [2]
refused(lambda: capture.to_pandas(what="marks"), "what is one of", ValueError)

shown = capture._repr_html_()
assert "simulated clock" in shown and "<td>6</td>" in shown and "Compute" in shown and "step(float *, int)" in shown, shown
page = capture.page(height=300)
assert str(page).lstrip().startswith("<!") and "srcdoc" in page._repr_html_() and 'height="300"' in page._repr_html_()

cells = numpy.arange(24).reshape(2, 3, 4)
names = ["a<b", "B", "C", "D"]
for array in (cells, cupy.array(cells), cells.astype("i4")):
    timed = inkmark.table_from(array, sections=names, hz=1e9)
    assert (timed.times == cells).all()
    for by, groups in (("section", 1), ("iteration", 3), ("block", 2)):
        frame = timed.to_pandas(by=by)
        assert len(frame) == 4 * groups == timed.to_arrow(by=by).num_rows
        assert frame["total_cycles"].sum() == cells.sum() and frame["count"].sum() == 24
        assert (frame["total_ns"] == frame["total_cycles"]).all()
    assert list(timed.table("iteration")["max_track"]) == [1] * 12
    assert abs(timed.table()["share"].sum() - 1) < 1e-12
assert "a&lt;b" in timed._repr_html_()


class Tensor:
    """What of a torch tensor is used, in the order that torch asks for: detached, then copied to the host."""

    def __init__(self, values, at="cuda"):
        self.values, self.at = values, at

    def detach(self):
        return Tensor(self.values, "detached")

    def cpu(self):
        assert self.at == "detached"
        return Tensor(self.values, "cpu")

    def numpy(self):
        assert self.at == "cpu"
        return self.values


assert (inkmark.table_from(Tensor(cells), names).times == cells).all()
wrapped = numpy.array([[[0xfffffff0, 0x10, 0x30]]], numpy.uint32)  # a clock of 32 bits that wrapped
assert inkmark.table_from(wrapped, ["A", "B"], stamps=True).times.tolist() == [[[0x20, 0x20]]]
assert inkmark.table_from(wrapped.view("i4"), ["A", "B"], stamps=True).times.tolist() == [[[0x20, 0x20]]]
assert inkmark.table_from(cells[0], names).times.shape == (1, 3, 4)
refused(lambda: inkmark.table_from(cells, ["A"]), "4 columns, and 1 sections are named", ValueError)
refused(lambda: inkmark.table_from(cells * 1.0, names), "not whole numbers", ValueError)
refused(lambda: inkmark.table_from(-cells, names), "array[0][0][1] is negative", ValueError)
refused(lambda: inkmark.table_from(cells[0, 0], names), "1 dimensions", ValueError)
empty = inkmark.table_from(cells[:, :0], names)
assert list(empty.table()["count"]) == [0] * 4
print("PASS", pandas.__version__, pyarrow.__version__)
print("PASS")
