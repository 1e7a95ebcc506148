# SPDX-License-Identifier: MIT
# A trace of many gigabytes streams: every launch finds its kernel, each byte of theirs comes out again, and the memory is a few
# bytes for each kernel, not the trace. The trace is packed as it is made (a member of gzip for each block), so the disk need
# not hold it. check_huge.py INKMARK PLAN_CAPTURE [BYTES [sanitize]]
import hashlib, os, resource, subprocess, sys, tempfile, zlib

inkmark, plan_capture = sys.argv[1:3]
size = int(sys.argv[3]) if sys.argv[3:] else 60 * 10 ** 6
folder = tempfile.TemporaryDirectory(prefix="inkmark-huge-")
here = lambda name: os.path.join(folder.name, name)
UNIX, GLOBAL, EVENTS, EVERY = 1750000000000000000, 10 ** 12, 20000, 50
packer = lambda: zlib.compressobj(1, zlib.DEFLATED, 31)


def block():
    """A second of events, BLOCK where its number stands, without zeros in front, which JSON has not: calls with arguments, and a kernel for every fiftieth."""
    lines = []
    for i in range(EVENTS):
        at = i * 50
        if i % EVERY:
            lines.append('{"ph":"X","cat":"cpu_op","name":"aten::op_%d","pid":77,"tid":%d,"ts":BLOCK%06d.%03d,"dur":%d.5,"args":{"External id":%d,'
                         '"Input Dims":[[%d,128,768],[768]],"Record function id":0,"Sequence number":%d}}' % (i % 37, 77 + i % 3, at, i % 1000, 3 + i % 7, i, i % 64, i))
        else:
            lines.append('{"ph":"X","cat":"kernel","name":"step<float>(int)","pid":0,"tid":7,"ts":BLOCK%06d.000,"dur":%d,"args":{"device":0,"stream":7,'
                         '"correlation":%d,"grid":[8,1,1],"block":[128,1,1]}}' % (at, 20 + i // EVERY * 7919 % 400, i))
    return ",\n".join(lines).encode()


text = block()
blocks = max(2, size // len(text))
theirs, length = hashlib.sha256(), 0
with open(here("t.json.gz"), "wb") as out:
    def put(data):
        global length
        member = packer()
        out.write(member.compress(data) + member.flush())
        theirs.update(data)
        length += len(data)
    put(b'{"baseTimeNanoseconds":%d,"traceEvents":[\n' % UNIX)
    for b in range(blocks):
        put((b",\n" if b else b"") + text.replace(b"BLOCK", b"%d" % (b + 1)))
    whole = length
    member = packer()
    out.write(member.compress(b"\n]}\n") + member.flush())

plan = [f"fact host made-up\nfact pid 77\nfact started_ns {UNIX}\ndevice 0 {UNIX} {GLOBAL} {(blocks + 2) * 10 ** 9} 1\nkernel step\nbegin\n"]
launches = 0
for b in range(0, blocks, max(1, blocks // 20)):
    for k in range(0, EVENTS // EVERY, 23):
        begin, dur = (b + 1) * 10 ** 9 + k * EVERY * 50 * 1000, (20 + k * 7919 % 400) * 1000
        launches += 1
        plan.append(f"launch 0 0 {launches} 8 1 1 128 1 1 {GLOBAL + begin + 400} {GLOBAL + begin + dur - 400}\n")
with open(here("t.plan"), "w") as file:
    file.write("".join(plan))
subprocess.run([plan_capture, here("t.plan"), here("t.ink")], check=True, stdout=subprocess.DEVNULL)
before = resource.getrusage(resource.RUSAGE_CHILDREN)
run = subprocess.run([inkmark, "export", here("t.ink"), "--with", here("t.json.gz"), "-o", here("o.json.gz")], capture_output=True, text=True)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
assert run.returncode == 0 and f"joined {launches} of {launches}" in run.stderr, run.stderr
seconds, memory = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss * 1024
kernels = blocks * EVENTS // EVERY
assert sys.argv[4:] == ["sanitize"] or memory < 64 * 10 ** 6 + 200 * kernels, f"{memory} bytes for {kernels} kernels in a trace of {length} bytes"

ours, left, tail, reader = hashlib.sha256(), whole, b"", zlib.decompressobj(31)
with open(here("o.json.gz"), "rb") as file:
    while data := file.read(1 << 20):
        while data:
            out = reader.decompress(data)
            ours.update(out[:left])
            tail += out[left:]
            left -= min(left, len(out))
            data = reader.unused_data
            if data:
                reader = zlib.decompressobj(31)
assert left == 0 and ours.digest() == theirs.digest(), "their bytes are not as they were"
assert tail.count(b'"kernel_correlation"') >= launches, (launches, tail[:200])
print(f"{length / 1e6:.0f} MB unpacked, {kernels} kernels, {launches} launches joined: {seconds:.1f} s of CPU time, {memory / 1e6:.0f} MB of memory")
