# lint.mk: what `make lint` checks; every line must be clean.
LINT_SOURCES = $(LIBRARY_SOURCES) $(wildcard train/*.c examples/*.c bench/*.c)

lint: lint-tidy lint-cppcheck

# One file a process: clang-tidy 14 sees uninitialised va_lists in any file but the first that a process checks.
lint-tidy: build/deps-found
	@for source in $(LINT_SOURCES); do echo $$source; done | xargs -P 2 -n 1 sh -c 'clang-tidy --quiet --warnings-as-errors="*" "$$@" -- -std=c11 -fopenmp -D_GNU_SOURCE -DTAP_CHECKS $(INCLUDE_tests) -isystem $(BLIS_INCLUDE) 2>build/lint.log' sh || { echo "clang-tidy found something" >&2; exit 1; }

lint-cppcheck:
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 -D__GNUC__ $(INCLUDE_train) $(LINT_SOURCES)

format:
	clang-format -i $(wildcard src/*/*.[ch] datasets/*.[ch] train/*.[ch] examples/*.c bench/*.c tests/*.[ch] tests/*/*.[ch])

# The clock counts: nothing else should run meanwhile.
bench: float build/float/bench/batch_lengths
	@bench/compare_tiny.sh
.PHONY: lint-tidy lint-cppcheck
