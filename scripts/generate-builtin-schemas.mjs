// Makes packages/simulator/src/api-server/builtin/schemas.json from the OpenAPI v3 files of a Kubernetes release:
// every definition the served kinds reach, without prose, so that one walker validates, defaults
// and prunes built-in kinds exactly as it does custom ones.
//
//   go mod download -json k8s.io/kubernetes@v1.36.4      (prints "Dir")
//   node scripts/generate-builtin-schemas.mjs <Dir>/api/openapi-spec/v3
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const servedKinds = {
  v1: [
    'Binding',
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  'admissionregistration.k8s.io/v1': [
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenReview', 'TokenRequest'],
  'authorization.k8s.io/v1': [
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ],
  'autoscaling/v1': ['Scale'],
  'batch/v1': ['CronJob', 'Job'],
  'coordination.k8s.io/v1': ['Lease'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'events.k8s.io/v1': ['Event'],
  'policy/v1': ['Eviction', 'PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'storage.k8s.io/v1': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
}

const directory = process.argv[2]
if (!directory) {
  console.error('usage: node scripts/generate-builtin-schemas.mjs <api/openapi-spec/v3 of a Kubernetes source tree>')
  process.exit(2)
}

const published = {}
for (const file of readdirSync(directory)) {
  Object.assign(published, JSON.parse(readFileSync(join(directory, file), 'utf8')).components?.schemas ?? {})
}

const refPrefix = '#/components/schemas/'

/** Drops prose and turns `allOf: [{$ref}]` beside a default into a plain `$ref` with siblings. */
function compact(schema) {
  if (Array.isArray(schema)) return schema.map(compact)
  if (schema === null || typeof schema !== 'object') return schema
  const out = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'description' || key === 'x-kubernetes-group-version-kind' || key === 'x-kubernetes-unions') continue
    if (key === 'properties') {
      out.properties = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, compact(child)]))
    } else if (key === 'default') {
      // Defaults of "", 0, false and {} only say that a Go field has a zero value: nothing is to be set.
      if (value && JSON.stringify(value) !== '{}') out.default = value
    } else if (key === 'allOf' && value.length === 1) {
      Object.assign(out, compact(value[0]))
    } else if (key === '$ref') {
      out.$ref = value.slice(refPrefix.length)
    } else {
      out[key] = compact(value)
    }
  }
  return out
}

function* refsOf(schema) {
  if (Array.isArray(schema)) for (const item of schema) yield* refsOf(item)
  else if (schema !== null && typeof schema === 'object') {
    for (const [key, value] of Object.entries(schema)) {
      if (key === '$ref' && typeof value === 'string') yield value
      else yield* refsOf(value)
    }
  }
}

const kinds = {}
const definitions = {}
const waiting = []
for (const [apiVersion, names] of Object.entries(servedKinds)) {
  const [version, group] = apiVersion.split('/').reverse()
  for (const kind of names) {
    const found = Object.entries(published).find(([, schema]) =>
      schema['x-kubernetes-group-version-kind']?.some(
        (gvk) => gvk.group === (group ?? '') && gvk.version === version && gvk.kind === kind,
      ),
    )
    if (!found) throw new Error(`no published schema for ${apiVersion} ${kind}`)
    kinds[`${apiVersion}/${kind}`] = found[0]
    waiting.push(found[0])
  }
}
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  if (definitions[name]) continue
  if (!published[name]) throw new Error(`a schema refers to ${name}, which is not published`)
  definitions[name] = compact(published[name])
  waiting.push(...refsOf(definitions[name]))
}

const sorted = Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(
  'packages/simulator/src/api-server/builtin/schemas.json',
  `${JSON.stringify({ kinds, definitions: sorted })}\n`,
)
console.log(`${Object.keys(kinds).length} kinds, ${Object.keys(sorted).length} definitions`)
