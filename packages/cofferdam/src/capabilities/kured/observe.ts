import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { daemonSets, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import type { KuredName } from './domain/kured-name.ts'
import {
  type KuredDaemonSet,
  type KuredNode,
  type KuredSnapshot,
  parseKuredDaemonSet,
  parseKuredNode,
} from './domain/snapshot.ts'

export interface KuredViews {
  /** Of the one DaemonSet. Asking for it throws where it may not be read. */
  readonly daemonSets: WatchView<KuredDaemonSet>
  readonly nodes: WatchView<KuredNode>
  readonly requests: WatchView<NodeDisruption>
}

export interface KuredViewPorts {
  readonly informers: Informers
  readonly log: Log
  readonly kured: KuredName
  readonly views: { readonly disruptions: () => WatchView<NodeDisruption> }
}

export function openKuredViews({ informers, log, kured, views }: KuredViewPorts): KuredViews {
  return {
    daemonSets: informers.openScoped('daemonsets/kured', {
      type: daemonSets,
      namespaces: [kured.namespace],
      fieldSelector: `metadata.name=${kured.name}`,
      project: parseKuredDaemonSet,
      onUnread: (namespace) =>
        log.info({ namespace }, 'kured may not be read there; where it is used: kubectl apply -k deploy/kured/rights'),
    }),
    nodes: informers.open('nodes/kured', { type: nodes, project: parseKuredNode }),
    requests: views.disruptions(),
  }
}

export function observeKured(views: KuredViews, kured: KuredName, now: string): KuredSnapshot {
  return {
    now,
    daemonSet: observeDaemonSet(views.daemonSets, kured),
    nodes: [...views.nodes.list()],
    requests: views.requests.synced ? known([...views.requests.list()]) : unknown('requests are not read yet'),
  }
}

function observeDaemonSet(
  view: WatchView<KuredDaemonSet>,
  { namespace, name }: KuredName,
): Observed<KuredDaemonSet | undefined> {
  try {
    return view.synced ? known(view.get({ namespace, name })) : unknown('kured is not read yet')
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return unknown('kured may not be read')
    throw error
  }
}
