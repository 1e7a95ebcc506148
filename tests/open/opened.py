# SPDX-License-Identifier: MIT
"""An `inkmark open` that runs: its link, its end, and requests made by hand."""
import re
import socket
import subprocess

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


class Opened:
    def __init__(self, inkmark, path, *options, port="0", environment=None):
        self.process = subprocess.Popen(
            [inkmark, "open", "--no-browser", "--port", port, *options, path],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.link = self.process.stdout.readline().strip()
        found = re.fullmatch(r"(.*)/#!/\?url=(http://(127\.0\.0\.1:(\d+))(/([0-9a-f]{32})/([^&]+)))(?:&visStart=(\d+)&visEnd=(\d+))?", self.link)
        if not found:
            raise AssertionError(f"{self.link!r}: {self.process.communicate()[1]}")
        self.ui, self.url, self.host, port, self.path, self.token, self.name, *view = found.groups()
        self.view = [int(ns) for ns in view if ns]
        self.port = int(port)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=1800)

    def ask(self, method="GET", path=None, host=None, headers=(), raw=None):
        """Status, headers and body of one request."""
        request = raw or "\r\n".join([f"{method} {path or self.path} HTTP/1.1", f"Host: {host or self.host}",
                                      *headers, "", ""]).encode()
        with self.connect() as s:
            s.sendall(request)
            answer = b""
            while piece := s.recv(1 << 20):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        return int(lines[0].split()[1]), dict(line.split(": ", 1) for line in lines[1:]), body

    def end(self, timeout=1800):
        """The exit code and stderr, once it ended by itself."""
        _, errors = self.process.communicate(timeout=timeout)
        return self.process.returncode, errors

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
