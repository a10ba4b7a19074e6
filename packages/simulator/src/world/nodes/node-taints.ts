import type { Node, Taint } from '@cofferdam/kubernetes/api/core.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { unschedulableTaint } from './scheduling-rules.ts'

const notReady = 'node.kubernetes.io/not-ready'
const unreachable = 'node.kubernetes.io/unreachable'

const pressureTaints: Readonly<Record<string, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
}

const ours = new Set([notReady, unreachable, unschedulableTaint.key, ...Object.values(pressureTaints)])

/**
 * The taints that a node should carry for what it says of itself, beside those that others put on it; undefined when it
 * carries just these.
 */
export function decideTaints(node: Node, now: string): readonly Taint[] | undefined {
  const held = node.spec?.taints ?? []
  const wanted = wantedTaints(node)
  const isWanted = (taint: Taint) => wanted.some((other) => isSameTaint(taint, other))
  const kept = held.filter((taint) => !ours.has(taint.key) || isWanted(taint))
  const added = wanted
    .filter((taint) => !held.some((other) => isSameTaint(taint, other)))
    .map((taint) => ({ ...taint, timeAdded: now }))
  return kept.length === held.length && added.length === 0 ? undefined : [...kept, ...added]
}

function wantedTaints(node: Node): Taint[] {
  const taints: Taint[] = []
  const ready: Condition['status'] | undefined = conditionOf(node, 'Ready')?.status
  if (ready === 'False' || ready === 'Unknown') {
    const key = ready === 'False' ? notReady : unreachable
    taints.push({ key, effect: 'NoSchedule' }, { key, effect: 'NoExecute' })
  }
  for (const [type, key] of Object.entries(pressureTaints)) {
    if (conditionOf(node, type)?.status === 'True') taints.push({ key, effect: 'NoSchedule' })
  }
  if (node.spec?.unschedulable === true) taints.push(unschedulableTaint)
  return taints
}

function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect
}
