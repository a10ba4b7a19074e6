import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'

/** Everything in a namespace is about the Ceph clusters there; Rook allows one, we take whatever is there. */
interface ClusterFollower {
  /** A change of a cluster itself. */
  followSelf(notify: (key: string) => void): void
  /** A change of something that lives in the namespace of its cluster. */
  follow<V extends { readonly metadata: { readonly namespace?: string } }>(
    view: WatchView<V>,
    notify: (key: string, change: ViewChange<V>) => void,
  ): void
  /** A change that may matter to every cluster. */
  followForAll<V>(view: WatchView<V>, notify: (key: string) => void): void
}

/** `clusters` is indexed by `namespace`. What is subscribed ends with the signal. */
export function followClusters(clusters: WatchView<CephCluster>, signal: AbortSignal): ClusterFollower {
  const ends: (() => void)[] = []
  const endAll = () => {
    for (const end of ends) end()
  }
  signal.addEventListener('abort', endAll, { once: true })
  const subscribe = <V>(view: WatchView<V>, listener: (change: ViewChange<V>) => void) => {
    ends.push(view.subscribe(listener))
  }
  return {
    followSelf: (notify) => subscribe(clusters, ({ key }) => notify(key)),
    follow(view, notify) {
      subscribe(view, (change) => {
        const { namespace = '' } = (change.type === 'removed' ? change.previous : change.value).metadata
        for (const cluster of clusters.byIndex('namespace', namespace)) notify(keyText(keyOf(cluster)), change)
      })
    },
    followForAll(view, notify) {
      subscribe(view, () => {
        for (const cluster of clusters.list()) notify(keyText(keyOf(cluster)))
      })
    },
  }
}

/** A budget changes with its status all the time; only what people and controllers write about it is a relevant change. */
export function isRelevantBudgetChange(change: ViewChange<PodDisruptionBudget>): boolean {
  if (change.type !== 'changed') return true
  const { previous, value } = change
  return !(
    isSameJson(previous.spec, value.spec) &&
    isSameJson(previous.metadata.labels, value.metadata.labels) &&
    isSameJson(previous.metadata.ownerReferences, value.metadata.ownerReferences) &&
    previous.metadata.uid === value.metadata.uid &&
    previous.metadata.deletionTimestamp === value.metadata.deletionTimestamp
  )
}

export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}
