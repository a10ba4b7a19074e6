import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { z } from 'zod'
import { conditionSchema } from './node-disruption.ts'

/** Far beyond what a ledger can reach, and still a whole number to every reader. */
export const highestLedgerNumber = 2 ** 52

const time = () => z.string().meta({ format: 'date-time' })

const neverLower = (field: string) => ({
  'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: `${field} never goes back` }],
})

const entry = z.object({
  key: z
    .string()
    .min(1)
    .max(512)
    .describe('What is held: node/NAME, pdb/NAMESPACE/NAME, storage/NAMESPACE/CLUSTER or limit/NAME.'),
  uid: z.string().max(128).describe('Uid of the object behind the ledger key; another uid means another object.'),
  scope: z
    .string()
    .max(253)
    .default('')
    .describe(
      'Holders of one ledger key with the same scope can hold it together: the failure domain of a storage key.',
    ),
  holder: z.string().max(1024).describe('Who acts, in readable form.'),
  requestId: z.string().min(1).max(128).describe('The uid of the request that holds it.'),
  epoch: z.int().min(1).max(highestLedgerNumber).describe('Every write for this entry carries it.'),
  state: z
    .enum(['Granted', 'Acting', 'Orphaned'])
    .describe(
      'Granted: nothing was touched yet. Acting: the node may go, or is away. Orphaned: the holder is gone, and the hold counts until what it started has ended.',
    ),
  since: time(),
  renewSequence: z.int().min(0).max(highestLedgerNumber).default(0).describe('Moves while the holder lives.'),
  bootID: z.string().max(128).optional().describe('For a node: the boot that was taken down.'),
  place: z
    .object({
      number: z.int().min(1).max(highestLedgerNumber),
      overtaken: z.int().min(0).max(highestLedgerNumber).optional(),
    })
    .optional()
    .describe('For a node: the place in the queue that led to the grant.'),
})

const ticket = z.object({
  requestId: z.string().min(1).max(128),
  number: z.int().min(1).max(highestLedgerNumber).describe('Lower numbers go first.'),
  holder: z.string().max(1024).default('').describe('Who waits, in readable form.'),
  since: time().optional(),
  claims: z.array(z.object({ key: z.string().min(1).max(512), scope: z.string().max(253).default('') })),
  aside: z
    .enum(['Once', 'Always'])
    .optional()
    .describe(
      'Something outside the ledger keeps the request waiting: one later request that needs the same may go first, or every one.',
    ),
  overtaken: z
    .int()
    .min(0)
    .max(highestLedgerNumber)
    .optional()
    .describe('How many later requests that need the same were granted before it.'),
})

const broken = z.object({
  key: z.string(),
  by: z.string(),
  reason: z.string(),
  at: time(),
  formerHolder: z.string(),
})

const appLock = z.object({
  budget: z.string().min(1).max(512).describe('The PodDisruptionBudget, as NAMESPACE/NAME.'),
  text: z.string().max(64).describe('Which text of the annotation cofferdam.io/lock locked it last.'),
  since: time().describe('Since when it has been locked without a break of 10 minutes.'),
  written: time().describe('When that text was written.'),
  until: time().describe('When that lock ends, or has ended.'),
})

export const disruptionLedgerStatus = z.object({
  nextEpoch: z.int().min(1).max(highestLedgerNumber).default(1).meta(neverLower('nextEpoch')),
  nextTicket: z.int().min(1).max(highestLedgerNumber).default(1).meta(neverLower('nextTicket')),
  held: z.int().min(0).optional().describe('How many holds there are, in readable form.'),
  waiting: z.int().min(0).optional().describe('How many requests are queued, in readable form.'),
  entries: z
    .array(entry)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key', 'requestId'] }),
  tickets: z
    .array(ticket)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['requestId'] }),
  broken: z.array(broken).optional().describe('Locks that were broken, by whom and why; the last few.'),
  appLocks: z
    .array(appLock)
    .max(500)
    .optional()
    .describe('Budgets that their owners have locked, or had locked a moment ago.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['budget'] }),
  conditions: z
    .array(conditionSchema)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
})

/** The fields of each part that are known here. */
export const ledgerFields = {
  entry: Object.keys(entry.shape),
  ticket: Object.keys(ticket.shape),
  broken: Object.keys(broken.shape),
  appLock: Object.keys(appLock.shape),
} as const

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

export const ledgerName = 'cluster'
