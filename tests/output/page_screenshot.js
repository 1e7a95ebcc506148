// SPDX-License-Identifier: MIT
// Pictures of the page of `inkmark export -o NAME.html`, as docs have them, of its first HEIGHT pixels:
// node page_screenshot.js PAGE PNG WIDTH HEIGHT [dark] [SELECTOR]    SELECTOR: what stands at the top
'use strict';
const path = require('path');
const { pathToFileURL } = require('url');
const { findBrowser, open } = require('./browser.js');

async function main(page, png, width, height, ...rest) {
  const dark = rest[0] === 'dark', selector = rest[dark ? 1 : 0];
  if (!findBrowser()) throw new Error('no chromium');
  const browser = await open({ width: +width, height: +height, dark });
  await browser.load(pathToFileURL(path.resolve(page)).href);
  if (selector)
    await browser.run(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'start' })`);
  await browser.run('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await browser.picture(png);
  await browser.close();
  if (browser.errors.length) throw new Error(browser.errors.join('\n'));
}
main(...process.argv.slice(2)).catch(error => { console.error(String(error)); process.exit(1); });
