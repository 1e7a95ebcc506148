// SPDX-License-Identifier: MIT
// A screenshot with the 128 colours that most of its pixels have, a byte a pixel: pictures in docs stay small.
'use strict';
const zlib = require('zlib');

const COLOURS = 128, SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

// The pixels of an 8-bit PNG of 3 or 4 channels, without interlacing, as Chromium makes them.
function pixels(png) {
  const data = [];
  let at = 8, width, height, channels;
  while (at < png.length) {
    const length = png.readUInt32BE(at), type = png.toString('latin1', at + 4, at + 8), body = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (type === 'IDAT') data.push(body);
    at += 12 + length;
  }
  const raw = zlib.inflateSync(Buffer.concat(data)), line = width * channels, out = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)], from = y * (line + 1) + 1, to = y * line;
    for (let x = 0; x < line; x++) {
      const left = x >= channels ? out[to + x - channels] : 0, up = y ? out[to + x - line] : 0;
      const corner = y && x >= channels ? out[to + x - line - channels] : 0, p = left + up - corner;
      const near = [left, up, corner].reduce((best, v) => Math.abs(p - v) < Math.abs(p - best) ? v : best, left);
      out[to + x] = raw[from + x] + [0, left, up, left + up >> 1, near][filter];
    }
  }
  return { width, height, channels, bytes: out };
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
  return n >>> 0;
});
function chunk(type, body) {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), body, Buffer.alloc(4)]);
  let crc = ~0;
  for (const byte of whole.subarray(4, -4)) crc = crcTable[(crc ^ byte) & 255] ^ crc >>> 8;
  whole.writeUInt32BE(body.length);
  whole.writeUInt32BE(~crc >>> 0, whole.length - 4);
  return whole;
}

module.exports = function small(png) {
  const { width, height, channels, bytes } = pixels(png), counts = new Map(), colour = i => bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
  for (let i = 0; i < bytes.length; i += channels) counts.set(colour(i), (counts.get(colour(i)) ?? 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, COLOURS).map(([c]) => c);
  const parts = c => [c >> 16, c >> 8 & 255, c & 255], nearest = new Map();
  for (const c of counts.keys()) {
    const far = p => parts(p).reduce((sum, v, i) => sum + (v - parts(c)[i]) ** 2, 0);
    nearest.set(c, palette.reduce((best, p, i) => far(p) < far(palette[best]) ? i : best, 0));
  }
  const head = Buffer.alloc(13), lines = Buffer.alloc((width + 1) * height);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = nearest.get(colour((y * width + x) * channels));
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('PLTE', Buffer.from(palette.flatMap(parts))),
    chunk('IDAT', zlib.deflateSync(lines, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
};
