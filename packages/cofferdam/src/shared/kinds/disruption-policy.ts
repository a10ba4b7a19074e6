import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { z } from 'zod'

const labelSelector = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.object({
        key: z.string().min(1).max(316),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string().max(63)).max(100).optional(),
      }),
    )
    .max(20)
    .optional(),
})

const limit = z
  .object({
    name: z.string().min(1).max(63).describe('Names the limit where it is waited for.').meta({
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    }),
    nodeSelector: labelSelector.optional().describe('The nodes that it counts; all nodes unless it says.'),
    per: z
      .string()
      .min(1)
      .max(316)
      .optional()
      .describe('A label of nodes, such as topology.kubernetes.io/zone: nodes are counted for each of its values.'),
    maxNodes: z
      .int()
      .min(0)
      .optional()
      .describe('How many of these nodes may be in maintenance at once. 0 stops their maintenance.'),
    maxPercent: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe('The same as a share of these nodes, rounded down, but at least one node.'),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.maxNodes) != has(self.maxPercent)',
        message: 'a limit has either maxNodes or maxPercent',
      },
      { rule: "self.name != 'control-plane'", message: 'the limit of the control plane is spec.controlPlane' },
    ],
  })

export const disruptionPolicySpec = z.object({
  limits: z
    .array(limit)
    .max(50)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .describe('How many nodes may be in maintenance at once. A node has to satisfy every limit that counts it.'),
  controlPlane: z
    .object({
      maxNodes: z
        .int()
        .min(0)
        .default(1)
        .describe(
          'How many nodes of the control plane may be in maintenance at once; never so many that etcd has no majority.',
        ),
    })
    .optional(),
  ttlSecondsAfterFinished: z
    .int()
    .min(0)
    .optional()
    .describe('How long a NodeDisruption is kept after its end. 7 days unless it says.'),
})

/** How much maintenance a cluster bears. One object, named `cluster`; without it the defaults hold. */
export interface DisruptionPolicy extends KubeObject {
  readonly spec?: Readonly<z.infer<typeof disruptionPolicySpec>>
}

export const disruptionPolicies: ResourceType<DisruptionPolicy> = {
  group: 'cofferdam.io',
  version: 'v1alpha1',
  plural: 'disruptionpolicies',
  kind: 'DisruptionPolicy',
  namespaced: false,
}

export const policyName = 'cluster'
