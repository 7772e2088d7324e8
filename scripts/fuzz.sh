#!/bin/sh
# fuzz.sh TIME runs every fuzz target of the repository for that long, one after the other.
set -eu
cd "$(dirname "$0")/.."
git ls-files -- '*_test.go' | xargs grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sort | while IFS=: read -r file name; do
	target=${name#func }
	echo "== ./$(dirname "$file") $target, $1"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 1x "./$(dirname "$file")" </dev/null
done
