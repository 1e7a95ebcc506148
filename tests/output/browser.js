// SPDX-License-Identifier: MIT
// Headless Chromium by its DevTools protocol over two pipes: any width (a window of its own has 500 at least), light or dark.
'use strict';
const { spawn, spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const smallPng = require('./small_png.js');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--hide-scrollbars', '--remote-debugging-pipe'];

const findBrowser = () => NAMES.find(name => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0);

// `look`: { width, height, dark }. The page's console errors and exceptions are in `errors`.
async function open(look) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-browser-'));
  const child = spawn(findBrowser(), [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const waiting = new Map(), heard = [], errors = [];
  let next = 0, rest = '', session;
  child.stdio[4].on('data', data => {
    const parts = (rest + data).split('\0');
    rest = parts.pop();
    for (const message of parts.map(p => JSON.parse(p))) {
      if (message.id) {
        const { done, failed, method } = waiting.get(message.id);
        waiting.delete(message.id);
        message.error ? failed(new Error(`${method}: ${message.error.message}`)) : done(message.result);
        continue;
      }
      if (message.method === 'Runtime.exceptionThrown') errors.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
      if (message.method === 'Runtime.consoleAPICalled' && message.params.type === 'error') errors.push(message.params.args.map(a => a.value).join(' '));
      for (const h of [...heard]) if (h.method === message.method) { heard.splice(heard.indexOf(h), 1); h.done(message.params); }
    }
  });
  const send = (method, params = {}) => new Promise((done, failed) => {
    waiting.set(++next, { done, failed, method });
    child.stdio[3].write(JSON.stringify({ id: next, method, params, sessionId: session }) + '\0');
  });
  const hear = method => new Promise(done => heard.push({ method, done }));
  const { targetInfos } = await send('Target.getTargets');
  session = (await send('Target.attachToTarget', { targetId: targetInfos.find(t => t.type === 'page').targetId, flatten: true })).sessionId;
  await send('Page.enable');
  await send('Runtime.enable');
  const see = async ({ width, height, dark }) => {
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  };
  await see(look);
  return {
    send, see, errors,
    async load(url) {
      const loaded = hear('Page.loadEventFired');
      await send('Page.navigate', { url });
      await loaded;
    },
    async run(expression) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async picture(png, clip) {
      const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: false, clip });
      fs.writeFileSync(png, smallPng(Buffer.from(data, 'base64')));
    },
    async close() {
      const gone = new Promise(done => child.on('exit', done));
      await send('Browser.close').catch(() => child.kill());
      await gone;
      fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

module.exports = { findBrowser, open };
