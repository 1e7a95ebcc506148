// SPDX-License-Identifier: MIT
// How long a page of `inkmark export -o NAME.html` takes in a real browser until it can be used, and how large it is:
// node page_load.js INKMARK_OUTPUT_TOOL [RUNS]    makes the page of 1 million slices (5,000 tracks of 200) and opens it RUNS times.
// Interactive: the page has been loaded and drawn, and has answered a key with a frame; from the navigation on. CPU: of the page's
// process until then, which other processes do not change.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { pathToFileURL } = require('url');
const { findBrowser, open } = require('../../tests/output/browser.js');

// From inside: what the browser's own clock says of the navigation, and of a frame behind the answer to a key.
const PROBE = `new Promise((done, failed) => {
  const canvas = document.getElementById('lanes'), before = JSON.stringify(view);
  const idle = () => {
    const began = performance.now();
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true, cancelable: true }));
    if (JSON.stringify(view) === before) failed(new Error('the key did nothing'));
    requestAnimationFrame(() => requestAnimationFrame(() => done({
      parsed: performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
      answered: performance.now(), key: performance.now() - began })));
  };
  setTimeout(idle);
})`;

async function once(url, width) {
  const browser = await open({ width, height: 900, dark: false });
  await browser.send('Performance.enable');
  await browser.load(url);
  const times = await browser.run(PROBE);
  times.cpu = 1000 * (await browser.send('Performance.getMetrics')).metrics.find(m => m.name === 'ProcessTime').value;
  await browser.close();
  if (browser.errors.length) throw new Error(browser.errors.join('\n'));
  return times;
}

async function main(tool, runs = '5') {
  if (!findBrowser()) {
    console.log('SKIPPED: no chromium');
    process.exit(77);
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-page-'));
  const capture = path.join(folder, 'million.ink'), page = path.join(folder, 'million.html');
  try {
    execFileSync(tool, ['make', 'many:5000:200', capture]);
    execFileSync(tool, ['write', 'html', capture, page]);
    console.log(`1,000,000 slices: ${fs.statSync(page).size.toLocaleString('en-US')} bytes`);
    const median = values => values.sort((a, b) => a - b)[values.length >> 1];
    for (const width of [1280, 390]) {
      const all = [];
      for (let i = 0; i < +runs; i++) all.push(await once(pathToFileURL(page).href, width));
      const said = what => `${median(all.map(t => t[what])).toFixed(0)} (${Math.min(...all.map(t => t[what])).toFixed(0)} to ${Math.max(...all.map(t => t[what])).toFixed(0)})`;
      console.log(`${width} pixels, ms, median of ${runs} (least to most): drawn ${said('parsed')}, ` +
        `interactive ${said('answered')}, a key ${said('key')}; CPU ${said('cpu')}`);
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
main(...process.argv.slice(2)).catch(error => { console.error(String(error)); process.exit(1); });
