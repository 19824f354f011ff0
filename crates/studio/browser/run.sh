#!/usr/bin/env bash
# Journeys through the studio in chromium. FAIR is the program; default: the release build.
# With CI=true, chromium and Node are installed where they are missing.
set -euo pipefail
cd "$(dirname "$0")"

if [ "${CI:-}" = true ]; then
  missing=()
  command -v chromium >/dev/null || missing+=(chromium)
  command -v npm >/dev/null || missing+=(nodejs npm)
  if [ "${#missing[@]}" -gt 0 ]; then
    apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
fi

root=$(cd ../../.. && pwd)
export FAIR=${FAIR:-${CARGO_TARGET_DIR:-$root/target}/release/fair}
npm ci --silent --no-audit --no-fund --ignore-scripts
exec node journeys.mjs "$@"
