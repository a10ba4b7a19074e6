import type { CephTimings } from './ceph-description.ts'
import { ancestorsOf, typeIdOf } from './crush-tree.ts'
import type { OsdEntry, OsdMap } from './osd-map.ts'
import type { DaemonSight } from './pod-shadow.ts'
import type { Timers } from './timers.ts'

export interface OsdWatchPorts {
  readonly timers: Timers
  readonly map: OsdMap
  readonly timings: CephTimings
  readonly downOutSubtreeLimit: string
  readonly sightOf: (osd: number) => DaemonSight
  /** Without a majority of mons no map changes. */
  readonly hasQuorum: () => boolean
  /** Called before an OSD boots; true where its place in the CRUSH map is other than before. */
  readonly locate: (osd: number) => boolean
  readonly onChange: (osd: number, change: 'up' | 'down' | 'in' | 'out') => void
}

/** How often the mons check which OSDs are due to be marked out. */
const tickMs = 5_000
/** `mon_osd_min_in_ratio`: with fewer in than this, a mass of failures is more likely a network than disks. */
const leastIn = 0.75

/** What the mons do about OSDs on their own: up, down, out after a while, and in again. */
export class OsdWatch {
  readonly #ports: OsdWatchPorts
  readonly #pending = new Map<number, { readonly toUp: boolean; readonly cancel: () => void }>()
  readonly #failedDisks = new Set<number>()
  /** Where disks are that were put into another host. */
  readonly #hosts = new Map<number, string>()
  #cancelOutCheck: (() => void) | undefined

  constructor(ports: OsdWatchPorts) {
    this.#ports = ports
  }

  /** What is up when the cluster is first seen has been up before. */
  begin(): void {
    for (const { id, isNew } of this.#ports.map.osds.values()) if (!isNew && this.#shouldRun(id)) this.#bringUp(id)
  }

  setDiskFailed(osd: number, isFailed: boolean): void {
    if (isFailed) this.#failedDisks.add(osd)
    else this.#failedDisks.delete(osd)
    this.check(osd)
  }

  /** A process that is up goes on; whoever boots next finds the disk only where it is. */
  setDiskHost(osd: number, host: string): void {
    this.#hosts.set(osd, host)
    this.check(osd)
  }

  hostOfDisk(osd: number): string | undefined {
    return this.#hosts.get(osd)
  }

  /** Something about one OSD may have changed. */
  check(osd: number): void {
    const { map, timings, timers } = this.#ports
    const entry = map.osds.get(osd)
    if (entry === undefined) return
    const toUp = this.#shouldRun(osd)
    const pending = this.#pending.get(osd)
    const isToBoot = toUp && entry.isUp && this.#isOtherProcess(entry)
    if (pending?.toUp === toUp && (entry.isUp !== toUp || isToBoot)) return
    pending?.cancel()
    this.#pending.delete(osd)
    if (entry.isUp === toUp && !isToBoot) return
    const isSilent = !this.#failedDisks.has(osd) && this.#ports.sightOf(osd).isSilent
    const delayMs = toUp ? timings.startMs : isSilent ? timings.heartbeatGraceMs : timings.downAfterMs
    const cancel = timers.after(delayMs, () => {
      this.#pending.delete(osd)
      this.#mark(entry, toUp)
    })
    this.#pending.set(osd, { toUp, cancel })
  }

  /** A flag or the quorum changed: what was held back may go on. */
  checkAll(): void {
    for (const osd of this.#ports.map.osds.keys()) this.check(osd)
    this.checkOuts()
  }

  /** At the mons' next tick, and when the next OSD is due. */
  checkOuts(): void {
    this.#cancelOutCheck?.()
    this.#cancelOutCheck = undefined
    const { map, timers, timings } = this.#ports
    const waits = [...map.osds.values()]
      .filter(({ isUp, isIn, downAt }) => !isUp && isIn && downAt > 0)
      .map(({ downSinceMs }) => Math.max(tickMs, downSinceMs + timings.downOutIntervalMs - timers.now()))
    if (waits.length === 0) return
    this.#cancelOutCheck = timers.after(Math.min(...waits), () => this.#markOuts())
  }

  #shouldRun(osd: number): boolean {
    return this.#ports.sightOf(osd).isAlive && !this.#failedDisks.has(osd) && this.#hasDisk(osd)
  }

  #hasDisk(osd: number): boolean {
    const host = this.#hosts.get(osd)
    const { node, process } = this.#ports.sightOf(osd)
    const entry = this.#ports.map.osds.get(osd)
    return host === undefined || host === node || (entry?.isUp === true && process === entry.process)
  }

  #mark(entry: OsdEntry, toUp: boolean): void {
    const { map, hasQuorum } = this.#ports
    const isToBoot = toUp && entry.isUp && this.#isOtherProcess(entry)
    if (!hasQuorum() || (entry.isUp === toUp && !isToBoot) || this.#shouldRun(entry.id) !== toUp) return
    if (map.hasFlag(entry.id, toUp ? 'noup' : 'nodown')) return
    // Who boots under an id that is still up proves that the process before is gone.
    if (!toUp || isToBoot) {
      map.markDown(entry.id)
      this.#ports.onChange(entry.id, 'down')
    }
    if (toUp) this.#bringUp(entry.id)
    this.checkOuts()
  }

  /** One that is up, and has been replaced before anybody missed it. */
  #isOtherProcess({ id, process }: OsdEntry): boolean {
    return this.#ports.sightOf(id).process !== process
  }

  #bringUp(osd: number): void {
    const { map, onChange } = this.#ports
    const { node, pod, process, address } = this.#ports.sightOf(osd)
    const wasIn = map.isIn(osd)
    const isMoved = this.#ports.locate(osd)
    map.markUp(osd, { host: node, pod, process, address })
    onChange(osd, map.isIn(osd) === wasIn && !isMoved ? 'up' : 'in')
  }

  #markOuts(): void {
    const { map, timers, timings, hasQuorum } = this.#ports
    let wasMarked = false
    for (const entry of map.osds.values()) {
      const isDue = timers.now() - entry.downSinceMs >= timings.downOutIntervalMs
      if (entry.isUp || !entry.isIn || entry.downAt === 0 || !isDue) continue
      if (!hasQuorum() || !this.#mayGoOut(entry.id)) continue
      map.markOut(entry.id, 'mons')
      wasMarked = true
      this.#ports.onChange(entry.id, 'out')
    }
    // OSDs that are due and held back wait for a change; only the others need the clock.
    const isAnyLeft = [...map.osds.values()].some(
      ({ isUp, isIn, downAt, downSinceMs }) =>
        !isUp && isIn && downAt > 0 && timers.now() - downSinceMs < timings.downOutIntervalMs,
    )
    if (wasMarked || isAnyLeft) this.checkOuts()
  }

  #mayGoOut(osd: number): boolean {
    const { map, downOutSubtreeLimit } = this.#ports
    if (map.hasFlag(osd, 'noout')) return false
    const inCount = [...map.osds.values()].filter(({ isIn }) => isIn).length
    if (inCount / map.osds.size < leastIn) return false
    const item = map.tree.byId.get(osd)
    if (item === undefined) return false
    const limit = typeIdOf(downOutSubtreeLimit)
    for (const bucket of ancestorsOf(item)) {
      if (!map.isWhollyDown(bucket)) return true
      if (bucket.typeId >= limit) return false
    }
    return true
  }
}
