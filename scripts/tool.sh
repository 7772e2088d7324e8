#!/bin/sh
# tool.sh MODULE@VERSION… installs Go programs into bin/tools, each only when it is missing there at that version.
set -eu
cd "$(dirname "$0")/.."
mkdir -p bin/tools
for want in "$@"; do
	path=${want%@*}
	version=${want#*@}
	program=bin/tools/${path##*/}
	if [ -x "$program" ] && go version -m "$program" | grep -q "mod.*[[:space:]]$version[[:space:]]"; then
		echo "${path##*/} $version: installed"
		continue
	fi
	echo "${path##*/} $version: compiling into bin/tools (takes minutes the first time)"
	GOBIN="$PWD/bin/tools" go install "$want"
done
