import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import type { CephMap } from '@cofferdam/product/safety/ceph-map.ts'
import { daemonName } from '../../../scenarios/testing/drainer.ts'
import type { Lab } from '../lab.ts'
import { type Loss, whoseFault } from './whose-fault.ts'

export interface DataWatch {
  /** Racks in which a fire may take OSDs now without harm of its own: all of them, the one that is hurt already, or none. */
  racksToHit(): readonly string[]
  /** A fire takes OSDs of this rack now. */
  hit(rack: string): void
  readonly violations: readonly string[]
  /** Placement groups that fell because a fire and an eviction met before anything could be known, or no operator was there. */
  readonly accidents: readonly string[]
  isWhole(): boolean
  stop(): void
}

const everyMs = 500
/** An eviction may be on its way for this long before the pod is seen to go, and a lost OSD is in the map only after it. */
const unseenMs = 8_000
const rackLabel = 'topology-location-rack'

/** Follows the data of a burning lab, and says of each breach whose it was. */
export function watchData(lab: Lab, racks: readonly string[], isAttended: () => boolean): DataWatch {
  const losses: Loss[] = []
  const unattendedMs: number[] = []
  const violations: string[] = []
  const accidents: string[] = []
  let map: CephMap | undefined
  let wholeAtMs = Date.now()
  let isAsking = false
  let seen = 0

  const endPods = lab.views.of(pods).subscribe(({ before, after }) => {
    if (!isOsd(after) || after.metadata.deletionTimestamp === undefined) return
    if (before?.metadata.deletionTimestamp !== undefined) return
    const rack = after.metadata.labels?.[rackLabel] ?? ''
    losses.push({ kind: 'eviction', rack, atMs: Date.now(), what: daemonName(after) })
  })

  async function ask(): Promise<void> {
    if (isAsking) return
    isAsking = true
    const observed = await observeCeph(lab.ceph.commands)
    isAsking = false
    map = observed.known ? observed.value : undefined
    if (isWhole()) wholeAtMs = Date.now()
  }

  function isWhole(): boolean {
    if (map === undefined || map.osds.some(({ isUp }) => !isUp)) return false
    const { pgs } = map
    return [...pgs.states].every((state) => pgs.stateNames[state] === 'active+clean')
  }

  function judge(): void {
    if (!isAttended()) unattendedMs.push(Date.now())
    for (const sentence of lab.oracle.violations.slice(seen)) {
      const isGroup = sentence.startsWith('placement group')
      const since = losses.filter(({ atMs }) => atMs >= wholeAtMs - unseenMs)
      const why = isGroup ? whoseFault(since, unattendedMs, unseenMs) : undefined
      lab.journal.tell('fire', `${sentence}: ${why ?? 'OURS'}`)
      if (why === undefined) violations.push(sentence)
      else accidents.push(`${sentence}: ${why}`)
    }
    seen = lab.oracle.violations.length
  }

  const timer = setInterval(() => {
    void ask()
    judge()
  }, everyMs)

  const rackOfOsd = () => {
    const osdPods = [...lab.views.of(pods).values()].filter(isOsd)
    return new Map(osdPods.map(({ metadata }) => [Number(metadata.labels?.['osd']), metadata.labels?.[rackLabel]]))
  }

  return {
    racksToHit() {
      if (map === undefined) return []
      const rackOf = rackOfOsd()
      const hurt = new Set(map.osds.filter(({ isUp }) => !isUp).map(({ id }) => rackOf.get(id) ?? ''))
      const now = Date.now()
      for (const { rack, atMs } of losses) if (now - atMs < 2 * unseenMs) hurt.add(rack)
      if (hurt.size > 1) return []
      if (hurt.size === 1) return [...hurt]
      return isWhole() && lab.osdBudgets().join() === 'rook-ceph-osd' ? racks : []
    },
    hit(rack) {
      losses.push({ kind: 'fire', rack, atMs: Date.now(), what: 'a fire' })
    },
    violations,
    accidents,
    isWhole,
    stop() {
      clearInterval(timer)
      endPods()
    },
  }
}

function isOsd(pod: Pod | undefined): pod is Pod {
  return pod?.metadata.labels?.['app'] === 'rook-ceph-osd'
}
