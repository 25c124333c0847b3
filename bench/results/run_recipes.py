#!/usr/bin/python3
"""run_recipes.py: trains the recipes of docs/results.md with several seeds, and prints their test accuracies.

    bench/results/run_recipes.py OUT [--set NAME]... [--seeds 1,2,3,4,5] [--baseline] [--threads 2]
                                     [--config FILE] [--bin train/train]

OUT is the folder that prepare.py has filled; the data folder is needed too ($TAPESTRY_DATA, or ../shared/data beside
this repository), and ./train, built by `make`. Without --set, all sets whose config is there are run. Runs go to
OUT/runs/<set>/seed-<n> (with --baseline: <set>-baseline) and replace the ones that an earlier call left there.

A run trains on the training part alone. Its validation part, the config's fraction of the training rows unless one is
published, chooses the best model; that one is tested. --baseline trains the same config with the overrides of SETS that
leave a model without encoder layers.

Prints progress on standard error; on standard output a Markdown table with mean, standard deviation (of the sample),
least and greatest test accuracy in percent, the mean of the validation accuracies of the tested models, and the median
of the seconds that training took; then one line of JSON with the figures of every run.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TAPESTRY_DATA", REPOSITORY.parent / "shared" / "data")).resolve()
NO_LAYERS = ("model.layers=0", "model.positions=none")

# Of each set: its config, the overrides that name its data, and those that make its baseline. {data} is the data
# folder, {out} the folder of prepare.py.
SETS = {
    "trec": ("train/trec.cfg", (
        "data.train={data}/trec/TREC.train", "data.test={data}/trec/TREC.test", "data.format=space",
        "data.label_prefix_end=:", "data.bad_bytes=replace"), NO_LAYERS),
    "sst2": ("train/sst2.cfg", (
        "data.train={data}/sst2/stsa.binary.train", "data.valid={data}/sst2/stsa.binary.dev",
        "data.test={data}/sst2/stsa.binary.test", "data.format=space"), NO_LAYERS),
    "spam": ("train/spam.cfg", (
        "data.train={out}/sms_spam/train.tsv", "data.test={out}/sms_spam/test.tsv", "data.test_fraction=0"), NO_LAYERS),
    "rt_polarity": ("train/rt_polarity.cfg", (
        "data.train={out}/rt_polarity/train.tsv", "data.test={out}/rt_polarity/test.tsv"), NO_LAYERS),
    "thucnews": ("train/thucnews.cfg", (
        "data.train={data}/thucnews_titles/dev.txt", "data.test={data}/thucnews_titles/test.txt", "data.format=tsv",
        "data.label_column=2", "data.text_column=1"), NO_LAYERS),
    "banking77": ("train/banking77.cfg", (
        "data.train={data}/banking77/train.csv", "data.test={data}/banking77/test.csv", "data.format=csv",
        "data.label_column=category", "data.text_column=text"), NO_LAYERS),
}


def scores(folder):
    """Test accuracy, the tested model's validation accuracy or None, and seconds, from a run's metrics.jsonl."""
    events = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    evaluations = [event for event in events if event["event"] == "evaluate"]
    test = [event for event in evaluations if event["split"] == "test"]
    done = [event for event in events if event["event"] == "done"]
    if not test or not done:
        sys.exit(f"{folder}: the run did not come to its test")
    valid = {event["step"]: 100 * event["accuracy"] for event in evaluations if event["split"] == "valid"}
    return {"accuracy": 100 * test[-1]["accuracy"], "valid": valid.get(test[-1]["step"]),
            "step": test[-1]["step"], "seconds": done[-1]["seconds"]}


def train(arguments, name, seed):
    config, data, baseline = SETS[name]
    out = arguments.out.resolve()
    overrides = [*(override.format(data=DATA, out=out) for override in data), *(baseline if arguments.baseline else ()),
                 f"train.seed={seed}", "checkpoint.keep=1"]
    folder = out / "runs" / (name + "-baseline" * arguments.baseline) / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [arguments.bin.resolve(), "--config", arguments.config or REPOSITORY / config, "--out", folder, "--quiet",
               "--threads", str(arguments.threads)]
    for override in overrides:
        command += ["--set", override]
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        sys.exit(f"{name}, seed {seed}: ./train ended with exit status {status}")
    return scores(folder) | {"seed": seed}


def summary(runs):
    accuracies = [run["accuracy"] for run in runs]
    valid = [run["valid"] for run in runs if run["valid"] is not None]
    return {"mean": statistics.mean(accuracies), "deviation": statistics.stdev(accuracies) if len(runs) > 1 else 0.0,
            "min": min(accuracies), "max": max(accuracies), "valid": statistics.mean(valid) if valid else None,
            "seconds": statistics.median(run["seconds"] for run in runs), "runs": runs}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder that prepare.py has filled")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets", help="only this set; may be repeated")
    parser.add_argument("--seeds", default="1,2,3,4,5", help="seeds, separated by commas")
    parser.add_argument("--baseline", action="store_true", help="the model without layers instead")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--config", type=Path, help="another config than the set's own; with one --set")
    parser.add_argument("--bin", type=Path, default=REPOSITORY / "train" / "train", help="the program ./train")
    arguments = parser.parse_args()
    try:
        arguments.seeds = [int(seed) for seed in arguments.seeds.split(",")]
    except ValueError:
        parser.error("--seeds: whole numbers, separated by commas")
    if not arguments.bin.is_file():
        parser.error(f"{arguments.bin}: not there; `make` builds it")
    if arguments.config and len(arguments.sets or ()) != 1:
        parser.error("--config goes with one --set")
    arguments.sets = arguments.sets or [name for name in SETS if (REPOSITORY / SETS[name][0]).is_file()]
    return arguments


def main():
    arguments = parse_arguments()
    results = {}
    for name in arguments.sets:
        runs = []
        for seed in arguments.seeds:
            runs.append(train(arguments, name, seed))
            print(f"{name}, seed {seed}: {runs[-1]['accuracy']:.2f} ({runs[-1]['seconds']:.0f} s)", file=sys.stderr)
        results[name] = summary(runs)
    print("| set | mean | deviation | min | max | valid | seconds |\n|---|---|---|---|---|---|---|")
    for name, row in results.items():
        valid = "-" if row["valid"] is None else f"{row['valid']:.1f}"
        print(f"| {name} | {row['mean']:.1f} | {row['deviation']:.2f} | {row['min']:.1f} | {row['max']:.1f} "
              f"| {valid} | {row['seconds']:.0f} |")
    print()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
