# Everything runs in .venv, which `make venv` makes with the tested versions. Two commands do it all on a fresh
# machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made

.PHONY: venv demo test lint bench clean

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("sectioncls needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: venv
	$(BIN)/sectioncls run demo -o reports/demo --overwrite
	$(BIN)/sectioncls predict corpora/demo/jats/demo-01.xml

test: venv
	$(BIN)/python -m pytest -n auto

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: venv
	$(BIN)/python -m pytest -s -p no:cacheprovider tests/benchmarks

clean:
	rm -rf $(VENV) dist build reports/demo
