import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { buildMachineBudgetDefinition } from '@cofferdam/kubernetes/api/kinds/machine-budget-definition.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { buildResourceDefinition, partOfUs } from '@cofferdam/kubernetes/api/resource-definition.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { z } from 'zod'
import { disruptionLedgerStatus, disruptionLedgers, ledgerName } from '../shared/kinds/disruption-ledger.ts'
import { disruptionPolicies, disruptionPolicySpec, policyName } from '../shared/kinds/disruption-policy.ts'
import { nodeDisruptionSpec, nodeDisruptionStatus, nodeDisruptions } from '../shared/kinds/node-disruption.ts'

interface DefinitionOptions {
  readonly type: ResourceType
  readonly shortNames: readonly string[]
  readonly description: string
  readonly spec?: z.ZodType
  readonly status?: z.ZodType
  readonly columns: readonly JsonObject[]
  readonly rules?: readonly JsonObject[]
}

/** The definitions that `deploy/crds` holds, in the order in which they are listed there. */
export function buildCustomResourceDefinitions(): KubeObject[] {
  return [
    buildDefinition({
      type: nodeDisruptions,
      shortNames: ['nd'],
      description: 'Requests the drain of a node, and records its progress.',
      spec: nodeDisruptionSpec,
      status: nodeDisruptionStatus,
      columns: [
        { name: 'Node', type: 'string', jsonPath: '.spec.nodeName' },
        { name: 'Intent', type: 'string', jsonPath: '.spec.intent' },
        { name: 'Requester', type: 'string', jsonPath: '.spec.requester' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        { name: 'Blocked By', type: 'string', jsonPath: '.status.blockedBy[0].object' },
        { name: 'Since', type: 'date', jsonPath: '.status.phaseSince' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        { name: 'Held By', type: 'string', jsonPath: '.status.blockedBy[0].holder', priority: 1 },
        { name: 'Way Out', type: 'string', jsonPath: '.status.blockedBy[0].wayOut', priority: 1 },
      ],
    }),
    buildDefinition({
      type: disruptionLedgers,
      shortNames: ['ledger'],
      description: 'Coordinates all disruptions: who holds what, and who is queued.',
      status: disruptionLedgerStatus,
      columns: [
        { name: 'Held', type: 'integer', jsonPath: '.status.held' },
        { name: 'Waiting', type: 'integer', jsonPath: '.status.waiting' },
        { name: 'Holder', type: 'string', jsonPath: '.status.entries[0].holder' },
        { name: 'Next Epoch', type: 'integer', jsonPath: '.status.nextEpoch', priority: 1 },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      rules: [
        {
          rule: `self.metadata.name == '${ledgerName}'`,
          message: `metadata.name must be ${ledgerName}: there is one ledger`,
        },
      ],
    }),
    buildDefinition({
      type: disruptionPolicies,
      shortNames: ['dp'],
      description:
        'Limits how many nodes may be in maintenance at once. Without it one node of the control plane may be.',
      spec: disruptionPolicySpec,
      columns: [
        { name: 'Limits', type: 'string', jsonPath: '.spec.limits[*].name' },
        { name: 'Control Plane', type: 'integer', jsonPath: '.spec.controlPlane.maxNodes' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      rules: [
        {
          rule: `self.metadata.name == '${policyName}'`,
          message: `metadata.name must be ${policyName}: there is one policy`,
        },
      ],
    }),
    buildMachineBudgetDefinition(),
  ]
}

function buildDefinition({
  type,
  shortNames,
  description,
  spec,
  status,
  columns,
  rules,
}: DefinitionOptions): KubeObject {
  const { group, version, plural, kind, namespaced } = type
  return buildResourceDefinition({
    group,
    kind,
    plural,
    namespaced,
    shortNames,
    labels: partOfUs,
    versions: [
      {
        name: version,
        description,
        ...(spec === undefined ? {} : { required: ['spec'] }),
        ...(rules === undefined ? {} : { rules }),
        properties: {
          ...(spec === undefined ? {} : { spec: structuralSchema(spec) }),
          ...(status === undefined ? {} : { status: structuralSchema(status) }),
        },
        columns,
      },
    ],
  })
}

/** The JSON schema of a zod type, within what Kubernetes calls structural. */
function structuralSchema(type: z.ZodType): JsonObject {
  let structural = structuralSchemas.get(type)
  if (structural === undefined) {
    const { $schema: _, ...schema } = z.toJSONSchema(type, { target: 'openapi-3.0', io: 'input' }) as JsonObject
    structural = withoutUnboundedIntegers(schema) as JsonObject
    structuralSchemas.set(type, structural)
  }
  return structural
}

/** The types are constants: one process that builds many clusters writes their schemas once. */
const structuralSchemas = new WeakMap<z.ZodType, JsonObject>()

/** zod writes the limits of a JavaScript integer, and forbids unknown fields; Kubernetes prunes those instead. */
function withoutUnboundedIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUnboundedIntegers)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([field, child]) =>
      !((field === 'maximum' || field === 'minimum') && Math.abs(child as number) === Number.MAX_SAFE_INTEGER) &&
      !(field === 'additionalProperties' && child === false),
  )
  const out = Object.fromEntries(kept.map(([field, child]) => [field, withoutUnboundedIntegers(child)]))
  return out['type'] === 'integer' ? { ...out, format: 'int64' } : out
}
