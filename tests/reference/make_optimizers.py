#!/usr/bin/env python3
"""Writes optimizers.txt: ten steps of PyTorch's optimizers in double, for tests/optim/test_optimizer_reference.c.

    OMP_NUM_THREADS=1 python3 tests/reference/make_optimizers.py > tests/reference/optimizers.txt

Written with PyTorch 1.13. Parameters, gradients and rates come from formulas that are exact in float (test and script
share them), so only results are stored: for each case a line "case NAME COUNT", then COUNT numbers, one a line: after
each step the weight (2, 3) and the bias (3); at the end each state in the order of STATES, weight then bias.
"""
import torch

STEPS = 10
STATES = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq", "momentum_buffer"]
N_WEIGHT, N_BIAS = 6, 3


def start(i):
    """Number i (weight first, then bias) before the first step: signs alternate, far enough from 0 not to cross it."""
    return (1 + i / 8) * (1 if i % 2 == 0 else -1)


def gradient(i, step):
    """Of number i in that step (from 1). Sizes from about 1 down to 1e-8, near Adam's eps; number 4 has gradients in
    the first step alone."""
    if i == 4 and step > 1:
        return 0.0
    return ((i * 37 + step * 101 + 11) % 199 - 99) / 64 * 2.0 ** (-3 * i)


def run(name, optimizer_class, decay_all=False, weight_decay=0.0, clip_norm=0.0, **options):
    weight = torch.tensor([start(i) for i in range(N_WEIGHT)], dtype=torch.float64).reshape(2, 3).requires_grad_()
    bias = torch.tensor([start(N_WEIGHT + i) for i in range(N_BIAS)], dtype=torch.float64).requires_grad_()
    groups = [{"params": [weight], "weight_decay": weight_decay},
              {"params": [bias], "weight_decay": weight_decay if decay_all else 0.0}]
    optimizer = optimizer_class(groups, lr=1.0, **options)
    values = []
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = step / 256
        numbers = [gradient(i, step) for i in range(N_WEIGHT + N_BIAS)]
        weight.grad = torch.tensor(numbers[:N_WEIGHT], dtype=torch.float64).reshape(2, 3)
        bias.grad = torch.tensor(numbers[N_WEIGHT:], dtype=torch.float64)
        if clip_norm > 0:
            torch.nn.utils.clip_grad_norm_([weight, bias], clip_norm)
        optimizer.step()
        for parameter in (weight, bias):
            values += parameter.detach().flatten().tolist()
    for state in STATES:
        for parameter in (weight, bias):
            if optimizer.state[parameter].get(state) is not None:
                values += optimizer.state[parameter][state].flatten().tolist()
    print(f"case {name} {len(values)}")
    for value in values:
        print(f"{value:.17g}")


adam, adamw, sgd = torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD
betas = {"betas": (0.875, 0.96875)}
run("sgd", sgd)
run("sgd_decay", sgd, weight_decay=0.125)
run("sgd_momentum", sgd, momentum=0.9)
run("sgd_momentum_decay_clip", sgd, momentum=0.9, weight_decay=0.125, decay_all=True, clip_norm=0.5)
run("sgd_nesterov", sgd, momentum=0.9, nesterov=True)
run("sgd_nesterov_decay", sgd, momentum=0.9, nesterov=True, weight_decay=0.125)
run("adam", adam)
run("adam_betas", adam, eps=0.015625, **betas)
run("adam_decay", adam, weight_decay=0.125)
run("adam_decay_all_clip", adam, weight_decay=0.125, decay_all=True, clip_norm=0.5)
run("adam_amsgrad", adam, amsgrad=True)
run("adam_amsgrad_decay", adam, amsgrad=True, weight_decay=0.125, **betas)
run("adamw", adamw)
run("adamw_decay", adamw, weight_decay=0.125)
run("adamw_decay_all_clip", adamw, weight_decay=0.125, decay_all=True, clip_norm=0.5)
run("adamw_amsgrad_decay", adamw, amsgrad=True, weight_decay=0.125, **betas)
