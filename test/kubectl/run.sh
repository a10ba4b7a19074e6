#!/usr/bin/env bash
# Drives real kubectl programs against `cofferdam demo` and looks at what they print, then follows README and guide (test/documents).
#
#   KUBECTL="/path/one /path/two" bash test/kubectl/run.sh
#
# Without KUBECTL, the programs come from get-kubectl.sh. Needs a build (`npm run build`).
set -uo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
passed=0
failed=0
server=

finish() {
  [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT

programs=${KUBECTL:-$(bash test/kubectl/get-kubectl.sh)}
[ -n "$programs" ] || { echo "no kubectl can be had: put one in PATH or name one in KUBECTL"; exit 1; }

${COFFERDAM_DEMO:-node bin/cofferdam.js demo} --headless --port 0 --kube-port 0 --kubeconfig-out "$work/kubeconfig" \
  >"$work/server.log" 2>&1 &
server=$!
answers() {
  node -e 'fetch(process.argv[1]).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "$1" 2>/dev/null
}
address=
for _ in $(seq 300); do
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log"; echo "the demo ended before it was ready"; exit 1; }
  # The port speaks HTTP too, for which no certificate has to be known.
  address=$(sed -n 's/^.*server: *https*/http/p' "$work/kubeconfig" 2>/dev/null | tr -d "\"'," | head -1)
  [ -n "$address" ] && answers "$address/readyz" && break
  sleep 0.2
done
answers "$address/readyz" || { cat "$work/server.log"; echo "the demo was not ready in time"; exit 1; }

# shellcheck source=test/kubectl/steps.sh
. test/kubectl/steps.sh

number=0
for program in $programs; do
  number=$((number + 1))
  # The array is for the background: its process is kubectl itself, not a shell around it.
  kubectl=(env "HOME=$work" "$program" --kubeconfig "$work/kubeconfig" --cache-dir "$work/cache-$number")
  kubectl() { "${kubectl[@]}" "$@"; }
  minor=$(kubectl version --client -o json 2>/dev/null | sed -nE 's/.*"minor": *"([0-9]+).*/\1/p' | head -1)
  echo
  echo "== kubectl 1.$minor"
  drive "check-$number"
done

echo
[ "$failed" = 0 ] || { echo "the end of the server's log:"; tail -20 "$work/server.log"; }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] || exit 1

# README and guide, with demos of their own; the newest kubectl follows them.
echo
echo "== README and guide"
KUBECTL=$programs node node_modules/vitest/vitest.mjs run --config vitest.documents.config.ts
