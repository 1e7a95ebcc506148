# SPDX-License-Identifier: MIT
# static_offsets.py LIBCUDART_STATIC OBJECT: where the functions of a static CUDA runtime are in an object that was
# stripped, as lines for INKMARK_SIM_OFFSETS. The runtime is one section of code, so its functions keep their
# distances: some of them are looked for by their bytes, apart from those that the linker filled in, and all must
# agree where the section begins.
import mmap, os, struct, sys

CODE, SYMBOLS, RELOCATIONS, FUNCTION = 1, 2, 4, 2
WANTED = ("cudaMalloc", "cudaFree", "cudaGetDevice", "cudaMemcpyAsync", "cudaStreamSynchronize")


def member(archive):
    """The bytes of the archive's largest object."""
    assert archive[:8] == b"!<arch>\n"
    at, best = 8, b""
    while at + 60 <= len(archive):
        size = int(archive[at + 48:at + 58])
        if archive[at + 60:at + 64] == b"\x7fELF" and size > len(best):
            best = archive[at + 60:at + 60 + size]
        at += 60 + size + size % 2
    return best


def sections(elf):
    offset, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)]
    text = rows[names][4]
    return [(elf[text + r[0]:elf.find(b"\0", text + r[0])].decode(), r) for r in rows]


def functions(elf, code_index, rows):
    """Name -> (offset in the code section, size)."""
    found = {}
    for _, row in rows:
        if row[1] != SYMBOLS:
            continue
        names = rows[row[6]][1][4]
        for at in range(row[4], row[4] + row[5], 24):
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", elf, at)
            if info & 15 == FUNCTION and section == code_index and size:
                found[elf[names + name:elf.find(b"\0", names + name)].decode()] = (value, size)
    return found


def filled_in(elf, code_index, rows):
    """The bytes of the code section that the linker writes: 4 for each relocation, 8 for a 64-bit address, and the
    instruction in front of one where a load of an address becomes the address."""
    bytes_of = set()
    for _, row in rows:
        if row[1] == RELOCATIONS and row[7] == code_index:
            for at in range(row[4], row[4] + row[5], 24):
                offset, info = struct.unpack_from("<QQ", elf, at)
                bytes_of.update(range(offset - 3, offset + (8 if info & 0xffffffff == 1 else 4)))
    return bytes_of


def begins(elf, code, where, written, text, function):
    """Where the section may begin in `text`, by the function's longest run of bytes that nobody writes."""
    offset, size = function
    run, best = offset, (offset, offset)
    for at in range(offset, offset + min(size, 400) + 1):
        if at in written or at == offset + min(size, 400):
            if at - run > best[1] - best[0]:
                best = (run, at)
            run = at + 1
    anchor = code[best[0]:best[1]]
    found, at = set(), text.find(anchor, *where)
    while at >= 0 and len(anchor) >= 16:
        found.add(at - best[0])
        at = text.find(anchor, at + 1, where[1])
    return found


def main(archive, path):
    elf = member(open(archive, "rb").read())
    rows = sections(elf)
    code_index = next(i for i, (name, row) in enumerate(rows) if name == ".text" and row[1] == CODE)
    row = rows[code_index][1]
    code = elf[row[4]:row[4] + row[5]]
    known = functions(elf, code_index, rows)
    written = filled_in(elf, code_index, rows)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        target = next(row for name, row in sections(text) if name == ".text")
        where = (target[4], target[4] + target[5])
        guesses = [begins(elf, code, where, written, text, known[name]) for name in WANTED]
    agreed = set.intersection(*guesses)
    if len(agreed) != 1:
        sys.exit(f"{os.path.basename(path)} has not the runtime of {archive} inside")
    base = agreed.pop() - target[4] + target[3]
    for name, (offset, size) in sorted(known.items()):
        if name.lstrip("_").startswith("cuda") and size >= 14:
            print(os.path.basename(path), name, f"{base + offset:x}")


main(*sys.argv[1:])
