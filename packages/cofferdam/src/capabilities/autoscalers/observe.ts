import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { ClaimView } from './domain/parse-claim.ts'
import type { KeepSnapshot, MarkedNode } from './domain/snapshot.ts'

export interface KeepViews {
  readonly nodes: WatchView<MarkedNode>
  /** Indexed by `node`. */
  readonly disruptions: WatchView<NodeDisruption>
  /** Indexed by `node`. Empty where Karpenter is not installed. */
  readonly claims: WatchView<ClaimView>
}

/** Undefined when there is no such node. */
export function observeKeeping(views: KeepViews, nodeName: string): KeepSnapshot | undefined {
  const node = views.nodes.get({ name: nodeName })
  if (node === undefined) return undefined
  const claims = views.claims.byIndex('node', nodeName)
  return {
    node,
    requests: views.disruptions.byIndex('node', nodeName),
    claim: claims.find(({ isLeaving }) => isLeaving) ?? claims[0],
  }
}
