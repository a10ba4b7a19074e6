import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  machineDisruptionBudgets,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { fenceLabelPrefix } from '@cofferdam/product/capabilities/fencing/domain/fence-labels.ts'
import { hookName, leaseHolder, marks } from '@cofferdam/product/capabilities/fencing/domain/marks.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { MachineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { type CephTruth, groupsLostWith, isAllClean, isRunning, osdOf, upOsds } from './fencing-truth.ts'

export interface FencingOraclePorts {
  readonly views: Views
  readonly clock: Clock
  readonly kinds: MachineKinds
  readonly truths: readonly CephTruth[]
  readonly isOn: (node: string) => boolean
  /** Somebody is there to set things right, has been for a while, and Ceph answers him. */
  readonly isAttended: () => boolean
}

export interface FencingOracle {
  readonly violations: readonly string[]
  /** Machines whose power was cut by a remediator while OSDs ran on them, in order: `storage-1`. */
  readonly taken: readonly string[]
  /** Budgets that were opened, and how often. */
  readonly openings: () => number
  /** The power of a node is cut by whoever remediates. Tell it before it is. */
  cut(node: string): void
  /** Something breaks that nobody decided: it takes a while until anybody can know. */
  mishap(): void
  /** The operator has asked Ceph of this cluster for its placement groups. */
  asked(namespace: string): void
  /** What others set, as it must be found again at any time: what is wrong with it, or nothing. */
  keep(what: string, isKept: () => boolean): void
  look(): Promise<void>
  stop(): void
}

/** How long labels and gates may lag behind what runs: evidence is at most a minute old. */
const patienceMs = 75_000
const heldMs = 180_000
const begun = ['Locking', 'Draining', 'Drained', 'Recovering']

/**
 * Sees the true state and says where a promise was broken.
 *
 * Guarantees: (1) remediators never take machines with running OSDs of two failure domains of one cluster unless all its data
 * was clean in between; (2) a budget is opened only on a look at which all data was clean, and does not stay open for long when it
 * is not; (3) a machine whose OSDs are all down is soon held by nothing of ours; (4) no group falls below its floor by a fence;
 * (5) what others set stays. A machine carries the label exactly while an OSD runs there, but for the time it takes to notice.
 */
export function watchFencing(ports: FencingOraclePorts): FencingOracle {
  const { views, clock, kinds, truths, isOn, isAttended } = ports
  const violations: string[] = []
  const taken: string[] = []
  const kept = new Map<string, () => boolean>()
  const since = new Map<string, number>()
  const underWay = new Map<CephTruth, { readonly node: string; readonly domain: string; readonly atMs: number }>()
  const lastAsked = new Map<string, { readonly atMs: number; readonly wasClean: Promise<boolean | undefined> }>()
  const budgets = views.of(machineDisruptionBudgets)
  const machines = views.of(kinds.machines)
  const leaseView = views.of(leases)
  const requests = views.of(nodeDisruptions)
  const start = clock.now()
  let openings = 0
  let mishapMs = Number.NEGATIVE_INFINITY

  const blame = (sentence: string) => {
    if (violations.some((known) => known.endsWith(sentence))) return
    violations.push(`t+${Math.round((clock.now() - start) / 1_000)}s: ${sentence}`)
  }

  /** Wrong things are blamed when they last. */
  function suspect(sentence: string, isSo: boolean, afterMs: number): void {
    if (!isSo) {
      since.delete(sentence)
      return
    }
    const first = since.get(sentence) ?? clock.now()
    since.set(sentence, first)
    if (clock.now() - first > afterMs) blame(sentence)
  }

  const truthOf = ({ metadata }: MachineDisruptionBudget): CephTruth | undefined =>
    truths.find(({ namespace, name }) => metadata.name === `${name}-${namespace}`)

  function cut(node: string): void {
    for (const truth of truths) {
      const map = truth.map()
      const serving = truth.serving()
      const lost = truth.osdsOn(node).filter((pod) => serving.has(osdOf(pod)))
      if (map === undefined || lost.length === 0) continue
      if (truth === truths[0]) taken.push(node)
      const domain = truth.domainOf(osdOf(lost[0] as (typeof lost)[number]))
      const before = underWay.get(truth)
      if (before !== undefined && before.domain !== domain) {
        blame(`${node} of ${domain} was taken from ${truth.name} before all was clean after ${before.node}`)
      }
      // Whoever was let through a moment before something else broke could not be called back.
      const isExcused = clock.now() - mishapMs < patienceMs
      for (const group of isExcused ? [] : groupsLostWith(map, serving, new Set(lost.map(osdOf)))) {
        blame(`placement group ${group} of ${truth.name} fell below its floor when ${node} was taken`)
      }
      underWay.set(truth, { node, domain, atMs: clock.now() })
    }
  }

  async function judgeOpening(truth: CephTruth): Promise<void> {
    openings += 1
    const asked = lastAsked.get(truth.namespace)
    const atMs = clock.now()
    if (asked === undefined || atMs - asked.atMs > 60_000) {
      blame(`the budget of ${truth.name} was opened without asking Ceph in the minute before`)
    } else if ((await asked.wasClean) === false) {
      blame(`the budget of ${truth.name} was opened on a look at which not all was clean`)
    }
  }

  const end = budgets.subscribe(({ before, after }) => {
    const truth = after === undefined ? undefined : truthOf(after)
    if (truth === undefined) return
    const [was = 0, is = 0] = [before?.status?.disruptionsAllowed, after?.status?.disruptionsAllowed]
    if (is > was) void judgeOpening(truth)
    if (is > 1) blame(`the budget of ${truth.name} allows ${is}`)
  })

  function lookAtMachine(machine: Machine): void {
    const node = machine.status?.nodeRef?.name
    if (node === undefined || machine.metadata.deletionTimestamp !== undefined) return
    const { name, labels = {}, annotations = {} } = machine.metadata
    let isAnyRunning = false
    let hasOsds = false
    for (const truth of truths) {
      const map = truth.map()
      if (map === undefined) return
      const osds = truth.osdsOn(node)
      const runs = osds.some((pod) => isRunning(pod, upOsds(map)))
      hasOsds ||= osds.length > 0
      isAnyRunning ||= runs
      const keys = [truth.name, `${truth.name}.${truth.namespace}`].map((key) => `${fenceLabelPrefix}${key}`)
      const carries = keys.some((key) => labels[key] === 'true')
      const isOdd = isAttended() && carries !== runs
      suspect(
        `${name} ${carries ? 'carries' : 'lacks'} the label of ${truth.name} while its OSDs are ${runs ? 'up' : 'down'}`,
        isOdd,
        patienceMs,
      )
    }
    const isHeld =
      (annotations[marks.setByUs] ?? '') !== '' ||
      (machine.spec?.lifecycleHooks?.preTerminate ?? []).some((hook) => hook.name === hookName) ||
      isHeldByUs(leaseView.get(`medik8s-leases/node-${node}`))
    suspect(
      `${name} is held although no OSD runs on it`,
      isAttended() && hasOsds && !isAnyRunning && isHeld && !isPlanned(node),
      heldMs,
    )
  }

  /** Whoever reboots a node on plan finds it held, with OSDs or without. */
  function isPlanned(node: string): boolean {
    return [...requests.values()].some(
      ({ spec, status }) => spec.nodeName === node && begun.includes(status?.phase ?? 'Pending'),
    )
  }

  function isHeldByUs(lease: Lease | undefined): boolean {
    return lease?.spec?.holderIdentity === leaseHolder
  }

  async function isClean(truth: CephTruth): Promise<boolean | undefined> {
    const map = await truth.look()
    if (map === undefined) return undefined
    const isAll = isAllClean(map)
    const up = upOsds(map)
    const atMs = clock.now()
    const before = underWay.get(truth)
    // A machine that fell silent a moment ago is still up in the map.
    const isNoticed =
      before !== undefined &&
      atMs > before.atMs &&
      truth.osdsOn(before.node).every((pod) => !up.has(osdOf(pod)) || isOn(before.node))
    if (isAll && isNoticed) underWay.delete(truth)
    return isAll
  }

  async function lookAtTruth(truth: CephTruth): Promise<void> {
    const isAll = await isClean(truth)
    if (isAll === undefined) return
    const budget = [...budgets.values()].find((each) => truthOf(each) === truth)
    const isOpen = (budget?.status?.disruptionsAllowed ?? 0) > 0
    suspect(
      `the budget of ${truth.name} stays open while data is not clean`,
      isAttended() && isOpen && !isAll,
      patienceMs,
    )
  }

  return {
    violations,
    taken,
    openings: () => openings,
    cut,
    mishap() {
      mishapMs = clock.now()
    },
    asked(namespace) {
      const truth = truths.find((each) => each.namespace === namespace)
      if (truth === undefined) return
      lastAsked.set(namespace, { atMs: clock.now(), wasClean: isClean(truth) })
    },
    keep: (what, isKept) => void kept.set(what, isKept),
    async look() {
      for (const truth of truths) await lookAtTruth(truth)
      for (const machine of machines.values()) lookAtMachine(machine)
      for (const [what, isKept] of kept) if (!isKept()) blame(`${what} was not left alone`)
    },
    stop: end,
  }
}
