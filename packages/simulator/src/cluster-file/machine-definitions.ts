import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { buildMachineBudgetDefinition } from '@cofferdam/kubernetes/api/kinds/machine-budget-definition.ts'
import {
  clusterApiHealthChecks,
  clusterApiMachines,
  nodeHealthChecks,
  olderClusterApiVersion,
  openshiftHealthChecks,
  openshiftMachineSets,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition } from '@cofferdam/kubernetes/api/resource-definition.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

interface Shape {
  readonly description: string
  readonly shortNames?: readonly string[]
  /** What is described and checked of the spec; the rest is kept as it is written. */
  readonly spec?: JsonObject
  readonly columns: readonly JsonObject[]
  readonly scale?: JsonObject
}

const open = { 'x-kubernetes-preserve-unknown-fields': true }
const text: JsonObject = { type: 'string' }
const count: JsonObject = { type: 'integer', format: 'int32' }
const loose: JsonObject = { type: 'object', ...open }
const intOrString: JsonObject = { 'x-kubernetes-int-or-string': true }
const part = (properties: JsonObject): JsonObject => ({ type: 'object', ...open, properties })
const list = (items: JsonObject): JsonObject => ({ type: 'array', items })
const column = (name: string, jsonPath: string, type = 'string', more: JsonObject = {}): JsonObject => ({
  name,
  type,
  jsonPath,
  ...more,
})
const age = column('Age', '.metadata.creationTimestamp', 'date')
const phase = column('Phase', '.status.phase')
const providerId = column('ProviderID', '.spec.providerID')
const hook = { ...part({ name: text, owner: text }), required: ['name', 'owner'] }
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const unhealthyCondition = part({ type: text, status: text, timeout: text })

const openshiftMachine: Shape = {
  description: 'A host of a node, as OpenShift keeps it.',
  spec: { providerID: text, lifecycleHooks: part({ preDrain: list(hook), preTerminate: list(hook) }) },
  columns: [
    phase,
    column('Type', '.metadata.labels.machine\\.openshift\\.io/instance-type'),
    column('Zone', '.metadata.labels.machine\\.openshift\\.io/zone'),
    age,
    column('Node', '.status.nodeRef.name', 'string', { priority: 1 }),
    column('ProviderID', '.spec.providerID', 'string', { priority: 1 }),
  ],
}
const openshiftMachineSet: Shape = {
  description: 'Keeps a number of machines.',
  spec: { replicas: { ...count, minimum: 0 }, selector: loose, template: loose },
  columns: [
    column('Desired', '.spec.replicas', 'integer'),
    column('Current', '.status.replicas', 'integer'),
    column('Ready', '.status.readyReplicas', 'integer'),
    column('Available', '.status.availableReplicas', 'integer'),
    age,
  ],
  scale,
}
const openshiftHealthCheck: Shape = {
  description: 'Takes sick machines away.',
  shortNames: ['mhc', 'mhcs'],
  spec: {
    selector: loose,
    maxUnhealthy: intOrString,
    nodeStartupTimeout: text,
    unhealthyConditions: list(unhealthyCondition),
  },
  columns: [
    column('MaxUnhealthy', '.spec.maxUnhealthy'),
    column('ExpectedMachines', '.status.expectedMachines', 'integer'),
    column('CurrentHealthy', '.status.currentHealthy', 'integer'),
  ],
}
const clusterApiMachine: Shape = {
  description: 'A host of a node, as Cluster API keeps it.',
  shortNames: ['ma'],
  spec: { clusterName: text, providerID: text, version: text },
  columns: [
    column('Cluster', '.spec.clusterName'),
    column('Node Name', '.status.nodeRef.name'),
    providerId,
    phase,
    age,
    column('Version', '.spec.version'),
  ],
}
const clusterApiMachineSet: Shape = {
  description: 'Keeps a number of machines.',
  shortNames: ['ms'],
  spec: { clusterName: text, replicas: { ...count, minimum: 0 }, selector: loose, template: loose },
  columns: [
    column('Cluster', '.spec.clusterName'),
    column('Desired', '.spec.replicas', 'integer'),
    column('Replicas', '.status.replicas', 'integer'),
    column('Ready', '.status.readyReplicas', 'integer'),
    age,
  ],
  scale,
}
const clusterApiHealthCheck: Shape = {
  description: 'Takes sick machines away.',
  shortNames: ['mhc', 'mhcs'],
  spec: {
    clusterName: text,
    selector: loose,
    maxUnhealthy: intOrString,
    unhealthyConditions: list(unhealthyCondition),
    checks: loose,
    remediation: loose,
  },
  columns: [
    column('Cluster', '.spec.clusterName'),
    column('ExpectedMachines', '.status.expectedMachines', 'integer'),
    column('MaxUnhealthy', '.spec.maxUnhealthy'),
    column('CurrentHealthy', '.status.currentHealthy', 'integer'),
    age,
  ],
}
const nodeHealthCheck: Shape = {
  description: 'Has sick nodes mended.',
  shortNames: ['nhc'],
  spec: {
    selector: loose,
    minHealthy: intOrString,
    maxUnhealthy: intOrString,
    unhealthyConditions: list(part({ type: text, status: text, duration: text })),
    pauseRequests: list(text),
  },
  columns: [
    column('Phase', '.status.phase'),
    column('Observed', '.status.observedNodes', 'integer'),
    column('Healthy', '.status.healthyNodes', 'integer'),
    age,
  ],
}

const clusterApiMachineSets: ResourceType = { ...clusterApiMachines, plural: 'machinesets', kind: 'MachineSet' }

/** OpenShift's kinds of machines, as far as fencing depends on them: names, columns and the fields that are read. */
export function openshiftMachineDefinitions(): KubeObject[] {
  return [
    build(openshiftMachines, openshiftMachine),
    build(openshiftMachineSets, openshiftMachineSet),
    build(openshiftHealthChecks, openshiftHealthCheck),
  ]
}

/** Cluster API's, in the version of today and the one before. */
export function clusterApiDefinitions(versions = [clusterApiMachines.version, olderClusterApiVersion]): KubeObject[] {
  return [
    build(clusterApiMachines, clusterApiMachine, versions),
    build(clusterApiMachineSets, clusterApiMachineSet, versions),
    build(clusterApiHealthChecks, clusterApiHealthCheck, versions),
  ]
}

/** Every kind that fencing reads or writes: machines of both APIs, their budgets, and medik8s. */
export function machineDefinitions(): KubeObject[] {
  return [
    ...openshiftMachineDefinitions(),
    ...clusterApiDefinitions(),
    buildMachineBudgetDefinition(),
    nodeHealthCheckDefinition(),
  ]
}

export function nodeHealthCheckDefinition(): KubeObject {
  return build(nodeHealthChecks, nodeHealthCheck)
}

function build(type: ResourceType, shape: Shape, versions: readonly string[] = [type.version]): KubeObject {
  const { description, shortNames = [], spec, columns, scale: scaled } = shape
  const { group, kind, plural, namespaced } = type
  return buildResourceDefinition({
    group,
    kind,
    plural,
    namespaced,
    shortNames,
    versions: versions.map((name) => ({
      name,
      description,
      properties: { spec: spec === undefined ? loose : part(spec), status: loose },
      columns,
      ...(scaled === undefined ? {} : { scale: scaled }),
    })),
  })
}
