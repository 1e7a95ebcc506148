# SPDX-License-Identifier: MIT
"""The HTML page for those who do not use a mouse or see all colours: axe (npm) finds nothing at both widths, light and dark; nothing
sticks out to the side; keys move the lanes; the search leaves what it finds; the tables beside the charts have what these show.

check_page.py OUTPUT_TOOL NODE_MODULES"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from scratch import Scratch, skip

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--virtual-time-budget=20000", "--hide-scrollbars"]

# Says what it found in an element of its own, as the last thing.
PROBE = """<script>(async () => {
  const said = {};
  const axe_said = await axe.run(document, { resultTypes: ['violations'] });
  said.violations = axe_said.violations.map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))]);
  said.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  said.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const before = JSON.stringify(view), canvas = document.getElementById('lanes');
  said.moved = [];
  for (const key of ['+', 'ArrowRight', 'ArrowDown', '-', '0']) {
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    said.moved.push(JSON.stringify(view) !== before);
  }
  const find = document.getElementById('find');
  find.value = 'Wait';
  find.dispatchEvent(new Event('input'));
  said.found = [...document.querySelectorAll('#list a')].map(a => a.textContent);
  said.sections = [...document.querySelectorAll('#kernels section')].filter(s => !s.hidden).length;
  said.targets = [...document.querySelectorAll('#list a')].every(a => document.querySelector(a.getAttribute('href')));
  for (const d of document.querySelectorAll('details')) d.open = true;
  await new Promise(done => setTimeout(done, 50));
  said.charts = document.querySelectorAll('#kernels canvas[role=img][aria-label], #kernels svg[role=img][aria-label]').length;
  said.unnamed = document.querySelectorAll('canvas:not([aria-label]), svg:not([aria-label])').length;
  said.tables = [...document.querySelectorAll('details')].map(d => [d.querySelector('summary').textContent, d.querySelectorAll('tbody tr').length]);
  said.injected = typeof window.injected;
  said.compared = [...document.querySelectorAll('#compared tbody tr')].map(tr =>
    [...tr.children].map(td => td.textContent).concat(tr.querySelector('svg')?.getAttribute('aria-label') ?? ''));
  const out = document.createElement('pre');
  out.id = 'said';
  out.textContent = JSON.stringify(said);
  document.body.append(out);
})()</script>"""


def probe(browser, page, axe, width, *flags):
    with open(page) as f:
        source = f.read()
    with open(axe) as f:
        source = source.replace("</body>", "<script>" + f.read().replace("</script", "<\\/script") + "</script>" + PROBE + "</body>")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "page.html")
        with open(copy, "w") as f:
            f.write(source)
        run = subprocess.run([browser, *FLAGS, f"--window-size={width},1500", f"--user-data-dir={folder}/profile", *flags, "--dump-dom",
                              "file://" + copy], capture_output=True, text=True, timeout=1800)
    found = re.search(r'<pre id="said">(.*?)</pre>', run.stdout, re.S)
    assert found, (run.stdout[-2000:], run.stderr[-2000:])
    return json.loads(html.unescape(found[1]))


def main(tool, modules):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    axe = os.path.join(modules, "axe-core", "axe.min.js")
    if not browser:
        skip("no chromium (Debian: chromium)")
    if not os.path.exists(axe):
        skip(f"no '{axe}' (npm ci)")
    with Scratch(tool) as scratch:
        page = scratch.write("html", scratch.make("mixed"), "mixed.html")
        for width, flags in ((1280, []), (500, ["--blink-settings=preferredColorScheme=0"])):  # 500: the least that a headless window has
            said = probe(browser, page, axe, width, *flags)
            assert said["dark"] == bool(flags), said
            assert said["violations"] == [], said["violations"]
            assert said["wide"] <= 0, said["wide"]
            assert said["moved"] == [True, True, True, True, False], said["moved"]
            assert said["found"] == ["Main of Pipe, device 0"] and said["sections"] == 1 and said["targets"], said
            assert said["charts"] > 10 and said["unnamed"] == 0, said
            assert len(said["tables"]) >= 6 and all(rows for _, rows in said["tables"]), said["tables"]
            assert said["injected"] == "undefined", said
        with open(page) as f:
            source = f.read()
        with open(page, "w") as f:  # the check can fail
            f.write(source.replace("aria-label=\"zoom in\">+<", "><").replace("<label>find a kernel or section <input", "<input"))
        assert {v[0] for v in probe(browser, page, axe, 1280)["violations"]} >= {"button-name", "label"}
    print("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
