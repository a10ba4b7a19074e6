#!/usr/bin/env bash
# Unpacks packages of another Debian suite than the system's own. Nothing is installed, and apt works in a folder of its
# own, so that neither its sources nor its lists on this system change.
#
#   unpack-debian.sh [--with-dependencies] SUITE FOLDER PACKAGE...
#   unpack-debian.sh --mirror [APT_FOLDER]      prints the mirror that this system's own apt uses
#
# FOLDER appears whole or not at all; one that is there is replaced. With dependencies it becomes a root of its own, with
# the C library and everything else down from it.
set -euo pipefail

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Reads both styles of source files, and leaves out what is switched off or is no Debian archive (such as its security one).
mirror() {
  local folder=$1 file
  {
    for file in "$folder"/sources.list.d/*.sources; do
      # Paragraphs; a field goes on in lines that begin with a blank.
      [ -r "$file" ] && { grep -v '^#' "$file" || true; } | awk -v RS= -v FS='\n' '{
        key = uris = types = ""; on = 1
        for (i = 1; i <= NF; i++) {
          value = $i
          if ($i !~ /^[ \t]/) { key = tolower($i); sub(/:.*/, "", key); sub(/^[^:]*:/, "", value) }
          if (key == "uris") uris = uris " " value
          if (key == "types") types = types " " value
          if (key == "enabled" && tolower(value) ~ /^ *(no|false|0|off|without|disable) *$/) on = 0
        }
        if (on && (types " ") ~ /[ \t]deb[ \t]/) { n = split(uris, each, /[ \t]+/); for (i = 1; i <= n; i++) print each[i] }
      }'
    done
    for file in "$folder"/sources.list "$folder"/sources.list.d/*.list; do
      [ -r "$file" ] && sed -nE 's/^[ \t]*deb[ \t]+(\[[^]]*\][ \t]+)?([^ \t]+)[ \t].*/\2/p' "$file"
    done
    true
  } | sed -nE '\#/debian(/|\.list)?$#p' | sed -n 1p
}

# The trap runs outside the function, so what it clears away is no local name.
work=
unpack() {
  local suite=$1 folder=$2 source
  shift 2
  source=$(mirror /etc/apt)
  [ -n "$source" ] || { echo "no Debian mirror is named in /etc/apt" >&2; return 1; }
  [ -r "$keyring" ] || { echo "$keyring is missing: install debian-archive-keyring" >&2; return 1; }
  mkdir -p "$(dirname "$folder")"
  work=$(mktemp -d "$folder.unpacking-XXXXXX")
  trap 'rm -rf "${work:?}"' EXIT
  mkdir -p "$work"/{state/lists/partial,cache/archives/partial,root}
  : > "$work/status"
  echo "deb [signed-by=$keyring] $source $suite main" > "$work/sources.list"
  local apt=(apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
    -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=60
    -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false)
  timeout 300 "${apt[@]}" update
  if [ "$dependencies" = 1 ]; then
    timeout 900 "${apt[@]}" install -y --no-install-recommends --download-only "$@"
    local name
    for name in bin sbin lib lib64; do
      mkdir -p "$work/root/usr/$name"
      ln -s "usr/$name" "$work/root/$name"
    done
  else
    (cd "$work/cache/archives" && timeout 300 "${apt[@]}" download "$@")
  fi
  find "$work/cache/archives" -maxdepth 1 -name '*.deb' -print0 |
    xargs -0 --no-run-if-empty --max-args=1 --max-procs=2 sh -c 'dpkg -x "$1" "$0"' "$work/root"
  chmod 755 "$work/root"
  rm -rf "${folder:?}"
  # Another run may have put the same thing there in between.
  mv -T "$work/root" "$folder" || [ -d "$folder" ]
}

dependencies=0
case ${1:-} in
  --mirror)
    mirror "${2:-/etc/apt}"
    exit
    ;;
  --with-dependencies)
    dependencies=1
    shift
    ;;
esac
[ $# -ge 3 ] || { sed -n '5,6s/^# *//p' "$0" >&2; exit 2; }
unpack "$@"
