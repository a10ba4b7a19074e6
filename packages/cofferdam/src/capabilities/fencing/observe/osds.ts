import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { LastDecision } from '../../../ceph/reader/last-decisions.ts'
import { pinnedHostname, soleNode } from '../../../shared/node-hostnames.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { indexOfOsd, parseOsd } from '../../../shared/parse-osd.ts'
import type { FencedOsd } from '../domain/snapshot.ts'

interface SeenOsd {
  readonly pods: readonly Pod[]
  readonly reported: unknown
  readonly domain: string | undefined
  /** The nodes with the hostname that it is pinned to. */
  readonly carriers: readonly Node[]
  readonly places: readonly FencedOsd[]
}

/**
 * Where the OSDs of clusters are. Thousands of them stay where they are from one snapshot to the next, so what was made of one is
 * kept until its Deployment, its pods or what Ceph reports of it changes; and the same list comes back while nothing in it changed.
 */
export class FencedOsds {
  readonly #seen = new WeakMap<Deployment, SeenOsd>()
  readonly #lists = new Map<string, readonly FencedOsd[]>()
  readonly #reported = new WeakMap<LastDecision, ReportedByCeph>()

  observe(
    { osdDeployments, osdPods, nodes: machines }: OsdViews,
    namespace: string,
    decided: LastDecision | undefined,
  ): readonly FencedOsd[] {
    const ceph = decided === undefined ? nothingReported : this.#reportedBy(decided)
    const places: FencedOsd[] = []
    for (const deployment of osdDeployments.byIndex('namespace', namespace)) {
      const [index = ''] = indexOfOsd(deployment)
      const pods = osdPods.byIndex('osd', index)
      for (const place of this.#placesOf(deployment, pods, machines, ceph)) places.push(place)
    }
    const before = this.#lists.get(namespace)
    if (before?.length === places.length && before.every((place, at) => place === places[at])) return before
    this.#lists.set(namespace, places)
    return places
  }

  #placesOf(
    deployment: Deployment,
    pods: readonly Pod[],
    nodes: OsdViews['nodes'],
    ceph: ReportedByCeph,
  ): readonly FencedOsd[] {
    const hostname = pinnedHostname(deployment) ?? ''
    const carriers = hostname === '' ? [] : nodes.byIndex('hostname', hostname)
    const before = this.#seen.get(deployment)
    const id = before?.places[0]?.id
    const isSame =
      before !== undefined &&
      isSameList(before.pods, pods, (pod) => pod) &&
      isSameList(before.carriers, carriers, ({ metadata }) => metadata.name) &&
      (id === undefined || (before.reported === ceph.nodes.get(id) && before.domain === ceph.domains.get(id)))
    if (isSame) return before.places
    const named = carriers.map(({ metadata }) => ({ name: metadata.name }))
    const places = placesOf(deployment, { pods, pinned: soleNode(hostname, named) }, ceph)
    const first = places[0]?.id
    const reported = first === undefined ? undefined : ceph.nodes.get(first)
    const domain = first === undefined ? undefined : ceph.domains.get(first)
    this.#seen.set(deployment, { pods, reported, domain, carriers, places })
    return places
  }

  #reportedBy(decided: LastDecision): ReportedByCeph {
    const before = this.#reported.get(decided)
    if (before !== undefined) return before
    const reported = { domains: domainsOf(decided), nodes: nodesReportedBy(decided) }
    this.#reported.set(decided, reported)
    return reported
  }
}

interface OsdViews {
  /** Indexed by `namespace`. */
  readonly osdDeployments: Pick<WatchView<Deployment>, 'byIndex'>
  /** Indexed by `osd`, as `indexOfOsd` says. */
  readonly osdPods: Pick<WatchView<Pod>, 'byIndex'>
  /** Indexed by `hostname`. */
  readonly nodes: Pick<WatchView<Node>, 'byIndex'>
}

type PinnedNode = Observed<{ readonly name: string }>

interface ReportedByCeph {
  readonly domains: ReadonlyMap<number, string>
  readonly nodes: ReadonlyMap<number, FencedOsd['nodeName']>
}

const nothingReported: ReportedByCeph = { domains: new Map(), nodes: new Map() }

function isSameList<T>(left: readonly T[], right: readonly T[], of: (one: T) => unknown): boolean {
  return left === right || (left.length === right.length && left.every((one, at) => of(one) === of(right[at] as T)))
}

function placesOf(
  deployment: Deployment,
  { pods, pinned }: { readonly pods: readonly Pod[]; readonly pinned: PinnedNode },
  ceph: ReportedByCeph,
): readonly FencedOsd[] {
  const parsed = parseOsd(deployment, pods, { nodeOf: () => pinned })
  if (!('osd' in parsed)) return []
  const { id, isReady, nodeName } = parsed.osd
  const seen = { id, isReady, domain: ceph.domains.get(id), ...changeOf(pods) }
  const nodes = isReady ? [] : nodesOf(pods)
  // While no pod of it is ready, an OSD that Ceph has up may still run wherever one of its pods is.
  if (nodes.length > 1) return nodes.map((node) => ({ ...seen, nodeName: known(node) }))
  return [{ ...seen, nodeName: nodeName.known ? nodeName : (ceph.nodes.get(id) ?? nodeName) }]
}

/** What its pods say of themselves, by the clocks of their nodes. */
function changeOf(pods: readonly Pod[]): Pick<FencedOsd, 'isLeaving' | 'changedMs'> {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (staying.length === 0) return { isLeaving: true }
  const times = staying.flatMap((pod) => {
    const since = conditionOf(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp
    return parseRfc3339(since ?? '') ?? []
  })
  return times.length === 0 ? {} : { changedMs: Math.max(...times) }
}

function nodesOf(pods: readonly Pod[]): string[] {
  return [...new Set(pods.flatMap(({ spec }) => spec.nodeName ?? []))].sort()
}

function nodesReportedBy({ snapshot }: LastDecision): ReportedByCeph['nodes'] {
  return new Map(snapshot.osds.map(({ id, nodeName }) => [id, nodeName]))
}

/** Only in the type by which the ledger key of the storage is scoped: the one that Ceph reported last. */
function domainsOf({ decision, domainType }: LastDecision): ReportedByCeph['domains'] {
  if (decision.failureDomainType !== domainType) return new Map()
  return new Map(decision.domains.flatMap(({ domain, osds }) => osds.map((id) => [id, domain] as const)))
}
