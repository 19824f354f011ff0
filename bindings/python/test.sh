#!/bin/sh
# Builds the wheel and runs its tests, in an environment of its own.
set -eu
cd "$(dirname "$0")"
if ! command -v python3 >/dev/null; then
    echo "python3 is needed to build and test the Python package" >&2
    exit 1
fi
python3 -m venv .venv
.venv/bin/pip install --quiet 'maturin>=1.7,<2' pytest
.venv/bin/maturin build --release --interpreter python3 --out target/wheels
.venv/bin/pip install --quiet --force-reinstall target/wheels/*.whl
.venv/bin/pytest --quiet tests
