#!/bin/sh
# need.sh PACKAGE… makes sure that what these Debian packages give is there, and prints each one's version.
# What is missing is installed with apt-get, which needs root or sudo; each step is said before it is done.
set -eu

# found PACKAGE prints the version of what the package gives, wherever it came from, or fails.
found() {
	case $1 in
	postgresql)
		for bin in "$(command -v initdb 2>/dev/null || true)" /usr/lib/postgresql/*/bin/initdb; do
			if [ -x "$bin" ]; then "$bin" --version; return 0; fi
		done
		return 1 ;;
	openssh-client)
		command -v ssh-keygen >/dev/null 2>&1 && ssh -V 2>&1 ;;
	libxml2-utils)
		command -v xmllint >/dev/null 2>&1 && xmllint --version 2>&1 | head -n 1 ;;
	gcc)
		command -v gcc >/dev/null 2>&1 && gcc --version | head -n 1 ;;
	*)
		echo "need.sh: unknown package $1" >&2
		exit 2 ;;
	esac
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		echo "need.sh: installing needs root or sudo; run as root: $*" >&2
		exit 1
	fi
}

updated=
for package in "$@"; do
	if version=$(found "$package"); then
		echo "$package: $version"
		continue
	fi
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "need.sh: $package is missing and there is no apt-get; install what Debian calls $package" >&2
		exit 1
	fi
	if [ -z "$updated" ]; then
		echo "$package: missing; running apt-get update"
		as_root apt-get update -qq
		updated=yes
	fi
	extra=
	if [ "$package" = gcc ]; then extra=libc6-dev; fi
	echo "$package: running apt-get install $package $extra"
	# No server of the distribution is to be started by this: the tests start one of their own.
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" $extra
	version=$(found "$package")
	echo "$package: $version"
done
