import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import { arbiterOf, storageKey } from '../../../ledger/rules/storage-arbiter.ts'
import type { FenceGate } from '../../../ledger/store/fence-gate.ts'
import type { StorageObserver } from '../../../ledger/store/storage-observer.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import { ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { soleNode } from '../../../shared/node-hostnames.ts'
import { indexOfOsd, parseOsd } from '../../../shared/parse-osd.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { CephDecided, CephDecisions } from '../controller/decisions.ts'
import { besideFencing, decideStorageFacts } from '../domain/decide-storage-facts.ts'
import type { CephDrainViews } from './observe.ts'

export interface StorageFactsPorts {
  readonly views: Pick<CephDrainViews, 'clusters' | 'osdDeployments' | 'osdPods' | 'nodes' | 'budgets'>
  readonly decisions: Pick<CephDecisions, 'decided' | 'latest'>
  readonly rook: RookPresence
  readonly ledgers: WatchView<DisruptionLedger>
  /** Whether machines may be fenced; absent where fencing is off. */
  readonly fenceGate?: FenceGate
}

/** Older answers of ceph-drain are not taken for what is true now. */
const maxAgeMs = 10_000
const waitMs = 10_000

/**
 * What Ceph clusters have to do with a node, or a key: as ceph-drain decided it recently, in this process.
 * Whose the budgets are makes no difference: the data has to be there either way.
 */
export function createStorageFacts(ports: StorageFactsPorts): StorageObserver {
  const { views, decisions, rook, ledgers } = ports

  return {
    async observeStorage(about, signal) {
      const { clusters, osdDeployments, osdPods, nodes } = views
      const needed = [clusters, osdDeployments, osdPods, nodes, rook.operators]
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      const concerned = [...clusters.list()]
        .filter((cluster) => isAttended(cluster) && ('node' in about || storageKey(idOf(cluster)) === about.key))
        .sort((a, b) => (keyText(keyOf(a)) < keyText(keyOf(b)) ? -1 : 1))
      const node = 'node' in about ? about.node : undefined
      const facts = await Promise.all(concerned.map((cluster) => observeCluster(cluster, node, signal)))
      return facts.flat()
    },
  }

  function isAttended(cluster: CephCluster): boolean {
    return cluster.spec?.external?.enable !== true
  }

  async function observeCluster(
    cluster: CephCluster,
    node: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly StorageFacts[]> {
    const key = keyText(keyOf(cluster))
    // Most nodes have no storage: nothing has to be read for them.
    const latest = decisions.latest(key)
    if (node !== undefined && latest !== undefined && factsOf(cluster, node, latest).facts.length === 0) return []
    const first = factsOf(cluster, node, await decisions.decided(key, { maxAgeMs, waitMs, signal }))
    if (!first.isBehind) return withGate(cluster, first.facts, signal)
    // What holds the other domains follows the ledger: whoever was granted one is notified only then.
    const second = factsOf(cluster, node, await decisions.decided(key, { maxAgeMs: -1, waitMs, signal }))
    return withGate(cluster, second.facts, signal)
  }

  /** Fencing follows the ledger too: whoever was granted a domain waits for it to close. */
  function withGate(cluster: CephCluster, facts: readonly StorageFacts[], signal: AbortSignal) {
    const { fenceGate } = ports
    if (fenceGate === undefined) return facts
    return Promise.all(
      facts.map(async (each) => {
        if (!each.mayGo.known || !each.mayGo.value.allowed) return each
        const ledger = parseLedger(ledgers.get({ name: ledgerName }))
        const isGranted =
          ledger.known &&
          arbiterOf(ledger.value, idOf(cluster)).others.some(
            ({ scope, state }) => state === 'Granted' && scope === each.failureDomain,
          )
        const ask = isGranted ? fenceGate.whenClosed : fenceGate.observe
        return besideFencing(each, { gate: await ask(cluster, each.failureDomain, signal), isGranted })
      }),
    )
  }

  function factsOf(cluster: CephCluster, node: string | undefined, decided: CephDecided | undefined) {
    const { namespace, name, uid } = idOf(cluster)
    const ledger = parseLedger(ledgers.get({ name: ledgerName }))
    return decideStorageFacts({
      cluster: { namespace, name, uid },
      node,
      osdsOnNode: node === undefined ? [] : osdsOn(namespace, node),
      decided,
      budgets: views.budgets.byIndex('namespace', namespace),
      arbiter: ledger.known ? { known: true, value: arbiterOf(ledger.value, { namespace, name, uid }) } : ledger,
    })
  }

  function osdsOn(namespace: string, node: string): readonly number[] {
    try {
      return deployedOsdsOn(namespace, node)
    } catch (error) {
      if (!hasReason(error, 'Forbidden')) throw error
      // Without the Deployments nobody decides about this cluster; nodes without a pod of it are not its business.
      const here = [...views.osdPods.list()].filter(
        ({ metadata, spec }) => metadata.namespace === namespace && spec.nodeName === node,
      )
      return here.map(({ metadata }) => Number(metadata.labels?.['ceph-osd-id'] ?? metadata.labels?.['osd'] ?? -1))
    }
  }

  function deployedOsdsOn(namespace: string, node: string): readonly number[] {
    const ids: number[] = []
    const nodeOf = (hostname: string) => soleNode(hostname, views.nodes.byIndex('hostname', hostname))
    for (const deployment of views.osdDeployments.byIndex('namespace', namespace)) {
      const [index = ''] = indexOfOsd(deployment)
      const parsed = parseOsd(deployment, views.osdPods.byIndex('osd', index), { nodeOf })
      if ('osd' in parsed && parsed.osd.nodeName.known && parsed.osd.nodeName.value === node) ids.push(parsed.osd.id)
    }
    return ids
  }
}

function idOf({ metadata: { namespace = '', name, uid = '' } }: CephCluster) {
  return { namespace, name, uid }
}
