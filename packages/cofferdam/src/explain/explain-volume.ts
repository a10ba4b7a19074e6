import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { ReplicaView, VolumeView } from '../capabilities/longhorn-drain/domain/snapshot.ts'
import { longhornBlockers } from '../capabilities/longhorn-drain/view/longhorn-budget.ts'
import { type LonghornView, rehearseDrain } from '../capabilities/longhorn-drain/view/longhorn-view.ts'
import type { Blocker } from '../shared/blocker.ts'
import { compareText } from '../shared/last-writer.ts'
import { listText } from '../shared/list-text.ts'
import { mergeBlockers } from '../shared/merge-blockers.ts'
import type { Explanation } from './explanation.ts'

/** One copy of a volume. */
export interface CopyAnswer {
  readonly replica: string
  /** Left out while it has no place. */
  readonly node?: string
  readonly state: 'healthy' | 'failed' | 'building'
}

export interface VolumeExplanation extends Explanation {
  /** Where its Longhorn is. */
  readonly namespace: string
  readonly state: VolumeView['state']
  readonly robustness: VolumeView['robustness']
  readonly wantedCopies: number
  readonly attachedTo?: string
  /** Who wants it attached: `pod shop/db-0`. */
  readonly attachedBy?: string
  readonly copies: readonly CopyAnswer[]
  /** Nodes that may not be drained for its sake. */
  readonly heldNodes: readonly string[]
}

/**
 * May a node with a copy of this volume, or with its users, be drained now, as far as the volume is concerned? Each node is judged as
 * `explain node` judges it. Undefined where Longhorn has no such volume.
 */
export function explainVolume(
  view: LonghornView,
  { name, pods }: { readonly name: string; readonly pods: readonly Pod[] },
): VolumeExplanation | undefined {
  const volume = view.snapshot.volumes.find((each) => each.name === name)
  if (volume === undefined) return undefined
  const { state, robustness, numberOfReplicas: wantedCopies, attachedTo, attachedBy } = volume
  const replicas = view.snapshot.replicas.filter((each) => each.volume === name && each.isActive)
  const places = [...new Set([...replicas.map(({ node }) => node), attachedTo ?? ''])].filter((node) => node !== '')
  const judged = places.sort(compareText).map((node) => ({ node, blockers: blockersOn(view, { node, name, pods }) }))
  const heldNodes = judged.filter(({ blockers }) => blockers.length > 0).map(({ node }) => node)
  return {
    object: `volume/${name}`,
    mayGo: heldNodes.length === 0,
    summary: summaryOf(places, heldNodes),
    blockers: mergeBlockers(judged.flatMap(({ blockers }) => blockers)),
    holds: [],
    namespace: view.snapshot.namespace,
    state,
    robustness,
    wantedCopies,
    ...(attachedTo === undefined ? {} : { attachedTo }),
    ...(attachedBy === undefined ? {} : { attachedBy }),
    copies: replicas.map(copyOf).sort((a, b) => compareText(a.node ?? '', b.node ?? '')),
    heldNodes,
  }
}

function blockersOn(
  view: LonghornView,
  { node, name, pods }: { readonly node: string; readonly name: string; readonly pods: readonly Pod[] },
): Blocker[] {
  const podsOnNode = pods.filter(({ spec }) => spec.nodeName === node)
  const held = longhornBlockers(rehearseDrain(view, node), node, podsOnNode, name)
  return held.map((each) => ({ ...each, waiting: [`node/${node}`] }))
}

function copyOf({ name, node, healthyAt, failedAt }: ReplicaView): CopyAnswer {
  return {
    replica: name,
    ...(node === '' ? {} : { node }),
    state: failedAt === '' ? (healthyAt === '' ? 'building' : 'healthy') : 'failed',
  }
}

function summaryOf(places: readonly string[], held: readonly string[]): string {
  if (places.length === 0) return 'No node has a copy of it, so it holds none.'
  if (held.length > 0) return `Because of it ${listText(held)} may not be drained now.`
  return places.length === 1
    ? 'Its node may be drained as far as this volume is concerned.'
    : `Any one of its ${places.length} nodes may be drained as far as this volume is concerned.`
}
