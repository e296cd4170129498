# The front door. Everything is built by CMake (see CMakePresets.json); this file only knows the order.

JOBS ?= $(shell nproc)

# A CUDA toolkit that is installed and not on the PATH is still used.
ifneq ($(wildcard /usr/local/cuda/bin/nvcc),)
export PATH := $(PATH):/usr/local/cuda/bin
endif

BUILD_PACKAGES := g++ cmake ninja-build zlib1g-dev libmpfr-dev libfmt-dev libcli11-dev nlohmann-json3-dev \
                  libopenblas0 libsuitesparse-dev libmumps-seq-5.5 libmumps-headers-dev
TEST_PACKAGES := $(BUILD_PACKAGES) libgtest-dev libeigen3-dev libboost-dev python3-dev python3-venv
LINT_PACKAGES := clang-format-14 clang-tidy-14

SOURCES = $(shell git ls-files '*.hpp' '*.cpp' '*.h' '*.cuh' '*.cu')
TOOL := build/release/bin/vouch
SUITE ?= cg
SOAKED := text interval dense verify price

MPI_PACKAGES := $(BUILD_PACKAGES) libopenmpi-dev openmpi-bin libpetsc-real-dev pkg-config

.PHONY: help deps build demo test mpi mpi-test wheel wheel-cuda docs soak sanitize bench gpu-test lint format clean
.NOTPARALLEL:

help:
	@echo 'make demo      build, then generate, solve and report on a real system'
	@echo 'make build     build the tool: $(TOOL)'
	@echo 'make test      build everything, CUDA included where there is nvcc, and run all tests, those of what reads files sanitized, too'
	@echo 'make mpi       build the tool with its modules for MPI and PETSc: mpirun -n 4 $(TOOL) solve A.mtx --engine ranks, or petsc'
	@echo 'make mpi-test  its tests at 2 and 4 ranks'
	@echo 'make wheel     the Python package vouchnum, on the CPU, into dist/, tried in an environment of its own'
	@echo 'make wheel-cuda  the same with the whole library, vouchnum-cuda13; needs nvcc'
	@echo 'make docs      documents, gallery, Python and C++ as static HTML: build/docs/html/index.html'
	@echo 'make soak      the campaigns of random systems in full, and the sanitizers over everything: an hour'
	@echo 'make sanitize  the tests of what reads files under the address and undefined-behaviour sanitizers alone'
	@echo 'make gpu-test  the tests with a GPU required, and compute-sanitizer on small cases'
	@echo 'make bench     measure this machine: SUITE=cg, or another one that vouch bench -h lists'
	@echo 'make lint      clang-format and clang-tidy, changing nothing'
	@echo 'make format    clang-format the sources'
	@echo 'make deps      install the Debian packages that make test needs'
	@echo 'make clean     remove build/'

deps:
	@.ci/packages $(TEST_PACKAGES)

build:
	@.ci/packages $(BUILD_PACKAGES)
	cmake --preset release -DVOUCH_TESTS=OFF
	cmake --build --preset release -j $(JOBS) --target vouch_tool

mpi:
	@.ci/packages $(MPI_PACKAGES)
	cmake --preset release -DVOUCH_MPI=ON -DVOUCH_PETSC=ON
	cmake --build --preset release -j $(JOBS) --target vouch_tool

mpi-test: mpi
	@.ci/packages $(TEST_PACKAGES)
	cmake --preset release -DVOUCH_TESTS=ON
	cmake --build --preset release -j $(JOBS) --target test_distributed test_ranks
	build/release/tests/distributed/test_distributed
	VOUCH_REQUIRE_MPI=1 build/release/tests/cli/ranks/test_ranks

demo: build
	@examples/demo.sh $(TOOL) build/demo

# The shared library and the static one are made of the same objects: the second build only links. The programs run
# side by side, so by their presets a thread that waits gives its core away.
test: deps
	cmake --preset release -DVOUCH_TESTS=OFF -DVOUCH_BENCH=OFF -DBUILD_SHARED_LIBS=ON
	cmake --build --preset release -j $(JOBS)
	cmake -D BUILD=build/release -D WORK=build/release/consumer_shared -P tests/consumer/check.cmake
	cmake --preset release -DVOUCH_TESTS=ON -DVOUCH_BENCH=ON -DVOUCH_SANITIZED_TESTS=ON -DBUILD_SHARED_LIBS=OFF
	cmake --build --preset release -j $(JOBS)
	python/wheel.sh build/release test
	ctest --preset release -j $(JOBS)

wheel: deps
	cmake --preset cpu-only -DVOUCH_TESTS=OFF -DVOUCH_TOOL=OFF
	cmake --build --preset cpu-only -j $(JOBS)
	python/wheel.sh build/cpu-only repair test

wheel-cuda: deps
	cmake --preset release -DVOUCH_TESTS=OFF -DVOUCH_BENCH=OFF
	cmake --build --preset release -j $(JOBS)
	python/wheel.sh build/release repair test

# By the wheel of what is built.
docs: deps
	cmake --preset cpu-only -DVOUCH_TESTS=OFF -DVOUCH_TOOL=OFF
	cmake --build --preset cpu-only -j $(JOBS)
	python/wheel.sh build/cpu-only docs

# Every system of the campaigns, where make test takes one in a hundred; and the sanitizers over all rooms.
soak: deps
	cmake --preset release -DVOUCH_TESTS=ON
	cmake --build --preset release -j $(JOBS) --target $(SOAKED:%=test_%)
	for room in $(SOAKED); do VOUCH_SOAK=1 build/release/tests/$$room/test_$$room || exit; done
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)
	VOUCH_SOAK=1 build/asan/tests/verify/test_verify --gtest_filter='corrupt_csr.*'

sanitize: deps
	cmake --preset release -DVOUCH_TESTS=ON -DVOUCH_SANITIZED_TESTS=ON
	cmake --build --preset release -j $(JOBS) --target sanitized
	ctest --preset release -j $(JOBS) -R '^sanitized'

gpu-test: deps
	bench/gpu_run.sh build tests sanitize

bench: build
	@.ci/packages $(BUILD_PACKAGES) libeigen3-dev libboost-dev
	cmake --preset release -DVOUCH_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target vouch_bench_tool
	mkdir -p build/bench
	$(TOOL) bench $(SUITE) -o build/bench/$(SUITE).json --html build/bench/$(SUITE).html

lint:
	@.ci/packages $(TEST_PACKAGES) $(LINT_PACKAGES)
	clang-format-14 --dry-run -Werror $(SOURCES)
	cmake --preset cpu-only -DVOUCH_TESTS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
	run-clang-tidy-14 -quiet -j $(JOBS) -p build/cpu-only '^$(CURDIR)/(include|vouch|cli|bench|examples)/'

format:
	@.ci/packages clang-format-14
	clang-format-14 -i $(SOURCES)

clean:
	rm -rf build dist
