#!/usr/bin/python3
"""peers.py: test accuracy and training time of the peers in docs/results.md.

    bench/results/peers.py OUT [--set NAME]... [--peer tfidf|fasttext]... [--runs 3] [--file-order]

OUT is the folder that prepare.py has filled. Needs scikit-learn (Debian: python3-sklearn) and the command `fasttext`,
version 0.9.2 (Debian: fasttext), with 2 GB of memory and 2 GB free in OUT for its model.

TF-IDF + logistic regression, on word unigrams and bigrams (thucnews_titles: characters), one thread:
    A    scikit-learn's default words and lower-casing, C=1
    B    single letters and punctuation marks are tokens too, sublinear term frequency, C=10
fastText with -lr 0.5 -epoch 25 -dim 100 -thread 2, on words, with -wordNgrams 2, and with -minn 3 -maxn 5 besides:
    own      the texts as they come; the spaces in them are all that separates tokens
    lower    lower-cased, punctuation marks split off
In both forms the characters of thucnews_titles are tokens. fastText takes the rows as they stand, pass after pass, so
they are shuffled for it once, with a fixed seed: those of rt_polarity and banking77 are sorted by class, which costs it
many points. --file-order leaves them so. Its two threads race, so no two runs agree: each is run --runs times, and the
median and the range are given. Time is the wall time of the command `fasttext supervised`,
with reading the text and writing the model; for TF-IDF it's that of both fits.

Prints progress on standard error; on standard output a Markdown table of accuracies in percent with seconds in
brackets, then one line of JSON with every figure.
"""
import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

SETS = ("trec", "sst2", "sms_spam", "rt_polarity", "thucnews_titles", "banking77")
IN_CHARACTERS = ("thucnews_titles",)
TOKEN = r"(?u)\w+|[^\w\s]"
FASTTEXT = ("-lr", "0.5", "-epoch", "25", "-dim", "100", "-thread", "2", "-verbose", "0")
VARIANTS = {"words": (), "bigrams": ("-wordNgrams", "2"),
            "bigrams + subwords": ("-wordNgrams", "2", "-minn", "3", "-maxn", "5")}
FORMS = ("own", "lower")


def read_pairs(path):
    """Labels and texts of a file of prepare.py."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return tuple(zip(*map(json.loads, file)))


def percent_right(predicted, labels):
    predicted = list(predicted)
    if len(predicted) != len(labels):
        sys.exit(f"{len(predicted)} predictions for {len(labels)} rows")
    return 100 * sum(a == b for a, b in zip(predicted, labels)) / len(labels)


def tfidf(name, train, test, setting):
    """The result of one fit."""
    options = {"analyzer": "char"} if name in IN_CHARACTERS else {"token_pattern": TOKEN} if setting == "B" else {}
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=setting == "B", **options)
    classifier = LogisticRegression(C=10 if setting == "B" else 1, max_iter=1000)
    start = time.perf_counter()
    classifier.fit(vectorizer.fit_transform(train[1]), train[0])
    seconds = time.perf_counter() - start
    return percent_right(classifier.predict(vectorizer.transform(test[1])), test[0]), seconds


def fasttext_line(name, text, form):
    """A text in fastText's format: one line, tokens between spaces."""
    if form == "lower":
        text = text.lower()
    if name in IN_CHARACTERS:
        return " ".join("".join(text.split()))
    if form == "lower":
        return " ".join(re.findall(TOKEN, text))
    return text.replace("\n", " ")


def shuffled(pairs):
    rows = list(zip(*pairs))
    random.Random(1).shuffle(rows)
    return tuple(zip(*rows))


def fasttext(folder, name, train, test, form, variant):
    """The result of one run. Labels go in as numbers, since fastText's end at a space."""
    numbers = {label: f"__label__{i}" for i, label in enumerate(sorted(set(train[0])))}
    train_path, test_path, model = folder / "fasttext.train", folder / "fasttext.test", folder / "fasttext"
    with open(train_path, "w", encoding="utf-8", newline="") as file:
        file.writelines(f"{numbers[label]} {fasttext_line(name, text, form)}\n" for label, text in zip(*train))
    with open(test_path, "w", encoding="utf-8", newline="") as file:
        file.writelines(fasttext_line(name, text, form) + "\n" for text in test[1])
    command = ("fasttext", "supervised", "-input", train_path, "-output", model, *FASTTEXT, *VARIANTS[variant])
    try:
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        predicted = subprocess.run(("fasttext", "predict", model.with_suffix(".bin"), test_path), check=True,
                                   stdout=subprocess.PIPE, text=True).stdout.splitlines()
    finally:
        for path in (train_path, test_path, model.with_suffix(".bin"), model.with_suffix(".vec")):
            path.unlink(missing_ok=True)
    return percent_right(predicted, [numbers.get(label) for label in test[0]]), seconds


def summary(results):
    """Of several (accuracy, seconds): median and range of the first, median of the second."""
    accuracies, seconds = zip(*results)
    return {"accuracy": statistics.median(accuracies), "min": min(accuracies), "max": max(accuracies),
            "seconds": statistics.median(seconds), "runs": len(results)}


def cell(result):
    spread = "" if result["runs"] == 1 else f" [{result['min']:.1f}–{result['max']:.1f}]"
    return f"{result['accuracy']:.1f}{spread} ({result['seconds']:.1f} s)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder that prepare.py has filled")
    parser.add_argument("--set", action="append", choices=SETS, dest="sets", help="only this set; may be repeated")
    parser.add_argument("--peer", action="append", choices=("tfidf", "fasttext"), dest="peers", help="only this peer")
    parser.add_argument("--runs", type=int, default=3, help="runs of fastText")
    parser.add_argument("--file-order", action="store_true", help="fastText gets the rows as they stand in the files")
    arguments = parser.parse_args()
    peers = arguments.peers or ("tfidf", "fasttext")
    sets = arguments.sets or SETS
    missing = [name for name in sets if not (arguments.out / name / "test.jsonl").is_file()]
    if missing:
        parser.error(f"{arguments.out / missing[0]}: not there; prepare.py makes it")
    if "fasttext" in peers and shutil.which("fasttext") is None:
        parser.error("fasttext: not there; Debian's package has its name; or say --peer tfidf")
    if arguments.runs < 1:
        parser.error("--runs must be at least 1")
    results = {}
    for name in sets:
        folder = arguments.out / name
        train, test = read_pairs(folder / "train.jsonl"), read_pairs(folder / "test.jsonl")
        jobs = {}
        if "tfidf" in peers:
            jobs |= {f"TF-IDF {s}": (1, tfidf, (name, train, test, s)) for s in ("A", "B")}
        if "fasttext" in peers:
            rows = train if arguments.file_order else shuffled(train)
            jobs |= {f"fastText {v}, {f}": (arguments.runs, fasttext, (folder, name, rows, test, f, v))
                     for f in FORMS for v in VARIANTS}
        results[name] = {}
        for job, (runs, run, values) in jobs.items():
            results[name][job] = summary([run(*values) for _ in range(runs)])
            print(f"{name}: {job}: {cell(results[name][job])}", file=sys.stderr, flush=True)
    columns = list(next(iter(results.values())))
    print("| set |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for name, row in results.items():
        print(f"| {name} |", " | ".join(map(cell, row.values())), "|")
    print()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
