#!/usr/bin/env bash
# run.sh VARIANT...: runs each variant's tests and ends with one line, `N passed, N failed`. A sanitizer report fails
# the run even when the test around it passed: Criterion does not look at a leak found when the process ends.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
for variant in "$@"; do
    reports=$(mktemp -d)
    log=build/$variant/tests.log
    TAPESTRY_BIN=$PWD/build/${variant/double/float}/bin OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} \
        OMP_WAIT_POLICY=passive \
        ASAN_OPTIONS=log_path=$reports/asan:detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=log_path=$reports/ubsan:print_stacktrace=1 \
        build/"$variant"/run_tests --jobs 2 --timeout "${TEST_TIMEOUT:-600}" >"$log" 2>&1
    status=$?
    cat "$log"
    read -r p f < <(sed -n 's/.*Synthesis: Tested: .*Passing: [^0-9]*\([0-9]*\).*Failing: [^0-9]*\([0-9]*\).*/\1 \2/p' \
        <(sed 's/\x1b\[[0-9;]*m//g' "$log") | tail -n 1)
    if [ -z "${p:-}" ] || { [ $status -ne 0 ] && [ "$f" -eq 0 ]; }; then
        echo "$variant: the test runner ended with status $status and no summary of its own"
        p=${p:-0} f=1
    fi
    n_reports=$(find "$reports" -type f | wc -l)
    if [ "$n_reports" -gt 0 ]; then
        echo "$variant: $n_reports sanitizer reports"
        head -n 60 "$reports"/*
    fi
    rm -rf "$reports"
    passed=$((passed + p))
    failed=$((failed + f + n_reports)) # a crash counts among the failed ones
    unset p f
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
