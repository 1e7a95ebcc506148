# SPDX-License-Identifier: MIT
"""A folder that looks like a checkout with its build, in which what the pages show is run."""
import os
import subprocess


def make(folder, source, build, nvcc):
    """Makes it in `folder`, and returns the environment for commands, which begin with `. build/env.sh`."""
    os.mkdir(os.path.join(folder, "build"))
    for name in ("device", "examples", "tests", "cmake", "docs"):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))
    for name in ("cli", "device", "examples", "runtime"):
        if os.path.exists(os.path.join(build, name)):
            os.symlink(os.path.join(build, name), os.path.join(folder, "build", name))
    cuda = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    subprocess.run(["bash", "-c", 'root=$1; . "$1/cmake/setup.sh"; setup_env_file "$2"', "bash", source,
                    os.path.join(folder, "build")], check=True, env={**os.environ, "CUDA_HOME": cuda})
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INKMARK_") and name != "RANK"}
    environment.update(CUDA_HOME=cuda, CUDA_PATH=cuda, CUPY_CACHE_IN_MEMORY="1", PYTHONDONTWRITEBYTECODE="1",
                       PYTHONPATH=os.path.join(source, "python"), INKMARK_INCLUDE=os.path.join(source, "device"),
                       INKMARK_SHARED_LIBRARY=os.path.join(build, "runtime", "libinkmark.so.0"))
    return environment
