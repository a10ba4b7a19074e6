#!/usr/bin/env bash
# Prints the kubectl programs to test with, one per line: the oldest that is supported (Debian's kubernetes-client 1.20)
# and the newest that Debian has. Packages are unpacked into a cache folder, nothing is installed. What cannot be had is
# left out with a word on stderr; a kubectl in PATH stands in when neither can.
set -euo pipefail

here=$(dirname "$0")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/cofferdam/kubectl

# unpack SUITE PACKAGE: leaves the program at $cache/SUITE/usr/bin/kubectl.
unpack() {
  local program=$cache/$1/usr/bin/kubectl
  [ -x "$program" ] || bash "$here/../lab/parts/unpack-debian.sh" "$1" "$cache/$1" "$2" >&2 || return 1
  [ -x "$program" ]
}

found=0
for pair in bookworm:kubernetes-client sid:kubectl; do
  suite=${pair%%:*}
  if unpack "$suite" "${pair#*:}"; then
    echo "$cache/$suite/usr/bin/kubectl"
    found=1
  else
    echo "skipped: the ${pair#*:} of Debian $suite cannot be had here" >&2
  fi
done
if [ "$found" = 0 ]; then command -v kubectl; fi
