// SPDX-License-Identifier: MIT
// What the trace tests share: captures and outputs in a folder of their own, the trace processor, and
// comparisons that do not depend on order.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const zlib = require('zlib');
const { TraceProcessor, Reader, PACKAGE } = require('./trace_processor.js');

const SKIPPED = 77; // CTest's SKIP_RETURN_CODE

function skipWithout(modules) {
  if (fs.existsSync(path.join(modules, PACKAGE))) return;
  console.log(`SKIPPED: ${PACKAGE} is not in ${modules}: tests/run.sh installs it`);
  process.exit(SKIPPED);
}

class Scratch {
  constructor(tool) {
    this.tool = tool;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-traces-'));
  }
  run(...args) { return execFileSync(this.tool, args, { maxBuffer: 1 << 28 }); }
  make(kind) {
    const file = path.join(this.folder, kind.replaceAll(':', '-') + '.ink');
    this.run('make', kind, file);
    return file;
  }
  dump(capture) { return JSON.parse(this.run('dump', capture)); }
  write(format, capture, name, ...filter) {
    const file = path.join(this.folder, name);
    this.run('write', format, capture, file, ...filter);
    return file;
  }
  remove() { fs.rmSync(this.folder, { recursive: true }); }
}

async function loadTrace(modules, file) {
  const processor = await TraceProcessor.start(modules);
  processor.load(fs.readFileSync(file));
  return processor;
}

// uuid -> {parent, name} of every track, read from the file: this trace processor shows no parents.
function trackDescriptors(file) {
  let bytes = fs.readFileSync(file);
  if (bytes[0] === 0x1f) bytes = zlib.gunzipSync(bytes);
  const tracks = new Map();
  for (const [, packet] of new Reader(bytes).fields()) {
    for (const [field, descriptor] of new Reader(packet).fields()) {
      if (field !== 60) continue;
      const values = Object.fromEntries(new Reader(descriptor).fields());
      tracks.set(values[1], { parent: values[5], name: values[2]?.toString() });
    }
  }
  return tracks;
}

// What the slice around all others of a track says of it, for each slice of the track: {launch, sm, track, lane}.
function bodiesOf(processor, prefix) {
  const arg = name => `extract_arg(s.arg_set_id, '${prefix}${name}')`;
  const bodies = new Map(), parents = new Map();
  for (const r of processor.query(`select s.id, s.parent_id, ifnull(s.category, ''), ${arg('launch')}, ${arg('track')}, t.name
    from slice s join track t on s.track_id = t.id`).rows) {
    parents.set(r[0], r[1]);
    if (r[2] === 'track') bodies.set(r[0], { launch: String(r[3]), track: r[4], lane: r[5] });
  }
  return id => {
    while (id !== null && !bodies.has(id)) id = parents.get(id) ?? null;
    return bodies.get(id);
  };
}

// On a lane a slice is within another or apart from it; what is [lane, begin, end], as BigInts.
function assertLanes(slices) {
  const lanes = new Map();
  for (const [lane, begin, end] of slices) lanes.set(lane, (lanes.get(lane) ?? []).concat([[begin, end]]));
  for (const [lane, ranges] of lanes) {
    const open = [];
    ranges.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] > b[1] ? -1 : Number(a[1] < b[1]));
    for (const [begin, end] of ranges) {
      while (open.length && open[open.length - 1] <= begin) open.pop();
      if (open.length && end > open[open.length - 1]) throw new Error(`${lane}: ${begin} to ${end} crosses an end at ${open.pop()}`);
      open.push(end);
    }
  }
  return lanes.size;
}

const sorted = rows => rows.map(r => r.join('|')).sort();
const sumBy = (rows, field) => rows.reduce((sum, r) => sum + Number(r[field]), 0);

// The WebAssembly module keeps node alive; a failure must still be one.
function start(main) {
  main().then(() => { console.log('ok'); process.exit(0); },
    error => { console.error(error.stack ?? error); process.exit(1); });
}

module.exports = { Scratch, skipWithout, loadTrace, trackDescriptors, bodiesOf, assertLanes, sorted, sumBy, start };
