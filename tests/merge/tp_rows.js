// SPDX-License-Identifier: MIT
// Loads a trace into Perfetto's own trace processor and answers the queries that stand in the JSON array
// on stdin: for each its rows, into a file as JSON; integers as text, so that no digit is lost.
// node tp_rows.js NODE_MODULES TRACE ROWS
'use strict';
const fs = require('fs');
const path = require('path');
const { TraceProcessor } = require(path.join(__dirname, '../output/trace_processor.js'));

async function main([modules, trace, out]) {
  const processor = await TraceProcessor.start(modules);
  processor.load(fs.readFileSync(trace));
  const results = JSON.parse(fs.readFileSync(0)).map(sql => processor.query(sql).rows);
  fs.writeFileSync(out, JSON.stringify(results, (key, value) => typeof value === 'bigint' ? String(value) : value));
}
main(process.argv.slice(2)).then(() => process.exit(0), error => { console.error(error.stack); process.exit(1); });
