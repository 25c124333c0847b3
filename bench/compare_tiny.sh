#!/usr/bin/env bash
# compare_tiny.sh: training speed of ./train --config tiny.cfg beside PyTorch's (peer_step.py), in tokens per second on
# the same model, batch lengths and number of threads. `make bench` builds what it needs and runs it.
#
#   ROUNDS=5 THREADS=2 STEPS=300 bench/compare_tiny.sh
#
# The two take turns, so that a machine that speeds up or slows down does so for both; of each round the median counts,
# and of all rounds the median of those. PyTorch is timed twice: on the real batches (padded to their longest sequence,
# with a mask), and on batches of the same number of sequences that all have the mean length, which need no padding: the
# kindest case for it. Ours: tokens_per_second of the train lines of metrics.jsonl, without those of the first 50 steps.
# It includes making the batch; the peer's batches are made before its clock starts.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-5}
threads=${THREADS:-$(getconf _NPROCESSORS_ONLN)}
steps=${STEPS:-300}
python=${PYTHON:-/usr/bin/python3}
blas=${PEER_BLAS:-/usr/lib/$(gcc -print-multiarch)/openblas-openmp}

stop() {
    echo "$1" >&2
    exit 2
}
for program in train/train build/float/bench/batch_lengths; do
    [ -x $program ] || stop "$program is not built: make bench builds it and runs this"
done
"$python" -c 'import torch' 2>/dev/null || stop "missing: PyTorch for $python; install it with: apt-get install python3-torch"
[ -e "$blas/libopenblas.so.0" ] || stop "missing: $blas; install it with: apt-get install libopenblas0-openmp"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMP_NUM_THREADS=$threads

median() {
    sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}
# The value of a key in lines of JSON.
values() {
    sed -n "s/.*\"$1\": *\\([-+.0-9e]*\\).*/\\1/p"
}
ours() {
    (cd train && ./train --config tiny.cfg --quiet --threads "$threads" --set "train.stop_after=$steps" --out "$scratch/run-$1")
    grep '"train"' "$scratch/run-$1/metrics.jsonl" | tail -n +6 | values tokens_per_second | median
}
peer() {
    # shellcheck disable=SC2086 # the sizes are many arguments
    LD_LIBRARY_PATH=$blas "$python" bench/peer_step.py $sizes --threads "$threads" --steps "$steps" --warmup 50 "$@" >"$scratch/peer"
    awk -v tokens="$(values tokens <"$scratch/peer")" -v steps="$steps" -v ms="$(values median_step_ms <"$scratch/peer")" \
        'BEGIN { print tokens / steps / ms * 1000 }'
}

sizes=$(build/float/bench/batch_lengths train/tiny.cfg "$scratch/lengths")
echo "$threads threads, $steps steps a round; load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
echo "$sizes"
echo "tokens per second: Tapestry, PyTorch with padding, PyTorch with equal lengths"
for round in $(seq "$rounds"); do
    a=$(ours "$round")
    b=$(peer --batches "$scratch/lengths")
    c=$(peer)
    echo "$a" >>"$scratch/a"
    echo "$b" >>"$scratch/b"
    echo "$c" >>"$scratch/c"
    printf 'round %d: %8.0f %8.0f %8.0f\n' "$round" "$a" "$b" "$c"
done
awk -v a="$(median <"$scratch/a")" -v b="$(median <"$scratch/b")" -v c="$(median <"$scratch/c")" 'BEGIN {
    printf "median:  %8.0f %8.0f %8.0f\n", a, b, c
    printf "Tapestry / PyTorch: %.2f with padding, %.2f with equal lengths\n", a / b, a / c }'
echo "load after: $(cut -d ' ' -f 1-3 /proc/loadavg)"
