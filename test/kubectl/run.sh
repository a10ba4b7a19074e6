#!/usr/bin/env bash
# Drives real kubectl programs against `cofferdam demo` and looks at what they print.
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
for _ in $(seq 600); do
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log"; echo "the demo ended before it was ready"; exit 1; }
  address=$(sed -n 's/^ *server: *//p' "$work/kubeconfig" 2>/dev/null | tr -d "\"'" | head -1)
  [ -n "$address" ] && curl -fsS "$address/readyz" >/dev/null 2>&1 && break
  sleep 0.1
done
curl -fsS "$address/readyz" >/dev/null || { cat "$work/server.log"; echo "the demo was not ready in time"; exit 1; }

# shellcheck source=test/kubectl/steps.sh
. test/kubectl/steps.sh

number=0
for program in $programs; do
  number=$((number + 1))
  kubectl() { HOME="$work" command "$program" --kubeconfig "$work/kubeconfig" --cache-dir "$work/cache-$number" "$@"; }
  minor=$(kubectl version --client -o json 2>/dev/null | sed -nE 's/.*"minor": *"([0-9]+).*/\1/p' | head -1)
  echo
  echo "== kubectl 1.$minor"
  drive "check-$number"
done

echo
[ "$failed" = 0 ] || { echo "the end of the server's log:"; tail -20 "$work/server.log"; }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
