// SPDX-License-Identifier: MIT
// A picture of a trace in Perfetto's own user interface: serves the npm package's files on loopback,
// opens the trace in headless Chromium, unfolds every process and zooms to a part of it.
// node perfetto_screenshot.js NODE_MODULES TRACE PNG [FROM TO [HEIGHT [WIDTH [dark]]]]    FROM, TO: parts of the trace, 0 to 1.
// The interface has no dark colours: dark is the light one with its lightness turned round.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const { findBrowser, open } = require('./browser.js');
const { PACKAGE, Reader, bytesField, numberField } = require('./trace_processor.js');

const [modules, trace, png, from = '0', to = '1', height = '820', width = '1400', dark] = process.argv.slice(2);
const types = { '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.html': 'text/html' };

// The package opens what timeline_data_source names in timeline_main.
const page = `<!doctype html><html><head><meta name="viewport" content="width=device-width"><title>trace</title></head><body>
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
    idle = globals.numQueuedQueries || /^Loading(?! overview 100%)/.test(globals.state.status.msg) ? 0 : idle + 1;
    if (idle < 10) return;
    clearInterval(drawn);
    window.isDrawn = true;
  }, 500);
}, 100);
</script></body></html>`;

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
    return String(body).replace('--track-shell-width: 0px', `--track-shell-width: ${+width < 600 ? 120 : 270}px`) +
      '.track-group-panel { height: 34px; display: block !important; } .track-group-panel h1 { font-size: 15px; ' +
      'padding: 8px 6px 0; } .track .track-shell h1 { font-size: 13px; margin: 0; padding-top: 5px; white-space: nowrap; } ' +
      '.track .track-shell { background: #fff; position: relative; z-index: 2; }';
  return String(body)
    .replace('ondrop: this.ondrop.bind(this),\n        })', "ondrop: this.ondrop.bind(this) }, mithril('h1', attrs.trackState.name))")
    .replace("'track_' + this.trackGroupId }, this.summaryTrack ?", "'track_' + this.trackGroupId }, mithril('h1', name), this.summaryTrack ?");
}

function serve(request, response) {
  const name = new URL(request.url, 'http://x').pathname;
  const file = path.join(modules, PACKAGE, name.replace(/^\/(ui\/)?/, ''));
  let body = name === '/' ? page : name === '/trace' ? moved(fs.readFileSync(trace))
    : fs.existsSync(file) && !name.includes('..') ? fs.readFileSync(file) : null;
  if (/frontend_bundle.js$|perfetto.css$/.test(name)) body = withNames(name, body);
  response.writeHead(body === null ? 404 : 200, { 'Content-Type': types[path.extname(name) || '.html'] ?? '' });
  response.end(body);
}

async function main(address) {
  if (!findBrowser()) throw new Error('no chromium');
  const browser = await open({ width: +width, height: +height, dark: false });
  await browser.load(address);
  await browser.run('new Promise(done => { const poll = setInterval(() => { if (window.isDrawn) { clearInterval(poll); done(); } }, 100); })');
  if (dark) {
    await browser.run("document.documentElement.style.filter = 'invert(1) hue-rotate(180deg)'; document.documentElement.style.background = '#fff'");
    await browser.run('new Promise(done => setTimeout(done, 500))');
  }
  await browser.picture(png);
  await browser.close();
}

const server = http.createServer(serve).listen(0, '127.0.0.1', () =>
  main(`http://127.0.0.1:${server.address().port}/`).then(() => process.exit(0), error => {
    console.error(String(error));
    process.exit(1);
  }));
