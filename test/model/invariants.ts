import { doAnyConflict, doClaimsConflict } from '@cofferdam/product/ledger/rules/claim.ts'
import { entriesOf, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { isInLine } from '@cofferdam/product/ledger/rules/queue.ts'
import {
  apps,
  type Bounds,
  budgetReference,
  desiredHealthy,
  drainerIndexes,
  fencerId,
  isOver,
  podIndex,
  podName,
  requestIds,
  storageKey,
} from './bounds.ts'
import type { Fate, ModelState } from './state.ts'

/** Nodes that requests have begun on, beside a limit of one. */
export function passesLimit({ hasLimit }: Pick<Bounds, 'hasLimit'>, before: Ledger, after: Ledger): string | undefined {
  if (!hasLimit) return undefined
  const begun = (ledger: Ledger) =>
    ledger.entries.filter(({ key, state }) => key.startsWith('node/') && state !== 'Granted')
  const [were, are] = [begun(before), begun(after)]
  return are.length > 1 && are.length > were.length
    ? `I20 limits: ${are.map(({ key }) => key).join(' and ')} go beside a limit of one`
    : undefined
}

export interface Invariant {
  readonly name: string
  /** What happens to somebody when it does not hold. */
  readonly harm: string
  holds(state: ModelState): boolean
}

/** What a change of the ledger must never do, whoever makes it. */
export function changesBadly(
  before: Ledger,
  after: Ledger,
  { requestId, step, epoch }: { readonly requestId: string; readonly step: string; readonly epoch: number | undefined },
): string | undefined {
  if (after === before) return undefined
  for (const entry of before.entries) {
    if (entry.requestId === requestId) continue
    if (!after.entries.includes(entry)) return `I9 release: ${step} of ${requestId} touched a key of ${entry.requestId}`
  }
  const held = entriesOf(before, requestId)
  const passed = findPassed(before, after, { requestId, step })
  if (passed !== undefined) return passed
  if (epoch !== undefined && held.some((entry) => entry.epoch !== epoch)) {
    return step === 'release'
      ? 'I9 release: given back under an epoch that is void'
      : `I2 epochs: ${step} under an epoch that is void`
  }
  const highest = Math.max(0, before.nextEpoch - 1, ...before.entries.map((entry) => entry.epoch))
  for (const entry of entriesOf(after, requestId)) {
    const was = held.find(({ key }) => key === entry.key)
    if (was?.epoch !== entry.epoch && entry.epoch <= highest && !held.some((other) => other.epoch === entry.epoch))
      return 'I2 epochs: an epoch was given out again'
  }
  return undefined
}

/** The place of a request is its own: it moves back for nobody, and whoever needs the same and came later waits for it. */
function findPassed(
  before: Ledger,
  after: Ledger,
  { requestId, step }: { readonly requestId: string; readonly step: string },
): string | undefined {
  const number = before.tickets.find((ticket) => ticket.requestId === requestId)?.number
  const place = number ?? entriesOf(before, requestId).find((entry) => entry.place !== undefined)?.place?.number
  const next = after.tickets.find((ticket) => ticket.requestId === requestId)?.number
  const isLost = next === undefined ? step === 'step-back' : next > (place ?? next)
  if (place !== undefined && isLost) return `I16 tickets: ${requestId} lost its place`
  const held = entriesOf(before, requestId)
  const granted = entriesOf(after, requestId).filter(({ key }) => !held.some((entry) => entry.key === key))
  const passed = before.tickets.find(
    (ticket) =>
      ticket.requestId !== requestId &&
      ticket.number < (place ?? Number.POSITIVE_INFINITY) &&
      isInLine(ticket) &&
      doAnyConflict(ticket.claims, granted),
  )
  return passed === undefined ? undefined : `I16 tickets: ${requestId} went before ${passed.requestId}`
}

/** What is left of requests when all of them have ended and nothing more happens. */
export function findLeftover({ ledger, budgets, world }: ModelState): string | undefined {
  const isOurs = (requestId: string | undefined) => requestIds.some((id) => id === requestId)
  if (ledger.value.entries.some(({ requestId }) => isOurs(requestId))) return 'I13 nothing left: a key is held'
  if (ledger.value.tickets.some(({ requestId }) => isOurs(requestId))) return 'I13 nothing left: a ticket waits'
  if (budgets.some(({ value }) => isOurs(value.hold?.requestId))) return 'I13 nothing left: a budget is locked'
  if (world.value.nodes.some(({ cordonedBy }) => isOurs(cordonedBy))) return 'I13 nothing left: a node is cordoned'
  return undefined
}

function isActing(ledger: Ledger, requestId: string): boolean {
  return ledger.entries.some((entry) => entry.requestId === requestId && entry.state !== 'Granted')
}

/** From the intent until it has gone and come back, or until the record says that it shall not go any more. */
function mayNodeGo({ ledger, drainers, world }: ModelState, index: 0 | 1): boolean {
  const { phase } = drainers[index].value.record.value
  const isKept = phase === 'Recovering' || isOver(phase)
  return !isKept && world.value.nodes[index].boots === 0 && isActing(ledger.value, requestIds[index])
}

/** Pods that stay on the node of a request, by application. */
function stayingApps({ drainers, pods }: ModelState, index: 0 | 1): (0 | 1)[] {
  const { skippedPods, hasFallenBack } = drainers[index].value.record.value
  if (hasFallenBack) return []
  return ([0, 1] as const).filter((app) => {
    const pod = pods.value[podIndex(app, index)]
    const isThere = pod?.state === 'runs' || pod?.state === 'fails'
    return isThere && skippedPods.some(({ name }) => name === podName(app, index))
  })
}

/** What was only granted counts where the ledger has forgotten the intent: nobody else can have the key. */
function holds(state: ModelState, requestId: string, key: string): boolean {
  const { entries } = state.ledger.value
  const isDemoted = fateOf(state, requestId)?.forgotten === 'demoted'
  const isHeld = entries.some(
    (entry) => entry.requestId === requestId && entry.key === key && (isDemoted || entry.state !== 'Granted'),
  )
  return isHeld || isBroken(state, requestId, key)
}

/**
 * A ledger that was lost is told again by records, and one that says Recovering may be of a request that had released everything and had
 * not come to say so. Its budgets are not its own any more then; what is still felt of it is the matter of I6.
 */
/** Of a request that recovers, as its record says: what stayed of the application runs again. */
function isReleased({ drainers }: ModelState, index: 0 | 1, app: 0 | 1): boolean {
  const { phase, releasedBudgets } = drainers[index].value.record.value
  return phase === 'Recovering' && releasedBudgets.some(({ name }) => name === apps[app])
}

function hadReleased({ drainers, world }: ModelState, index: 0 | 1): boolean {
  const { phase } = drainers[index].value.record.value
  return world.value.fates[index].hasReleased && (phase === 'Recovering' || isOver(phase))
}

function budgetKeyOf(app: 0 | 1): string {
  return `pdb/shop/${apps[app]}`
}

/** Break-glass took it from whoever had begun: a person answers for what comes of it. */
function isBroken(state: ModelState, requestId: string, key: string): boolean {
  return fateOf(state, requestId)?.broken.includes(key) === true
}

function fateOf({ world }: ModelState, requestId: string): Fate | undefined {
  return world.value.fates[(requestIds as readonly string[]).indexOf(requestId)]
}

/** The ledger was lost, and does not know yet what the request does. */
function isForgotten({ world }: ModelState, index: 0 | 1): boolean {
  return world.value.fates[index].forgotten === 'lost'
}

/*
 * I2, I9, I11, I12 and I14 to I20 are about what is done and not about what is: they are held against every step, above and beside the
 * steps themselves. I10 is I4 with the guard down: what is reserved keeps the budget without anybody's help.
 */
export const invariants: readonly Invariant[] = [
  {
    name: 'I1 one holder',
    harm: 'Two drains take pods of the same application at the same time.',
    holds: ({ ledger: { value } }) =>
      !value.entries.some((entry, index) =>
        value.entries.some(
          (other, at) => at > index && doClaimsConflict(entry, other) && entry.requestId !== other.requestId,
        ),
      ),
  },
  {
    name: 'I3 whole plans',
    harm: 'A node goes though a budget that it counts on is not its own.',
    holds: (state) =>
      drainerIndexes.every((index) => {
        const { value } = state.ledger
        const requestId = requestIds[index]
        if (!isActing(value, requestId) || state.world.value.fates[index].forgotten !== 'no') return true
        const entries = entriesOf(value, requestId)
        const [first] = entries
        return (
          entries.every(({ epoch, state: is }) => epoch === first?.epoch && is !== 'Granted') &&
          holds(state, requestId, `node/node-${index}`) &&
          holds(state, requestId, storageKey) &&
          (hadReleased(state, index) ||
            stayingApps(state, index).every(
              (app) => isReleased(state, index, app) || holds(state, requestId, budgetKeyOf(app)),
            ))
        )
      }),
  },
  {
    name: 'I4 enough replicas',
    harm: 'An application has fewer replicas than its budget wants.',
    holds: (state) =>
      ([0, 1] as const).every((app) => {
        if (requestIds.some((id) => isBroken(state, id, budgetKeyOf(app)))) return true
        let left = 0
        for (const index of drainerIndexes) {
          const pod = state.pods.value[podIndex(app, index)]
          if (pod?.state === 'elsewhere') left += 1
          if (pod?.state !== 'runs') continue
          const mayVanish = mayNodeGo(state, index) && stayingApps(state, index).includes(app)
          if (!mayVanish) left += 1
        }
        return left >= desiredHealthy
      }),
  },
  {
    name: 'I5 one failure domain',
    harm: 'Data is away in two failure domains at once, and cannot be read or is lost.',
    holds: ({ world: { value } }) => !(value.isDirty[0] && value.isDirty[1]),
  },
  {
    name: 'I6 nothing free too early',
    harm: 'Somebody takes a key while what was done under it is still felt.',
    holds: (state) => {
      const { nodes, isDirty } = state.world.value
      const ledger = state.ledger.value
      const areDrainsCovered = drainerIndexes.every((index) => {
        const requestId = requestIds[index]
        const { phase } = state.drainers[index].value.record.value
        const { isUp, isThere } = nodes[index]
        if (isForgotten(state, index) || ((isUp || !isThere) && phase !== 'Drained')) return true
        return (
          holds(state, requestId, `node/node-${index}`) &&
          holds(state, requestId, storageKey) &&
          stayingApps(state, index).every((app) => holds(state, requestId, budgetKeyOf(app)))
        )
      })
      const heldIn = (zone: string) => ledger.entries.some(({ key, scope }) => key === storageKey && scope === zone)
      const isUnknown = isForgotten(state, 0) || isForgotten(state, 1)
      const isStorageCovered = isUnknown || ((!isDirty[0] || heldIn('zone-x')) && (!isDirty[1] || heldIn('zone-y')))
      return areDrainsCovered && isStorageCovered && (nodes[2].isUp || holds(state, fencerId, 'node/node-2'))
    },
  },
  {
    name: 'I6 pods that stayed',
    harm: 'The budget of a pod that is not back yet is taken by somebody else.',
    holds: (state) =>
      drainerIndexes.every((index) =>
        stayingApps(state, index).every(
          (app) =>
            isForgotten(state, index) ||
            state.pods.value[podIndex(app, index)]?.state !== 'fails' ||
            holds(state, requestIds[index], budgetKeyOf(app)),
        ),
      ),
  },
  {
    name: 'I7 no hold-and-wait',
    harm: 'Two drains wait for each other for ever, each with what the other needs.',
    holds: ({ ledger: { value } }) =>
      !value.tickets.some(({ requestId }) => value.entries.some((entry) => entry.requestId === requestId)),
  },
  {
    name: 'I8 locks on record',
    harm: 'A lock is left behind that nobody remembers to give back.',
    holds: ({ budgets, drainers }) =>
      budgets.every(({ value: { hold, times } }, app) =>
        drainerIndexes.every((index) => {
          if (hold?.requestId !== requestIds[index]) return true
          const { uid } = budgetReference(app as 0 | 1, times)
          return drainers[index].value.record.value.lockedBudgets.some((budget) => budget.uid === uid)
        }),
      ),
  },
]
