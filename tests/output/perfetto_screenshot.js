// SPDX-License-Identifier: MIT
// A picture of a trace in Perfetto's own user interface: serves the npm package's files on loopback,
// opens the trace in headless Chromium, unfolds every process and zooms to a part of it.
// node perfetto_screenshot.js NODE_MODULES TRACE PNG [FROM TO [HEIGHT]]    FROM, TO: parts of the trace, 0 to 1
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const { PACKAGE, Reader, bytesField, numberField } = require('./trace_processor.js');

const [modules, trace, png, from = '0', to = '1', height = '820'] = process.argv.slice(2);
const types = { '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.html': 'text/html' };

// The package opens what timeline_data_source names in timeline_main. The image keeps the page loading,
// so that the browser waits with its picture until the trace is drawn.
const page = `<!doctype html><html><head><title>trace</title></head><body>
<div id="timeline_data_source" style="display:none"></div><main id="timeline_main"></main>
<script>timeline_data_source.textContent = location.origin + '/trace';</script>
<script src="/ui/frontend_bundle.js"></script><script>
const poll = setInterval(() => {
  const { state, frontendLocalState: local } = window.globals ?? {};
  if (!state || !Object.keys(state.trackGroups ?? {}).length) return;
  clearInterval(poll);
  for (const group of Object.values(state.trackGroups))
    if (group.collapsed) globals.dispatch(Actions.toggleTrackGroupCollapsed({ trackGroupId: group.id }));
  const { startSec, endSec } = state.traceTime, span = endSec - startSec;
  const TimeSpan = local.visibleWindowTime.constructor;
  local.updateVisibleTime(new TimeSpan(startSec + span * ${+from}, startSec + span * ${+to}));
  let idle = 0; // on a slow machine the tracks take long
  const drawn = setInterval(() => {
    idle = globals.numQueuedQueries || /^Loading/.test(globals.state.status.msg) ? 0 : idle + 1;
    if (idle < 10) return;
    clearInterval(drawn);
    fetch('/drawn');
  }, 500);
}, 100);
</script><img src="/wait" style="display:none"></body></html>`;

// This version of the interface keeps times in seconds as doubles, which near today's Unix time step by
// 238 ns. So the picture is of the same trace moved to the first second of 1970.
const SECOND = 1000000000n, REALTIME = 1n, CONVERTED = 0xffffn; // the sequence of another tool's events, whose times are whole
function moved(bytes) {
  const packets = [...new Reader(bytes).fields()].map(([, packet]) => [...new Reader(packet).fields()]);
  let base = null;
  const snapshot = value => Buffer.concat([...new Reader(value).fields()].map(([n, v]) => {
    if (typeof v === 'bigint') return numberField(n, v);
    const clock = Object.fromEntries(new Reader(v).fields());
    if (clock[1] === REALTIME) base ??= clock[2];
    return bytesField(n, Buffer.concat([...new Reader(v).fields()].map(([m, x]) => numberField(m, m === 2 ? SECOND : x))));
  }));
  return Buffer.concat(packets.map(fields => {
    const whole = fields.some(([n, v]) => n === 10 && v === CONVERTED);
    return bytesField(1, Buffer.concat(fields.map(([n, v]) =>
      n === 6 ? bytesField(6, snapshot(v)) : typeof v !== 'bigint' ? bytesField(n, v)
        : numberField(n, whole && n === 8 ? v - base + SECOND : v))));
  }));
}

// The package is a fork for embedding that shows no names of tracks; they are put back.
function withNames(name, body) {
  if (name.endsWith('perfetto.css'))
    return String(body).replace('--track-shell-width: 0px', '--track-shell-width: 270px') +
      '.track-group-panel { height: 34px; display: block !important; } .track-group-panel h1 { font-size: 15px; ' +
      'padding: 8px 6px 0; } .track .track-shell h1 { font-size: 13px; margin: 0; padding-top: 5px; white-space: nowrap; }';
  return String(body)
    .replace('ondrop: this.ondrop.bind(this),\n        })', "ondrop: this.ondrop.bind(this) }, mithril('h1', attrs.trackState.name))")
    .replace("'track_' + this.trackGroupId }, this.summaryTrack ?", "'track_' + this.trackGroupId }, mithril('h1', name), this.summaryTrack ?");
}

let waiting = null;
function serve(request, response) {
  const name = new URL(request.url, 'http://x').pathname;
  if (name === '/wait') { waiting = response; return; }
  if (name === '/drawn') waiting?.writeHead(404).end();
  const file = path.join(modules, PACKAGE, name.replace(/^\/(ui\/)?/, ''));
  let body = name === '/' ? page : name === '/trace' ? moved(fs.readFileSync(trace))
    : fs.existsSync(file) && !name.includes('..') ? fs.readFileSync(file) : null;
  if (/frontend_bundle.js$|perfetto.css$/.test(name)) body = withNames(name, body);
  response.writeHead(body === null ? 404 : 200, { 'Content-Type': types[path.extname(name) || '.html'] ?? '' });
  response.end(body);
}

const server = http.createServer(serve).listen(0, '127.0.0.1', () => {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-browser-'));
  const browser = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars',
    `--user-data-dir=${profile}`, `--window-size=1400,${height}`, '--timeout=600000', '--enable-logging=stderr',
    `--screenshot=${path.resolve(png)}`, `http://127.0.0.1:${server.address().port}/`],
  { stdio: ['ignore', 'ignore', 'pipe'] });
  browser.stderr.on('data', data => {
    for (const line of String(data).split('\n')) if (/CONSOLE.*Error|written/.test(line)) console.log(line);
  });
  browser.on('exit', code => { fs.rmSync(profile, { recursive: true, force: true }); process.exit(code ?? 1); });
});
