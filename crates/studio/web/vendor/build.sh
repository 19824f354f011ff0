#!/usr/bin/env bash
# Makes vendor.js.gz and its licences again from the lock file, byte for byte before it is compressed.
# `build.sh --check` only says whether the committed files are what comes out.
set -euo pipefail
cd "$(dirname "$0")"

out=.
if [ "${1:-}" = --check ]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi

npm ci --silent --no-audit --no-fund --ignore-scripts
# The binary of esbuild is part of its platform package, so no install script has to run.
node node_modules/esbuild/bin/esbuild entry.js --bundle --minify --format=esm --target=es2022 \
  --legal-comments=none --charset=utf8 --outfile="$out/vendor.js" --metafile="$out/meta.json" --log-level=warning
node licences.mjs "$out/meta.json" > "$out/LICENCES.txt"
rm "$out/meta.json"

if [ "$out" = . ]; then
  gzip -9 --no-name --force vendor.js
else
  gunzip --stdout vendor.js.gz | cmp - "$out/vendor.js"
  cmp LICENCES.txt "$out/LICENCES.txt"
fi
