# A thin front for Meson: see meson.build.
#   make            build into build/; build/dwell runs there
#   make demo       install what is missing, build, record a real workload, show where its time went
#   make test       install what is missing, build, run every test
#   make bench      compare with perf, in one run
#   make install    DESTDIR and PREFIX as usual
BUILD  ?= build
PREFIX ?= /usr/local

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/install-packages
	@meson setup $(BUILD) --prefix $(PREFIX) >/dev/null

setup:
	@tools/install-packages

demo: setup all
	@tools/demo $(BUILD)

test: setup all
	@tools/run-tests $(BUILD)

bench: setup
	@tools/install-packages packages.bench
	@$(MAKE) --no-print-directory all
	@bench/run $(BUILD)

install: all
	@meson configure $(BUILD) --prefix $(PREFIX) >/dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet

clean:
	rm -rf $(BUILD)

.PHONY: all setup demo test bench install clean
