# Two commands matter: `make demo` and `make test`. Everything is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
NATIVE := $(shell find native src/graphlode/cuda -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh')
GPU_PYTHON ?= python3
JOBS ?= $(shell nproc)
SECONDS ?= 3600
SOAK_OUT ?= bench-output
SANITIZED := tests/analytics tests/cuda/walks/test_walk_kernels.py tests/cuda/walks/test_path_kernels.py \
	tests/cuda/store/test_packed_batches.py tests/cuda/store/test_packed_groups.py tests/cuda/motifs/test_motif_kernels.py \
	tests/cuda/test_triangles_kernel.py tests/cuda/test_cores_kernel.py tests/cuda/test_oriented_kernel.py \
	$(addprefix tests/cuda/cliques/test_clique_pivot.py::test_, rows_of_every_width branches_given_to_other_warps_are_counted_once \
		counts_by_vertex_and_edge 'all_sizes_at_once_are_each_size_alone[cuda:0-30-0.6-3]') \
	$(addprefix tests/cuda/cliques/test_clique_enumerate.py::test_, every_method_counts_what_a_plain_search_finds \
		counts_by_vertex_and_edge heavy_edges_in_many_parts) \
	tests/cuda/cliques/test_clique_lists_kernel.py::test_rows_are_ranks_in_ascending_order

.PHONY: demo test gpu-test fuzz soak sanitize coverage bench lint format stub clean

demo: $(BIN)/python  ## install and run the main job on a bundled graph and a generated stream
	$(PIP) install -q '.[plot]'
	$(BIN)/graphlode demo

test: install-dev lint  ## everything CI runs: lint, types, import layers, tests; no GPU needed
	$(BIN)/python -m pytest -m "not gpu and not alone" --timeout 600 -n $(JOBS) --dist loadfile
	$(BIN)/python -m pytest -m "not gpu and alone" --timeout 600

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

stub: install-dev  ## write the extensions' type stubs; a test compares them with the binaries
	$(BIN)/python -m nanobind.stubgen -q --exclude-values -m graphlode.cpu._native -o src/graphlode/cpu/_native.pyi
	$(BIN)/python -m nanobind.stubgen -q --exclude-values -m graphlode.cuda._driver -o src/graphlode/cuda/_driver.pyi

gpu-test:  ## every test that needs a CUDA device, then the kernels under the memory and race checkers
	$(GPU_PYTHON) -m pip install -q --no-build-isolation --no-deps .
	GRAPHLODE_TEST_GPU=1 $(GPU_PYTHON) -m pytest -m gpu
	$(foreach tool,memcheck racecheck,GRAPHLODE_TEST_GPU=1 HYPOTHESIS_PROFILE=quick compute-sanitizer --tool $(tool) --report-api-errors no --error-exitcode 1 $(GPU_PYTHON) -m pytest -q -m gpu $(SANITIZED) &&) true

fuzz: install-dev  ## a million damaged files of every format; files that do harm are kept
	$(BIN)/python tests/io/reader_fuzzer.py --cases 1000000 --seed $$(date +%s) --jobs $$(nproc)

bench: $(BIN)/python  ## measure, then write benchmarks/REPORT.md; real graphs are looked for in $$GRAPHLODE_DATA
	$(PIP) install -q '.[arrow,plot,peers]'
	$(BIN)/python -m benchmarks.run --all
	$(BIN)/python -m benchmarks.report

sanitize: install-dev  ## tests on native code that is built with sanitizers: memory and undefined behavior, then data races
	.ci/sanitize address
	.ci/sanitize thread

coverage: install-dev  ## which lines of Python the tests run; fails below the share in pyproject.toml
	$(PIP) install -q 'pytest-cov>=6'
	$(BIN)/python -m pytest -m "not gpu and not alone" --timeout 600 -n $(JOBS) --dist loadfile --cov --cov-fail-under=0 --cov-report=
	$(BIN)/python -m pytest -m "not gpu and alone" --timeout 600 --cov --cov-append --cov-report=term:skip-covered --cov-report=html:build/coverage

soak: install-dev  ## a service that runs for SECONDS and must not grow; writes soak.json into SOAK_OUT
	$(BIN)/python -m benchmarks.soak --seconds $(SECONDS) --out $(SOAK_OUT)

.PHONY: install-dev
install-dev: $(BIN)/python
	$(PIP) install -q -Ccmake.define.GRAPHLODE_WERROR=ON '.[dev,arrow,plot]'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "graphlode needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV) || { echo "no venv module: install it first (on Debian: apt install python3-venv python3-dev)"; rm -rf $(VENV); exit 1; }
	$(PIP) install -q --upgrade pip

clean:
	rm -rf $(VENV) build dist demo-output .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
