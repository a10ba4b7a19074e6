import { defaultSettings } from '../../../../safety/ceph-settings.ts'
import type { CephView } from '../../../../safety/ceph-view.ts'
import type { StopVerdict } from '../../../../safety/verdict.ts'
import { known } from '../../../../shared/observed.ts'
import type { CephDrainSnapshot, OsdBudget } from '../snapshot.ts'
import { calmState, type DrainState } from '../state-map.ts'
import { coverOf } from '../wanted-budgets.ts'
import { nowMs } from './fixture.ts'

const minSize = 2

interface Pg {
  /** The OSDs that should hold a copy. */
  readonly acting: number[]
  /** Those that do hold a whole one. */
  readonly whole: Set<number>
  /** A scrub found that one of the copies is bad, and not which. */
  isDamaged: boolean
}

/**
 * A Ceph cluster small enough to know the truth: which copies are whole, what Ceph has noticed of it, and what its
 * placement groups have reported of that. Made for one test run, and changed in place.
 */
export class SmallCeph {
  readonly pods = new Map<number, boolean>()
  readonly cordoned = new Set<string>()
  readonly #placing: { readonly zones: number; readonly osdsPerZone: number; readonly isAssuming: boolean }
  readonly pgs: Pg[]
  budgets: OsdBudget[] = []
  state: DrainState = calmState
  #upOsds: Set<number>
  #isReported = true
  #noout: string[] = []

  constructor(placing: { zones: number; osdsPerZone: number; isAssuming: boolean }, actingSets: readonly number[][]) {
    this.#placing = placing
    for (let id = 0; id < placing.zones * placing.osdsPerZone; id += 1) this.pods.set(id, true)
    this.#upOsds = new Set(this.pods.keys())
    this.pgs = actingSets.map((picks) => {
      const zones = [...Array(placing.zones).keys()].sort((a, b) => (picks[a] ?? 0) - (picks[b] ?? 0) || a - b)
      const acting = zones
        .slice(0, 3)
        .map((zone) => zone * placing.osdsPerZone + ((picks[zone] ?? 0) % placing.osdsPerZone))
      return { acting, whole: new Set(acting), isDamaged: false }
    })
  }

  get osds(): number[] {
    return [...this.pods.keys()]
  }

  zoneOf(id: number): string {
    return `zone-${Math.floor(id / this.#placing.osdsPerZone)}`
  }

  nodeOf(id: number): string {
    const { osdsPerZone } = this.#placing
    return `node-${Math.floor(id / osdsPerZone)}-${Math.floor((id % osdsPerZone) / 2)}`
  }

  crash(id: number): void {
    this.pods.set(id, false)
    for (const pg of this.pgs) pg.whole.delete(id)
  }

  start(id: number): void {
    this.pods.set(id, true)
  }

  /** The mons hear of every pod that came or went; placement groups report later. */
  notice(): void {
    const up = new Set(this.osds.filter((id) => this.pods.get(id) === true))
    if (up.size === this.#upOsds.size && [...up].every((id) => this.#upOsds.has(id))) return
    this.#upOsds = up
    this.#isReported = false
  }

  report(): void {
    this.#isReported = true
  }

  /** Every placement group with a whole copy left makes the others whole again, on OSDs that Ceph has up. */
  recover(): void {
    for (const pg of this.pgs.filter(({ whole }) => whole.size > 0)) {
      for (const id of pg.acting) if (this.#runs(id)) pg.whole.add(id)
    }
  }

  /** OSDs that stay down lose their part to others of their zone, or of a zone that has none yet. */
  moveDataAway(): void {
    for (const pg of this.pgs.filter(({ whole }) => whole.size > 0)) {
      for (const [shard, id] of pg.acting.entries()) {
        if (this.#upOsds.has(id)) continue
        const taken = new Set(pg.acting.filter((other) => other !== id).map((other) => this.zoneOf(other)))
        const next = this.osds.find((other) => this.#runs(other) && !taken.has(this.zoneOf(other)))
        if (next !== undefined) pg.acting[shard] = next
      }
    }
    this.recover()
  }

  damage(pick: number): void {
    const pg = this.pgs[pick % this.pgs.length]
    if (pg !== undefined) pg.isDamaged = true
  }

  repair(): void {
    for (const pg of this.pgs) pg.isDamaged = false
  }

  /** Whether a placement group in doubt has a copy in the zone. */
  isTouched(zone: string): boolean {
    return this.pgs.some(({ acting, isDamaged }) => isDamaged && acting.some((id) => this.zoneOf(id) === zone))
  }

  setNoout(change: { readonly set: readonly string[]; readonly unset: readonly string[] }): void {
    this.#noout = [...this.#noout.filter((bucket) => !change.unset.includes(bucket)), ...change.set]
  }

  #runs(id: number): boolean {
    return this.#upOsds.has(id) && this.pods.get(id) === true
  }

  /** What the Eviction API would say, with every pod counted as it is at this moment. */
  mayEvict(id: number): boolean {
    if (this.pods.get(id) !== true) return false
    const asOsd = (osd: number) => ({ id: osd, topology: { zone: this.zoneOf(osd), host: this.nodeOf(osd) } })
    const covering = this.budgets.filter((budget) => coverOf([budget])(asOsd(id)))
    const [budget] = covering
    if (budget === undefined) return true
    if (covering.length > 1) return false
    const covers = coverOf([budget])
    const away = this.osds.filter((osd) => covers(asOsd(osd)) && this.pods.get(osd) !== true)
    return away.length < budget.maxUnavailable
  }

  /** Placement groups that lose a whole copy with this OSD and are left with too few; of a damaged one it may be the last good one. */
  harmOf(id: number): string[] {
    return this.pgs
      .filter(({ whole, isDamaged }) => whole.has(id) && whole.size - 1 - (isDamaged ? 1 : 0) < minSize)
      .map(({ acting, whole }) => `[${acting.join()}] whole on [${[...whole].join()}]`)
  }

  snapshot(): CephDrainSnapshot {
    return {
      nowMs,
      cluster: { namespace: 'rook-ceph', name: 'c', uid: 'u', mode: 'manage', settings: defaultSettings },
      osds: this.osds.map((id) => ({
        id,
        isReady: this.pods.get(id) === true,
        isBeingReplaced: false,
        nodeName: known(this.nodeOf(id)),
        topology: { zone: this.zoneOf(id), host: this.nodeOf(id) },
      })),
      nodes: [...new Set(this.osds.map((id) => this.nodeOf(id)))].map((name) => ({
        name,
        isClosed: this.cordoned.has(name),
      })),
      ceph: known(this.#view()),
      cephSilentMs: 0,
      state: this.state,
      budgets: this.budgets,
    }
  }

  #view(): CephView {
    const { isAssuming } = this.#placing
    const zones = [...new Set(this.osds.map((id) => this.zoneOf(id)))]
    const assumed = isAssuming ? this.osds.filter((id) => this.#upOsds.has(id) && this.pods.get(id) !== true) : []
    // What Ceph knows of a copy that a pod took with it: nothing, until it notices.
    const seen = this.pgs.map((pg) => ({
      acting: pg.acting,
      isDamaged: pg.isDamaged,
      live: pg.acting.filter((id) => this.#upOsds.has(id) && (pg.whole.has(id) || this.pods.get(id) !== true)),
    }))
    const verdict = (zone: string): StopVerdict => {
      if (!this.#isReported) return { may: 'unknown', why: 'reports are old' }
      const bad = seen.filter(({ acting, live }) => {
        const left = live.filter((id) => this.zoneOf(id) !== zone && !assumed.includes(id))
        return acting.some((id) => this.zoneOf(id) === zone) ? left.length < minSize : live.length < minSize
      })
      if (bad.length > 0) return { may: 'no', troubles: [], troubleCount: bad.length }
      const inDoubt = seen.filter(({ isDamaged, live }) => isDamaged && live.some((id) => this.zoneOf(id) === zone))
      if (inDoubt.length === 0) return { may: 'yes' }
      const doubts = [{ pg: '1.0', pool: 'rbd', state: 'active+clean+inconsistent' }]
      return { may: 'no', troubles: [], troubleCount: 0, doubts, doubtCount: inDoubt.length }
    }
    const isShort = ({ acting, live }: (typeof seen)[number]) => live.length < acting.length
    const dirtyStates: Record<string, number> = {}
    for (const pg of seen.filter((each) => isShort(each) || each.isDamaged)) {
      const state = `active+${isShort(pg) ? 'undersized+degraded' : 'clean'}${pg.isDamaged ? '+inconsistent' : ''}`
      dirtyStates[state] = (dirtyStates[state] ?? 0) + 1
    }
    return {
      epoch: 1,
      upOsds: [...this.#upOsds],
      pgs: !this.#isReported
        ? { health: 'unknown', why: 'reports are old' }
        : Object.keys(dirtyStates).length === 0
          ? { health: 'clean' }
          : { health: 'unclean', dirtyStates },
      failureDomainType: 'zone',
      domains: zones.map((domain) => ({
        domain,
        osds: this.osds.filter((id) => this.zoneOf(id) === domain),
        verdict: verdict(domain),
      })),
      nooutBuckets: this.#noout,
      disagreements: [],
      ...(isAssuming ? { assumedDownOsds: assumed } : {}),
    }
  }
}
