import type { CephForUpdate, OsdUpdateSnapshot, UpdatableOsd, UpdateRecord } from './snapshot.ts'

/** The OSDs of a cluster by what the update has to do with them. */
export interface SortedOsds {
  /** To be updated, and not restarting; in order of their ids, as are all lists here. */
  readonly pending: readonly UpdatableOsd[]
  /** Started, and not known to be back. */
  readonly away: readonly StartedOsd[]
  /** OSDs of `away` that need yet another update, because the cluster changed after they were started. */
  readonly again: readonly StartedOsd[]
  /** Started since everything was settled last, and back: pod Ready, up in Ceph, and its placement groups peered. */
  readonly back: readonly StartedOsd[]
  /** Not ours to update, though an update is needed, and why. */
  readonly leftOut: readonly { readonly osd: number; readonly why: string }[]
}

export interface StartedOsd extends UpdatableOsd {
  readonly startedMs: number
}

export function sortOsds({ osds, ceph }: Pick<OsdUpdateSnapshot, 'osds' | 'ceph'>, record: UpdateRecord): SortedOsds {
  const failed = new Set(record.failed.map(({ osd }) => osd))
  const seen = ceph?.known === true ? ceph.value : undefined
  const up = seen === undefined ? noOsds : upOsds(seen)
  const pending: UpdatableOsd[] = []
  const away: StartedOsd[] = []
  const again: StartedOsd[] = []
  const back: StartedOsd[] = []
  const leftOut: { osd: number; why: string }[] = []
  for (const osd of osds) {
    const isRestarting = isStarted(osd, record)
    const isAway = isRestarting && !isBackInBoth(osd, up, seen)
    if (isRestarting) (isAway ? away : back).push(osd)
    const hindrance = osd.problem ?? osd.leftAlone
    if (hindrance !== undefined) {
      if (osd.problem !== undefined || osd.needsUpdate) leftOut.push({ osd: osd.id, why: hindrance })
    } else if (osd.needsUpdate && !failed.has(osd.id)) {
      if (!isAway) pending.push(osd)
      else if (isRestarting && osd.startedMs < (record.startedMs ?? Number.POSITIVE_INFINITY)) again.push(osd)
    }
  }
  return { pending, away, again, back, leftOut }
}

const noOsds: ReadonlySet<number> = new Set()

export function upOsds({ map }: Pick<CephForUpdate, 'map'>): ReadonlySet<number> {
  const up = new Set<number>()
  for (const { id, isUp } of map.osds) if (isUp) up.add(id)
  return up
}

/** Whether the OSD is back as both report: Kubernetes has its pod ready, and Ceph has it up with all its data in service. */
export function isBack(osd: UpdatableOsd, seen: CephForUpdate | undefined): boolean {
  return isBackInBoth(osd, seen === undefined ? noOsds : upOsds(seen), seen)
}

function isBackInBoth(osd: UpdatableOsd, up: ReadonlySet<number>, seen: CephForUpdate | undefined): boolean {
  return osd.awaitsRook !== true && osd.isPodReady && up.has(osd.id) && seen?.peered.has(osd.id) === true
}

function isStarted(osd: UpdatableOsd, { settledMs = 0 }: UpdateRecord): osd is StartedOsd {
  return osd.startedMs !== undefined && osd.startedMs >= settledMs
}
