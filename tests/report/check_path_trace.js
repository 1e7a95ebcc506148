// SPDX-License-Identifier: MIT
// The critical path in a Perfetto trace, as the real trace processor reads it, against `report --path`: each section's time,
// slices without a gap, an arrow at each change of track. node check_path_trace.js NODE_MODULES INKMARK MADE_UP_PATH
'use strict';
const assert = require('assert');
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { skipWithout, loadTrace } = require('../output/traces.js');
const { Reader } = require('../output/trace_processor.js');

const [modules, inkmark, madeUp] = process.argv.slice(2);
skipWithout(modules);
const run = (program, ...args) => execFileSync(program, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
const PATH = "from slice s join track t on s.track_id = t.id where s.category = 'critical_path' and t.name like 'critical path of launch %'";

// flow id -> how many events name it, of those with the category
function flowsOf(file) {
  const flows = new Map();
  for (const [, packet] of new Reader(fs.readFileSync(file)).fields())
    for (const [field, event] of new Reader(packet).fields()) {
      if (field !== 11) continue;
      const values = [...new Reader(event).fields()];
      if (!values.some(([f, v]) => f === 3 && v === 5n)) continue; // CATEGORY_PATH, interned
      for (const [f, id] of values)
        if (f === 47 || f === 48) flows.set(id.toString('hex'), (flows.get(id.toString('hex')) ?? '') + (f === 47 ? 'from' : 'to'));
    }
  return [...flows.values()];
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'inkmark-path-'));
  const capture = path.join(folder, 'x.ink'), file = path.join(folder, 'x.pftrace');
  run(madeUp, capture, '3', 'pipeline', 'blocks=9', 'slots=4', 'tiles=20', 'marked=1');
  run(inkmark, 'export', capture, '-o', file);
  const told = JSON.parse(run(inkmark, 'report', '--path', '-f', 'json', capture)).captures[0];
  const processor = await loadTrace(modules, file);
  const sums = Object.fromEntries(processor.query(`select s.name, sum(s.dur) ${PATH} group by 1`).rows.map(([name, ns]) => [name, Number(ns)]));
  for (const { section, path_ns } of told.sections)
    assert.strictEqual(sums[section] ?? 0, path_ns, section);
  const slices = processor.query(`select s.ts, s.dur ${PATH} order by s.ts`).rows.map(row => row.map(Number));
  for (let i = 1; i < slices.length; i++)
    assert.strictEqual(slices[i - 1][0] + slices[i - 1][1], slices[i][0]);
  const changes = told.steps.filter((s, i) => i && s.track !== told.steps[i - 1].track).length;
  assert.ok(changes >= 2, changes);
  assert.deepStrictEqual(flowsOf(file), Array(changes).fill('fromto'));
  // a path through what is not shown is none
  run(inkmark, 'export', '--blocks', '0-3', capture, '-o', file);
  const part = await loadTrace(modules, file);
  assert.deepStrictEqual(part.query(`select count(*) ${PATH}`).rows.map(row => row.map(Number)), [[0]]);
  fs.rmSync(folder, { recursive: true });
  console.log(`${slices.length} slices, ${changes} arrows`);
}
main();
