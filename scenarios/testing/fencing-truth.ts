import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { type CephMap, noOsd } from '@cofferdam/product/safety/ceph-map.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'

/** One Ceph cluster as it really is. */
export interface CephTruth {
  readonly namespace: string
  readonly name: string
  /** As of the last look; undefined before the first. */
  readonly map: () => CephMap | undefined
  /** Asks again. Takes no virtual time unless no mgr is up. */
  readonly look: () => Promise<CephMap | undefined>
  /** Of its OSDs, those whose pod is on this node. */
  readonly osdsOn: (node: string) => readonly Pod[]
  /** Up, and on a machine that runs: a machine that fell silent a moment ago is still up in the map. */
  readonly serving: () => ReadonlySet<number>
  readonly domainOf: (osd: number) => string
}

export interface CephTruthPorts {
  readonly namespace: string
  readonly name: string
  readonly commands: CephCommands
  readonly views: Views
  readonly isOn: (node: string) => boolean
  /** OSDs and the domain that each is in. */
  readonly domains: ReadonlyMap<number, string>
}

export function watchTruth({ namespace, name, commands, views, isOn, domains }: CephTruthPorts): CephTruth {
  let latest: CephMap | undefined
  const osdPods = () =>
    [...views.of(pods).values()].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === 'rook-ceph-osd',
    )
  return {
    namespace,
    name,
    map: () => latest,
    async look() {
      const seen = await observeCeph(commands)
      if (!seen.known) return undefined
      latest = seen.value
      return latest
    },
    osdsOn: (node) => osdPods().filter(({ spec }) => spec.nodeName === node),
    serving() {
      const up = latest === undefined ? new Set<number>() : upOsds(latest)
      const running = osdPods().filter(({ spec }) => isOn(spec.nodeName ?? ''))
      return new Set(running.map(osdOf).filter((osd) => up.has(osd)))
    },
    domainOf: (osd) => domains.get(osd) ?? '',
  }
}

export function osdOf({ metadata }: Pod): number {
  return Number(metadata.labels?.['ceph-osd-id'])
}

export function upOsds({ osds }: CephMap): ReadonlySet<number> {
  return new Set(osds.filter(({ isUp }) => isUp).map(({ id }) => id))
}

/** Kubernetes or Ceph has it running. */
export function isRunning(pod: Pod, up: ReadonlySet<number>): boolean {
  return (isActive(pod) && isReady(pod)) || up.has(osdOf(pod))
}

/** All copies of all data are there, on OSDs that are up: reports from before a loss do not count. */
export function isAllClean(map: CephMap): boolean {
  const up = upOsds(map)
  const { pgs } = map
  return eachGroup(map).every(
    ({ index, members }) =>
      /^active\+clean(\+scrubbing(\+deep)?)?$/.test(pgs.stateNames[pgs.states[index] as number] ?? '') &&
      members.every((osd) => up.has(osd)),
  )
}

/** Groups that clients reach now through these OSDs, and not without those. */
export function groupsLostWith(map: CephMap, up: ReadonlySet<number>, taken: ReadonlySet<number>): string[] {
  const { pgs, pools } = map
  const floors = new Map(pools.map(({ id, minSize }) => [id, minSize]))
  return eachGroup(map)
    .filter(({ index, members }) => {
      const serving = members.filter((osd) => up.has(osd))
      const floor = floors.get(pgs.poolIds[index] as number) ?? 0
      return serving.length >= floor && serving.filter((osd) => !taken.has(osd)).length < floor
    })
    .map(({ index }) => `${pgs.poolIds[index]}.${pgs.pgNumbers[index]?.toString(16)}`)
}

function eachGroup({ pgs }: CephMap): { readonly index: number; readonly members: readonly number[] }[] {
  return Array.from({ length: pgs.count }, (_, index) => ({
    index,
    members: Array.from(pgs.acting.slice(pgs.offsets[index], pgs.offsets[index + 1])).filter((osd) => osd !== noOsd),
  }))
}
