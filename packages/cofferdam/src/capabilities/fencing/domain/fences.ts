import { scopeOf } from '../../../ledger/rules/storage-arbiter.ts'
import type { Fence } from './decision.ts'
import { fencedNode, nodeFence } from './fenced-node.ts'
import type { FencingIndex } from './fencing-index.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import { freshEvidence } from './running-osds.ts'
import type { FencedCluster, MachineView, RecordedFence } from './snapshot.ts'

/** How long Ceph may take to notice that OSDs are gone: evidence from before that proves nothing. */
const noticeMs = 60_000
/** A machine that is well on the same boot for so long was not fenced after all. */
const sparedAfterMs = 10 * 60_000

/**
 * The fences of one cluster: those on record, and those that begin now. One that was seen is remembered until it is over, also
 * when its machine is gone. Whoever takes a machine takes it from every cluster with OSDs on it.
 *
 * Guarantees: none is over before Ceph, asked after it must have noticed, is clean, and the machine is gone, or back, or has no
 * OSD any more; for whoever reads what the operator wrote, none that is on record. Times that others wrote are not relied on: a fence counts from when it was first seen.
 */
export function fencesOf(index: FencingIndex, labelled: LabelledCluster): Fence[] {
  const { cluster, budget, formerBudgets } = labelled
  const { namespace, name, uid } = cluster
  const seen = budget === undefined ? formerBudgets : [...formerBudgets, budget]
  const found = new Map<string, RecordedFence>(seen.flatMap(({ fences }) => [...fences]))
  for (const machine of seen.flatMap(({ disrupted }) => [...disrupted.keys()])) {
    if (!found.has(machine)) found.set(machine, begun(index, labelled, machine))
  }
  for (const machine of index.taken) {
    const called = nameIn(labelled, machine)
    if (found.has(called) || !index.isStorageMachine(machine, labelled)) continue
    const before = recordElsewhere(index, machine)
    const fence = { ...begun(index, labelled, called), ...before }
    // It was taken from another cluster too, which is not done with it. Here it began then, not now, and may long be over.
    if (before === undefined || !isOver(index, labelled, hostOf(index, labelled, called), fence))
      found.set(called, fence)
  }
  for (const node of index.remediating) {
    const called = nodeFence(node)
    if (index.machinesByNode.has(node) || found.has(called) || !mayHoldOsds(index, labelled, node)) continue
    found.set(called, begun(index, labelled, called))
  }
  for (const scope of forgottenScopes(cluster, found)) {
    found.set(`(forgotten in ${scope === '' ? 'all domains' : scope})`, {
      ...nowhere,
      scope,
      sinceMs: index.snapshot.nowMs,
    })
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([called, record]) => {
      const host = hostOf(index, labelled, called)
      const goneMs = record.goneMs ?? (host === undefined ? index.snapshot.nowMs : undefined)
      const fence = { ...inPresentDomain(labelled, host, record), ...(goneMs === undefined ? {} : { goneMs }) }
      return {
        cluster: { namespace, name, uid },
        machine: called,
        ...fence,
        isOver: isOver(index, labelled, host, fence),
      }
    })
}

const nowhere = { node: '', bootID: '' }

/**
 * The failure domain that the machine is in now. Whoever terminates it may drain its node first: were the fence to hold another domain, or all of
 * them, that drain would wait for the fence, and the fence for it. Without one domain it keeps what is on record.
 */
function inPresentDomain(
  labelled: LabelledCluster,
  host: FencedHost | undefined,
  record: RecordedFence,
): RecordedFence & Pick<Fence, 'formerScope'> {
  const scope = host?.hasOsds === true ? domainOf(labelled, record.node) : ''
  return scope === '' || scope === record.scope ? record : { ...record, scope, formerScope: record.scope }
}

function domainOf({ osds }: LabelledCluster, node: string): string {
  const domains = osds.domains.get(node) ?? []
  return domains.length === 1 ? (domains[0] as string) : ''
}

/** Whoever deletes a budget deletes what was written on it; the ledger still knows that something was under way. */
function forgottenScopes(
  { heldForFences = [] }: FencedCluster,
  found: ReadonlyMap<string, RecordedFence>,
): readonly string[] {
  const known = new Set([...found.values()].map(({ scope }) => (scope === '' ? '' : scopeOf([scope]))))
  return heldForFences.filter((scope) => !known.has(scope))
}

/** A budget names the machines of its own namespace; others are reported with theirs. */
function nameIn({ cluster }: LabelledCluster, { namespace, name }: MachineView): string {
  return namespace === cluster.settings.budgetNamespace ? name : `${namespace}/${name}`
}

function machineOf({ snapshot }: FencingIndex, labelled: LabelledCluster, called: string): MachineView | undefined {
  const at = called.indexOf('/')
  const namespace = at < 0 ? labelled.cluster.settings.budgetNamespace : called.slice(0, at)
  const name = called.slice(at + 1)
  return snapshot.machines.find((machine) => machine.name === name && machine.namespace === namespace)
}

/** When and on which boot the machine was taken, as the budget of any cluster has it on record. */
function recordElsewhere(
  { snapshot: { budgets } }: FencingIndex,
  { namespace, name }: MachineView,
): Omit<RecordedFence, 'scope'> | undefined {
  const records = budgets.flatMap((budget) => (budget.namespace === namespace ? (budget.fences.get(name) ?? []) : []))
  const [first] = records.sort((a, b) => a.sinceMs - b.sinceMs)
  if (first === undefined) return undefined
  const { scope: _, ...record } = first
  return record
}

function mayHoldOsds(index: FencingIndex, { at }: LabelledCluster, node: string): boolean {
  const { runs, unknown } = index.occupancyOf(node)
  return runs.includes(at) || unknown.includes(at)
}

/** What is fenced, as long as it is there. */
interface FencedHost {
  readonly hasOsds: boolean
  readonly isWanted: boolean
}

function hostOf(index: FencingIndex, labelled: LabelledCluster, called: string): FencedHost | undefined {
  const nodeName = fencedNode(called)
  if (nodeName !== undefined) {
    const isWanted = index.remediating.has(nodeName)
    return index.nodes.has(nodeName) ? { hasOsds: mayHoldOsds(index, labelled, nodeName), isWanted } : undefined
  }
  const machine = machineOf(index, labelled, called)
  if (machine === undefined) return undefined
  const { isBeingDeleted, isDrainedFirst = false, isRemediated, nodeName: behind = '' } = machine
  return {
    hasOsds: index.placeOf(machine, labelled) !== 'none',
    isWanted: (isBeingDeleted && !isDrainedFirst) || isRemediated === true || index.remediating.has(behind),
  }
}

function begun(index: FencingIndex, labelled: LabelledCluster, called: string): RecordedFence {
  const node = fencedNode(called) ?? machineOf(index, labelled, called)?.nodeName ?? ''
  return {
    node,
    bootID: index.nodes.get(node)?.bootID ?? '',
    scope: domainOf(labelled, node),
    sinceMs: index.snapshot.nowMs,
  }
}

function isOver(
  index: FencingIndex,
  labelled: LabelledCluster,
  host: FencedHost | undefined,
  { sinceMs, goneMs, node: nodeName, bootID }: RecordedFence,
): boolean {
  const { nowMs } = index.snapshot
  const evidence = freshEvidence(labelled.cluster, nowMs)
  if (!evidence.known || !evidence.value.isClean.known || !evidence.value.isClean.value) return false
  const { polledAtMs, isRecord = false } = evidence.value
  if (isRecord) return false
  const isNoticed = (ms: number) => polledAtMs >= Math.max(sinceMs, Math.min(ms, nowMs)) + noticeMs
  // What is not there has its time on record.
  if (host === undefined) return isNoticed(goneMs as number)
  if (!host.hasOsds) return isNoticed(sinceMs)
  const node = index.nodes.get(nodeName)
  if (host.isWanted || index.remediating.has(nodeName) || node === undefined) return false
  const readyMs = node.readySinceMs ?? sinceMs
  // Even if it is sick anew: that is another fence, and is queued on its own.
  if (bootID !== '' && node.bootID !== bootID) return isNoticed(readyMs)
  return node.isReady && nowMs - Math.max(sinceMs, Math.min(readyMs, nowMs)) >= sparedAfterMs
}
