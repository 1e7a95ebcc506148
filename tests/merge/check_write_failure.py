# SPDX-License-Identifier: MIT
# A capture in which a write failed and whose end is there: each output says the former, and none that the end is
# missing; one that is cut off says that. check_write_failure.py INKMARK PLAN_CAPTURE NODE_MODULES
import json, subprocess, sys
from merged import *

inkmark, plan_capture, modules = sys.argv[1:4]
tools = Tools(inkmark, plan_capture, modules)
tools.skip_without()
WHY = "cannot write 'run.ink': No space left on device"


def capture(name, fact):
    with open(here("x.plan"), "w") as file:
        file.write("\n".join(["fact host h", "fact pid 7", fact, "device 0 1700000000000000000 1000000000000 2000000 1", "kernel step", "begin",
                              "launch 0 0 1 4 1 1 32 1 1 1000000001000 1000000009000"]) + "\n")
    subprocess.run([plan_capture, here("x.plan"), here(name)], check=True)
    return here(name)


def said_by(path):
    """What every output says of the capture as a whole."""
    said = {}
    for ending in "pftrace", "html", "json":
        subprocess.run([inkmark, "export", path, "-o", here("out." + ending)], check=True, capture_output=True)
        if ending != "pftrace":
            said[ending] = plain(here("out." + ending)).decode()
    (row,), = tools.query(here("out.pftrace"), "select group_concat(a.string_value, ' | ') from slice s join args a using (arg_set_id) "
                                               "where s.category = 'note' and a.key in ('debug.capture', 'debug.left_out')")
    said["pftrace"] = row[0]
    for command in "info", "report":
        run = subprocess.run([inkmark, command, path], capture_output=True, text=True)
        said[command] = run.stdout + run.stderr
    return said


failed = said_by(capture("failed.ink", "fact write_failure " + WHY))
whole = said_by(capture("whole.ink", "fact command made"))
with open(here("cut.ink"), "wb") as file:
    file.write(plain(here("whole.ink"))[:-16])
cut = said_by(here("cut.ink"))
for output in failed:
    assert "a write failed" in failed[output] and WHY in failed[output].replace("\\u0027", "'"), (output, failed[output][:3000])
    for word in "the end is missing", "end of the capture is missing", "was killed":
        assert word not in failed[output], (output, word)
    assert "a write failed" not in cut[output] and "the end is missing" in cut[output], (output, cut[output][:3000])
    assert "the end is missing" not in whole[output] and "a write failed" not in whole[output], (output, whole[output][:3000])
assert failed["pftrace"].startswith("a write failed"), failed["pftrace"]
assert cut["pftrace"].startswith("the end is missing"), cut["pftrace"]
assert whole["pftrace"] == "complete", whole["pftrace"]
