import type { LastDecision, LastDecisions } from '../../../ceph/reader/last-decisions.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import { soleNode } from '../../../shared/node-hostnames.ts'
import { unknown } from '../../../shared/observed.ts'
import { indexOfOsd, type OsdView, parseOsd } from '../../../shared/parse-osd.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import type { FencingViews } from './observe.ts'

interface Recorded {
  /** What ceph-drain wrote down. */
  readonly storage: readonly StorageView[]
  readonly views: Pick<FencingViews, 'osdDeployments' | 'osdPods' | 'nodes'>
  readonly nodes: LastDecision['snapshot']['nodes']
}

/**
 * What was decided last about the failure domains of Ceph clusters, as far as it is on record. Of very many domains the record has
 * only those that may not be drained, so which OSDs are in one is read from their Deployments.
 */
export function recordedDecisions({ storage, views, nodes }: Recorded): Pick<LastDecisions, 'latest'> {
  return {
    latest(key) {
      const view = storage.find(({ namespace, name }) => `${namespace}/${name}` === key)
      if (view === undefined) return undefined
      const type = view.failureDomainType ?? ''
      const osds = osdsIn(view.namespace, views)
      return {
        snapshot: { nodes, osds, ceph: unknown('only the operator asks it') },
        decision: { failureDomainType: type, domains: domainsOf(osds, type, view) },
        cephAskedAtMs: undefined,
        domainType: view.failureDomainType,
      }
    },
  }
}

function osdsIn(namespace: string, { osdDeployments, osdPods, nodes }: Recorded['views']): OsdView[] {
  const nodeOf = (hostname: string) =>
    soleNode(
      hostname,
      nodes.byIndex('hostname', hostname).map(({ metadata }) => ({ name: metadata.name })),
    )
  return osdDeployments.byIndex('namespace', namespace).flatMap((deployment) => {
    const [index = ''] = indexOfOsd(deployment)
    const parsed = parseOsd(deployment, osdPods.byIndex('osd', index), { nodeOf })
    return 'osd' in parsed ? [parsed.osd] : []
  })
}

function domainsOf(
  osds: readonly OsdView[],
  type: string,
  { domains }: StorageView,
): LastDecision['decision']['domains'] {
  const placed = osds.filter(({ topology }) => topology[type] !== undefined)
  const read = [...groupedBy(placed, ({ topology }) => topology[type] as string)].map(([domain, inside]) => ({
    domain,
    osds: inside.map(({ id }) => id),
    nodes:
      domains.find((recorded) => recorded.domain === domain)?.nodes ??
      [...new Set(inside.flatMap(({ nodeName }) => (nodeName.known ? nodeName.value : [])))].sort(),
  }))
  const names = new Set(read.map(({ domain }) => domain))
  return [...read, ...domains.filter(({ domain }) => !names.has(domain))]
}
