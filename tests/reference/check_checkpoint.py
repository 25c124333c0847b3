#!/usr/bin/python3
"""check_checkpoint.py: a checkpoint of ./train, opened by numpy and loaded into PyTorch's own modules with strict=True,
must give the logits that ./predict gave.

    ./predict --model MODEL.npz --input TEXTFILE --format jsonl > PREDICTIONS.jsonl
    check_checkpoint.py MODEL.npz TEXTFILE PREDICTIONS.jsonl

PyTorch runs in float64 on the float32 parameters and on the token ids of the predictions (with pooling cls the first of
them is the token put in front). Logits may differ by 1e-5 of the largest, probabilities by 1e-5; the label must be the
one of the largest logit, unless that is a tie within the tolerance. Status: 0 all right, 1 a mismatch, 2 bad usage or a
model that PyTorch can't express.
"""
import json
import sys
import zipfile

import numpy
import torch

from torch_encoder import Encoder

TOLERANCE = 1e-5
OTHER_MEMBERS = ("optim/", "meta.json")  # what is no parameter
# What nn.TransformerEncoder takes as given.
FIXED = {"norm": "layer", "residual": True, "bias": True, "scale_scores": True, "project_qkv": True}
CHOICES = {"activation": ("relu", "gelu"), "norm_position": ("post", "pre"), "pooling": ("mean", "max", "cls", "mean_max"),
           "positions": ("sinusoidal", "learned", "none"), "embedding_scale": ("none", "sqrt")}


def leave(status, message):
    print(f"check_checkpoint: {message}", file=sys.stderr)
    sys.exit(status)


def read_checkpoint(path):
    """Returns the parameters as float64 tensors by name, and meta.json."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
        if damaged is not None:
            leave(1, f"{path}: {damaged}: its CRC does not fit")
        meta = json.loads(archive.read("meta.json"))
    parameters = {}
    with numpy.load(path, allow_pickle=False) as arrays:
        for name in arrays.files:
            if name.startswith(OTHER_MEMBERS):
                continue
            array = arrays[name]
            if array.dtype != numpy.float32 or not array.flags.c_contiguous:
                leave(1, f"{path}: {name}: {array.dtype}, not float32 in C order")
            parameters[name] = torch.from_numpy(array.astype(numpy.float64))
    return parameters, meta


def encoder_config(meta, parameters):
    """The configuration for torch_encoder.Encoder; leaves with 2 when PyTorch has no such model."""
    config = dict(meta["config"]["model"])
    for key, value in FIXED.items():
        if config.get(key, value) != value:
            leave(2, f"model.{key}: {config[key]} is nothing that nn.TransformerEncoder can do")
    for key, values in CHOICES.items():
        if config[key] not in values:
            leave(2, f"model.{key}: {config[key]} is nothing that nn.TransformerEncoder can do")
    if config.get("d_head", 0) not in (0, config["d_model"] / config["heads"]):
        leave(2, f"model.d_head: {config['d_head']} is not d_model/heads")
    for name in ("embedding.weight", "classifier.weight"):
        if name not in parameters:
            leave(1, f"{name}: not in the checkpoint")
    config["vocab"] = len(parameters["embedding.weight"])
    config["classes"] = len(parameters["classifier.weight"])
    config["max_length"] = len(parameters["position.weight"]) if config["positions"] == "learned" else 0
    return config


def load_strictly(model, parameters):
    """Each module by itself, as a user would; what no module takes is an error too."""
    left = dict(parameters)
    for prefix, module in model.named_children():
        state = {name[len(prefix) + 1:]: left.pop(name) for name in parameters if name.startswith(prefix + ".")}
        try:
            module.load_state_dict(state, strict=True)
        except RuntimeError as error:
            leave(1, f"{prefix}: {' '.join(str(error).split())}")
    if left:
        leave(1, f"no module takes {', '.join(sorted(left))}")


def read_predictions(text_path, predictions_path):
    """The predictions' objects, one for each line of the text."""
    with open(text_path, encoding="utf-8", newline="\n") as file:
        texts = [line[:-1] if line.endswith("\n") else line for line in file]
    with open(predictions_path, encoding="utf-8", newline="\n") as file:
        predictions = [json.loads(line) for line in file]
    if len(texts) != len(predictions):
        leave(1, f"{len(texts)} lines of text, {len(predictions)} predictions")
    if not texts:
        leave(2, f"{text_path}: no line to compare")
    for number, (text, prediction) in enumerate(zip(texts, predictions), 1):
        if prediction["text"] != text.removesuffix("\r"):
            leave(1, f"line {number}: {prediction['text']!r} was predicted, {text!r} is in the file")
    return predictions


def compare(predictions, logits, labels):
    """Returns what is wrong, one message each, and the largest difference relative to the largest logit."""
    wrong = []
    largest = max(logits.abs().max().item(), 1e-30)
    probabilities = torch.softmax(logits, dim=1)
    worst = 0.0
    for number, (prediction, right, right_probabilities) in enumerate(zip(predictions, logits, probabilities), 1):
        if len(prediction["logits"]) != len(right):
            wrong.append(f"line {number}: {len(prediction['logits'])} logits, {len(right)} labels")
            continue
        ours = torch.tensor(prediction["logits"], dtype=torch.float64)
        difference = (ours - right).abs().max().item() / largest
        worst = max(worst, difference)
        if not difference <= TOLERANCE:  # so that nan is wrong too
            wrong.append(f"line {number}: logits {ours.tolist()}, PyTorch's {right.tolist()}")
        if prediction["label"] not in labels:
            wrong.append(f"line {number}: {prediction['label']!r} is no label of the model")
        elif right[labels.index(prediction["label"])] < right.max() - 2 * TOLERANCE * largest:
            wrong.append(f"line {number}: label {prediction['label']!r}, PyTorch's {labels[right.argmax()]!r}")
        for label, probability in zip(labels, right_probabilities.tolist()):
            if not abs(prediction["probabilities"].get(label, -1.0) - probability) <= TOLERANCE:
                wrong.append(f"line {number}: probability of {label!r} is not {probability}")
    return wrong, worst


def main():
    if len(sys.argv) != 4:
        leave(2, "usage: check_checkpoint.py MODEL.npz TEXTFILE PREDICTIONS.jsonl")
    torch.set_default_dtype(torch.float64)
    model_path, text_path, predictions_path = sys.argv[1:]
    parameters, meta = read_checkpoint(model_path)
    config = encoder_config(meta, parameters)
    labels = meta["labels"]
    if len(labels) != config["classes"]:
        leave(1, f"{len(labels)} labels, classifier.weight has {config['classes']} rows")
    model = Encoder(config)
    load_strictly(model, parameters)
    model.train()  # dropout is 0; in training mode PyTorch takes no fused path, which would be another one to trust
    predictions = read_predictions(text_path, predictions_path)
    sequences = [prediction["tokens"] for prediction in predictions]
    for number, sequence in enumerate(sequences, 1):
        if not sequence or min(sequence) < 0 or max(sequence) >= config["vocab"]:
            leave(1, f"line {number}: token ids {sequence}, the vocabulary has {config['vocab']}")
        if config["positions"] == "learned" and len(sequence) > config["max_length"]:
            leave(1, f"line {number}: {len(sequence)} tokens, position.weight has {config['max_length']} rows")
    with torch.no_grad():
        logits = model(sequences)
    wrong, worst = compare(predictions, logits, labels)
    for message in wrong[:10]:
        print(f"check_checkpoint: {message}", file=sys.stderr)
    if wrong:
        leave(1, f"{len(wrong)} mismatches in {len(predictions)} lines, logits off by up to {worst:.2g} of the largest")
    print(f"{len(predictions)} lines, {len(parameters)} parameters: logits within {worst:.2g} of the largest")


if __name__ == "__main__":
    try:
        main()
    except (OSError, zipfile.BadZipFile) as error:
        leave(2, error)
    except (KeyError, ValueError) as error:  # ValueError: numpy's and json's complaints too
        leave(1, f"something is missing or malformed: {error!r}")
