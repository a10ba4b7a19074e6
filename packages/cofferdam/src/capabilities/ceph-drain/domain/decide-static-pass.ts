import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import { isManagedByUs } from './budget-mark.ts'
import { decideStaticBudgets, type StaticBudgetDecision, type StaticBudgetInput } from './static-budgets.ts'
import type { StaticBudgetStep } from './static-steps.ts'

/** Everything that one pass over the budgets of daemons is decided on. */
export interface StaticPassSnapshot {
  readonly nowMs: number
  readonly input: StaticBudgetInput
  /** When the quorum was asked for last, and when something happened that may have changed it. */
  readonly askedAtMs: number
  readonly disturbedAtMs: number
  /** The quorum was asked for in this pass. */
  readonly hasAsked: boolean
  /** Whether nobody else works on the budgets of the cluster; undefined: nobody else ever does. */
  readonly isInTurn: boolean | undefined
  /** Whether the API server has `unhealthyPodEvictionPolicy`; undefined until a budget with it was written. */
  readonly storesUnreadyPolicy?: boolean | undefined
}

export interface StaticPassDecision {
  readonly steps: readonly StaticBudgetStep[]
  readonly recheckAfterSeconds: number | undefined
}

/** A monitor that lost its pod leaves the quorum some seconds later. */
const quorumSettlesMs = 30_000
const unsettledSeconds = 2
const silentSeconds = 5
const calmSeconds = 120

/**
 * Decides all that one pass does: the quorum is asked for where it may be another one, then the budgets are decided and written by what
 * the OSDs beside the daemons may do at that time.
 *
 * Guarantees: budgets that follow the turn of the OSDs are decided and written while nobody else changes that turn.
 */
export function decideStaticPass(pass: StaticPassSnapshot): StaticPassDecision {
  const { input, isInTurn } = pass
  if (!pass.hasAsked && isInTurn !== true && isQuorumDue(pass))
    return { steps: [{ do: 'ask', name: 'quorum' }], ...never }
  if (isInTurn === false) return { steps: [{ do: 'hold', name: 'enter-turn' }], ...never }
  const { daemonBudgets, problems, ...decision } = decideStaticBudgets(input)
  return {
    steps: [
      { do: 'write', name: 'budgets', writes: planStaticWrites(decision, pass) },
      { do: 'hold', name: 'leave-turn', daemonBudgets, looseNodes: looseNodes(daemonBudgets) },
      { do: 'report', name: 'report', problems },
    ],
    recheckAfterSeconds: recheckAfterSeconds(pass, daemonBudgets),
  }
}

const never = { recheckAfterSeconds: undefined }

function needsQuorum({ cluster, monCount }: StaticBudgetInput): boolean {
  return cluster.mode === 'manage' && monCount >= 3
}

/** A change of a budget alone is no reason to ask again. */
function isQuorumDue({ nowMs, input, askedAtMs, disturbedAtMs }: StaticPassSnapshot): boolean {
  if (!needsQuorum(input)) return false
  const isSettling = isWithin(nowMs, disturbedAtMs, quorumSettlesMs) || !input.quorum.known
  return !isWithin(nowMs, askedAtMs, (isSettling ? 1 : calmSeconds) * 1_000)
}

function recheckAfterSeconds(
  { nowMs, input, disturbedAtMs }: StaticPassSnapshot,
  daemonBudgets: StaticBudgetDecision['daemonBudgets'],
): number | undefined {
  const rechecks = Object.values(daemonBudgets).flatMap(({ recheckAfterMs }) =>
    recheckAfterMs === undefined ? [] : [Math.ceil(recheckAfterMs / 1_000)],
  )
  if (!needsQuorum(input)) return rechecks.length === 0 ? undefined : Math.min(...rechecks)
  const isSettled = !isWithin(nowMs, disturbedAtMs, quorumSettlesMs)
  const usual = input.quorum.known ? (isSettled ? calmSeconds : unsettledSeconds) : silentSeconds
  return Math.min(usual, ...rechecks)
}

/** Undefined while one of the budgets leaves it as it was. */
function looseNodes(daemonBudgets: StaticBudgetDecision['daemonBudgets']): readonly string[] | undefined {
  const found = new Set<string>()
  for (const { loose } of Object.values(daemonBudgets)) {
    if (loose === undefined) return undefined
    for (const node of loose) found.add(node)
  }
  return [...found].sort()
}

function planStaticWrites(
  { desired, release, remove }: Pick<StaticBudgetDecision, 'desired' | 'release' | 'remove'>,
  { input: { existing }, storesUnreadyPolicy }: StaticPassSnapshot,
): BudgetWrite[] {
  const seenByName = new Map(existing.map((budget) => [budget.metadata.name, budget]))
  return [
    ...desired.flatMap((budget): BudgetWrite[] => {
      const seen = seenByName.get(budget.metadata.name)
      if (seen === undefined) return [{ verb: 'create', budget }]
      const comparable = storesUnreadyPolicy === false ? withoutUnreadyPolicy : (spec: typeof seen.spec) => spec
      const isSame = isSameJson(comparable(seen.spec), comparable(budget.spec)) && isManagedByUs(seen)
      return isSame ? [] : [{ verb: 'replace', seen, budget }]
    }),
    ...release.map((budget): BudgetWrite => ({ verb: 'replace', seen: budget, budget })),
    ...remove.map((name): BudgetWrite => ({ verb: 'delete', seen: seenByName.get(name) as PodDisruptionBudget })),
  ]
}

/** A server that does not have the field would be written to for ever. */
function withoutUnreadyPolicy(budget: PodDisruptionBudget['spec']) {
  const { unhealthyPodEvictionPolicy: _, ...spec } = budget
  return spec
}
