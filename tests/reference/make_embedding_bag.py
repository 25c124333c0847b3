#!/usr/bin/python3
"""make_embedding_bag.py: writes embedding_bag.txt, what PyTorch's EmbeddingBag (mode "mean") gives in float64.

    /usr/bin/python3 tests/reference/make_embedding_bag.py      (PyTorch 1.13)

tests/autograd/test_op_embedding_bag.c reads the file: `name count numbers` a line, numbers as %.17g; each case is the
lines shape (V D n), offsets, ids, table, dy, y, dtable in this order. Multiples of 1/64: exact in float too.
"""
import os

import torch
from torch import nn

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "embedding_bag.txt")
CASES = [  # V, D and the bags; empty ones and one id twice among them
    (5, 3, [[0], [4, 4, 1], [], [2, 0, 3, 1]]),
    (1, 1, [[0, 0], [0]]),
    (7, 4, [[], [6], [6, 5, 4, 3, 2, 1, 0], [], [2, 2]]),
]


def line(name, values):
    return f"{name} {len(values)} " + " ".join("%.17g" % value for value in values) + "\n"


def main():
    torch.manual_seed(1)
    with open(OUTPUT, "w") as out:
        for rows, width, bags in CASES:
            ids = [i for bag in bags for i in bag]
            offsets = [sum(len(bag) for bag in bags[:n]) for n in range(len(bags) + 1)]
            table = torch.round(torch.randn(rows, width, dtype=torch.float64) * 64) / 64
            dy = torch.round(torch.randn(len(bags), width, dtype=torch.float64) * 64) / 64
            layer = nn.EmbeddingBag(rows, width, mode="mean", include_last_offset=True, _weight=table.clone())
            y = layer(torch.tensor(ids), torch.tensor(offsets))
            y.backward(dy)
            out.write(line("shape", [rows, width, len(bags)]) + line("offsets", offsets) + line("ids", ids))
            for name, tensor in (("table", table), ("dy", dy), ("y", y), ("dtable", layer.weight.grad)):
                out.write(line(name, tensor.detach().flatten().tolist()))


main()
