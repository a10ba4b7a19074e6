import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { CephEvidence, FencedCluster } from './snapshot.ts'

/** Where the OSDs of one cluster run. */
export interface RunningOsds {
  /** Nodes with an OSD that runs: its pod is Ready, or Ceph has it up. */
  readonly running: ReadonlySet<string>
  /** Nodes whose OSDs do not run for Kubernetes while Ceph is not known to agree. */
  readonly uncertain: ReadonlySet<string>
  /** Nodes with OSDs that are all down, as both say. */
  readonly down: ReadonlySet<string>
  /** Nodes whose OSDs do not run for Kubernetes, and that are fenced to bring a monitor back while Ceph has no quorum. */
  readonly released: ReadonlySet<string>
  /** Failure domains of the OSDs of a node; of those that run, while all data is clean without the others. */
  readonly domains: ReadonlyMap<string, readonly string[]>
  /** Why it is not known where all OSDs are; then no machine can be said to have none. */
  readonly unplaced: string | undefined
}

/** Fails closed: evidence that is older than allowed is none. */
export function freshEvidence(
  { evidence, settings }: Pick<FencedCluster, 'evidence' | 'settings'>,
  nowMs: number,
): Observed<CephEvidence> {
  if (!evidence.known) return evidence
  const ageMs = nowMs - evidence.value.polledAtMs
  // A snapshot from the future means that a clock was turned back, and then nobody knows how old it is.
  if (Math.abs(ageMs) <= settings.maxEvidenceAgeMs) return known(evidence.value)
  // The time, not the age: the same text for as long as it is so.
  return unknown(`Ceph was last polled at ${rfc3339(evidence.value.polledAtMs)}`)
}

export function runningOsds(
  cluster: FencedCluster,
  nowMs: number,
  mayGo: ReadonlySet<string> = new Set(),
): RunningOsds {
  const evidence = freshEvidence(cluster, nowMs)
  const running = new Set<string>()
  const uncertain = new Set<string>()
  const down = new Set<string>()
  const released = new Set<string>()
  const all: Domains = new Map()
  const needed: Domains = new Map()
  const isClean = evidence.known && evidence.value.isClean.known && evidence.value.isClean.value
  let unplaced = cluster.osdsUnread && `it is not known where its OSDs are: ${cluster.osdsUnread}`
  for (const { id, isReady, nodeName, domain } of cluster.osds) {
    const isUp = isReady || (evidence.known && evidence.value.upOsds.has(id))
    if (!nodeName.known) {
      // What runs nowhere, as both say, cannot run on a machine that we do not think of.
      if (evidence.known && !isUp) continue
      unplaced ??= `it is not known where OSD ${id} is: ${nodeName.why}`
      continue
    }
    const node = nodeName.value
    if (isUp) running.add(node)
    else if (evidence.known) down.add(node)
    else if (mayGo.has(node)) released.add(node)
    else uncertain.add(node)
    addDomain(all, node, domain)
    if (isUp || !isClean) addDomain(needed, node, domain)
  }
  for (const node of running) {
    uncertain.delete(node)
    down.delete(node)
    released.delete(node)
  }
  for (const node of uncertain) down.delete(node)
  return { running, uncertain, down, released, domains: new Map([...all, ...needed]), unplaced }
}

type Domains = Map<string, readonly string[]>

function addDomain(domains: Domains, node: string, domain: string | undefined): void {
  const of = domains.get(node) ?? []
  if (domain !== undefined && !of.includes(domain)) domains.set(node, [...of, domain].sort())
}
