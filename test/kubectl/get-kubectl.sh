#!/usr/bin/env bash
# Prints the kubectl programs to test with, one per line: the oldest that is supported (Debian's kubernetes-client 1.20)
# and the newest that Debian has. Packages are unpacked into a cache folder, nothing is installed. What cannot be had is
# left out with a word on stderr; a kubectl in PATH stands in when neither can.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cofferdam/kubectl
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

mirror() {
  { sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources
    sed -nE 's/^deb (\[[^]]*\] )?(\S+) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list; } 2>/dev/null |
    grep -E '/debian/?$' | head -1
}

# unpack SUITE PACKAGE: leaves the program at $cache/SUITE/usr/bin/kubectl.
unpack() {
  local suite=$1 package=$2 work
  [ -x "$cache/$suite/usr/bin/kubectl" ] && return 0
  [ -r "$keyring" ] && [ -n "$(mirror)" ] || return 1
  work=$(mktemp -d) || return 1
  mkdir -p "$work"/{state/lists/partial,cache/archives/partial,root}
  : > "$work/status"
  echo "deb [signed-by=$keyring] $(mirror) $suite main" > "$work/sources.list"
  # apt works in a folder of its own, so that neither its sources nor its lists on this system change.
  local options=(-qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
    -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=60)
  if (cd "$work" && timeout 300 apt-get "${options[@]}" update && timeout 300 apt-get "${options[@]}" download "$package" \
    && dpkg -x "$package"_*.deb root) >&2; then
    mkdir -p "$cache"
    rm -rf "${cache:?}/$suite"
    mv "$work/root" "$cache/$suite"
  fi
  rm -rf "$work"
  [ -x "$cache/$suite/usr/bin/kubectl" ]
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
