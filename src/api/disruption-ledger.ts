import { z } from 'zod'
import type { KubeObject } from './kube-object.ts'
import { conditionSchema } from './node-disruption.ts'
import type { ResourceType } from './resource-type.ts'

const entry = z.object({
  key: z.string().describe('What is held: node/NAME, pdb/NAMESPACE/NAME or storage/CLUSTER/DOMAIN.'),
  uid: z.string().optional().describe('Of the object behind the key; a changed uid means another object.'),
  holder: z.string(),
  requestId: z.string().describe('The uid of the request that holds it.'),
  epoch: z.int().min(1),
  state: z
    .enum(['Granted', 'Acting', 'Orphaned'])
    .describe('An expired holder leaves its key Orphaned: still counted, until its effect has ended.'),
  since: z.string().meta({ format: 'date-time' }),
  renewSequence: z.int().min(0),
})

const ticket = z.object({ requestId: z.string(), number: z.int().min(1), keys: z.array(z.string()) })

export const disruptionLedgerStatus = z.object({
  nextEpoch: z.int().min(1).default(1).describe('Only grows.'),
  nextTicket: z.int().min(1).default(1),
  entries: z
    .array(entry)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] }),
  tickets: z
    .array(ticket)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['requestId'] }),
  conditions: z
    .array(conditionSchema)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
})

/** The only arbiter of disruptions: one object, named `cluster`, changed by compare-and-swap. */
export interface DisruptionLedger extends KubeObject {
  readonly status?: Readonly<z.infer<typeof disruptionLedgerStatus>>
}

export const disruptionLedgers: ResourceType<DisruptionLedger> = {
  group: 'cofferdam.io',
  version: 'v1alpha1',
  plural: 'disruptionledgers',
  kind: 'DisruptionLedger',
  namespaced: false,
}
