"""Unpacks Universal Sentence Encoder multilingual v3 into two flat files that Segue reads.

    unpack-use.py RESOURCES WEIGHTS PIECES

RESOURCES has `weights.npz` and `sp.model`. WEIGHTS gets the table of word pieces (128,000 rows of 512 bytes, in the order of ids),
then all other arrays as 32-bit floats in the order of ARRAYS. PIECES gets one line per piece: its score, a tab, the piece.
"""

import struct
import sys
import zipfile

CHUNKS, DIMS, N_PIECES = 17, 512, 128_000
ARRAYS = ["lo", "scale"]
for order in (2, 3, 5):
    ARRAYS += [name.format(order) for name in ("proj{}", "proj_b{}", "ln_g{}", "ln_b{}", "w1_{}", "b1_{}", "w2_{}", "b2_{}")]
ARRAYS += ["ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "p1", "d2", "p3", "d3"]


def array(archive, name):
    """The bytes of an array after its header."""
    data = archive.read(name + ".npy")
    (length,) = struct.unpack("<H", data[8:10])
    return data[10 + length :]


def weights(source, target):
    with zipfile.ZipFile(source) as archive, open(target, "wb") as out:
        chunks = [array(archive, f"q{at + 1}") for at in range(CHUNKS)]
        for piece in range(N_PIECES):
            row = piece // CHUNKS * DIMS
            out.write(chunks[piece % CHUNKS][row : row + DIMS])
        for name in ARRAYS:
            out.write(array(archive, name))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a protobuf message: number and bytes (or number)."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            size = 4 if kind == 5 else 8
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def pieces(source, target):
    with open(source, "rb") as file, open(target, "w", encoding="utf-8", newline="\n") as out:
        listed = [dict(fields(value)) for number, value in fields(file.read()) if number == 1]
        for piece in listed[:N_PIECES]:
            score = struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0
            out.write(f"{score:.6g}\t{piece[1].decode()}\n")


if __name__ == "__main__":
    resources, to_weights, to_pieces = sys.argv[1:]
    weights(resources + "/weights.npz", to_weights)
    pieces(resources + "/sp.model", to_pieces)
