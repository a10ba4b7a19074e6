import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { osdImage } from '@cofferdam/product/capabilities/osd-update/domain/osd-deployment.ts'
import { startClientLoad } from '../ceph/client-load.ts'
import type { Lab } from '../lab.ts'
import { watchGroups } from '../osd-update/watch-groups.ts'
import { roundsOf } from './read-rook-passes.ts'
import { doNotReconcileLabel, type RookOsdLoop } from './start-rook-osd-loop.ts'

/** What one update of all OSDs came to. */
export interface UpdateStory {
  /** OSDs whose Deployments Rook wrote together. */
  readonly rounds: readonly (readonly number[])[]
  /** Until every OSD was updated and its pod ready. */
  readonly seconds: number
  readonly longestStallMs: number
  readonly operations: number
  readonly faults: readonly string[]
  /** Placement groups that were seen below their floor, in words, and how often all were looked at. */
  readonly below: readonly string[]
  readonly looks: number
  readonly mostDown: number
}

export const cephImage = (tag: string) => `registry.example/ceph/ceph:${tag}`

/** OSDs of the lab, as an administrator sees and labels their Deployments. */
export function rookOsds(lab: Lab) {
  const { namespace } = lab
  const all = (): Deployment[] =>
    [...lab.views.of(deployments).values()].filter(({ metadata }) => metadata.labels?.['app'] === 'rook-ceph-osd')
  const idsOf = (some: readonly Deployment[]) => some.map(osdOf).sort((a, b) => a - b)
  const label = (osds: readonly number[], change: string) =>
    lab.kubectl('label', 'deployment', '-n', namespace, ...osds.map((osd) => `rook-ceph-osd-${osd}`), change)
  return {
    ids: () => idsOf(all()),
    inRack: (rack: string) =>
      idsOf(all().filter(({ metadata }) => metadata.labels?.['topology-location-rack'] === rack)),
    withImage: (image: string) => idsOf(all().filter((one) => osdImage(one) === image)),
    labelled: () => idsOf(all().filter(({ metadata }) => doNotReconcileLabel in (metadata.labels ?? {}))),
    /** All of them have the image, and their pods run and are ready. */
    isThrough: (image: string) => all().every((one) => osdImage(one) === image && isRolledOut(one)) && all().length > 0,
    hold: (osds: readonly number[]) => label(osds, `${doNotReconcileLabel}=true`),
    release: (osds: readonly number[]) => label(osds, `${doNotReconcileLabel}-`),
    want: (image: string) => {
      const patch = JSON.stringify({ spec: { cephVersion: { image } } })
      return lab.kubectl('patch', 'cephcluster', 'rook-ceph', '-n', namespace, '--type=merge', '-p', patch)
    },
  }
}

/** Lets an update of all OSDs happen under load, from what begins it until every OSD has the image and all data is clean. */
export async function updateStory(
  lab: Lab,
  image: string,
  begin: () => Promise<RookOsdLoop>,
  withinSeconds = 240,
): Promise<UpdateStory> {
  const osds = rookOsds(lab)
  const load = startClientLoad({ ...lab, pools: ['replicapool', 'ecpool'] })
  const groups = watchGroups(lab.ceph)
  await lab.seconds(2)
  const began = performance.now()
  const loop = await begin()
  await lab.until(
    'every OSD is updated',
    () => {
      if (!loop.isRunning()) throw new Error("Rook's OSD loop ended")
      return osds.isThrough(image)
    },
    withinSeconds,
  )
  const seconds = (performance.now() - began) / 1_000
  await lab.ceph.untilClean()
  const [client, seen] = [await load.stop(), await groups.stop()]
  return {
    rounds: roundsOf(loop.passes(), image),
    seconds,
    longestStallMs: client.longestStallMs,
    operations: client.reads + client.writes,
    faults: client.faults,
    below: seen.below,
    looks: seen.looks,
    mostDown: seen.mostDown,
  }
}

function osdOf({ metadata }: Deployment): number {
  return Number(metadata.labels?.['ceph-osd-id'] ?? Number.NaN)
}

function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const { replicas = 1 } = spec
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    status?.updatedReplicas === replicas &&
    status.availableReplicas === replicas
  )
}
