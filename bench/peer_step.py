#!/usr/bin/python3
"""peer_step.py: PyTorch's time for the training step that `make bench` times here: embedding + sinusoidal positions,
nn.TransformerEncoder (post-norm, ReLU), mean over the real tokens, linear, cross entropy, backward, Adam; float32, or
bfloat16 autocast. Prints one JSON object, with tokens per second counted in real tokens.

    peer_step.py --d_model 128 --heads 4 --layers 4 --d_ff 512 --vocab 1000 --classes 10 --sequences 32 --length 64
    peer_step.py ... --batches FILE      one batch a line: the lengths of its sequences; steps go round and round

Batches of unequal lengths are padded to their longest and given a padding mask; equal ones need none. Batches are made
before the clock starts, so that only steps are timed.

Debian's PyTorch calls whatever libblas.so.3 and libopenblas.so.0 are found first. The OpenMP build of OpenBLAS is the
fast one (the pthread one fights with PyTorch's own threads); package libopenblas0-openmp puts it into the folder that
`dpkg -L libopenblas0-openmp | grep /libopenblas` names. Give it so:

    LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp OMP_NUM_THREADS=2 /usr/bin/python3 bench/peer_step.py ...
"""
import argparse
import json
import math
import os
import resource
import statistics
import sys
import time

import torch
from torch import nn


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, default in (("d_model", 64), ("heads", 4), ("layers", 2), ("d_ff", 256), ("vocab", 256), ("classes", 2),
                          ("steps", 50), ("warmup", 5), ("threads", os.cpu_count()), ("sequences", 32), ("length", 32),
                          ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--matmul", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--batches", help="a file of sequence lengths, one batch a line, instead of sequences x length")
    arguments = parser.parse_args()
    if arguments.steps < 1 or arguments.warmup < 0:
        parser.error("--steps must be at least 1 and --warmup at least 0")
    return arguments


def read_lengths(path):
    """Lists of lengths, one for each line that is not empty."""
    batches = []
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            try:
                lengths = [int(word) for word in line.split()]
            except ValueError:
                sys.exit(f"{path}:{number}: sequence lengths are whole numbers, separated by spaces")
            if any(length < 1 for length in lengths):
                sys.exit(f"{path}:{number}: a sequence needs at least one token")
            if lengths:
                batches.append(lengths)
    if not batches:
        sys.exit(f"{path}: no batch in it")
    return batches


def sinusoidal_positions(length, d_model):
    position = torch.arange(length, dtype=torch.float64)[:, None]
    angle = position / torch.pow(10000.0, torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table = torch.empty(length, d_model)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle[:, :d_model // 2].cos()
    return table


class Classifier(nn.Module):
    def __init__(self, arguments, longest):
        super().__init__()
        d_model = arguments.d_model
        self.embedding = nn.Embedding(arguments.vocab, d_model)
        self.register_buffer("positions", sinusoidal_positions(longest, d_model))
        layer = nn.TransformerEncoderLayer(d_model, arguments.heads, arguments.d_ff, dropout=arguments.dropout,
                                           activation="relu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, arguments.layers)
        self.dropout = nn.Dropout(arguments.dropout)
        self.classifier = nn.Linear(d_model, arguments.classes)

    def forward(self, tokens, padding, weights):
        """tokens (S,T); padding (S,T), true where there is none, and weights (S,T,1), 1/length at real tokens; both
        None when all lengths are equal."""
        x = self.dropout(self.embedding(tokens) + self.positions[:tokens.shape[1]])
        x = self.encoder(x, src_key_padding_mask=padding)
        return self.classifier(x.mean(dim=1) if weights is None else (x * weights).sum(dim=1))


def make_batch(lengths, arguments):
    """Random tokens and labels for sequences of these lengths: tokens, padding, weights, labels, number of tokens."""
    tokens = torch.randint(arguments.vocab, (len(lengths), max(lengths)))
    labels = torch.randint(arguments.classes, (len(lengths),))
    if min(lengths) == max(lengths):
        return tokens, None, None, labels, sum(lengths)
    padding = torch.arange(max(lengths))[None, :] >= torch.tensor(lengths)[:, None]
    weights = ((~padding) / torch.tensor(lengths)[:, None])[:, :, None]
    return tokens.masked_fill(padding, 0), padding, weights, labels, sum(lengths)


def train_step(model, optimizer, batch, use_bf16):
    tokens, padding, weights, labels, _ = batch
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=use_bf16):
        logits = model(tokens, padding, weights)
    loss = nn.functional.cross_entropy(logits.float(), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    fixed = [[arguments.length] * arguments.sequences]
    all_lengths = read_lengths(arguments.batches) if arguments.batches else fixed
    model = Classifier(arguments, max(map(max, all_lengths))).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr)
    batches = [make_batch(lengths, arguments) for lengths in all_lengths]
    seconds, n_tokens, loss = [], 0, math.nan
    for step in range(arguments.warmup + arguments.steps):
        batch = batches[step % len(batches)]
        start = time.perf_counter()
        loss = train_step(model, optimizer, batch, arguments.matmul == "bf16")
        if step >= arguments.warmup:
            seconds.append(time.perf_counter() - start)
            n_tokens += batch[-1]
    print(json.dumps({
        "tokens_per_second": n_tokens / sum(seconds), "steps": arguments.steps, "tokens": n_tokens,
        "seconds": sum(seconds), "median_step_ms": statistics.median(seconds) * 1e3, "loss": loss,
        "parameters": sum(p.numel() for p in model.parameters()), "threads": torch.get_num_threads(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "torch": torch.__version__,
        "matmul": arguments.matmul}))


if __name__ == "__main__":
    main()
