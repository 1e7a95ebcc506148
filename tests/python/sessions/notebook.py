# SPDX-License-Identifier: MIT
# A notebook, run headless: it records, shows its table and its page, starts its kernel again and records again.
import os

import nbformat
from nbclient import NotebookClient

CELLS = ["%load_ext inkmark\nimport sys; sys.path.insert(0, " + repr(os.path.dirname(os.path.abspath(__file__))) +
         ")\nfrom marked import *\ncompiled = module()",
         "%%inkmark --arm compiled -n s\nx = run(compiled, 2)",
         "s.capture.page()",
         "%%inkmark\nrun(compiled)",
         "s.capture.table()['count'].tolist()",
         "with inkmark.session() as again:\n    again.arm(compiled)\n    y = run(compiled)\nagain.capture"]


def html(cell):
    return [o["data"]["text/html"] for o in cell["outputs"] if "text/html" in o.get("data", {})]


def text(cell):
    return [o["data"]["text/plain"] for o in cell["outputs"] if "text/plain" in o.get("data", {})]


for _ in range(2):  # each time a process of its own
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    NotebookClient(book, timeout=600, kernel_name="python3").execute()
    cells = book["cells"]
    shown, page, none, table, again = html(cells[1]), html(cells[2]), html(cells[3]), text(cells[4]), html(cells[5])
    assert "Compute" in shown[0] and "simulated clock" in shown[0] and "<td>6</td>" in shown[0], shown
    assert "<iframe" in page[0] and "srcdoc" in page[0], page[0][:200]
    assert "nothing was recorded" in none[-1], none
    assert table[0].startswith("[6, 6"), table
    assert "<td>3</td>" in again[0], again
print("PASS")
