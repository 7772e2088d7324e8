#!/bin/sh
# demo.sh runs the sample batch from its workbooks to the register, and shows what came of it.
# The samples are copied first, so that nothing is made beside the committed files.
set -eu
cd "$(dirname "$0")/.."

bin=$PWD/bin/sheetlift
home=$PWD/.sheetlift/demo
rm -rf "$home"
mkdir -p "$home"
cp -R samples/harbour "$home/harbour"
cd "$home"

# The demo signs with a key of its own, not with yours.
SHEETLIFT_KEY=$home/installation-key
SHEETLIFT_OPERATOR=demo
export SHEETLIFT_KEY SHEETLIFT_OPERATOR

echo "\$ sheetlift run harbour/batch.yaml --until reconcile"
code=0
"$bin" run harbour/batch.yaml --until reconcile || code=$?
# The sample has rows that must be rejected, so the run ends with 1: finished, with findings.
if [ "$code" -ne 1 ]; then
	echo "demo: expected exit code 1 (finished, with rejected rows), got $code" >&2
	exit 1
fi

echo
echo "\$ sheetlift status harbour/batch.yaml"
"$bin" status harbour/batch.yaml

echo
echo "The run ended with exit code 1, as it must: some rows were rejected, each with a finding."
echo "Everything it made lies in .sheetlift/demo"
