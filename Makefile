# A thin front for Meson: see meson.build.
#   make            build what is installed into build/; build/dwell runs there
#   make check      the quick tests: suites unit, docs and cli, and lint
#   make demo       install what is missing, build, record a real workload, show where its time went
#   make test       install what is missing, build, run every suite but `services`
#   make test-full  `make test`, then `services` and what sanitizers find
#   make fuzz       every parser of outside bytes for TIME seconds (60), with clang
#   make bench      compare with perf, in one run
#   make install    DESTDIR and PREFIX as usual
BUILD  ?= build
PREFIX ?= /usr/local

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet installed

# Made once, and again when a test came or went: Meson looks for tests only then.
$(BUILD)/build.ninja: tests/unit $(wildcard tests/cli/*/)
	@[ -e $@ ] || tools/install-packages
	@if [ -e $@ ]; then meson setup --reconfigure $(BUILD); else meson setup $(BUILD) --prefix $(PREFIX); fi >/dev/null
	@touch $@

setup:
	@tools/install-packages

demo: setup all
	@tools/demo $(BUILD)

check: all
	@tools/run-tests --quick $(BUILD)

test: setup all
	@tools/run-tests $(BUILD)

test-full: setup all
	@tools/run-tests --full $(BUILD)

fuzz: setup all
	@tools/fuzz $(BUILD) $(or $(TIME),60) $(TARGETS)

bench: setup
	@tools/install-packages packages.bench
	@$(MAKE) --no-print-directory all
	@bench/run $(BUILD)

install: all
	@meson configure $(BUILD) --prefix $(PREFIX) >/dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	rm -rf $(BUILD)

.PHONY: all setup demo check test test-full fuzz bench install clean
