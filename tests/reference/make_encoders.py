#!/usr/bin/python3
"""make_encoders.py: writes encoders.txt, the values that PyTorch gives for a table of small encoders.

    OMP_NUM_THREADS=1 /usr/bin/python3 tests/reference/make_encoders.py      (PyTorch 1.13, ten seconds)

All in float64, dropout 0. tests/model/encoder_reference.c reads the file. Lines, fields separated by one space, numbers
as %.17g; lines that start with # are comments:

    encoders N                       number of cases
    case key=value ...               a configuration; model keys as in our config
    tokens N ids                     all sequences in a row
    offsets S+1 numbers              sequence s holds tokens offsets[s] .. offsets[s+1]-1
    labels S numbers
    logits S*C numbers
    loss 1 number                    cross entropy (with label smoothing and class weights), mean as PyTorch's
    gradient NAME N numbers          of the loss, for every parameter
    sgd|adam|adamw NAME N numbers    (some cases) the parameter after ten steps on the same batch;
                                     NAME `loss`: the ten losses before each step
    end
    checksum H                       last line: FNV-1a, 64 bits in hex, of all bytes before it

Optimizers: SGD lr 0.05; Adam lr 1e-2; AdamW lr 1e-2, weight_decay 0.1 on tensors of two or more dimensions only; all
else at PyTorch's defaults.

Initial parameters are not stored, both sides compute them: the text "SEED/NAME" hashed with FNV-1a (64 bits) starts a
SplitMix64 stream; with r the top 16 bits of each output, u = r/65536 - 1/2, a parameter is 1.5*u, but a norm's weight
1 + u/4. All of it is exact in float32 too. Tokens and labels are r mod vocab and r mod classes, of the names `tokens`
and `labels`. A case's seed is its number, or the first of number + 100, + 200 ... that keeps kinks and noise away (see
`is_well_posed`), so float builds can be compared as well.
"""
import math
import os
import sys

import torch
from torch import nn

from torch_encoder import Encoder

TEN_STEPS = 10
MASK = (1 << 64) - 1
OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "encoders.txt")

DEFAULTS = {
    "d_model": 8, "heads": 2, "layers": 1, "d_ff": 8, "activation": "relu", "norm_position": "post", "norm_eps": 1e-5,
    "positions": "sinusoidal", "pooling": "mean", "causal": False, "embedding_scale": "none", "label_smoothing": 0.0,
    "class_weights": None, "vocab": 7, "classes": 3, "lengths": [3, 5, 1], "max_length": 0, "steps": True,
}
GELU, PRE = {"activation": "gelu"}, {"norm_position": "pre"}
# Gradients that vanish or are noise: what Adam makes of those is no fact to compare with.
FIRST_GRADIENT_ONLY = {"steps": False}


def encoder(name, *parts, **keys):
    """One row of the table: DEFAULTS with changes."""
    row = dict(DEFAULTS, name=name)
    for part in parts + (keys,):
        row.update(part)
    longest = max(row["lengths"])
    row["max_length"] = max(row["max_length"], longest)
    return row


TABLE = [
    # heads 1 to 8, and as many heads as features
    encoder("heads_1", heads=1),
    encoder("heads_2", GELU, PRE),
    encoder("heads_3", d_model=9, heads=3, lengths=[4, 2]),
    encoder("heads_4", PRE, heads=4, lengths=[6, 1, 3]),
    encoder("heads_5", GELU, d_model=10, heads=5, d_ff=6, lengths=[5, 4]),
    encoder("heads_6", PRE, d_model=12, heads=6, d_ff=5, lengths=[3, 7]),
    encoder("heads_7", GELU, PRE, d_model=14, heads=7, d_ff=3, lengths=[2, 5]),
    encoder("heads_8", d_model=16, heads=8, d_ff=4, lengths=[6, 2]),
    encoder("heads_as_many_as_features_8", GELU, heads=8),
    encoder("heads_as_many_as_features_4", PRE, d_model=4, heads=4, d_ff=8),
    encoder("heads_as_many_as_features_3", d_model=3, heads=3, d_ff=5),
    encoder("heads_as_many_as_features_1", FIRST_GRADIENT_ONLY, PRE, d_model=1, heads=1, d_ff=4, positions="learned"),
    # depths 0 to 4
    encoder("depth_0", layers=0),
    encoder("depth_0_pre_norm", PRE, layers=0, positions="learned", pooling="max"),
    encoder("depth_0_no_positions", layers=0, positions="none", embedding_scale="sqrt"),
    encoder("depth_2", layers=2, lengths=[5, 3, 1, 4]),
    encoder("depth_2_pre_norm", GELU, PRE, layers=2, d_model=6, heads=3, d_ff=10, lengths=[5, 3, 1]),
    encoder("depth_3", GELU, layers=3, d_model=6, heads=2, d_ff=5),
    encoder("depth_3_pre_norm", PRE, layers=3, d_model=6, heads=2, d_ff=7),
    encoder("depth_4", layers=4, d_model=4, heads=2, d_ff=6),
    encoder("depth_4_pre_norm", PRE, layers=4, d_model=4, heads=2, d_ff=6),
    # widths: odd with one head, the narrowest, feed-forward from 1
    # (one feature: layer norm gives its shift alone, so nothing below it gets a gradient; two: +-1 almost, hence the eps)
    encoder("width_1", FIRST_GRADIENT_ONLY, GELU, d_model=1, heads=1, d_ff=3),
    encoder("width_1_depth_0", FIRST_GRADIENT_ONLY, d_model=1, heads=1, layers=0, positions="learned"),
    encoder("width_2", FIRST_GRADIENT_ONLY, d_model=2, heads=1, d_ff=3, layers=2, norm_eps=0.25),
    encoder("width_3", GELU, PRE, d_model=3, heads=1, d_ff=4, layers=2),
    encoder("width_5", d_model=5, heads=1, d_ff=7),
    encoder("width_7", GELU, PRE, d_model=7, heads=1, d_ff=3, pooling="cls"),
    encoder("width_15", d_model=15, heads=5, d_ff=2, lengths=[4, 9]),
    encoder("feed_forward_1", d_ff=1),
    encoder("feed_forward_1_gelu", GELU, PRE, d_model=6, heads=2, d_ff=1, layers=2),
    encoder("feed_forward_wide", d_model=4, heads=2, d_ff=37),
    # positions
    encoder("learned_positions", positions="learned", pooling="cls", max_length=7),
    encoder("learned_positions_pre_norm", GELU, PRE, positions="learned", pooling="max", d_model=6),
    encoder("no_positions", PRE, positions="none", lengths=[4, 2, 1]),
    encoder("no_positions_gelu", GELU, positions="none", pooling="max", d_model=6, heads=3),
    # pooling
    encoder("pool_max", pooling="max", lengths=[5, 1, 4]),
    encoder("pool_max_pre_norm", PRE, pooling="max", d_model=6, lengths=[2, 9]),
    encoder("pool_cls", pooling="cls", lengths=[5, 1, 4]),
    encoder("pool_cls_gelu_pre_norm", GELU, PRE, pooling="cls", layers=2, d_model=6, heads=2, d_ff=4),
    # batches
    encoder("one_token", FIRST_GRADIENT_ONLY, lengths=[1]),
    encoder("one_token_each", FIRST_GRADIENT_ONLY, GELU, PRE, lengths=[1, 1, 1, 1], d_model=6),
    encoder("one_sequence", PRE, lengths=[9], vocab=12, classes=2),
    encoder("equal_lengths", GELU, lengths=[4, 4, 4], d_model=6),
    encoder("five_sequences", GELU, lengths=[1, 8, 2, 5, 3], d_model=6, heads=2, classes=4),
    encoder("five_classes", PRE, lengths=[2, 7], classes=5, d_model=4, heads=1),
    encoder("one_word", vocab=1, lengths=[3, 2], d_model=4, layers=2),
    # causal
    encoder("causal", causal=True, lengths=[5, 3, 1]),
    encoder("causal_pre_norm_gelu", GELU, PRE, causal=True, layers=2, d_model=6, heads=3, lengths=[6, 2]),
    encoder("causal_cls", causal=True, pooling="cls", d_model=4, positions="learned"),
    encoder("causal_max", PRE, causal=True, pooling="max", positions="none", d_model=4, heads=4),
    # loss
    encoder("label_smoothing", GELU, label_smoothing=0.1, d_model=6, classes=4),
    encoder("class_weights", PRE, class_weights=[0.5, 2.0, 1.25], d_model=6, lengths=[3, 5, 1, 2]),
    encoder("smoothing_and_weights", label_smoothing=0.25, class_weights=[3.0, 0.25], classes=2, d_model=4),
    encoder("weight_0_for_a_class", GELU, class_weights=[1.0, 0.0, 1.0, 2.0], classes=4, d_model=4,
            lengths=[3, 2, 1, 4, 2]),
    # embedding scale
    encoder("embedding_scale", embedding_scale="sqrt", d_model=6, heads=2),
    encoder("embedding_scale_gelu_pre_norm", GELU, PRE, embedding_scale="sqrt", positions="learned", d_model=5, heads=1),
    encoder("norm_eps_large", PRE, norm_eps=0.125, d_model=4, layers=2),
    # mean and maximum side by side (at the end: a case's seed is its number)
    encoder("pool_mean_max", pooling="mean_max", lengths=[5, 1, 4]),
    encoder("pool_mean_max_gelu_pre_norm", GELU, PRE, pooling="mean_max", layers=2, d_model=6, heads=3, d_ff=5),
]


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def stream(seed, name, count):
    """`count` 16-bit numbers: the top bits of SplitMix64, started at the hash of "SEED/NAME"."""
    state = fnv1a(f"{seed}/{name}".encode())
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        numbers.append((z ^ (z >> 31)) >> 48)
    return numbers


def is_norm_weight(name):
    return "norm" in name and name.endswith(".weight")


def fill(seed, name, shape):
    centred = [r / 65536 - 0.5 for r in stream(seed, name, math.prod(shape))]
    values = [1 + u / 4 for u in centred] if is_norm_weight(name) else [1.5 * u for u in centred]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def make_model(row, seed):
    model = Encoder(row)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(fill(seed, name, parameter.shape))
    return model.train()


def make_batch(row, seed):
    """Returns the sequences and the labels."""
    ids = [r % row["vocab"] for r in stream(seed, "tokens", sum(row["lengths"]))]
    sequences = []
    for length in row["lengths"]:
        sequences.append(ids[:length])
        ids = ids[length:]
    return sequences, torch.tensor([r % row["classes"] for r in stream(seed, "labels", len(sequences))])


def make_loss(row):
    weights = None if row["class_weights"] is None else torch.tensor(row["class_weights"])
    return nn.CrossEntropyLoss(weight=weights, label_smoothing=row["label_smoothing"])


def watch_kinks(model):
    """Returns a list that grows, as the model runs, by the distances from the kinks of ReLU and of max pooling."""
    margins = []
    if model.config["activation"] == "relu":
        for layer in model.encoder.layers:
            layer.linear1.register_forward_hook(lambda _m, _i, y: margins.append(y.detach().abs().min().item()))
    if model.config["pooling"] in ("max", "mean_max"):
        pool = model.pool

        def watched(vectors):
            if len(vectors) > 1:
                best = vectors.detach().topk(2, dim=0).values
                gaps = (best[0] - best[1])[best[0] != best[1]]  # equal rows of equal tokens tie exactly, harmlessly
                margins.extend(gaps.tolist())
            return pool(vectors)
        model.pool = watched
    return margins


def optimizer_of(kind, model):
    parameters = list(model.parameters())
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=0.05)
    if kind == "adam":
        return torch.optim.Adam(parameters, lr=1e-2)
    return torch.optim.AdamW([{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
                              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}], lr=1e-2)


def ten_steps(row, seed, kind):
    """Returns the model after ten steps, the losses before each, and the smallest distance from a kink."""
    model = make_model(row, seed)
    margins = watch_kinks(model)
    sequences, labels = make_batch(row, seed)
    optimizer, criterion, losses = optimizer_of(kind, model), make_loss(row), []
    for _ in range(TEN_STEPS):
        optimizer.zero_grad()
        loss = criterion(model(sequences), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses, min(margins, default=1.0)


def gradients(row, seed, logits_of=lambda model, sequences: model(sequences)):
    """Returns the model with its gradients, logits, loss, and the smallest distance from a kink."""
    model = make_model(row, seed)
    margins = watch_kinks(model)
    sequences, labels = make_batch(row, seed)
    logits = logits_of(model, sequences)
    loss = make_loss(row)(logits, labels)
    loss.backward()
    return model, logits.detach(), loss.item(), min(margins, default=1.0)


def has_tiny_gradient(model):
    """Whether a gradient is neither zero nor well above rounding noise, which Adam would blow up to whole steps. The
    keys' bias is left out: its true gradient is zero, and the outputs do not depend on it."""
    for name, parameter in model.named_parameters():
        values = parameter.grad.abs().flatten()
        if name.endswith("in_proj_bias"):
            third = len(values) // 3
            values = torch.cat([values[:third], values[2 * third:]])
        if bool(((values > 0) & (values < 1e-6)).any()):
            return True
    return False


def is_well_posed(row, seed):
    model, _, loss, margin = gradients(row, seed)
    if margin < 1e-4 or not math.isfinite(loss):
        return False
    if not row["steps"]:
        return True
    return not has_tiny_gradient(model) and all(ten_steps(row, seed, k)[2] > 1e-5 for k in ("sgd", "adam", "adamw"))


def check_padded(row, seed, model, logits):
    """One padded batch with a mask must give the same logits and gradients as the sequences one by one."""
    padded, padded_logits, _, _ = gradients(row, seed, lambda m, sequences: m.padded_logits(sequences))
    worst = (padded_logits - logits).abs().max().item()
    for one, other in zip(padded.parameters(), model.parameters()):
        worst = max(worst, (one.grad - other.grad).abs().max().item())
    if worst > 1e-12:
        sys.exit(f"{row['name']}: padded and one by one differ by {worst}")


def check_published_vectors():
    """The values of PyTorch's own test of nn.TransformerEncoderLayer (test_transformerencoderlayer)."""
    layer = nn.TransformerEncoderLayer(4, 2, 16, dropout=0.0, batch_first=True)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.arange(parameter.numel(), dtype=torch.float64).cos().reshape(parameter.shape))
        one = layer(torch.tensor([[[20.0, 30.0, 40.0, 50.0]]]))
        two = layer(torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]))
    right_one = torch.tensor([2.258703, 0.127985, -0.697881, 0.170862])
    right_two = torch.tensor([2.272644, 0.119035, -0.691669, 0.153486])
    worst = max((one - right_one).abs().max().item(), (two - right_two).abs().max().item())
    if worst > 2e-6:
        sys.exit(f"published vectors differ by {worst}: {one.tolist()} {two.tolist()}")


def numbers(values):
    return " ".join("%.17g" % v for v in values)


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(value, list):
        return ",".join("%.17g" % v for v in value)
    return "%.17g" % value if isinstance(value, float) else str(value)


def array_line(section, name, values):
    values = torch.as_tensor(values).detach().flatten().tolist()
    return f"{section} {name} {len(values)} {numbers(values)}"


def case_lines(row, number):
    seed = next(s for s in range(number, 100000, 100) if is_well_posed(row, s))
    model, logits, loss, _ = gradients(row, seed)
    check_padded(row, seed, model, logits)
    sequences, labels = make_batch(row, seed)
    offsets = [0]
    for sequence in sequences:
        offsets.append(offsets[-1] + len(sequence))
    tokens = [token for sequence in sequences for token in sequence]
    keys = [key for key in DEFAULTS if key not in ("lengths", "steps")]
    lines = ["case " + " ".join(f"{key}={text_of(value)}" for key, value in
                                [("name", row["name"]), ("seed", seed)] + [(key, row[key]) for key in keys])]
    for name, values in (("tokens", tokens), ("offsets", offsets), ("labels", labels.tolist())):
        lines.append(f"{name} {len(values)} {' '.join(map(str, values))}")
    lines.append(f"logits {logits.numel()} {numbers(logits.flatten().tolist())}")
    lines.append(f"loss 1 {numbers([loss])}")
    lines += [array_line("gradient", name, p.grad) for name, p in model.named_parameters()]
    for kind in ("sgd", "adam", "adamw") if row["steps"] else ():
        trained, losses, _ = ten_steps(row, seed, kind)
        lines.append(array_line(kind, "loss", losses))
        lines += [array_line(kind, name, p) for name, p in trained.named_parameters()]
    return lines + ["end"]


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    check_published_vectors()
    lines = [f"# Made by make_encoders.py with PyTorch {torch.__version__}; that file tells the format.",
             f"encoders {len(TABLE)}"]
    for number, row in enumerate(TABLE, 1):
        lines += case_lines(row, number)
    data = ("\n".join(lines) + "\n").encode()
    data += b"checksum %016x\n" % fnv1a(data)
    with open(OUTPUT, "wb") as file:
        file.write(data)
    n_steps = sum(row["steps"] for row in TABLE)
    print(f"{OUTPUT}: {len(TABLE)} cases, {n_steps} with ten steps, {len(data)} bytes")


if __name__ == "__main__":
    main()
