#!/usr/bin/python3
"""prepare.py: reads the six text sets of docs/results.md and writes what recipes and peers use.

    bench/results/prepare.py OUT

Needs the data folder: $TAPESTRY_DATA, or ../shared/data beside this repository. Needs nothing but Python's own library.
OUT should lie outside the repository: the texts are not ours to pass on. Writes

    OUT/<set>/train.jsonl, test.jsonl    one [label, text] a line, for peers.py
    OUT/<set>/train.tsv, test.tsv        label TAB text in UTF-8, for the two sets without a published split

and prints one line a set: rows of train and test, and the number of classes.

Where no split is published a row is a test row when the CRC-32 of its text's bytes, as they stand in the file, is
divisible by 5.
"""
import csv
import json
import os
import sys
import zlib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TAPESTRY_DATA", REPOSITORY.parent / "shared" / "data")).resolve()


def lines(name):
    """The lines of a file as bytes, cut at LF alone: other bytes that end lines elsewhere are text here."""
    return (DATA / name).read_bytes().removesuffix(b"\n").split(b"\n")


def decoded(rows, encoding="utf-8", errors="strict"):
    return [(label.decode(encoding), text.decode(encoding, errors)) for label, text in rows]


def trec():
    """Coarse labels. One line of train has a byte that is not UTF-8; it becomes U+FFFD."""
    def part(name):
        rows = (line.split(b" ", 1) for line in lines(name))
        return decoded(((label.split(b":")[0], text) for label, text in rows), errors="replace")
    return part("trec/TREC.train"), part("trec/TREC.test")


def sst2():
    return tuple(decoded(line.split(b" ", 1) for line in lines(f"sst2/stsa.binary.{part}"))
                 for part in ("train", "test"))


def hash_split(rows):
    """Rows of (label, text) in bytes, as train and test."""
    rows = list(rows)
    return ([row for row in rows if zlib.crc32(row[1]) % 5 != 0], [row for row in rows if zlib.crc32(row[1]) % 5 == 0])


def sms_spam():
    return tuple(map(decoded, hash_split(line.split(b"\t", 1) for line in lines("sms_spam/SMSSpamCollection"))))


def rt_polarity():
    rows = [(label, text) for label in (b"pos", b"neg") for text in lines(f"rt_polarity/rt-polarity.{label.decode()}")]
    return tuple(decoded(part, "cp1252") for part in hash_split(rows))


def thucnews_titles():
    """dev.txt trains and test.txt tests; the published training file is another one."""
    return tuple(decoded(reversed(line.split(b"\t")) for line in lines(f"thucnews_titles/{part}.txt"))
                 for part in ("dev", "test"))


def banking77():
    def part(name):
        with open(DATA / "banking77" / name, encoding="utf-8", newline="") as file:
            return [(row["category"], row["text"]) for row in csv.DictReader(file)]
    return part("train.csv"), part("test.csv")


# Each reader, and the rows of train and test that it must find.
SETS = {trec: (5452, 500), sst2: (6920, 1821), sms_spam: (4440, 1134), rt_polarity: (8575, 2087),
        thucnews_titles: (10000, 10000), banking77: (10003, 3080)}
SPLIT_HERE = (sms_spam, rt_polarity)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    if not DATA.is_dir():
        sys.exit(f"{DATA}: no such folder; name the data folder in TAPESTRY_DATA")
    out = Path(sys.argv[1])
    if REPOSITORY in (out.resolve(), *out.resolve().parents):
        sys.exit(f"{out}: lies in the repository, where no data set may get into a commit")
    for read, expected in SETS.items():
        parts = read()
        found = tuple(map(len, parts))
        if found != expected:
            sys.exit(f"{read.__name__}: {found} rows of train and test instead of {expected}; is this the same file?")
        folder = out / read.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in zip(("train", "test"), parts):
            with open(folder / f"{name}.jsonl", "w", encoding="utf-8", newline="") as file:
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            if read in SPLIT_HERE:
                with open(folder / f"{name}.tsv", "w", encoding="utf-8", newline="") as file:
                    file.writelines(f"{label}\t{text}\n" for label, text in rows)
        n_classes = len({label for label, _ in parts[0]})
        print(f"{read.__name__}: {found[0]} train, {found[1]} test, {n_classes} classes")


if __name__ == "__main__":
    main()
