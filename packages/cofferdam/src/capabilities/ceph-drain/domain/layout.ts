import type { CephView } from '../../../safety/ceph-view.ts'
import { labelOfBucket } from '../../../safety/domain-type.ts'
import { hasAllCopies, isStandingStill } from '../../../safety/pg-evidence.ts'
import type { StopVerdict } from '../../../safety/verdict.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import { osdsOnLostNodes } from './lost-nodes.ts'
import type { CephDrainSnapshot, DaemonView } from './snapshot.ts'

/** Where every OSD belongs, and what each failure domain has lost. */
export interface Layout {
  readonly type: string
  readonly osds: readonly PlacedOsd[]
  readonly domains: readonly DomainView[]
  /** True when every report is newer than the last change, all is clean, and Ceph knows of every pod that is gone. */
  readonly isClean: boolean
  /**
   * The same, but for placement groups that are in doubt until somebody repairs them: they hold what they touch by their verdicts,
   * and waiting for them would hold everything else for days. Never while data waits for an OSD.
   */
  readonly isAtRest: boolean
  /** Down OSDs that nothing waits for. */
  readonly unneeded: ReadonlySet<number>
  /** OSDs that are down for Kubernetes or for Ceph and that data waits for. */
  readonly missing: readonly MissingOsd[]
  readonly problems: readonly ObjectProblem[]
}

export interface PlacedOsd {
  readonly id: number
  /** What the label says: budgets select by it. */
  readonly label: string | undefined
  /** The labels for all types: budgets of another type select by them. */
  readonly topology: Readonly<Record<string, string>>
  /** Where the data is: what CRUSH says, else what the label says. */
  readonly domain: string | undefined
  readonly isDown: boolean
  /** Its pod counts as ready, and it counts as down all the same: why, naming the node. */
  readonly lostWith: string | undefined
  /** On a node that is closed or gone. */
  readonly isOnDrainedNode: boolean
  readonly nodeName: string | undefined
  readonly hasPodOnNode: boolean
}

export interface MissingOsd {
  readonly id: number
  readonly domain: string | undefined
}

export interface DomainView {
  /** As a label value. */
  readonly name: string
  /** Undefined when CRUSH does not have it. */
  readonly bucket: string | undefined
  readonly osds: readonly number[]
  readonly nodes: readonly string[]
  readonly drainedNodes: readonly string[]
  readonly down: readonly number[]
  /** Why some of them count as down although their pods are ready, each once. */
  readonly lostWith: readonly string[]
  /** Without those that nothing waits for. */
  readonly neededDown: readonly number[]
  /** One of its OSDs is down on a node that is cordoned or gone. */
  readonly isDrained: boolean
  /** OSDs that still run on nodes that are cordoned or gone: a drain would take them next. */
  readonly leaving: readonly number[]
  /** Mons and daemons of services that are away from nodes which are cordoned or gone, can run nowhere else, and have such OSDs beside them: `mon.a`. */
  readonly lostDaemons: readonly string[]
  readonly verdict: DomainVerdictInForce
}

/** `disputed`: our maths and Ceph's own answer differ. */
export type DomainVerdictInForce = StopVerdict | { readonly may: 'disputed' }

/**
 * Sorts OSDs into failure domains.
 *
 * CRUSH decides where an OSD's data is, its label which budget selects it. Where the two differ, or the label is missing,
 * the OSD is named in `problems` and the others are untouched.
 */
export function layOut(snapshot: CephDrainSnapshot, type: string): Layout {
  const ceph = snapshot.ceph.known ? snapshot.ceph.value : undefined
  const bucketOf = new Map((ceph?.domains ?? []).flatMap(({ domain, osds }) => osds.map((id) => [id, domain] as const)))
  const verdictsOf = grouped(ceph?.domains ?? [], ({ domain }) => labelOfBucket(domain))
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]))
  const lost = osdsOnLostNodes(snapshot.osds, snapshot.nodes, snapshot.nowMs)
  const problems: ObjectProblem[] = []
  const osds = [...snapshot.osds].sort((a, b) => a.id - b.id).map(place)
  const up = new Set(ceph?.upOsds ?? [])
  const unnoticed = osds.filter(({ id, isDown }) => isDown && up.has(id))
  const assumed = new Set(ceph?.assumedDownOsds ?? [])
  const stale = unnoticed.filter(({ id }) => !assumed.has(id))
  const isClean = ceph?.pgs.health === 'clean' && unnoticed.length === 0
  const dirtyStates = ceph?.pgs.health === 'unclean' ? Object.keys(ceph.pgs.dirtyStates) : []
  const isUnclean = ceph?.pgs.health === 'unclean' && unnoticed.length === 0
  const cephDown = ceph === undefined ? [] : [...bucketOf.keys()].filter((id) => !up.has(id))
  const unneeded = unneededOsds()
  const missing = osds
    .filter(({ id, isDown }) => isDown || (bucketOf.has(id) && !up.has(id)))
    .filter(({ id }) => !unneeded.has(id))
    .map(({ id, domain }) => ({ id, domain }))
  const isAtRest = isClean || (isUnclean && missing.length === 0 && dirtyStates.every(isStandingStill))
  return { type, osds, domains: domainViews(), isClean, isAtRest, unneeded, missing, problems }

  function place(osd: OsdView): PlacedOsd {
    const label = osd.topology[type] === '' ? undefined : osd.topology[type]
    const bucket = bucketOf.get(osd.id)
    const domain = bucket === undefined ? label : labelOfBucket(bucket)
    const object = `deployment/rook-ceph-osd-${osd.id}`
    if (label === undefined) {
      const held = domain === undefined ? 'it is held whenever any failure domain is open' : `CRUSH has it in ${domain}`
      problems.push({ object, problem: `has no label topology-location-${type}; ${held}` })
    } else if (domain !== label) {
      problems.push({
        object,
        problem: `says ${type} ${label}, and CRUSH has it in ${domain}; it is held unless both are open`,
      })
    }
    const nodeName = osd.nodeName.known ? osd.nodeName.value : undefined
    const node = nodeName === undefined ? undefined : nodes.get(nodeName)
    if (!osd.nodeName.known) problems.push({ object, problem: `its node is not known: ${osd.nodeName.why}` })
    else if (node === undefined) problems.push({ object, problem: `its node ${nodeName} does not exist` })
    return {
      id: osd.id,
      label,
      topology: osd.topology,
      domain,
      isDown: (!osd.isReady && !osd.isBeingReplaced) || lost.has(osd.id),
      lostWith: lost.get(osd.id),
      isOnDrainedNode: nodeName !== undefined && (node === undefined || node.isClosed),
      nodeName,
      hasPodOnNode: osd.hasPodOnNode ?? osd.isReady,
    }
  }

  function lostDaemonsOn(nodeNames: ReadonlySet<string | undefined>): string[] {
    const isLost = ({ isReady, isPinned, nodeName }: Pick<DaemonView, 'isReady' | 'isPinned' | 'nodeName'>) =>
      !isReady && isPinned && nodeName !== undefined && nodeNames.has(nodeName)
    const mons = (snapshot.daemons ?? []).filter((daemon) => daemon.type === 'mon' && isLost(daemon))
    const services = (snapshot.services ?? []).filter(isLost)
    return [...mons.map(({ id }) => `mon.${id}`), ...services.map(({ type: kind, id }) => `${kind}.${id}`)].sort()
  }

  /** While every copy is in its place, whatever is down is not needed. Later, whatever was not needed then and never came back. */
  function unneededOsds(): ReadonlySet<number> {
    if (ceph === undefined) return new Set(snapshot.state.unneededOsds)
    const down = [...new Set([...osds.filter(({ isDown }) => isDown).map(({ id }) => id), ...cephDown])].filter(
      (id) => !up.has(id),
    )
    const recorded = new Set(snapshot.state.unneededOsds)
    const isInPlace = isClean || (isUnclean && dirtyStates.every(hasAllCopies))
    return new Set(down.filter((id) => isInPlace || recorded.has(id) || !bucketOf.has(id)))
  }

  function domainViews(): DomainView[] {
    const members = grouped(osds, ({ domain }) => domain)
    return [...members.keys()].sort().map((name) => domainView(name, members.get(name) as PlacedOsd[]))
  }

  function domainView(name: string, members: readonly PlacedOsd[]): DomainView {
    const down = members.filter(({ isDown }) => isDown)
    const drained = members.filter(({ isOnDrainedNode }) => isOnDrainedNode)
    const leaving = drained.filter(({ isDown }) => !isDown)
    return {
      name,
      bucket: verdictsOf.get(name)?.[0]?.domain,
      osds: ids(members),
      nodes: nodeNames(members),
      drainedNodes: nodeNames(drained),
      down: ids(down),
      lostWith: [...new Set(down.flatMap(({ lostWith }) => lostWith ?? []))].sort(),
      neededDown: ids(down).filter((id) => !unneeded.has(id)),
      isDrained: drained.some(({ isDown }) => isDown),
      leaving: ids(leaving),
      lostDaemons: lostDaemonsOn(new Set(leaving.map(({ nodeName }) => nodeName))),
      verdict: ceph === undefined ? { may: 'unknown', why: 'Ceph does not answer' } : verdictOf(name, members, ceph),
    }
  }

  function verdictOf(name: string, members: readonly PlacedOsd[], view: CephView): DomainVerdictInForce {
    const buckets = verdictsOf.get(name) ?? []
    const [bucket] = buckets
    if (buckets.length > 1) return { may: 'unknown', why: `CRUSH has several buckets whose label would be ${name}` }
    if (bucket === undefined) {
      const running = ids(members).filter((id) => up.has(id))
      if (running.length === 0) return { may: 'yes' }
      return { may: 'unknown', why: `CRUSH has no ${type} for ${osdNames(running)}` }
    }
    if (view.disagreements.includes(bucket.domain) || view.disagreements.includes(name)) return { may: 'disputed' }
    const elsewhere = stale.filter(({ domain }) => domain !== name)
    if (bucket.verdict.may === 'yes' && elsewhere.length > 0) {
      return { may: 'unknown', why: `Ceph has not noticed yet that ${osdNames(ids(elsewhere))} went down` }
    }
    return bucket.verdict
  }
}

/** Why OSDs count as down although their pods are ready, as it follows their names; empty where none does. */
export function lostText(lostWith: readonly string[]): string {
  return lostWith.length === 0 ? '' : ` (${fewNames([...new Set(lostWith)].sort())})`
}

/** The first names of a long list, and how many more there are: every sentence has to fit where it is written. */
export function osdNames(osds: readonly number[]): string {
  return fewNames(osds.map((id) => `osd.${id}`))
}

export function fewNames(names: readonly string[]): string {
  const more = names.length - mostNamed
  return more > 0 ? `${names.slice(0, mostNamed).join(', ')} and ${more} more` : names.join(', ')
}

const mostNamed = 12

function grouped<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

function ids(osds: readonly PlacedOsd[]): number[] {
  return osds.map(({ id }) => id)
}

function nodeNames(osds: readonly PlacedOsd[]): string[] {
  return [...new Set(osds.flatMap(({ nodeName }) => (nodeName === undefined ? [] : [nodeName])))].sort()
}
