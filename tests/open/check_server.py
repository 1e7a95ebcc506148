# SPDX-License-Identifier: MIT
"""What `inkmark open` answers and refuses, and how it ends: check_server.py INKMARK MAKE_CAPTURES"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from opened import Opened

UI = "https://ui.perfetto.dev"


def one_load(inkmark, trace, content):
    with Opened(inkmark, trace) as o:
        assert o.ui == UI and o.name == "a_trace_.pftrace", o.link
        # What a browser asks about the page's right to the local network does not end it.
        status, headers, _ = o.ask("OPTIONS", headers=[f"Origin: {UI}", "Access-Control-Request-Method: GET",
                                                       "Access-Control-Request-Private-Network: true"])
        assert status == 204 and headers["Access-Control-Allow-Origin"] == UI, headers
        assert headers["Access-Control-Allow-Private-Network"] == "true", headers
        status, headers, body = o.ask("HEAD")
        assert (status, headers["Content-Length"], body) == (200, str(len(content)), b""), headers
        status, headers, body = o.ask(headers=[f"Origin: {UI}"])
        assert status == 200 and body == content
        assert headers["Access-Control-Allow-Origin"] == UI and headers["Cache-Control"] == "no-store", headers
        code, errors = o.end()
        assert code == 0 and "was loaded" in errors, (code, errors)
        try:
            o.connect()
            raise SystemExit("it still listens after the load")
        except ConnectionRefusedError:
            pass
        return o.token


def refusals(inkmark, trace, content):
    with Opened(inkmark, trace) as o:
        wrong = ("f" if o.token[0] != "f" else "e") + o.token[1:]
        cases = [
            (404, dict(path="/")), (404, dict(path="/status", method="POST")), (404, dict(path=o.path + "x")),
            (404, dict(path=f"/{wrong}/{o.name}")), (404, dict(path=o.path[:-1])), (404, dict(path=f"/{o.token}/")),
            (404, dict(path=f"/{o.token}/../{o.name}")), (404, dict(path="/etc/passwd")),
            (404, dict(path=o.path + "?x")), (405, dict(method="POST")), (405, dict(method="PUT")),
            (405, dict(method="DELETE")), (421, dict(host="ui.perfetto.dev")), (421, dict(host=f"evil.example:{o.port}")),
            (421, dict(host="127.0.0.1")), (421, dict(host=f"localhost:{o.port}")),
            (421, dict(headers=[f"Host: {o.host}"])), # a second Host
            (403, dict(headers=["Origin: https://evil.example"])), (403, dict(headers=["Origin: null"])),
            (403, dict(headers=["Origin: http://ui.perfetto.dev"])),
            (400, dict(raw=b"GARBAGE\r\n\r\n")), (400, dict(raw=b"GET " + o.path.encode() + b"\r\n\r\n")),
            (400, dict(raw=b"GET " + o.path.encode() + b" HTTP/1.1\0\r\nHost: " + o.host.encode() + b"\r\n\r\n")),
            (400, dict(path="/" + "a" * 4000)), (431, dict(raw=b"GET / HTTP/1.1\r\nX: " + b"a" * 9000)),
        ]
        for wanted, request in cases:
            status, headers, body = o.ask(**request)
            assert status == wanted and not body, (wanted, request, status, body)
            assert "Access-Control-Allow-Origin" not in headers, (request, headers)
        assert o.process.poll() is None
        idle = [o.connect() for _ in range(8)] # as browsers open them in advance
        assert o.ask()[2] == content
        for s in idle:
            s.close()
        assert o.end()[0] == 0


def many_idle(inkmark, trace, content):
    """More connections than are held, which ask for nothing or for half: none of them keeps the browser out."""
    with Opened(inkmark, trace) as o:
        idle = [o.connect() for _ in range(20)]
        for s in idle[::2]:
            s.sendall(b"GET / HT")
        status, _, body = o.ask()
        assert status == 200 and body == content, status
        for s in idle:
            s.close()
        assert o.end()[0] == 0


def listens_on_loopback_only(inkmark, trace):
    with Opened(inkmark, trace) as o:
        found = []
        for table in ("tcp", "tcp6"):
            with open(f"/proc/net/{table}") as f:
                for line in list(f)[1:]:
                    address, port = line.split()[1].split(":")
                    if int(port, 16) == o.port and line.split()[3] == "0A": # LISTEN
                        found.append(address)
        assert found == ["0100007F"], found


def broken_load_does_not_count(inkmark, folder):
    path = os.path.join(folder, "big.json")
    content = os.urandom(1 << 20) * 48
    with open(path, "wb") as f:
        f.write(content)
    with Opened(inkmark, path) as o:
        with o.connect() as s:
            s.sendall(f"GET {o.path} HTTP/1.1\r\nHost: {o.host}\r\n\r\n".encode())
            assert len(s.recv(4096)) > 0
        time.sleep(0.3)
        assert o.process.poll() is None, "half a load ended it"
        assert o.ask()[2] == content
        assert o.end()[0] == 0


def peak_kib(process):
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def big_files_stream(inkmark, folder):
    path = os.path.join(folder, "huge.json")
    size = (4 << 30) + 1 # more than 32 bits; sparse
    with open(path, "wb") as f:
        f.truncate(size)
    with Opened(inkmark, path) as o, o.connect() as s:
        s.sendall(f"GET {o.path} HTTP/1.1\r\nHost: {o.host}\r\n\r\n".encode())
        buffer, got, begin = bytearray(1 << 20), 0, time.time()
        before, growth = peak_kib(o.process), None
        while n := s.recv_into(buffer):
            got += n
            if growth is None and got > size // 2:
                growth = peak_kib(o.process) - before
        assert size < got < size + 1024, got
        assert growth is not None and growth < 8 << 10, f"{growth} KiB"
        print(f"{size / 1e6 / (time.time() - begin):.0f} MB/s, {growth} KiB more memory at the peak")
        assert o.end()[0] == 0


def shrinks(inkmark, folder):
    path = os.path.join(folder, "shrinks.json")
    with open(path, "wb") as f:
        f.write(b"x" * 1000)
    with Opened(inkmark, path) as o:
        os.truncate(path, 10)
        o.ask()
        code, errors = o.end()
        assert code == 1 and "became shorter" in errors, (code, errors)


def ends(inkmark, trace):
    begin = time.monotonic()
    with Opened(inkmark, trace, "--timeout", "1") as o:
        code, errors = o.end()
        assert code == 1 and "nobody loaded" in errors and time.monotonic() - begin >= 0.9, (code, errors)
    with Opened(inkmark, trace) as o, o.connect():
        with Opened(inkmark, trace) as other: # a port of its own
            assert other.port != o.port
        taken = subprocess.run([inkmark, "open", "--port", str(o.port), trace], capture_output=True, text=True)
        assert taken.returncode == 1 and "address already in use" in taken.stderr, taken
        o.process.send_signal(signal.SIGINT)
        assert o.end()[0] == -signal.SIGINT


def captures(inkmark, make_captures, folder):
    subprocess.run([make_captures], cwd=folder, check=True)
    wanted = os.path.join(folder, "wanted.pftrace")
    subprocess.run([inkmark, "export", os.path.join(folder, "solver.ink"), "-o", wanted], check=True)
    temporary = os.path.join(folder, "temporary")
    os.mkdir(temporary)
    with Opened(inkmark, os.path.join(folder, "solver.ink"),
                environment={**os.environ, "TMPDIR": temporary}) as o, open(wanted, "rb") as f:
        assert o.name == "solver.ink.pftrace", o.name
        assert os.listdir(temporary) == [], "the converted trace still has a name"
        assert o.ask()[2] == f.read()
        assert o.end()[0] == 0


def first_view(inkmark, folder):
    """The link of a capture names the longest launch of the kernel that costs most, and a twentieth on both sides."""
    def report(*args):
        run = subprocess.run([inkmark, "report", "-f", "json", *args], capture_output=True, text=True, cwd=folder, check=True)
        return json.loads(run.stdout)["captures"][0]

    for name in ("solver.ink", "shared.ink", "nested.ink", "hostile.ink"):
        kernels = report("--by", "launch", name)["kernels"]
        costliest = max(kernels, key=lambda k: k["total_ns"])
        paths = [report("--path", "--launch", str(n), name) for n in {row["group"] for row in costliest["rows"]}]
        begin, end = max(((p["begin_ns"], p["end_ns"]) for p in paths), key=lambda ends: ends[1] - ends[0])
        with Opened(inkmark, os.path.join(folder, name)) as o:
            around = (end - begin) // 20 + 1
            assert o.view == [begin - around, end + around], (name, o.link, begin, end)
            assert o.ask()[0] == 200 and o.end()[0] == 0
    with Opened(inkmark, os.path.join(folder, "none.ink")) as o:
        assert o.view == [], o.link
        assert o.ask()[0] == 200 and o.end()[0] == 0


def main(inkmark, make_captures, *unused):
    with tempfile.TemporaryDirectory(prefix="inkmark-open-") as folder:
        content = os.urandom(100000)
        trace = os.path.join(folder, "a trace%.pftrace")
        with open(trace, "wb") as f:
            f.write(content)
        tokens = {one_load(inkmark, trace, content) for _ in range(3)}
        assert len(tokens) == 3, tokens
        refusals(inkmark, trace, content)
        many_idle(inkmark, trace, content)
        listens_on_loopback_only(inkmark, trace)
        broken_load_does_not_count(inkmark, folder)
        big_files_stream(inkmark, folder)
        shrinks(inkmark, folder)
        ends(inkmark, trace)
        captures(inkmark, make_captures, folder)
        first_view(inkmark, folder)
    print("ok")


main(*sys.argv[1:])
