// SPDX-License-Identifier: MIT
// The Perfetto output as the real trace processor reads it: every slice, its place, nesting, length
// and arguments against the decoder's events, and the sums against ink_table's rows.
// node check_perfetto.js NODE_MODULES OUTPUT_TOOL [CAPTURE]     a made-up capture when none is given
'use strict';
const assert = require('assert');
const { Scratch, start, skipWithout, sorted, loadTrace, trackDescriptors, bodiesOf, assertLanes, sumBy } = require('./traces.js');

const [modules, tool, recorded] = process.argv.slice(2);
skipWithout(modules);

const ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
const arg = name => `ifnull(extract_arg(s.arg_set_id, '${name}'), extract_arg(s.arg_set_id, 'debug.${name}'))`;

// A recording of each warp, as those of the examples are, names the first one too.
const ofWarps = new Set();
const learnWarps = truth => truth.events.forEach(e => ofWarps.add(e.launch));
// A track with a role has its warp only where another of its block has the same role.
const namesWarp = e => e.role === undefined ? e.thread || ofWarps.has(e.launch) : e.role_shared;
const label = e => 'block ' + (e.block_y === undefined ? e.block : `(${e.block},${e.block_y},${e.block_z})`) +
  (e.role === undefined ? '' : ' ' + e.role) + (namesWarp(e) ? ` warp ${Math.floor(e.thread / 32)}` : '') +
  (e.thread % 32 ? ` lane ${e.thread % 32}` : '');
const place = e => [`${e.launch}`, `SM ${e.sm}`, label(e)];
const OPEN = 3; // enum ink_cut
const cut = e => e.cut === OPEN ? 0 : e.cut, open = e => Number(e.cut === OPEN);
const row = e => e.row === 'unknown' ? 'unknown' : e.row === null ? '' : String(e.row);

// A row that starts with a slice's id, with launch, SM and block instead: those of the track's own slice around it.
function placed(bodies, [id, ...rest]) {
  const body = bodies(id);
  return [body.launch, body.lane.split(' ').slice(0, 2).join(' '), body.track, ...rest.map(String)];
}

// How many slices of its track enclose a slice: by the decoder's levels, as far as these were recorded.
function nesting(slice, all) {
  return all.filter(e => e.launch === slice.launch && label(e) === label(slice) &&
    e.depth < slice.depth && BigInt(e.begin_cycles) <= BigInt(slice.begin_cycles) &&
    BigInt(e.end_cycles) >= BigInt(slice.end_cycles)).length;
}

function checkSlices({ processor, bodies }, truth) {
  const found = processor.query(`select s.id, s.name, s.ts, s.dur, s.depth,
    ifnull(${arg('iteration')}, iif(${arg('iteration_unknown')}, 'unknown', '')), ${arg('cycles')},
    ifnull(${arg('cut')}, 0), ifnull(${arg('open')}, 0), ifnull(${arg('called')}, 0)
    from slice s where s.category is null`).rows.map(r => placed(bodies, r));
  const slices = truth.events.filter(e => e.kind === 'slice');
  const expected = slices.map(e => [...place(e), e.name, e.begin_ns,
    BigInt(e.end_ns) - BigInt(e.begin_ns), nesting(e, slices) + 1, row(e), e.cycles, cut(e), open(e), e.called].map(String));
  assert.ok(expected.length > 0);
  assert.deepStrictEqual(sorted(found), sorted(expected));
}

// Each track's own slice on a lane of its SM, in no other.
function checkBodies({ processor, bodies }, truth) {
  const found = processor.query(`select s.id, s.name, s.ts, s.dur, s.depth, ${arg('sm')}, ${arg('block')}, ${arg('warp')},
    ${arg('marks_dropped')} from slice s where s.category = 'track'`).rows.map(r => placed(bodies, r));
  const tracks = truth.events.filter(e => e.kind === 'track');
  assert.deepStrictEqual(sorted(found), sorted(tracks.map(t => [...place(t), t.kernel, t.open_ns,
    BigInt(t.close_ns) - BigInt(t.open_ns), 0, t.sm, t.linear, t.thread >> 5, t.dropped].map(String))));
  checkRows(processor);
}

// What has a row: as many as there are SMs and slots of them, not launches or blocks.
const ROWS = 'select t.id, s.ts, s.ts + s.dur from slice s join track t on s.track_id = t.id where s.dur >= 0';
const checkRows = processor => assertLanes(processor.query(ROWS).rows);

// Each counter of active blocks begins with a block, ends with none, and is never negative.
function checkActive(processor, truth) {
  const rows = processor.query(`select t.id, t.name, c.ts, c.value from counter c join track t on c.track_id = t.id
    where t.name like '%active blocks' order by t.id, c.ts`).rows;
  const tracks = truth.events.filter(e => e.kind === 'track' && e.close_ns !== e.open_ns);
  assert.ok(rows.length || !tracks.length, 'no counter of active blocks');
  for (const id of new Set(rows.map(r => String(r[0])))) {
    const of = rows.filter(r => String(r[0]) === id).map(r => Number(r[3]));
    assert.ok(of[0] > 0 && of[of.length - 1] === 0 && Math.min(...of) >= 0, `counter ${id}: ${of}`);
  }
}

// Sums by kernel and section, which is what `inkmark report` prints. The trace rounds each ns.
function checkTable({ processor, bodies }, truth) {
  const kernels = new Map(processor.query(`select ${arg('launch')}, s.name from slice s
    where s.category = 'kernel'`).rows.map(([launch, name]) => [String(launch), name]));
  const sums = new Map();
  for (const r of processor.query(`select s.id, s.name, s.dur, ${arg('cycles')} from slice s
    where s.category is null and ${arg('cut')} is null and ${arg('open')} is null`).rows) {
    const [launch, , , name, ns, cycles] = placed(bodies, r), key = kernels.get(launch) + '|' + name;
    const sum = sums.get(key) ?? { count: 0, ns: 0, cycles: [] };
    sum.count++;
    sum.ns += Number(ns);
    sum.cycles.push(Number(cycles));
    sums.set(key, sum);
  }
  const whole = new Map(); // the table has a row for each device
  for (const r of truth.table.filter(r => !r.summed && r.name !== '(unmarked)' && r.count)) {
    const key = r.kernel + '|' + r.name, before = whole.get(key);
    whole.set(key, before ? { ...before, count: before.count + r.count, total_ns: before.total_ns + r.total_ns,
      total_cycles: before.total_cycles + r.total_cycles, min_cycles: Math.min(before.min_cycles, r.min_cycles),
      max_cycles: Math.max(before.max_cycles, r.max_cycles) } : r);
  }
  const expected = [...whole.values()];
  assert.strictEqual(sums.size, expected.length);
  for (const r of expected) {
    const found = sums.get(`${r.kernel}|${r.name}`);
    assert.ok(found, `${r.kernel} ${r.name} is missing`);
    assert.deepStrictEqual(
      [found.count, found.cycles.reduce((a, b) => a + b), Math.min(...found.cycles), Math.max(...found.cycles)],
      [r.count, r.total_cycles, r.min_cycles, r.max_cycles], r.name);
    assert.ok(Math.abs(found.ns - r.total_ns) <= r.count, `${r.name}: ${found.ns} ns, not ${r.total_ns}`);
  }
}

function checkKernels({ processor }, truth) {
  const tracks = truth.events.filter(e => e.kind === 'track');
  const launches = [...new Set(tracks.map(t => t.launch))];
  const expected = launches.map(launch => {
    const of = tracks.filter(t => t.launch === launch);
    const begin = of.map(t => BigInt(t.open_ns)).reduce((a, b) => a < b ? a : b);
    const end = of.map(t => BigInt(t.close_ns)).reduce((a, b) => a > b ? a : b);
    return [launch, begin, end - begin, of.length, sumBy(of, 'kept'), sumBy(of, 'dropped')].map(String);
  });
  const found = processor.query(`select ${arg('launch')}, s.ts, s.dur, ${arg('tracks')}, ${arg('marks_kept')},
    ${arg('marks_dropped')} from slice s where s.category = 'kernel'`).rows.map(r => r.map(String));
  assert.deepStrictEqual(sorted(found), sorted(expected));
  assert.strictEqual(found.map(r => Number(r[5])).reduce((a, b) => a + b), sumBy(truth.kernels, 'dropped'));
}

function checkPoints({ processor, bodies }, truth) {
  const points = truth.events.filter(e => e.kind === 'point'), instant = 3, escape = 7, sumEscape = 10;
  const instants = processor.query(`select s.id, s.name, s.ts from slice s
    where s.category = 'instant' and s.dur = 0`).rows.map(r => placed(bodies, r));
  assert.deepStrictEqual(sorted(instants),
    sorted(points.filter(p => p.record === instant).map(p => [...place(p), p.name, p.ns])));
  const sums = processor.query(`select count(*), sum(${arg('count')}) from slice s where s.category = 'sum'`).rows[0];
  const summed = truth.table.filter(r => r.summed);
  assert.deepStrictEqual(sums.map(Number),
    [points.filter(p => p.escape === sumEscape).length, sumBy(summed, 'count')]);
  checkActive(processor, truth);
  const values = processor.query(`select t.name, c.ts, c.value from counter c join track t on c.track_id = t.id
    where t.name not like '%active blocks'`)
    .rows.map(r => [r[0], String(r[1]), String(r[2])]);
  assert.deepStrictEqual(sorted(values), sorted(points
    .filter(p => p.record === escape && p.escape !== sumEscape).map(p => [p.name, p.ns, String(p.value)])));
}

function checkAsyncs({ processor }, truth) {
  const expected = truth.events.filter(e => e.kind === 'async').map(e =>
    [e.name, e.begin_ns, BigInt(e.end_ns) - BigInt(e.begin_ns), e.key, e.cycles, open(e), 0].map(String));
  // Depth 0: each lies on a lane where it overlaps no other.
  const found = processor.query(`select s.name, s.ts, s.dur, ${arg('key')}, ${arg('cycles')},
    ifnull(${arg('open')}, 0), s.depth from slice s where s.category = 'async'`).rows.map(r => r.map(String));
  assert.deepStrictEqual(sorted(found), sorted(expected));
}

function checkNotes({ processor }) {
  assert.deepStrictEqual(processor.query('select name from process where name is not null order by name').rows.flat(),
    ['GPU 0 (simulated clock)', 'GPU 1']);
  const [simulated, real] = processor.all(`select s.name, ${arg('clock')} as clock, ${arg('entries_missed')} as missed
    from slice s where s.category = 'note' order by s.id`);
  assert.deepStrictEqual([simulated.name, simulated.clock, Number(simulated.missed)],
    ['simulated clock', 'simulated clock', 3]);
  assert.deepStrictEqual([real.name, real.clock], ['about this capture', 'GPU clock']);
  const realtime = processor.query("select count(*) from clock_snapshot where clock_name = 'REALTIME'").rows[0][0];
  assert.ok(realtime >= 1n);
}

async function load(file) {
  const processor = await loadTrace(modules, file);
  return { processor, descriptors: trackDescriptors(file), bodies: bodiesOf(processor, 'debug.') };
}

function checkEvents(whole, truth) {
  checkSlices(whole, truth);
  checkBodies(whole, truth);
  checkTable(whole, truth);
  checkKernels(whole, truth);
  checkPoints(whole, truth);
  checkAsyncs(whole, truth);
  assert.deepStrictEqual(whole.processor.query(ERRORS).rows, []);
}

async function checkRecorded(scratch) {
  const whole = await load(scratch.write('perfetto', recorded, 'recorded.pftrace'));
  const truth = scratch.dump(recorded);
  learnWarps(truth);
  checkEvents(whole, truth);
  assert.deepStrictEqual(whole.processor.query('select name from process where name is not null').rows.flat(),
    ['GPU 0 (simulated clock)']);
}

async function checkMadeUp(scratch) {
  const capture = scratch.make('mixed'), truth = scratch.dump(capture);
  const whole = await load(scratch.write('perfetto', capture, 'mixed.pftrace'));
  assert.ok(truth.events.length > 500 && truth.kernels.some(k => k.dropped > 0));
  checkNotes(whole);
  checkEvents(whole, truth);

  const packed = await load(scratch.write('perfetto', capture, 'mixed.pftrace.gz'));
  checkSlices(packed, truth);

  const some = await load(scratch.write('perfetto', capture, 'main.pftrace', '^Main$'));
  assert.deepStrictEqual(some.processor.query("select name, count(*) from slice where category = 'kernel' group by 1").rows,
    [['Main', 1n]]);
  const second = await load(scratch.write('perfetto', capture, 'second.pftrace', '', '1'));
  checkSlices(second, { events: truth.events.filter(e => e.launch === 1) });

  // What is open is drawn up to when it was last seen, and says so.
  const hung = scratch.make('open'), left = scratch.dump(hung), opened = left.events.filter(e => open(e));
  assert.deepStrictEqual(opened.map(e => `${e.kind} ${e.name}`).sort(), ['async Copy', 'slice Gradient', 'slice Inner']);
  assert.ok(opened.every(e => BigInt(e.end_ns) - BigInt(e.begin_ns) > 5000n), JSON.stringify(opened));
  const seen = await load(scratch.write('perfetto', hung, 'open.pftrace'));
  for (const check of [checkSlices, checkTable, checkPoints, checkAsyncs]) // a kernel's end is that in globaltimer's ns
    check(seen, left);
  assert.deepStrictEqual(seen.processor.query(ERRORS).rows, []);

  // Tracks that hold garbage still make a trace that loads without an error.
  for (let seed = 1; seed <= 8; seed++) {
    const { processor } = await load(scratch.write('perfetto', scratch.make(`garbage:${seed}`), 'garbage.pftrace'));
    assert.deepStrictEqual(processor.query(ERRORS).rows, [], `garbage ${seed}`);
    checkRows(processor);
  }
}

start(async () => {
  const scratch = new Scratch(tool);
  await (recorded ? checkRecorded(scratch) : checkMadeUp(scratch));
  scratch.remove();
});
