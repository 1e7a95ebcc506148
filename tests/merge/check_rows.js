// SPDX-License-Identifier: MIT
// 60 launches of up to 6 blocks merged into a trace take as many rows as SMs had slots, whatever their number; every
// track is there, and its launch can be found: check_rows.js NODE_MODULES INKMARK PLAN_CAPTURE
'use strict';
const assert = require('assert');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { start, skipWithout, loadTrace } = require('../output/traces.js');

const [modules, inkmark, plan] = process.argv.slice(2);
const LAUNCHES = 60, BASE = 1750000000000000000n, TIMER = 1000000000000n;

// Kernels of one stream with gaps, as a decoder's steps have them; a capture of their tracks.
function makeUp(folder) {
  let at = 1000, random = 3;
  const draw = (from, to) => from + (to - from) * ((random = (random * 1103515245 + 12345) % 2147483648) / 2147483648);
  const traceEvents = [], lines = [];
  for (let i = 0; i < LAUNCHES; i++) {
    at += draw(60, 200);
    const begin = Math.round(at * 1000), lasts = Math.round(draw(8, 60) * 1000), blocks = 1 + i % 6;
    traceEvents.push({ ph: 'X', cat: 'kernel', name: 'step', pid: 0, tid: 7, ts: begin / 1000, dur: lasts / 1000,
      args: { device: 0, stream: 7, correlation: i, grid: [blocks, 1, 1], block: [128, 1, 1] } });
    lines.push(`launch 0 0 ${i + 1} ${blocks} 1 1 128 1 1 ${TIMER + BigInt(begin + 500)} ${TIMER + BigInt(begin + lasts - 500)}`);
    at += lasts / 1000;
  }
  fs.writeFileSync(path.join(folder, 'rows.json'), JSON.stringify({ traceEvents, baseTimeNanoseconds: Number(BASE) }));
  fs.writeFileSync(path.join(folder, 'rows.plan'), [`fact host made-up`, `fact pid 77`, `fact started_ns ${BASE}`,
    `device 0 ${BASE - 1000000000n} ${TIMER - 1000000000n} 2000000000 1`, 'kernel step', 'begin', ...lines, ''].join('\n'));
}

start(async () => {
  skipWithout(modules);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-rows-')), file = name => path.join(folder, name);
  try {
    makeUp(folder);
    execFileSync(plan, [file('rows.plan'), file('rows.ink')]);
    execFileSync(inkmark, ['export', file('rows.ink'), '--with', file('rows.json'), '--align', '--tracks', 'all', '-o', file('rows.pftrace')],
      { stdio: ['ignore', 'ignore', 'pipe'] });
    const processor = await loadTrace(modules, file('rows.pftrace'));
    const rows = processor.query('select t.id, count(*) from slice s join track t on s.track_id = t.id group by t.id').rows;
    assert.ok(rows.length >= 2 && rows.length <= 20, `${rows.length} rows`);
    const tracks = execFileSync(inkmark, ['report', '-f', 'json', file('rows.ink')]).toString();
    const { launches, tracks: count } = JSON.parse(tracks).captures[0];
    const told = processor.query(`select count(distinct s.id), count(distinct l.int_value) from slice s
      join args l on s.arg_set_id = l.arg_set_id and l.key = 'debug.launch' where s.category = 'track'`).rows[0].map(Number);
    assert.deepStrictEqual([launches, told], [LAUNCHES, [count, LAUNCHES]], 'tracks with their launch');
    console.log(`${LAUNCHES} launches, ${count} tracks, ${rows.length} rows`);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
