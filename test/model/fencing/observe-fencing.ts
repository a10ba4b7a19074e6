import { parseMachineBudget } from '@cofferdam/product/capabilities/fencing/domain/parse-budget.ts'
import type { SeenFencing } from '@cofferdam/product/capabilities/fencing/domain/pass-snapshot.ts'
import type { FencingSnapshot, RebootRequest } from '@cofferdam/product/capabilities/fencing/domain/snapshot.ts'
import type { BudgetKey } from '@cofferdam/product/capabilities/fencing/domain/steps.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import {
  cluster,
  type FencingParts,
  type FencingState,
  fenceLabel,
  machineName,
  namespace,
  nodeNames,
  nowMs,
  tenMinutesMs,
} from './fencing-state.ts'

const hourMs = 3_600_000
const noticeMs = 60_000

/** No moment is special: a poll of Ceph after it could notice is dated ahead instead. */
export function snapshotOf(parts: FencingParts, state: FencingState): FencingSnapshot {
  const { nodes, budget, work, isNoticed, isPaused } = state
  const runs = nodes.flatMap(({ life }, id) => (life === 'down' && isNoticed ? [] : [id]))
  const isClean = known(!isNoticed || nodes.every(({ isDirty }) => !isDirty))
  return {
    nowMs,
    clusters: [
      {
        ...cluster,
        isBeingDeleted: false,
        settings: {
          isManaged: true,
          budgetNamespace: namespace,
          writesRookLabels: false,
          maxEvidenceAgeMs: noticeMs,
          problems: [],
        },
        evidence: known({ polledAtMs: isNoticed ? nowMs + noticeMs : nowMs, isClean, upOsds: new Set(runs) }),
        osds: nodes.map(({ life }, id) => {
          const node = nodeNames[id] ?? ''
          return { id, isReady: life === 'up', nodeName: known(node), domain: node }
        }),
        ...parts.storageHolders(known(state.ledger), cluster, {
          drained: undefined,
          isReleased: (id) => work?.ended.includes(id) === true,
        }),
      },
    ],
    areMachinesServed: true,
    areNodeChecksServed: false,
    machines: nodes.map(({ isLabelled, isTaken }, id) => ({
      api: 'openshift',
      namespace,
      name: machineName(id),
      nodeName: nodeNames[id],
      isBeingDeleted: false,
      labels: isLabelled ? { [fenceLabel]: 'true' } : {},
      labelsOfOurs: isLabelled ? [fenceLabel] : [],
      isHookedByUs: false,
      skip: undefined,
      isRemediated: isTaken,
    })),
    nodes: nodes.map(({ life, boots, isFresh }, id) => ({
      name: nodeNames[id] ?? '',
      isReady: life === 'up',
      notReadySinceMs: life === 'up' ? undefined : nowMs,
      isSilent: life !== 'up',
      ...(life === 'up' ? { readySinceMs: isFresh ? nowMs : nowMs - tenMinutesMs } : {}),
      bootID: `boot${boots}`,
    })),
    budgets: (work?.budget ?? budget) === undefined ? [] : [parseMachineBudget((work?.budget ?? budget) as never).view],
    remediators: [
      {
        kind: 'openshift-mhc',
        key: `${namespace}/workers`,
        nodes: nodeNames,
        isAlive: known(true),
        isHeldByHooks: false,
        isPausedByUs: isPaused,
        isPausedByOthers: false,
        remediating: [],
      },
    ],
    areLeasesUsed: false,
    leases: new Map(),
    reboots: known(rebootsOf(state)),
    unreadable: [],
  }
}

function rebootsOf({ drain, nodes, isLate, isNoted }: FencingState): RebootRequest[] {
  if (drain !== 'acting' && drain !== 'away') return []
  return [
    {
      name: 'reboot-b',
      nodeName: nodeNames[1],
      nodeUid: undefined,
      by: 'ann',
      phase: nodes[1].boots > 0 ? 'Recovering' : 'Drained',
      phaseSinceMs: undefined,
      bootIDBefore: 'boot0',
      returnWithinMs: isLate ? 0 : hourMs,
      deadlineMs: undefined,
      notedAwayMs: isNoted ? nowMs : undefined,
    },
  ]
}

export function passOf(
  parts: FencingParts,
  state: FencingState,
  announced: readonly BudgetKey[] | undefined,
): SeenFencing {
  const budget = state.work === undefined ? state.budget : state.work.budget
  return {
    state: 'seen',
    seen: snapshotOf(parts, state),
    budgets: budget === undefined ? [] : [budget],
    foreign: [],
    unlabelled: new Set(),
    // No watch is late here.
    isFresh: true,
    announced,
    unheld: [],
    heard: { problems: [], recheckAfterSeconds: undefined },
  }
}
