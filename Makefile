# SPDX-License-Identifier: Apache-2.0
#
#   make test      everything on a fresh Debian 12: packages, configure, build, tests
#   make demo      the same set-up, then the main job on a network of our own, shown step by step
#   make sanitize  the tests under AddressSanitizer and UBSan, without whole models
#   make check     format, include rules, sizes, clang-tidy
#   make format    clang-format in place
#   make build     the command line alone: build/release/onepass

JOBS ?= $(shell nproc)
PRESET ?= release
CTEST_ARGUMENTS ?=

.PHONY: test demo sanitize check format build setup clean

setup:
	scripts/setup

build: setup
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) -j $(JOBS) --target onepass_tool

test: setup
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) -j $(JOBS)
	ctest --preset $(PRESET) -j $(JOBS) --output-junit ctest.xml $(CTEST_ARGUMENTS)

demo: build
	scripts/demo build/$(PRESET)/onepass

sanitize:
	$(MAKE) test PRESET=asan-ubsan

check: setup
	scripts/check_format
	scripts/check_layers.py
	scripts/check_tidy

format: setup
	scripts/check_format --fix

clean:
	rm -rf build
