// SPDX-License-Identifier: MIT
// The host's ranges in the exported traces, as the real trace processor reads them: ranges by domain with payloads, the
// launches below them, and the arrows from these to the kernels that they made.
// node check_trace.js NODE_MODULES INKMARK PROGRAM pftrace|json|captures; captures: two of them in one trace
'use strict';
const assert = require('assert');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { skipWithout, sorted, loadTrace } = require('../output/traces.js');
const { Reader } = require('../output/trace_processor.js');

const [modules, inkmark, program, format] = process.argv.slice(2);
skipWithout(modules);

const ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
const arg = name => `ifnull(extract_arg(s.arg_set_id, 'debug.${name}'), extract_arg(s.arg_set_id, 'args.${name}'))`;
const run = (...args) => execFileSync(inkmark, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });

// This trace processor knows no flows of Perfetto's: they are read from the file. [parent's name, kernel, launch]
function flowsOf(processor, file) {
  const ends = new Map(), launches = new Map();
  for (const [, packet] of new Reader(fs.readFileSync(file)).fields())
    for (const [field, event] of new Reader(packet).fields()) {
      if (field !== 11) continue;
      const values = [...new Reader(event).fields()], ids = values.filter(([f]) => f === 47).map(([, v]) => v.readBigUInt64LE());
      const category = String(values.find(([f]) => f === 22)?.[1] ?? '');
      for (const id of ids) ends.set(id, [...(ends.get(id) ?? []), category]);
    }
  assert.strictEqual(ends.size, 3);
  for (const [id, two] of ends) {
    assert.deepStrictEqual(two, ['host_call', 'kernel']);
    launches.set(Number(id & 0xffffffffn), true);
  }
  const calls = processor.query(`select p.name, ${arg('kernel')}, ${arg('launch')} from slice s join slice p on s.parent_id = p.id
    where s.category = 'host_call'`).rows;
  assert.ok(calls.every(([, , launch]) => launches.has(Number(launch))));
  return calls;
}

// JSON's reader draws no arrow that leads back in time. The simulated device's time is not the host's: on a busy machine a
// kernel may lie before its call, so that it records once more.
function recordInOrder(capture, file) {
  for (let left = 30; left; left--) {
    run('record', '--device', 'sim', '--nvtx', '-o', capture, '--', program, 'cpp');
    run('export', capture, '-o', file);
    if (format !== 'json') return;
    const { traceEvents } = JSON.parse(fs.readFileSync(file));
    const begins = phase => new Map(traceEvents.filter(e => e.ph === phase && e.name === 'launch').map(e => [e.id, e.ts]));
    const calls = begins('s'), kernels = begins('f');
    assert.deepStrictEqual(sorted([...calls.keys()].map(id => [id])), sorted([...kernels.keys()].map(id => [id])));
    assert.strictEqual(calls.size, 3);
    if ([...calls].every(([id, ts]) => ts <= kernels.get(id))) return;
  }
  assert.fail('30 recordings have kernels before their calls');
}

// Of two captures in one trace each has a process, with its own ranges in the order in which they were, and its own arrows.
async function captures() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-host-')), file = path.join(folder, 'both.pftrace');
  const both = [0, 1].map(rank => path.join(folder, `rank.${rank}.ink`));
  for (const capture of both) run('record', '--device', 'sim', '--nvtx', '-o', capture, '--', program, 'cpp');
  run('export', ...both, '-o', file);
  const processor = await loadTrace(modules, file);
  assert.deepStrictEqual(processor.query(ERRORS).rows, []);
  const names = processor.query(`select p.name, s.name, s.ts, s.dur from slice s join process_track t on s.track_id = t.id
    join process p using (upid) where s.category in ('host_range', 'host_mark')`).rows;
  const hosts = both.map(capture => JSON.parse(run('report', '--host', '-f', 'json', capture)).captures[0]);
  assert.strictEqual(names.length, hosts[0].ranges.length + hosts[1].ranges.length);
  assert.strictEqual(new Set(names.map(([process]) => process)).size, 2, String(names));
  const begins = hosts.flatMap(h => h.ranges.map(r => [r.name, r.begin_ns, r.end_ns - r.begin_ns]));
  for (const [name, begin, dur] of begins)
    assert.ok(names.some(([, n, ts, d]) => n === name && Math.abs(Number(ts) - begin) <= 600 && Math.abs(Number(d) - dur) <= 600),
      name + begin + names);
  const calls = processor.query(`select ${arg('launch')} from slice s where s.category = 'host_call'`).rows;
  assert.deepStrictEqual(calls.map(([n]) => Number(n)).sort(), [0, 0, 1, 1, 2, 2]);
  const ends = new Map();
  for (const [, packet] of new Reader(fs.readFileSync(file)).fields())
    for (const [field, event] of new Reader(packet).fields()) {
      if (field !== 11) continue;
      const values = [...new Reader(event).fields()], category = String(values.find(([f]) => f === 22)?.[1] ?? '');
      if (category === 'host_call' || category === 'inkmark')
        for (const [f, v] of values)
          if (f === 47) ends.set(v.readBigUInt64LE(), [...(ends.get(v.readBigUInt64LE()) ?? []), category]);
    }
  const flows = [...ends.values()].filter(two => two.includes('host_call'));
  assert.deepStrictEqual(flows, Array(6).fill(['host_call', 'inkmark']));
  fs.rmSync(folder, { recursive: true });
  console.log('fine');
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-host-'));
  const capture = path.join(folder, 'run.ink'), file = path.join(folder, 'run.' + format);
  recordInOrder(capture, file);
  const processor = await loadTrace(modules, file);
  assert.deepStrictEqual(processor.query(ERRORS).rows, []);
  const host = JSON.parse(run('report', '--host', '-f', 'json', capture)).captures[0];

  const ranges = processor.query(`select s.name, ifnull(${arg('domain')}, ''), ifnull(${arg('payload')}, ''),
    ifnull(${arg('category_name')}, ''), s.dur from slice s where s.category in ('host_range', 'host_mark')`).rows;
  assert.deepStrictEqual(sorted(ranges.map(r => r.slice(0, 4).map(String))),
    sorted([['whole', '', '', ''], ['inner', 'cpp solver', '-9', 'cpp io'], ['done', 'cpp solver', '', '']]));
  for (const r of host.ranges)
    assert.ok(ranges.some(([name, , , , dur]) => name === r.name && Math.abs(Number(dur) - (r.end_ns - r.begin_ns)) <= 600), JSON.stringify(r) + ranges);

  // each call lies in the range that it was made in, and leads to the launch that it made
  const flows = format === 'pftrace' ? flowsOf(processor, file) : processor.query(`select p.name, ${arg('kernel')}, ifnull(extract_arg(k.arg_set_id, 'debug.launch'),
    extract_arg(k.arg_set_id, 'args.launch')) from flow f join slice s on f.slice_out = s.id join slice p on s.parent_id = p.id
    join slice k on f.slice_in = k.id where s.category = 'host_call' and k.category = 'kernel'`).rows;
  assert.deepStrictEqual(sorted(flows.map(r => r.map(String))),
    sorted([['whole', '_Z6markedPf', '0'], ['inner', '_Z6markedPf', '1'], ['whole', '_Z6markedPf', '2']]));

  // of a launch alone: its call, and what was open then
  run('export', '--launch', '1', capture, '-o', file);
  const one = await loadTrace(modules, file);
  assert.deepStrictEqual(sorted(one.query(`select name from slice where category like 'host%'`).rows),
    sorted([['whole'], ['inner'], ['launch marked']]));
  fs.rmSync(folder, { recursive: true });
  console.log('fine');
}
(format === 'captures' ? captures : main)();
