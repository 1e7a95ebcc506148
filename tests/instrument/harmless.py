# SPDX-License-Identifier: MIT
"""harmless.py INKMARK NVCC FILE ARCH: what marks of the default rules cost kernels that they used to harm.

Compiled three times: plain, with a track alone, with marks. Registers may grow by 8, or by 8 more than
the track needs; instructions to 1.3 times the plain ones and what the track took. No new stack, no new words of ptxas."""
import os
import re
import struct
import subprocess
import sys
import tempfile

inkmark, nvcc, source, arch = sys.argv[1:]
here = os.path.dirname(os.path.abspath(source))


def text_sizes(path):
    """The machine code of each kernel, in instructions of 16 bytes."""
    data = open(path, 'rb').read()
    at, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    sections = [struct.unpack_from('<IIQQQQ', data, at + i * size) for i in range(count)]
    base = sections[names][4]
    named = ((data[base + s[0]:data.index(b'\0', base + s[0])].decode(), s[5] // 16) for s in sections)
    return {name[6:]: n for name, n in named if name.startswith('.text.')}


def compiled(folder, name, command, rules):
    cubin = os.path.join(folder, name + '.cubin')
    environment = dict(os.environ, INKMARK_RULES='--root ' + here + rules, INKMARK_STRICT='1', TMPDIR=folder)
    done = subprocess.run([*command, f'-arch={arch}', '-Xptxas', '-v', '-cubin', '-o', cubin, source],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout + done.stderr
    sizes, found = text_sizes(cubin), {}
    for part in said.split('Compiling entry function ')[1:]:
        kernel = part.split("'")[1]
        stack = re.search(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads', part)
        found[kernel] = (int(re.search(r'Used (\d+) registers', part)[1]), sizes[kernel], stack[0])
    words = {m[1] for m in re.finditer(r'\((C75\d\d)\)|setmaxnreg', said)}
    return {k: v for k, v in found.items() if 'ink_' not in k}, words


# What is above the bound, and how far: sums of waits and calls in loops, each with a record behind its loop.
KNOWN = {'_Z11wgmma_storePfmmi': 432, '_Z7specialPfi': 824}
with tempfile.TemporaryDirectory() as folder:
    plain, plain_words = compiled(folder, 'plain', [nvcc], '')
    track, _ = compiled(folder, 'track', [inkmark, 'nvcc', nvcc], ' --kernels-only')
    marked, words = compiled(folder, 'marked', [inkmark, 'nvcc', nvcc], '')
failed = bool(words - plain_words)
if failed:
    print('FAILED: ptxas says', words - plain_words)
assert len(plain) > 2 and plain.keys() == track.keys() == marked.keys(), (plain, track, marked)
for kernel, (registers, instructions, stack) in plain.items():
    most_registers = max(registers, track[kernel][0]) + 8
    most_instructions = max(1.3 * instructions + track[kernel][1] - instructions, KNOWN.get(kernel, 0))
    got = marked[kernel]
    assert track[kernel][1] > instructions, 'the track is not there'
    if got[0] > most_registers or got[1] > most_instructions or got[2] != stack:
        print(f'FAILED: {kernel}: {got}, plain {plain[kernel]}, with a track {track[kernel]}')
        failed = True


def listed(*rules):
    done = subprocess.run([inkmark, 'instrument', '--list', source, '--root', here, *rules, '--', f'-arch={arch}'],
                          capture_output=True, text=True, check=True)
    return done.stdout


if source.endswith('hopper.cu'):
    line = next(n for n, text in enumerate(open(source), 1) if text.endswith('// left\n'))
    few = rf':{line}:5: loop for i < n in special: '
    if not re.search(few + 'not asked: setmaxnreg', listed()) or not re.search(few + 'marked', listed('--loops')):
        print('FAILED: a branch with few registers')
        failed = True
    strict = listed('--calls', '--loops', '--hold', 'strict')
    if re.search(r' holds (.*, )?d\b', strict) or ' holds ' not in strict:
        print('FAILED: accumulators in flight are held', strict)
        failed = True
sys.exit(failed)
