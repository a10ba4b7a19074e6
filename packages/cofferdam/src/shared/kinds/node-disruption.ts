import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { z } from 'zod'

const time = () => z.string().meta({ format: 'date-time' })
const duration = () => z.string().min(2).max(32).meta({ pattern: '^([0-9]+h)?([0-9]+m)?([0-9]+s)?$' })

const immutable = (field: string) => ({
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${field} is immutable: make another NodeDisruption instead` },
  ],
})

export const conditionSchema = z.object({
  type: z.string().max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().min(1).max(1024).describe('The reason of the decision, one of the documented words.'),
  message: z.string().max(32768),
  lastTransitionTime: time(),
  observedGeneration: z.int().min(0).optional(),
})

const podReference = z.object({ namespace: z.string(), name: z.string(), uid: z.string() })

const lockedBudget = z.object({
  namespace: z.string().max(63),
  name: z.string().max(253),
  uid: z.string().max(128).describe('A budget that was deleted and made anew under the same name is another budget.'),
})

const blocker = z.object({
  object: z.string().describe('What stands in the way, as kind/namespace/name.'),
  holder: z.string().describe('Who holds it.'),
  since: time().optional(),
  reason: z.string(),
  wayOut: z.string().describe('What will unblock it, or what can be done.'),
})

const warning = z.object({ object: z.string(), says: z.string() })

export const nodeDisruptionSpec = z.object({
  nodeName: z.string().min(1).max(253).describe('The node to take out.').meta(immutable('nodeName')),
  intent: z
    .enum(['Reboot', 'Remove', 'Replace'])
    .default('Reboot')
    .describe('Reboot brings the node back soon; Remove and Replace do not bring back its data.')
    .meta(immutable('intent')),
  requester: z.string().max(253).optional().describe('The person or tool that asks.'),
  reason: z.string().max(1024).optional().describe('Why, for whoever reads it at night.'),
  honourSkipDrain: z
    .boolean()
    .default(true)
    .describe('Whether pods annotated cofferdam.io/skip-drain stay on the node.'),
  force: z
    .boolean()
    .default(false)
    .optional()
    .describe('Whether pods that no controller creates again may be evicted. Without it the request waits for them.'),
  deleteEmptyDirData: z
    .boolean()
    .default(false)
    .optional()
    .describe(
      'Whether pods with emptyDir volumes may be evicted, which deletes that data. Without it the request waits.',
    ),
  fallbackAfter: duration().optional().describe('When not all locks could be had by then, drain in the ordinary way.'),
  deadline: time().optional().describe('The request is given up at this time.'),
})

export const nodeDisruptionStatus = z
  .object({
    observedGeneration: z.int().min(0).optional(),
    phase: z
      .enum(['Pending', 'Waiting', 'Locking', 'Draining', 'Drained', 'Recovering', 'Completed', 'Rejected'])
      .optional()
      .describe('Drained: the node may be rebooted or removed now.'),
    phaseSince: time().optional(),
    epoch: z.int().min(0).optional().describe('Grows with every grant; whoever acts for this record carries it.'),
    lockedBudgets: z.array(lockedBudget).max(256).optional().describe('Append-only.'),
    lockedAt: time().optional().describe('When the budgets were locked by annotation alone.'),
    skippedPods: z.array(podReference).optional().describe('They stay on the node.'),
    evictedPods: z.array(podReference).optional(),
    cordonedBy: z.string().optional().describe('Who cordoned the node; only our own cordon is undone.'),
    nodeUid: z
      .string()
      .optional()
      .describe('A node that was deleted and made anew under the same name is another node.'),
    bootIDBefore: z.string().optional(),
    bootIDAfter: z.string().optional(),
    hasFallenBack: z
      .boolean()
      .optional()
      .describe(
        'Not all locks could be had in time: they were given up, and every pod is evicted in the ordinary way.',
      ),
    blockedBy: z.array(blocker).optional(),
    warnings: z.array(warning).optional().describe('What the requester should know; it holds nobody up.'),
    conditions: z
      .array(conditionSchema)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: '!has(oldSelf.lockedBudgets) || (has(self.lockedBudgets) && oldSelf.lockedBudgets.all(old, self.lockedBudgets.exists(now, now.uid == old.uid)))',
        message: 'lockedBudgets is append-only: a budget that was locked stays on record',
      },
    ],
  })

export interface NodeDisruption extends KubeObject {
  readonly spec: Readonly<z.infer<typeof nodeDisruptionSpec>>
  readonly status?: Readonly<z.infer<typeof nodeDisruptionStatus>>
}

export const nodeDisruptions: ResourceType<NodeDisruption> = {
  group: 'cofferdam.io',
  version: 'v1alpha1',
  plural: 'nodedisruptions',
  kind: 'NodeDisruption',
  namespaced: false,
}
