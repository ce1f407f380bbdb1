# A thin front for Meson: see meson.build.
#   make            build what is installed into build/; build/dwell runs there
#   make check      the quick tests: suites unit, docs and cli, and lint
#   make demo       install what is missing, build, record a real workload, show where its time went
#   make test       install what is missing (packages.tests too), build, run every suite but `services`
#   make test-full  `make test`, then `services` (with packages.services) and what sanitizers find
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

# Meson looks for the programs that tests need when it is run.
setup-tests: setup
	@tools/install-packages packages.tests
	@[ ! -e $(BUILD)/build.ninja ] || touch tests/unit

test: setup-tests
	@$(MAKE) --no-print-directory all
	@tools/run-tests $(BUILD)

test-full: setup-tests
	@tools/install-packages packages.services
	@$(MAKE) --no-print-directory all
	@tools/run-tests --full $(BUILD)

fuzz: setup-tests all
	@tools/fuzz $(BUILD) $(or $(TIME),60) $(TARGETS)

bench: setup-tests
	@tools/install-packages packages.bench
	@tools/install-packages packages.services
	@$(MAKE) --no-print-directory all
	@bench/run $(BUILD)

install: all
	@meson configure $(BUILD) --prefix $(PREFIX) >/dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	rm -rf $(BUILD)

.PHONY: all setup setup-tests demo check test test-full fuzz bench install clean
