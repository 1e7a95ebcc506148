# SPDX-License-Identifier: MIT
"""A pool of three workers that launch marked kernels. pool.py LIBRARY spawn|fork terminate|join"""
import ctypes
import multiprocessing
import sys

LIBRARY, METHOD, END = sys.argv[1:]


def work(_):
    return ctypes.CDLL(LIBRARY).run_library()


if __name__ == "__main__":
    with multiprocessing.get_context(METHOD).Pool(3) as pool:
        print(pool.map(work, range(3)))
        if END == "join":
            pool.close()
            pool.join()
