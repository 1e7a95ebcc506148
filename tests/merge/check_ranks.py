# SPDX-License-Identifier: MIT
# Ranks of every launcher, recorded on the simulated device: files by %r, %h and %p, and all of them on one
# timeline. check_ranks.py INKMARK SOLVER NODE_MODULES
import os, socket, subprocess, sys
from merged import *

inkmark, solver, modules = sys.argv[1:4]
tools = Tools(inkmark, None, modules)
tools.skip_without()
LAUNCHERS = "RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"
clean = {k: v for k, v in os.environ.items() if k not in LAUNCHERS}


def record(rank, **environment):
    before = set(os.listdir(folder.name))
    run = subprocess.run([inkmark, "record", "--device", "sim", "-o", here("rank%r-%h-%p.ink"), "--", solver, "4", "1"],
                         env={**clean, **environment}, capture_output=True, text=True)
    assert run.returncode == 0, run
    new = set(os.listdir(folder.name)) - before
    (name,) = (n for n in new if n.endswith(".ink"))
    start, end = f"rank{rank}-{socket.gethostname()}-", ".ink"
    assert name.startswith(start) and name.endswith(end) and name[len(start):-len(end)].isdigit(), name
    info = subprocess.run([inkmark, "info", here(name)], capture_output=True, text=True, check=True).stdout
    assert any(line.split() == ["rank", rank] for line in info.splitlines()) == bool(environment), info
    return here(name)


captures = [record(str(i + 3), **{launcher: str(i + 3)}) for i, launcher in enumerate(LAUNCHERS)]
record("0") # without a launcher
record("1", LOCAL_RANK="0", RANK="1", SLURM_PROCID="2") # torchrun under Slurm: the rank of the whole job
said = tools.merge(captures, "-o", here("all.pftrace"))
errors, processes, launches = tools.query(here("all.pftrace"), ERRORS, "select name from process where name like 'rank %' order by name",
                                          "select count(*) from slice where category = 'inkmark'")
assert not errors and len(processes) == 5, (errors, processes)
assert all(p[0].startswith(f"rank {i + 3}, {socket.gethostname()}, GPU 0 (simulated") for i, p in enumerate(processes)), processes
assert int(launches[0][0]) >= 5 and "several hosts" not in said, (launches, said)
