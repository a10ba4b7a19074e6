import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { defaultSettings } from '../../../../safety/ceph-settings.ts'
import type { CephView } from '../../../../safety/ceph-view.ts'
import type { StopVerdict } from '../../../../safety/verdict.ts'
import { known, unknown } from '../../../../shared/observed.ts'
import type { OsdView } from '../../../../shared/parse-osd.ts'
import { decideCephDrain } from '../decide.ts'
import type { CephDrainDecision } from '../decision.ts'
import { type BudgetStep, planOsdBudgets } from '../osd-budgets.ts'
import type { CephDrainSnapshot, NodeView, OsdBudget } from '../snapshot.ts'
import { calmState } from '../state-map.ts'

export const now = '2026-01-01T12:00:00Z'
export const nowMs = parseRfc3339(now) as number

export const yes: StopVerdict = { may: 'yes' }
export const no: StopVerdict = {
  may: 'no',
  troubles: [{ pg: '1.1b', pool: 'vm', left: 1, floor: 2 }],
  troubleCount: 3,
}
export const notYet: StopVerdict = { may: 'unknown', why: 'PG 1.1b has not reported since epoch 7' }

export interface Scenario {
  /** OSD ids by zone; the node of zone-1 is node-1. One OSD in each of three zones unless told. */
  readonly zones?: Readonly<Record<string, readonly number[]>>
  readonly down?: readonly number[]
  /** Down for Ceph; those that are down for Kubernetes unless told. */
  readonly cephDown?: readonly number[]
  readonly cordoned?: readonly string[]
  readonly missingNodes?: readonly string[]
  readonly lostNodes?: Readonly<Record<string, NonNullable<NodeView['lost']>>>
  /** Of the data. Unclean when an OSD is down, unless told. */
  readonly data?: CephView['pgs']['health']
  /** By zone; yes unless told. */
  readonly verdicts?: Readonly<Record<string, StopVerdict>>
  readonly osd?: Readonly<Record<number, Partial<OsdView>>>
  readonly state?: Partial<CephDrainSnapshot['state']>
  readonly budgets?: readonly OsdBudget[]
  readonly ceph?: Partial<CephView>
  readonly silentMs?: number
  readonly mode?: CephDrainSnapshot['cluster']['mode']
  readonly rook?: CephDrainSnapshot['cluster']['rook']
  readonly settings?: Partial<CephDrainSnapshot['cluster']['settings']>
  readonly nowMs?: number
  readonly arbiter?: CephDrainSnapshot['arbiter']
  /** Nodes of mons by their names: `{ a: 'node-1' }`; those in `lostMons` are away. */
  readonly mons?: Readonly<Record<string, string>>
  readonly lostMons?: readonly string[]
}

const threeZones = { 'zone-1': [1], 'zone-2': [2], 'zone-3': [3] }

/** The cluster of a story: `zone-1` with `node-1`, and so on. */
export function tell(scenario: Scenario): CephDrainSnapshot {
  const zones = Object.entries(scenario.zones ?? threeZones)
  const down = scenario.down ?? []
  const cephDown = scenario.cephDown ?? down
  const nodes = zones.map(([zone]) => zone.replace('zone', 'node'))
  const health = scenario.data ?? (down.length > 0 ? 'unclean' : 'clean')
  const view: CephView = {
    epoch: 7,
    upOsds: zones.flatMap(([, osds]) => osds).filter((id) => !cephDown.includes(id)),
    pgs:
      health === 'unclean'
        ? { health, dirtyStates: { 'active+undersized+degraded': 6 } }
        : health === 'unknown'
          ? { health, why: 'PG 1.1b has not reported since epoch 7' }
          : { health },
    failureDomainType: 'zone',
    domains: zones.map(([domain, osds]) => ({ domain, osds, verdict: scenario.verdicts?.[domain] ?? yes })),
    nooutBuckets: [],
    disagreements: [],
    ...scenario.ceph,
  }
  return {
    nowMs: scenario.nowMs ?? nowMs,
    cluster: {
      namespace: 'rook-ceph',
      name: 'my-cluster',
      uid: 'uid-1',
      mode: scenario.mode ?? 'manage',
      ...(scenario.rook === undefined ? {} : { rook: scenario.rook }),
      settings: { ...defaultSettings, ...scenario.settings },
    },
    osds: zones.flatMap(([zone, osds]) =>
      osds.map((id) => ({
        id,
        isReady: !down.includes(id),
        isBeingReplaced: false,
        nodeName: known(zone.replace('zone', 'node')),
        topology: { host: zone.replace('zone', 'node'), zone },
        ...scenario.osd?.[id],
      })),
    ),
    nodes: nodes
      .filter((name) => scenario.missingNodes?.includes(name) !== true)
      .map((name) => {
        const lost = scenario.lostNodes?.[name]
        const isClosed = scenario.cordoned?.includes(name) === true
        return { name, isClosed, ...(lost === undefined ? {} : { lost }) }
      }),
    ceph: scenario.silentMs === undefined ? known(view) : unknown('no answer within 15 s'),
    cephSilentMs: scenario.silentMs ?? 0,
    state: { ...calmState, ...scenario.state },
    budgets: scenario.budgets ?? [],
    ...(scenario.arbiter === undefined ? {} : { arbiter: scenario.arbiter }),
    daemons: Object.entries(scenario.mons ?? {}).map(([id, nodeName]) => ({
      type: 'mon',
      id,
      nodeName,
      isPinned: true,
      isReady: scenario.lostMons?.includes(id) !== true,
    })),
  }
}

/** A budget of ours, told in a word: `default`, `default but 1,3`, `closed`, `zone-2`. */
export function ours(...words: readonly string[]): OsdBudget[] {
  return words.map((word) => {
    if (word.startsWith('default') || word.startsWith('closed')) {
      const except = /but (.*)$/.exec(word)?.[1]?.split(',').map(Number) ?? []
      return {
        name: 'rook-ceph-osd',
        maxUnavailable: word.startsWith('closed') ? 0 : 1,
        selector: { covers: 'all', exceptOsds: except },
        isOurs: true,
      }
    }
    if (word.startsWith('osds ')) {
      const osds = word.slice(5).split(',').map(Number)
      return { name: 'rook-ceph-osd-unplaced', maxUnavailable: 0, selector: { covers: 'osds', osds }, isOurs: true }
    }
    const type = word.startsWith('zone') ? 'zone' : 'host'
    return {
      name: `rook-ceph-osd-${type}-${word}`,
      maxUnavailable: 0,
      selector: { covers: 'domain', type, domain: word },
      isOurs: true,
    }
  })
}

/** The other way round. */
export function inWords(budgets: CephDrainDecision['budgets']): string[] {
  return budgets.map(inAWord).sort()
}

function inAWord({ maxUnavailable, selector }: CephDrainDecision['budgets'][number]): string {
  switch (selector.covers) {
    case 'all': {
      const except = selector.exceptOsds.length === 0 ? '' : ` but ${selector.exceptOsds.join()}`
      return maxUnavailable === 0 ? `closed${except}` : `default${except}`
    }
    case 'domain':
      return selector.domain
    case 'osds':
      return `osds ${selector.osds.join()}`
    case 'other':
      return 'other'
  }
}

export function applyStep(budgets: readonly OsdBudget[], step: BudgetStep): OsdBudget[] {
  const name = step.action === 'apply' ? step.budget.name : step.name
  const others = budgets.filter((budget) => budget.name !== name)
  return step.action === 'apply' ? [...others, { ...step.budget, isOurs: true }] : others
}

/** Decides, writes and looks again until nothing changes any more. */
export function settle(snapshot: CephDrainSnapshot): { decision: CephDrainDecision; snapshot: CephDrainSnapshot } {
  let seen = snapshot
  for (let round = 0; round < 6; round += 1) {
    const decision = decideCephDrain(seen)
    const steps = planOsdBudgets(seen.budgets, decision.budgets)
    const isSame = JSON.stringify(seen.state) === JSON.stringify(decision.state)
    if (steps.length === 0 && isSame && decision.noout.set.length + decision.noout.unset.length === 0) {
      return { decision, snapshot: seen }
    }
    const ceph = seen.ceph.known
      ? known({
          ...seen.ceph.value,
          nooutBuckets: [...new Set([...seen.ceph.value.nooutBuckets, ...decision.noout.set])].filter(
            (bucket) => !decision.noout.unset.includes(bucket),
          ),
        })
      : seen.ceph
    seen = { ...seen, budgets: steps.reduce(applyStep, [...seen.budgets]), state: decision.state, ceph }
  }
  throw new Error('the decision never settles')
}
