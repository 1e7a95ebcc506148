// SPDX-License-Identifier: MIT
// The Chrome JSON output in the real trace processor: the same slices, lengths to the nanosecond, and
// nothing overlapping on a lane; and what other readers need: valid ids, a base at full precision.
// node check_chrome.js NODE_MODULES OUTPUT_TOOL
'use strict';
const assert = require('assert');
const fs = require('fs');
const { Scratch, start, skipWithout, sorted, loadTrace, bodiesOf, assertLanes, sumBy } = require('./traces.js');

const [modules, tool] = process.argv.slice(2);
skipWithout(modules);
const open = e => Number(e.cut === 3); // INK_CUT_OPEN
const arg = name => `extract_arg(s.arg_set_id, 'args.${name}')`;

function checkSlices(processor, truth, base) {
  const bodies = bodiesOf(processor, 'args.');
  const found = processor.query(`select process.pid, s.id, s.name, s.ts, s.dur, ${arg('cycles')},
    ifnull(${arg('iteration')}, ''), ifnull(${arg('open')}, 0) from slice s join thread_track t on s.track_id = t.id join thread using (utid)
    join process using (upid) where s.category = 'section'`).rows.map(([pid, id, ...rest]) => {
    const body = bodies(id);
    return [pid, body.launch, body.track, ...rest].map(String);
  });
  const expected = truth.events.filter(e => e.kind === 'slice').map(e => [e.device,
    e.launch, `block ${e.block}` + (e.thread ? ` warp ${e.thread >> 5}` : '') +
    (e.thread % 32 ? ` lane ${e.thread % 32}` : ''), e.name, BigInt(e.begin_ns) - base,
    BigInt(e.end_ns) - BigInt(e.begin_ns), e.cycles, e.row ?? '', open(e)].map(String));
  assert.deepStrictEqual(sorted(found), sorted(expected));
}

function checkRest(processor, truth, base) {
  const count = where => Number(processor.query(`select count(*) from slice s where ${where}`).rows[0][0]);
  const points = truth.events.filter(e => e.kind === 'point'), asyncs = truth.events.filter(e => e.kind === 'async');
  assert.strictEqual(count("category = 'instant'"), points.filter(p => p.record === 3).length);
  assert.strictEqual(count("category = 'sum'"), points.filter(p => p.escape === 10).length);
  assert.deepStrictEqual(sorted(processor.query(`select s.name, s.ts, s.dur, s.depth, ${arg('key')}, ${arg('cycles')},
    ifnull(${arg('open')}, 0) from slice s where category = 'async'`).rows), sorted(asyncs.map(a => [a.name, BigInt(a.begin_ns) - base,
    BigInt(a.end_ns) - BigInt(a.begin_ns), 0, a.key, a.cycles, open(a)])));
  assert.strictEqual(count("category = 'kernel' and depth = 0"), sumBy(truth.kernels, 'launches'));
  assert.strictEqual(Number(processor.query(`select count(*) from counter c join track t on
    c.track_id = t.id where t.name not like '%active blocks%'`).rows[0][0]),
    points.filter(p => p.record === 7 && p.escape !== 10).length);
  assert.deepStrictEqual(processor.query("select name, value from stats where severity = 'error' and value > 0").rows, []);
}

// No reader may have to guess: on a lane, ranges are apart or one encloses the other.
function checkLanes(events) {
  const lanes = new Map();
  for (const e of events.filter(x => x.ph === 'X')) {
    assert.ok(Number.isInteger(e.pid) && e.pid >= 0 && Number.isInteger(e.tid) && e.tid > 0 && e.tid < 2 ** 31);
    const lane = `${e.pid}/${e.tid}`;
    lanes.set(lane, (lanes.get(lane) ?? []).concat([[Math.trunc(e.ts * 1000), Math.trunc(e.ts * 1000) + Math.trunc(e.dur * 1000)]]));
  }
  assert.ok(lanes.size > 5);
  assertLanes([...lanes].flatMap(([lane, ranges]) => ranges.map(([b, e]) => [lane, b, e])));
}

// Read as doubles, truncated or rounded, every time is the nanosecond that was meant.
function checkDoubles(events, truth, base) {
  const expected = sorted(truth.events.filter(e => e.kind === 'slice').map(e =>
    [BigInt(e.begin_ns) - base, BigInt(e.end_ns) - BigInt(e.begin_ns)].map(String)));
  for (const whole of [Math.trunc, Math.round])
    assert.deepStrictEqual(sorted(events.filter(e => e.cat === 'section').map(e =>
      [e.ts, e.dur].map(us => String(whole(us * 1000))))), expected);
}

async function main() {
  const scratch = new Scratch(tool);
  const capture = scratch.make('mixed'), truth = scratch.dump(capture);
  const file = scratch.write('chrome', capture, 'mixed.json');
  const json = JSON.parse(fs.readFileSync(file));
  const base = BigInt(json.otherData.baseTimeNanoseconds);
  assert.strictEqual(base, truth.events.filter(e => e.kind === 'track').map(e => BigInt(e.open_ns))
    .reduce((a, b) => a < b ? a : b));
  assert.match(fs.readFileSync(file, 'utf8'), new RegExp(`"baseTimeNanoseconds":${base},`));
  assert.strictEqual(json.otherData.clock, 'simulated clock');
  assert.strictEqual(json.otherData.marks_dropped, sumBy(truth.kernels, 'dropped'));
  assert.strictEqual(json.otherData.entries_missed, 3);
  checkLanes(json.traceEvents);
  checkDoubles(json.traceEvents, truth, base);
  const many = scratch.make('many:400:3'), long = JSON.parse(fs.readFileSync(scratch.write('chrome', many, 'many.json')));
  checkDoubles(long.traceEvents, scratch.dump(many), BigInt(long.otherData.baseTimeNanoseconds));
  const processor = await loadTrace(modules, file);
  checkSlices(processor, truth, base);
  checkRest(processor, truth, base);
  checkSlices(await loadTrace(modules, scratch.write('chrome', capture, 'mixed.json.gz')), truth, base);
  const hung = scratch.make('open'), left = scratch.dump(hung), written = scratch.write('chrome', hung, 'open.json');
  assert.strictEqual(left.events.filter(open).length, 3);
  const from = BigInt(JSON.parse(fs.readFileSync(written)).otherData.baseTimeNanoseconds);
  const seen = await loadTrace(modules, written);
  checkSlices(seen, left, from);
  checkRest(seen, left, from);
  scratch.remove();
}

start(main);
