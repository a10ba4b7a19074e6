import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LoadView, NodeView, PodView } from './cluster-view.ts'
import { createSettledWatch, type SettledWatch } from './settled-watch.ts'

/** A cluster with more pods than this is shown by its nodes: their pods are sent where something is the matter. */
const mostPods = 1_500
const mostNodes = 60
const mostWaiting = 200

export interface PodSources {
  readonly nodes: Pick<WatchView<NodeView>, 'synced' | 'list' | 'subscribe'>
  readonly pods: Pick<WatchView<PodView>, 'synced' | 'list' | 'subscribe'>
}

/** Which pods a page gets. */
export function choosePods(nodes: readonly NodeView[], pods: readonly PodView[]): readonly PodView[] {
  if (pods.length <= mostPods) return pods
  const calm = new Set(
    nodes.flatMap(({ id, readiness, isCordoned }) => (readiness === 'ready' && !isCordoned ? id : [])),
  )
  const chosen = new Set<string>()
  let waiting = 0
  return pods.filter(({ node }) => {
    if (node === undefined) return ++waiting <= mostWaiting
    if (calm.has(node) || (!chosen.has(node) && chosen.size >= mostNodes)) return false
    chosen.add(node)
    return true
  })
}

/** How many pods each node has, where not all of them are sent. */
export function countPods(pods: readonly PodView[]): readonly LoadView[] {
  if (pods.length <= mostPods) return []
  const loads = new Map<string, { pods: number; ready: number }>()
  for (const { node = '', state } of pods) {
    if (state === 'succeeded' || state === 'failed') continue
    const load = loads.get(node) ?? { pods: 0, ready: 0 }
    loads.set(node, load)
    load.pods += 1
    if (state === 'ready') load.ready += 1
  }
  return [...loads].map(([id, load]) => ({ id, ...load }))
}

export function createShownPods({ nodes, pods }: PodSources, clock: Clock): SettledWatch<PodView> {
  return createSettledWatch({
    clock,
    sources: [nodes, pods],
    observe: () => byId(choosePods([...nodes.list()], [...pods.list()])),
    stop: () => undefined,
  })
}

export function createPodLoads({ pods }: Pick<PodSources, 'pods'>, clock: Clock): SettledWatch<LoadView> {
  return createSettledWatch({
    clock,
    sources: [pods],
    observe: () => byId(countPods([...pods.list()])),
    stop: () => undefined,
  })
}

function byId<View extends { readonly id: string }>(views: readonly View[]): ReadonlyMap<string, View> {
  return new Map(views.map((view) => [view.id, view]))
}
