import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import type { DisruptionRecord } from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import { entriesOf, type GrantRequest, grant, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { type Bounds, type Parts, realParts } from './bounds.ts'
import { crossedDrains, kubectlBeside, oneDrain, silentFencer, stalledDrain } from './stories.ts'

/** A mistake that is easily made, in place of the code that runs, and the story in which it does harm. */
export interface PlantedBug {
  readonly parts: Parts
  readonly bounds: Bounds
}

export const plantedBugs = {
  'nobody compares epochs': {
    parts: {
      ...realParts,
      intend: (ledger, by) => realParts.intend(ledger, { ...by, epoch: epochOf(ledger, by) }),
      renew: (ledger, by) => realParts.renew(ledger, { ...by, epoch: epochOf(ledger, by) }),
      release: (ledger, by) => realParts.release(ledger, { ...by, epoch: epochOf(ledger, by) }),
    },
    bounds: stalledDrain,
  },
  'a time to live frees what was acted upon': {
    parts: {
      ...realParts,
      applyOrphans: (ledger, decisions) => {
        const freed = new Set(decisions.filter(({ step }) => step !== 'keep').map(({ requestId }) => requestId))
        return freed.size === 0
          ? ledger
          : { ...ledger, entries: ledger.entries.filter((entry) => !freed.has(entry.requestId)) }
      },
    },
    bounds: silentFencer,
  },
  'what is free is taken, and the rest is waited for': {
    parts: { ...realParts, grant: grantPiecemeal },
    bounds: crossedDrains,
  },
  'a lock is an annotation': {
    parts: { ...realParts, settings: { ...realParts.settings, mode: 'settle', settleMs: 0 } },
    bounds: kubectlBeside,
  },
  'who holds a key already does not matter': {
    parts: {
      ...realParts,
      grant: (ledger, request) => {
        const own = grant({ ...ledger, entries: entriesOf(ledger, request.requestId) }, request)
        const others = ledger.entries.filter(({ requestId }) => requestId !== request.requestId)
        return { ...own, ledger: { ...own.ledger, entries: [...others, ...own.ledger.entries] } }
      },
    },
    bounds: crossedDrains,
  },
  'the intent speaks of the node alone': {
    parts: {
      ...realParts,
      intend: (ledger, by) => {
        const told = realParts.intend(ledger, by)
        if (!told.ok) return told
        const entries = told.ledger.entries.map((entry, index) =>
          entry.key.startsWith('node/') ? entry : (ledger.entries[index] ?? entry),
        )
        return { ok: true, ledger: { ...told.ledger, entries } }
      },
    },
    bounds: oneDrain,
  },
  'budgets are locked before that is on record': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'record')) },
    bounds: oneDrain,
  },
  'a node is opened while it is drained': {
    parts: {
      ...realParts,
      decideDisruption: decideWith((steps, { phase }) =>
        phase === 'Drained' ? [...steps, { step: 'uncordon' }] : steps,
      ),
    },
    bounds: oneDrain,
  },
} satisfies Record<string, PlantedBug>

function decideWith(
  change: (steps: readonly DisruptionStep[], record: DisruptionRecord) => readonly DisruptionStep[],
): Parts['decideDisruption'] {
  return (snapshot) => {
    const decision = realParts.decideDisruption(snapshot)
    return { ...decision, steps: change(decision.steps, decision.record) }
  }
}

function epochOf(ledger: Ledger, { requestId, epoch }: { requestId: string; epoch: number }): number {
  return entriesOf(ledger, requestId)[0]?.epoch ?? epoch
}

function grantPiecemeal(ledger: Ledger, request: GrantRequest): ReturnType<typeof grant> {
  const whole = grant(ledger, request)
  if (whole.granted) return whole
  const inTheWay = new Set(whole.obstacles.map(({ key }) => key))
  const claims = request.claims.filter(({ key }) => !inTheWay.has(key))
  const part = grant(ledger, { ...request, claims })
  if (!part.granted) return whole
  return { ...whole, ledger: { ...part.ledger, tickets: whole.ledger.tickets, nextTicket: whole.ledger.nextTicket } }
}
