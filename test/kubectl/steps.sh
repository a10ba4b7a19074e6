# What a user does with kubectl, step by step. Sourced by run.sh, which defines `kubectl` (a function and an array), `minor`, `work`.
# shellcheck shell=bash disable=SC2154,SC2034

verdict() {
  local outcome=$1 sentence=$2
  if [ "$outcome" = ok ]; then
    passed=$((passed + 1))
    echo "ok    $sentence"
  else
    failed=$((failed + 1))
    echo "FAIL  $sentence: $outcome"
    sed 's/^/      | /' "$work/out"
  fi
}

# step SENTENCE PATTERN COMMAND...: the command succeeds and prints something that matches.
step() {
  local sentence=$1 pattern=$2
  shift 2
  if ! "$@" >"$work/out" 2>&1 </dev/null; then verdict "exit code not 0" "$sentence"
  elif ! grep -Eq -- "$pattern" "$work/out"; then verdict "nothing matches $pattern" "$sentence"
  else verdict ok "$sentence"; fi
}

# refused SENTENCE PATTERN COMMAND...: the command fails and says why.
refused() {
  local sentence=$1 pattern=$2
  shift 2
  if "$@" >"$work/out" 2>&1 </dev/null; then verdict "it was not refused" "$sentence"
  elif ! grep -Eq -- "$pattern" "$work/out"; then verdict "nothing matches $pattern" "$sentence"
  else verdict ok "$sentence"; fi
}

# soon SENTENCE PATTERN COMMAND...: as step, within 20 seconds.
soon() {
  local sentence=$1 pattern=$2
  shift 2
  for _ in $(seq 40); do
    if "$@" >"$work/out" 2>&1 </dev/null && grep -Eq -- "$pattern" "$work/out"; then
      verdict ok "$sentence"
      return
    fi
    sleep 0.5
  done
  verdict "nothing matched $pattern in time" "$sentence"
}

manifests() {
  cat >"$work/web.yaml" <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: check}}
spec:
  replicas: 3
  selector: {matchLabels: {app: check}}
  template:
    metadata: {labels: {app: check}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - {name: web, image: "web:1", resources: {requests: {cpu: 10m, memory: 16Mi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 3
  selector: {matchLabels: {app: check}}
YAML
  cat >"$work/settings.yaml" <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
YAML
  sed 's/blue/green/' "$work/settings.yaml" >"$work/settings-green.yaml"
  cat >"$work/typo.yaml" <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: typo}
spec:
  replicsa: 3
  selector: {matchLabels: {app: typo}}
  template:
    metadata: {labels: {app: typo}}
    spec: {containers: [{name: a, image: a}]}
YAML
  cat >"$work/crd.yaml" <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.check.example.com}
spec:
  group: check.example.com
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wg]}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {size: {type: integer, maximum: 10}}}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
YAML
  printf 'apiVersion: check.example.com/v1\nkind: Widget\nmetadata: {name: small}\nspec: {size: %s}\n' 3 >"$work/widget.yaml"
  sed 's/size: 3/size: 30/' "$work/widget.yaml" >"$work/widget-large.yaml"
}

watch_configmaps() {
  local seen="$work/watched" watcher
  "${kubectl[@]}" -n "$1" get configmaps -w >"$seen" 2>&1 &
  watcher=$!
  for _ in $(seq 40); do grep -q '^settings' "$seen" && break; sleep 0.25; done
  kubectl -n "$1" create configmap late --from-literal=a=1 >/dev/null
  for _ in $(seq 40); do grep -Eq '^late +1 ' "$seen" && break; sleep 0.25; done
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  cat "$seen"
}

drive() {
  local ns=$1 node pod
  manifests
  look_around
  step "creates a namespace" "namespace/$ns created" kubectl create namespace "$ns"
  act_as_account "$ns"
  write_and_read "$ns"
  own_fields "$ns"
  custom_kinds "$ns"
  run_workload "$ns"
  drain_within_budget "$ns"
  clean_up "$ns"
}

look_around() {
  step "api-resources lists budgets with their short name" \
    'poddisruptionbudgets +pdb +policy/v1 +true +PodDisruptionBudget' kubectl api-resources
  step "api-resources knows what is in a group" '^deployments' kubectl api-resources --api-group=apps
  step "version tells the server's" '[Ss]erver|gitVersion' kubectl version -o yaml
  step "get nodes shows the columns of nodes" 'NAME +STATUS +ROLES +AGE +VERSION' kubectl get nodes
  step "get nodes -o wide shows more of them" 'VERSION +INTERNAL-IP +EXTERNAL-IP +OS-IMAGE' kubectl get nodes -o wide
  step "auth can-i answers yes to the administrator" '^yes' kubectl auth can-i create pods
  refused "auth can-i answers no to a stranger" '^no' kubectl auth can-i delete nodes --as=stranger
  refused "a stranger may not list nodes" 'Forbidden.*User "stranger" cannot list resource "nodes"' \
    kubectl get nodes --as=stranger
  refused "a token that is not known is refused, and is not the administrator" 'Unauthorized|logged in' \
    kubectl --token=odd get nodes
  refused "a kind nobody serves is not found" "doesn't have a resource type" kubectl get nosuchthings
}

act_as_account() {
  local ns=$1 token
  step "a service account is created" 'serviceaccount/robot created' kubectl -n "$ns" create serviceaccount robot
  if [ "$minor" -ge 24 ]; then
    token=$(kubectl -n "$ns" create token robot --duration=10m)
  else
    echo '{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}' >"$work/token.json"
    token=$(kubectl create --raw "/api/v1/namespaces/$ns/serviceaccounts/robot/token" -f "$work/token.json" |
      sed -nE 's/.*"token": *"([^"]+)".*/\1/p')
  fi
  refused "its token has no rights of its own" 'system:serviceaccount:.*:robot.* cannot list resource "pods"' \
    kubectl --token="$token" -n "$ns" get pods
  refused "auth can-i says so too" '^no' kubectl --token="$token" -n "$ns" auth can-i list pods
  step "a binding gives it some" 'rolebinding.*robot created' \
    kubectl -n "$ns" create rolebinding robot --clusterrole=view --serviceaccount="$ns:robot"
  step "with them its token may read" 'No resources|NAME' kubectl --token="$token" -n "$ns" get pods
  step "auth can-i --list shows them" '^pods +' kubectl --token="$token" -n "$ns" auth can-i --list
  refused "it may not read elsewhere" 'cannot list resource "pods" in API group "" in the namespace "kube-system"' \
    kubectl --token="$token" -n kube-system get pods
  refused "it may not act as the administrator" 'cannot impersonate resource "users"' \
    kubectl --token="$token" -n "$ns" get pods --as=admin --as-group=system:masters
}

write_and_read() {
  local ns=$1
  step "create makes an object of a file" 'configmap/settings created' kubectl -n "$ns" create -f "$work/settings.yaml"
  refused "a second create is refused" 'AlreadyExists' kubectl -n "$ns" create -f "$work/settings.yaml"
  step "get shows it in a table" '^settings +1 ' kubectl -n "$ns" get configmap settings
  step "get -o yaml shows all of it" '^  color: blue' kubectl -n "$ns" get configmap settings -o yaml
  step "get -o json shows all of it" '"color": "blue"' kubectl -n "$ns" get cm settings -o json
  step "get -w shows what comes later" '^late +1' watch_configmaps "$ns"
  step "label writes a label" 'labeled' kubectl -n "$ns" label cm settings tier=back
  step "a label selects" '^settings' kubectl -n "$ns" get cm -l 'tier in (back,front)'
  step "a label that nothing has selects nothing" 'No resources found' kubectl -n "$ns" get cm -l tier=none
  step "a field selects" '^late' kubectl -n "$ns" get cm --field-selector metadata.name=late
  step "annotate writes an annotation" 'annotated?$' kubectl -n "$ns" annotate cm settings note=hello
  step "patch --type merge" 'patched' kubectl -n "$ns" patch cm settings --type merge -p '{"data":{"a":"1"}}'
  step "patch --type json" 'patched' kubectl -n "$ns" patch cm settings --type json \
    -p '[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"2"}]'
  step "patch --type strategic" 'patched' kubectl -n "$ns" patch cm settings -p '{"data":{"b":"3"}}'
  refused "a JSON patch whose test fails is refused" 'Invalid|invalid|test' kubectl -n "$ns" patch cm settings --type json \
    -p '[{"op":"test","path":"/data/a","value":"nope"}]'
  step "the patches are all there" '^blue 2 3$' \
    kubectl -n "$ns" get cm settings -o 'jsonpath={.data.color} {.data.a} {.data.b}{"\n"}'
  step "edit sends what the editor left" 'edited' env_edit "$ns"
  step "the edit is there" '^red$' kubectl -n "$ns" get cm settings -o 'jsonpath={.data.color}{"\n"}'
  step "delete removes an object" 'configmap "settings" deleted' kubectl -n "$ns" delete cm settings
  refused "what is deleted is not found" 'NotFound' kubectl -n "$ns" get cm settings
}

env_edit() {
  KUBE_EDITOR='sed -i s/blue/red/' kubectl -n "$1" edit configmap settings
}

own_fields() {
  local ns=$1
  step "apply creates" 'configmap/settings created' kubectl -n "$ns" apply -f "$work/settings.yaml"
  step "apply again changes nothing" 'configmap/settings unchanged' kubectl -n "$ns" apply -f "$work/settings.yaml"
  step "apply sends what changed" 'configmap/settings configured' kubectl -n "$ns" apply -f "$work/settings-green.yaml"
  step "a dry run on the server says what would be" 'configmap/settings configured \(server dry run\)' \
    kubectl -n "$ns" apply --dry-run=server -f "$work/settings.yaml"
  step "a dry run changes nothing" '^green$' kubectl -n "$ns" get cm settings -o 'jsonpath={.data.color}{"\n"}'
  step "diff shows what apply would change" 'color: blue' differences "$ns"
  kubectl -n "$ns" delete cm settings >/dev/null 2>&1
  step "apply --server-side creates" 'serverside-applied' \
    kubectl -n "$ns" apply --server-side --field-manager=ann -f "$work/settings.yaml"
  refused "a field of another manager is refused" 'conflict.*"ann".*' \
    kubectl -n "$ns" apply --server-side --field-manager=bob -f "$work/settings-green.yaml"
  step "--force-conflicts takes it over" 'serverside-applied' \
    kubectl -n "$ns" apply --server-side --field-manager=bob --force-conflicts -f "$work/settings-green.yaml"
  step "and the value is the new one" '^green$' kubectl -n "$ns" get cm settings -o 'jsonpath={.data.color}{"\n"}'
  refused "a field that does not exist is refused" 'unknown field "?(spec\.)?replicsa' \
    kubectl -n "$ns" apply -f "$work/typo.yaml"
}

# diff ends with 1 when there are differences, which is what is wanted here.
differences() {
  kubectl -n "$1" diff -f "$work/settings.yaml"
  [ $? = 1 ]
}

custom_kinds() {
  local ns=$1
  step "apply makes a new kind" 'customresourcedefinition.apiextensions.k8s.io/widgets.check.example.com created' \
    kubectl apply -f "$work/crd.yaml"
  step "the new kind is established" 'condition met' \
    kubectl wait --for=condition=Established --timeout=20s crd/widgets.check.example.com
  soon "an object of the new kind is applied" 'small (created|unchanged)' kubectl -n "$ns" apply -f "$work/widget.yaml"
  step "get shows the columns its author chose" 'NAME +SIZE' kubectl -n "$ns" get wg
  refused "its schema is enforced" 'spec.size: Invalid value: 30.*less than or equal to 10' \
    kubectl -n "$ns" apply -f "$work/widget-large.yaml"
  step "describe shows it" 'Size: +3' kubectl -n "$ns" describe widget small
  step "deleting the kind deletes its objects" 'deleted' kubectl delete crd widgets.check.example.com --timeout=20s
}

run_workload() {
  local ns=$1
  step "apply makes a deployment and its budget" 'deployment.apps/web created' kubectl -n "$ns" apply -f "$work/web.yaml"
  step "rollout status waits until it is out" 'successfully rolled out' \
    kubectl -n "$ns" rollout status deployment/web --timeout=60s
  step "wait sees it available" 'condition met' \
    kubectl -n "$ns" wait --for=condition=Available --timeout=30s deployment/web
  step "get deployments shows readiness" '^web +3/3 +3 +3 ' kubectl -n "$ns" get deployments
  step "get pods shows them running" '^web-[^ ]+ +1/1 +Running +0 ' kubectl -n "$ns" get pods
  step "get pods -o wide shows where" 'READINESS GATES' kubectl -n "$ns" get pods -o wide
  step "get all shows what belongs together" 'replicaset.apps/web-' kubectl -n "$ns" get all
  soon "get pdb shows that nothing may be disrupted" '^web +3 +N/A +0 ' kubectl -n "$ns" get pdb
  step "get events shows what happened" 'deployment/web|pod/web-' kubectl -n "$ns" get events
  pod=$(kubectl -n "$ns" get pods -l app=check -o 'jsonpath={.items[0].metadata.name}')
  node=$(kubectl -n "$ns" get pod "$pod" -o 'jsonpath={.spec.nodeName}')
  step "--field-selector spec.nodeName finds the pods of a node" "^$pod " \
    kubectl get pods -n "$ns" --field-selector "spec.nodeName=$node"
  step "describe node shows its pods" "$ns +$pod" kubectl describe node "$node"
  step "describe pod shows its node" "Node: +$node" kubectl -n "$ns" describe pod "$pod"
  step "describe deployment shows its replicas" 'Replicas: +3 desired' kubectl -n "$ns" describe deployment web
  if [ "$minor" -ge 21 ]; then
    # Before 1.21 this reads policy/v1beta1, which servers stopped serving with 1.25.
    step "describe pdb shows the budget" 'Allowed disruptions: +0' kubectl -n "$ns" describe pdb web
  fi
  step "scale changes the replicas" 'deployment.apps/web scaled' kubectl -n "$ns" scale deployment web --replicas=4
  soon "the fourth runs" '^web +4/4 ' kubectl -n "$ns" get deployments
  step "scale back" 'scaled' kubectl -n "$ns" scale deployment web --replicas=3
  soon "the fourth is gone" '^3$' count_pods "$ns"
  soon "the budget is spent again" '^web +3 +N/A +0 ' kubectl -n "$ns" get pdb
}

count_pods() {
  kubectl -n "$1" get pods -l app=check -o name | wc -l | tr -d ' '
}

drain_within_budget() {
  local ns=$1
  pod=$(kubectl -n "$ns" get pods -l app=check -o 'jsonpath={.items[0].metadata.name}')
  node=$(kubectl -n "$ns" get pod "$pod" -o 'jsonpath={.spec.nodeName}')
  step "cordon closes a node" "node/$node cordoned" kubectl cordon "$node"
  step "get nodes shows it closed" "^$node +Ready,SchedulingDisabled" kubectl get nodes
  printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}' "$pod" "$ns" \
    >"$work/eviction.json"
  refused "an eviction is refused while the budget is spent" \
    "TooManyRequests.*Cannot evict pod as it would violate the pod's disruption budget" \
    kubectl create --raw "/api/v1/namespaces/$ns/pods/$pod/eviction" -f "$work/eviction.json"
  local drain=(kubectl drain "$node" --ignore-daemonsets --delete-emptydir-data --pod-selector app=check)
  refused "drain does not get past the budget" "would violate the pod's disruption budget" "${drain[@]}" --timeout=4s
  step "the pod is still there" "^$pod +1/1 +Running" kubectl -n "$ns" get pods
  step "the budget is relaxed" 'patched' kubectl -n "$ns" patch pdb web --type merge -p '{"spec":{"minAvailable":2}}'
  soon "a disruption is allowed" '^web +2 +N/A +1 ' kubectl -n "$ns" get pdb
  step "drain completes" "node/$node (drained|evicted)" "${drain[@]}" --timeout=60s
  step "nothing of it is left on the node" 'No resources found' \
    kubectl -n "$ns" get pods -l app=check --field-selector "spec.nodeName=$node"
  soon "it runs elsewhere" '^web +3/3 ' kubectl -n "$ns" get deployments
  step "uncordon opens the node" "node/$node uncordoned" kubectl uncordon "$node"
  step "get nodes shows it open" "^$node +Ready +" kubectl get nodes
}

clean_up() {
  local ns=$1
  step "delete waits until the deployment is gone" 'deleted' kubectl -n "$ns" delete deployment web --timeout=30s
  soon "its pods are gone with it" 'No resources found' kubectl -n "$ns" get pods
  step "delete waits until the namespace is gone" 'deleted' kubectl delete namespace "$ns" --timeout=60s
  refused "the namespace is gone" 'NotFound' kubectl get namespace "$ns"
}
