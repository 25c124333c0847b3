# Tapestry: `make help` lists the targets. Each folder is compiled with only the include paths that it may use, so an
# upward include does not build. Sources are found by wildcard: a new file needs no line here.

CC = gcc
AR = ar
PREFIX = /usr/local
DESTDIR =

# Debian's packages: what a build needs, and what tests and lint need besides.
DEPS_BUILD = gcc libc6-dev make libblis-openmp-dev libyaml-dev libminizip-dev zlib1g-dev libutf8proc-dev libjansson-dev
DEPS_CHECK = libcriterion-dev clang-tidy libomp-dev cppcheck clang-format

MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
BLIS_INCLUDE ?= /usr/include/$(MULTIARCH)/blis-openmp
BLIS_LIB ?= /usr/lib/$(MULTIARCH)/blis-openmp

ifdef PORTABLE
MACHINE =
else
MACHINE = -march=native
endif
# Contraction off: a product and a sum are rounded the same whether the compiler used a vector loop or its remainder;
# where a fused multiply-add is wanted the code says so. No errno from math functions: lets sqrt be one instruction.
NUMERICS = -ffp-contract=off -fno-math-errno
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
OPTIMIZE = -O3
CFLAGS = $(OPTIMIZE) $(MACHINE) $(NUMERICS) -g $(WARNINGS)
CPPFLAGS = -D_GNU_SOURCE -DTAP_CFLAGS='"$(OPTIMIZE) $(MACHINE) $(NUMERICS)"'
LDLIBS = -L$(BLIS_LIB) -Wl,-rpath,$(BLIS_LIB) -lblis -lyaml -lminizip -lz -lutf8proc -ljansson -fopenmp -lm

PROGRAMS = $(patsubst train/main_%.c,%,$(wildcard train/main_*.c))
LIBRARY_SOURCES = $(wildcard src/autograd/*.c src/layers/*.c src/optim/*.c datasets/*.c src/model/*.c)
TRAINER_SOURCES = $(filter-out train/main_%.c,$(wildcard train/*.c))
TEST_SOURCES = $(wildcard tests/*.c tests/*/*.c)
EXAMPLES = $(patsubst examples/%.c,%,$(wildcard examples/*.c))

INCLUDE_src/autograd = -Isrc/autograd -isystem $(BLIS_INCLUDE)
INCLUDE_src/layers = -Isrc/autograd -Isrc/layers
INCLUDE_src/optim = -Isrc/autograd -Isrc/optim
INCLUDE_datasets = -Isrc/autograd -Idatasets
INCLUDE_src/model = -Isrc/autograd -Isrc/layers -Isrc/optim -Idatasets -Isrc/model
INCLUDE_examples = $(INCLUDE_src/model)
INCLUDE_bench = $(INCLUDE_src/model)
INCLUDE_train = $(INCLUDE_src/model) -Itrain
INCLUDE_tests = $(INCLUDE_train) -Itests

# `make V=1` shows the commands themselves.
ifndef V
Q = @
endif

all: float
	@true

# $(call variant,NAME,FLAGS): the whole tree built once into build/NAME with FLAGS.
define variant
build/$(1)/%.o: %.c build/deps-found
	@mkdir -p $$(@D)
	@echo "  compile $$@"
	$$(Q)$$(CC) -std=c11 -fopenmp $$(CPPFLAGS) $$(CFLAGS) $(2) $$(INCLUDE_$$(patsubst %/,%,$$(if $$(filter tests/%,$$<),tests/,$$(dir $$<)))) -MMD -MP -c -o $$@ $$<
build/$(1)/libtapestry.a: $$(LIBRARY_SOURCES:%.c=build/$(1)/%.o)
	@echo "  archive $$@"
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
build/$(1)/libtrainer.a: $$(TRAINER_SOURCES:%.c=build/$(1)/%.o)
	@echo "  archive $$@"
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
build/$(1)/bin/%: build/$(1)/train/main_%.o build/$(1)/libtrainer.a build/$(1)/libtapestry.a
	@mkdir -p $$(@D)
	@echo "  link    $$@"
	$$(Q)$$(CC) $$(CFLAGS) $(2) -o $$@ $$^ $$(LDLIBS)
$$(EXAMPLES:%=build/$(1)/examples/%): build/$(1)/examples/%: build/$(1)/examples/%.o build/$(1)/libtapestry.a
	$$(CC) $$(CFLAGS) $(2) -o $$@ $$^ $$(LDLIBS)
build/$(1)/run_tests: $$(TEST_SOURCES:%.c=build/$(1)/%.o) build/$(1)/libtrainer.a build/$(1)/libtapestry.a
	@echo "  link    $$@"
	$$(Q)$$(CC) $$(CFLAGS) $(2) -o $$@ $$^ -lcriterion $$(LDLIBS)
-include $$(patsubst %.c,build/$(1)/%.d,$$(LIBRARY_SOURCES) $$(TRAINER_SOURCES) $$(TEST_SOURCES) $$(wildcard train/main_*.c examples/*.c bench/*.c))
endef
# Every number of small_product.c goes through a whole vector, so a fused product and sum is the same everywhere.
build/%/src/autograd/small_product.o: NUMERICS = -ffp-contract=fast -fno-math-errno

SANITIZE_FLAGS = -O1 -DTAP_CHECKS -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
$(eval $(call variant,float,))
$(eval $(call variant,double,-DTAP_REAL_IS_DOUBLE))
$(eval $(call variant,test-float,-DTAP_CHECKS))
$(eval $(call variant,test-double,-DTAP_CHECKS -DTAP_REAL_IS_DOUBLE))
$(eval $(call variant,sanitize-float,$(SANITIZE_FLAGS)))
$(eval $(call variant,sanitize-double,$(SANITIZE_FLAGS) -DTAP_REAL_IS_DOUBLE))
.SECONDARY:

float: build/float/libtapestry.a $(PROGRAMS:%=train/%)
train/%: build/float/bin/%
	cp $< $@
train/gradcheck: build/double/bin/gradcheck
	cp $< $@
# the tests find all programs of a variant in one folder
build/test-float/bin/gradcheck: build/test-double/bin/gradcheck
	@mkdir -p $(@D)
	cp $< $@
build/sanitize-float/bin/gradcheck: build/sanitize-double/bin/gradcheck
	@mkdir -p $(@D)
	cp $< $@

# Names a missing dependency and the command that installs it, before the compiler fails on it.
build/deps-found: Makefile
	@mkdir -p build
	@missing=""; \
	try() { printf '#include <%s>\n' "$$1" | $(CC) $(INCLUDE_src/autograd) -E -x c - >/dev/null 2>&1 || missing="$$missing $$2"; }; \
	command -v $(CC) >/dev/null || { echo "missing: $(CC); install it with: apt-get install gcc  (or: make deps)" >&2; exit 1; }; \
	try blis.h libblis-openmp-dev; try yaml.h libyaml-dev; try minizip/zip.h libminizip-dev; try zlib.h zlib1g-dev; \
	try utf8proc.h libutf8proc-dev; try jansson.h libjansson-dev; \
	if [ -n "$$missing" ]; then echo "missing:$$missing; install with: apt-get install$$missing  (or: make deps)" >&2; exit 1; fi
	@touch $@

deps:
	@if command -v apt-get >/dev/null; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(DEPS_BUILD) $(DEPS_CHECK); \
	else echo "Install the equal of these Debian packages: $(DEPS_BUILD) $(DEPS_CHECK)"; fi

build/float/bench/batch_lengths: build/float/bench/batch_lengths.o build/float/libtapestry.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# Built by hand alone: `make` needs none of them.
examples: $(EXAMPLES:%=build/float/examples/%)

demo: float
	cd train && ./train --config tiny.cfg

TEST_VARIANTS = test-float test-double
test: $(TEST_VARIANTS:%=build/%/run_tests) $(PROGRAMS:%=build/test-float/bin/%) $(EXAMPLES:%=build/test-float/examples/%)
	@tests/run.sh $(TEST_VARIANTS)

SANITIZE_VARIANTS = sanitize-float sanitize-double
sanitize: $(SANITIZE_VARIANTS:%=build/%/run_tests) $(PROGRAMS:%=build/sanitize-float/bin/%) $(EXAMPLES:%=build/sanitize-float/examples/%)
	@tests/run.sh $(SANITIZE_VARIANTS)

include lint.mk
include docs.mk

install: float
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include/tapestry
	install -m 644 build/float/libtapestry.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 src/*/*.h src/*/*.def datasets/*.def datasets/*.h $(DESTDIR)$(PREFIX)/include/tapestry
	for program in $(PROGRAMS); do install -m 755 train/$$program $(DESTDIR)$(PREFIX)/bin/tapestry-$$program; done

fuzz coverage soak:
	@echo "make $@: not supported yet" >&2; exit 2

clean:
	rm -rf build $(PROGRAMS:%=train/%)

help:
	@echo "make           library and programs          make deps      install what the project needs"
	@echo "make demo      build and train tiny.cfg       make test      all tests, float and double"
	@echo "make sanitize  tests under ASan and UBSan     make lint      clang-tidy, cppcheck, format and layering checks"
	@echo "make bench     timings against PyTorch        make examples  build/float/examples/"
	@echo "make install PREFIX=DIR                       make clean"

.PHONY: all float examples deps demo test sanitize lint format bench install fuzz coverage soak clean help
