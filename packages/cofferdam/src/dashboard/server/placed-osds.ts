import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { parseUpdateObjects, type UpdateObjects } from '../../capabilities/osd-update/domain/parse-update-objects.ts'
import type { UpdatableOsd, UpdatedCluster } from '../../capabilities/osd-update/domain/snapshot.ts'
import { isBesideRook } from '../../capabilities/osd-update/domain/update-mode.ts'
import { pinnedHostname } from '../../shared/node-hostnames.ts'

/** An OSD as the operator sees it, and where it stands. */
export interface PlacedOsd extends UpdatableOsd {
  /** Empty where it is not known. */
  readonly host: string
  /** What the host stands in, from the widest: `zone a`, `rack r1`. */
  readonly within: readonly string[]
}

type Objects = UpdateObjects & {
  readonly mode: UpdatedCluster['mode']
  /** Another one whenever a node changed. */
  readonly nodeOf: NonNullable<UpdateObjects['nodeOf']>
}

interface Remembered {
  readonly facts: readonly (Deployment | Pod)[]
  readonly osds: readonly PlacedOsd[]
}

/**
 * Reads the OSDs of one cluster, again and again: of ten thousand only those are read whose objects changed since.
 *
 * Assumes: objects that did not change keep their identity.
 */
export function createOsdReader(): (objects: Objects) => readonly PlacedOsd[] {
  let shared: readonly unknown[] = []
  let before = new Map<string, Remembered>()
  return (objects) => {
    const now = [objects.cluster, objects.mode, objects.restartAskedMs, objects.nodeOf]
    if (!isSameList(shared, now)) before = new Map()
    shared = now
    const after = new Map<string, Remembered>()
    for (const [id, facts] of objectsById(objects)) {
      const known = before.get(id)
      after.set(
        id,
        known !== undefined && isSameList(known.facts, facts) ? known : { facts, osds: read(facts, objects) },
      )
    }
    before = after
    return [...after.values()].flatMap(({ osds }) => osds)
  }
}

function read(facts: readonly (Deployment | Pod)[], objects: Objects): readonly PlacedOsd[] {
  const deployments = facts.filter((fact): fact is Deployment => 'template' in fact.spec)
  const pods = facts.filter((fact): fact is Pod => 'containers' in fact.spec)
  const { cluster, mode, restartAskedMs, nodeOf } = objects
  const { osds } = parseUpdateObjects({
    deployments,
    pods,
    cluster,
    isBesideRook: isBesideRook(mode),
    restartAskedMs,
    nodeOf,
  })
  const [first] = deployments
  return osds.map((osd) => ({
    ...osd,
    ...(mode === 'off' && { needsUpdate: false }),
    host: (first && hostOf(first)) ?? pods.find(({ spec }) => spec.nodeName !== undefined)?.spec.nodeName ?? '',
    within: first === undefined ? [] : withinOf(first),
  }))
}

function objectsById({ deployments, pods }: Objects): ReadonlyMap<string, (Deployment | Pod)[]> {
  const byId = new Map<string, (Deployment | Pod)[]>()
  for (const deployment of deployments) {
    const id = idOf(deployment)
    const others = byId.get(id)
    if (others === undefined) byId.set(id, [deployment])
    else others.push(deployment)
  }
  for (const pod of pods) byId.get(idOf(pod))?.push(pod)
  return byId
}

function idOf({ metadata: { labels } }: Deployment | Pod): string {
  return labels?.['ceph-osd-id'] ?? labels?.['osd'] ?? ''
}

function hostOf(deployment: Deployment): string | undefined {
  return deployment.metadata.labels?.['topology-location-host'] ?? pinnedHostname(deployment)
}

/** Types of CRUSH from the widest; hosts and what is below them make no groups of hosts. */
const widest = ['region', 'zone', 'datacenter', 'room', 'pod', 'pdu', 'row', 'rack', 'chassis'] as const

function withinOf({ metadata: { labels } }: Deployment): readonly string[] {
  return widest.flatMap((type) => {
    const place = labels?.[`topology-location-${type}`]
    return place === undefined ? [] : [`${type} ${place}`]
  })
}

function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, at) => item === right[at])
}
