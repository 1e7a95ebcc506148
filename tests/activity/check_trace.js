// SPDX-License-Identifier: MIT
// Activity in the exported traces, as the real trace processor reads them: every kernel, copy, set and
// call with its time, no two of a lane overlapping, our tracks beneath and inside of their kernels.
// node check_trace.js NODE_MODULES INKMARK PROGRAM pftrace|json|ranks     ranks: two captures in one trace
'use strict';
const assert = require('assert');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { start, skipWithout, sorted, loadTrace, trackDescriptors } = require('../output/traces.js');

const [modules, inkmark, program, format] = process.argv.slice(2);
skipWithout(modules);

const ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
const WORK = { kernel: 'cuda_kernel', copy: 'cuda_copy', set: 'cuda_set', 'runtime call': 'cuda_call' };
const arg = name => `ifnull(extract_arg(s.arg_set_id, 'debug.${name}'), extract_arg(s.arg_set_id, 'args.${name}'))`;
const run = (...args) => execFileSync(inkmark, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });

// Two ranks on one timeline: the kernels of both, each capture's processes apart, our launches under streams.
async function ranks() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-activity-')), file = path.join(folder, 'ranks.pftrace');
  const captures = ['0', '1'].map(rank => path.join(folder, rank + '.ink'));
  captures.forEach((capture, rank) => {
    process.env.RANK = String(rank);
    run('record', '--device', 'sim', '--activity', '-o', capture, '--', program, 'once');
  });
  run('export', ...captures, '-o', file);
  const processor = await loadTrace(modules, file);
  assert.deepStrictEqual(processor.query(ERRORS).rows, []);
  const names = processor.query("select name from process where name is not null and name != '' order by name").rows.flat();
  assert.strictEqual(names.length, 4);
  for (const rank of ['0', '1']) {
    const of = names.filter(name => name.startsWith(`rank ${rank}, `));
    assert.ok(of.length === 2 && of[0].endsWith('/busy') && of[1].endsWith('GPU 0 (simulated clock)'), names);
  }
  const seen = captures.flatMap(capture => JSON.parse(run('report', '--activity', '--format', 'json', capture)).captures[0].timeline);
  const found = processor.query(`select s.category, ${arg('correlation')}, ifnull(${arg('grid_id')}, '') from slice s
    where s.category like 'cuda%'`).rows;
  assert.ok(seen.length > 40);
  assert.deepStrictEqual(sorted(found), sorted(seen.map(a => [WORK[a.kind], a.correlation, a.grid_id ?? ''])));
  checkLaunchRows(processor, file);
  fs.rmSync(folder, { recursive: true });
}

/* The launches' slices lie on rows of launches, each below a stream. */
function checkLaunchRows(processor, file) {
  const tracks = trackDescriptors(file), rows = [...tracks.values()];
  const ofLaunches = rows.filter(t => /^(inkmark )?launches( \d+)?$/.test(t.name ?? ''));
  assert.ok(ofLaunches.length > 0 && ofLaunches.length <= 10, rows.map(t => t.name));
  assert.ok(ofLaunches.every(t => /^stream \d+$/.test(tracks.get(t.parent).name)), ofLaunches);
  const on = processor.query(`select t.name, count(*) from slice s join track t on s.track_id = t.id
    where t.name glob '*launches*' group by t.name`).rows;
  assert.strictEqual(on.reduce((sum, [, n]) => sum + Number(n), 0), 10);
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-activity-'));
  const capture = path.join(folder, 'run.ink'), file = path.join(folder, 'run.' + format);
  process.env.INKMARK_SIM_DEVICES = '2';
  run('record', '--device', 'sim', '--activity', '-o', capture, '--', program, 'devices');
  run('export', capture, '-o', file);
  const seen = JSON.parse(run('report', '--activity', '--format', 'json', capture)).captures[0];
  const text = run('report', '--activity', '--format', 'json', capture).toString();
  const processor = await loadTrace(modules, file);
  assert.deepStrictEqual(processor.query(ERRORS).rows, []);

  // Times do not fit a double: they are read from the text.
  const times = [...text.matchAll(/"begin_ns": (\d+), "end_ns": (\d+), "correlation": (\d+)/g)].map(m => m.slice(1).map(BigInt));
  assert.strictEqual(times.length, seen.timeline.length);
  const base = format === 'json' ? BigInt(JSON.parse(fs.readFileSync(file)).otherData.baseTimeNanoseconds) : 0n;
  const expected = seen.timeline.map((a, i) => [WORK[a.kind], times[i][0] - base, times[i][1] - times[i][0], a.correlation,
    a.grid_id ?? '', a.bytes ?? '', a.launch ?? '']);
  assert.ok(expected.length > 40 && expected.some(e => e[0] === 'cuda_kernel'));
  const found = processor.query(`select s.category, s.ts, s.dur, ${arg('correlation')}, ifnull(${arg('grid_id')}, ''),
    ifnull(${arg('bytes')}, ''), ifnull(${arg('launch')}, '') from slice s where s.category like 'cuda%'`).rows;
  assert.deepStrictEqual(sorted(found), sorted(expected));

  // Lanes: nothing encloses or overlaps anything.
  assert.deepStrictEqual(processor.query(`select s.name, s.depth from slice s where s.category like 'cuda%' and s.depth > 0`).rows, []);
  assert.deepStrictEqual(processor.query(`select a.name, b.name from slice a join slice b on a.track_id = b.track_id
    where a.category like 'cuda%' and b.category like 'cuda%' and a.ts < b.ts and a.ts + a.dur > b.ts`).rows, []);

  // Our launches: inside of the kernel with their number, to the clock's bound.
  const launches = processor.query(`select ${arg('launch')}, s.ts, s.dur from slice s where s.category = 'kernel'`).rows;
  const kernels = new Map(processor.query(`select ${arg('launch')}, s.ts, s.dur from slice s
    where s.category = 'cuda_kernel' and ${arg('launch')} is not null`).rows.map(([launch, ...time]) => [launch, time]));
  assert.strictEqual(launches.length, 10);
  const bound = BigInt(JSON.parse(run('info', '--format', 'json', capture)).captures[0].clocks[0].bound_ns);
  for (const [launch, ts, dur] of launches) {
    const [from, lasted] = kernels.get(launch);
    assert.ok(ts >= from - bound && ts + dur <= from + lasted + bound, `launch ${launch}`);
  }
  if (format === 'pftrace') {
    checkLaunchRows(processor, file);
    const tracks = trackDescriptors(file);
    const threads = [...tracks.values()].filter(t => /^thread \d+$/.test(t.name ?? ''));
    assert.strictEqual(threads.length, 1);
  } else {
    const events = JSON.parse(fs.readFileSync(file)).traceEvents, of = ph => events.filter(e => e.ph === ph);
    assert.ok(events.every(e => e.ts === undefined || e.ts >= 0));
    const begun = new Set(of('s').map(e => e.id)), ended = new Set(of('f').map(e => e.id));
    assert.deepStrictEqual([...begun].sort(), [...ended].sort());
    assert.strictEqual(of('f').length, seen.timeline.filter(a => a.kind !== 'runtime call').length);
  }
  fs.rmSync(folder, { recursive: true });
}

start(format === 'ranks' ? ranks : main);
