#!/usr/bin/env bash
# The server against the official client of the protocol. Without Python or the client there is nothing
# to compare with, which is a failure in continuous integration.
set -euo pipefail
cd "$(dirname "$0")/../../.."

program="${1:-target/release/fair}"
environment=target/mcp-client
if ! command -v python3 >/dev/null || ! python3 -m venv "$environment" ||
  ! "$environment/bin/pip" install --quiet 'mcp>=2,<3'; then
  echo "the official client cannot be installed (python3, pip install mcp), so nothing is compared with it" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 0
fi
"$environment/bin/python" crates/mcp/tests/official_client.py "$program"
