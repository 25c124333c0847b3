#!/usr/bin/python3
"""run_recipes.py: trains the recipes of docs/results.md with several seeds, and prints their test accuracies.

    bench/results/run_recipes.py OUT [--set NAME]... [--seeds 1,2,3,4,5] [--threads 2] [--config FILE] [--bin train]

OUT is the folder that prepare.py has filled; the data folder is needed too ($TAPESTRY_DATA, or ../shared/data beside
this repository), and ./train, built by `make`. Without --set, all sets whose config is there are run. Runs go to
OUT/runs/<set>/seed-<n> and replace the ones that an earlier call left there. --bin is the folder of the programs.

A run trains on the training part alone. Where it has a validation part, that chooses the model which is tested, else
the last one is. Then ./evaluate --baselines trains the n-gram model without layers on the same rows with the same seed.

Prints progress on standard error; on standard output a Markdown table with mean, standard deviation (of the sample),
least and greatest test accuracy in percent, mean and deviation of the baseline's, and the median of the seconds that
training took; then one line of JSON with the figures of every run.
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

# Of each set: its config and the overrides that name its data. {data} is the data folder, {out} that of prepare.py.
SETS = {
    "trec": ("train/trec.cfg", (
        "data.train={data}/trec/TREC.train", "data.test={data}/trec/TREC.test")),
    "sst2": ("train/sst2.cfg", (
        "data.train={data}/sst2/stsa.binary.train", "data.valid={data}/sst2/stsa.binary.dev",
        "data.test={data}/sst2/stsa.binary.test")),
    "spam": ("train/spam.cfg", (
        "data.train={out}/sms_spam/train.tsv", "data.test={out}/sms_spam/test.tsv", "data.test_fraction=0")),
    "rt_polarity": ("train/rt_polarity.cfg", (
        "data.train={out}/rt_polarity/train.tsv", "data.test={out}/rt_polarity/test.tsv")),
    "thucnews": ("train/thucnews.cfg", (
        "data.train={data}/thucnews_titles/dev.txt", "data.test={data}/thucnews_titles/test.txt")),
    "banking77": ("train/banking77.cfg", (
        "data.train={data}/banking77/train.csv", "data.test={data}/banking77/test.csv")),
}


def scores(arguments, folder):
    """Test accuracy of the run and of its baseline, and seconds."""
    events = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    done = [event for event in events if event["event"] == "done"]
    if not done:
        sys.exit(f"{folder}: the run did not come to its end")
    result = subprocess.run([arguments.bin / "evaluate", "--model", folder, "--baselines", "--format", "json",
                             "--threads", str(arguments.threads)], check=True, capture_output=True)
    report = json.loads(result.stdout)
    return {"accuracy": 100 * report["accuracy"], "baseline": 100 * report["baselines"]["ngram"]["accuracy"],
            "seconds": done[-1]["seconds"]}


def train(arguments, name, seed):
    config, data = SETS[name]
    out = arguments.out.resolve()
    overrides = [*(override.format(data=DATA, out=out) for override in data),
                 f"train.seed={seed}", "checkpoint.keep=1"]
    folder = out / "runs" / name / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [arguments.bin / "train", "--config", arguments.config or REPOSITORY / config, "--out", folder, "--quiet",
               "--threads", str(arguments.threads)]
    for override in overrides:
        command += ["--set", override]
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        sys.exit(f"{name}, seed {seed}: ./train ended with exit status {status}")
    return scores(arguments, folder) | {"seed": seed}


def summary(runs):
    row = {"min": min(run["accuracy"] for run in runs), "max": max(run["accuracy"] for run in runs),
           "seconds": statistics.median(run["seconds"] for run in runs), "runs": runs}
    for key in ("accuracy", "baseline"):
        values = [run[key] for run in runs]
        row[key] = {"mean": statistics.mean(values), "deviation": statistics.stdev(values) if len(runs) > 1 else 0.0}
    return row


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder that prepare.py has filled")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets", help="only this set; may be repeated")
    parser.add_argument("--seeds", default="1,2,3,4,5", help="seeds, separated by commas")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--config", type=Path, help="another config than the set's own; with one --set")
    parser.add_argument("--bin", type=Path, default=REPOSITORY / "train", help="the folder of the programs")
    arguments = parser.parse_args()
    try:
        arguments.seeds = [int(seed) for seed in arguments.seeds.split(",")]
    except ValueError:
        parser.error("--seeds: whole numbers, separated by commas")
    arguments.bin = arguments.bin.resolve()
    if not (arguments.bin / "train").is_file():
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
    print("| set | mean | deviation | min | max | baseline | deviation | seconds |\n|---|---|---|---|---|---|---|---|")
    for name, row in results.items():
        print(f"| {name} | {row['accuracy']['mean']:.1f} | {row['accuracy']['deviation']:.2f} | {row['min']:.1f} "
              f"| {row['max']:.1f} | {row['baseline']['mean']:.1f} | {row['baseline']['deviation']:.2f} "
              f"| {row['seconds']:.0f} |")
    print()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
