import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { z } from 'zod'

const time = () => z.string().meta({ format: 'date-time' })
const duration = () => z.string().min(2).max(32).meta({ pattern: '^([0-9]+h)?([0-9]+m)?([0-9]+s)?$' })

const immutable = (field: string) => ({
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${field} is immutable: create another NodeDisruption instead` },
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
  uid: z
    .string()
    .max(128)
    .describe('A budget that was deleted and created again under the same name is another budget.'),
})

const blocker = z.object({
  object: z.string().describe('What blocks the request, as kind/namespace/name.'),
  holder: z.string().describe('Who holds it.'),
  since: time().optional(),
  reason: z.string(),
  wayOut: z.string().describe('What will unblock it, or what can be done.'),
  pods: z.array(z.string()).optional().describe('Pods that cannot leave the node because of it, as namespace/name.'),
})

const warning = z.object({ object: z.string(), says: z.string() })

export const nodeDisruptionSpec = z.object({
  nodeName: z.string().min(1).max(253).describe('The node to drain.').meta(immutable('nodeName')),
  intent: z
    .enum(['Reboot', 'Remove', 'Replace'])
    .default('Reboot')
    .describe('Reboot brings the node back soon; Remove and Replace do not bring back its data.')
    .meta(immutable('intent')),
  requester: z.string().max(253).optional().describe('The person or tool that asks.'),
  reason: z.string().max(1024).optional().describe('Why; shown to everyone who waits for it.'),
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
  gracePeriodSeconds: z
    .int()
    .min(0)
    .optional()
    .describe(
      'How long evicted pods have to end, in place of their own grace period. 0 removes them from the API at once, without waiting for their containers.',
    ),
  fallbackAfter: duration()
    .optional()
    .describe('If not all locks are acquired within this time of being first in the queue, every pod is evicted.'),
  deadline: time().optional().describe('The request is abandoned at this time.'),
  returnWithin: duration()
    .optional()
    .describe(
      'How long the node may be away for its reboot. For so long it is protected from remediation; one hour unless the operator is set otherwise.',
    ),
  ttlSecondsAfterFinished: z
    .int()
    .min(0)
    .optional()
    .describe('How long the request is kept after its end; as the DisruptionPolicy says, unless it says.'),
})

export const nodeDisruptionStatus = z
  .object({
    observedGeneration: z.int().min(0).optional(),
    phase: z
      .enum(['Pending', 'Waiting', 'Locking', 'Draining', 'Drained', 'Recovering', 'Completed', 'Rejected'])
      .optional()
      .describe('Drained: the node can be rebooted or removed now.'),
    phaseSince: time().optional(),
    epoch: z.int().min(0).optional().describe('Grows with every grant; every write for this record carries it.'),
    lockedBudgets: z.array(lockedBudget).max(256).optional().describe('Append-only.'),
    releasedBudgets: z
      .array(lockedBudget)
      .max(256)
      .optional()
      .describe('Of the locked budgets: their pods run again, so they are not held until storage has recovered too.'),
    lockedAt: time().optional().describe('When the budgets were locked by annotation alone.'),
    firstInQueueSince: time()
      .optional()
      .describe('Since when no other request stands in its way. Only this time counts towards fallbackAfter.'),
    firstInQueueSeconds: z.int().min(0).optional().describe('For how long that was so before.'),
    skippedPods: z.array(podReference).optional().describe('They stay on the node.'),
    evictedPods: z
      .array(podReference)
      .optional()
      .describe('Pods that leave or have left. Not those whose eviction is refused.'),
    cordonedBy: z.string().optional().describe('Who cordoned the node; only the cordon of Cofferdam is undone.'),
    nodeUid: z
      .string()
      .optional()
      .describe('A node that was deleted and created again under the same name is another node.'),
    bootIDBefore: z.string().optional(),
    bootIDAfter: z.string().optional(),
    heardBefore: z
      .string()
      .optional()
      .describe(
        'When the kubelet had last been heard of as the request stopped saying that the node may go. The node is released when it is heard of again.',
      ),
    hasFallenBack: z
      .boolean()
      .optional()
      .describe('Not all locks were acquired in time: they were released, and every pod is evicted.'),
    blockedBy: z.array(blocker).optional(),
    warnings: z.array(warning).optional().describe('What the requester should know; warnings block nothing.'),
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
