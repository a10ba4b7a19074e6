import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { CephTruth, GroupTruth } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import { type Excuses, patienceMs } from './excuses.ts'

export interface DataOracle {
  /** Somebody decides that this pod goes: call it before, for its OSD serves no more as soon as it is let; and what it returns when it was. */
  taking(pod: { readonly namespace?: string; readonly name: string }, by: string): (() => void) | undefined
  /** The OSD is restarted by the operator. */
  restarted(osd: number): void
  look(): void
}

/** The longest grace period, and more. */
const lastsMs = 300_000

/**
 * S1: no voluntary step takes a placement group below its floor, counted by processes that serve it and by copies that are whole; what
 * broke of itself excuses a step only while nobody could know.
 */
export function watchData(stage: Stage, { blame }: Blame, excuses: Excuses): DataOracle | undefined {
  const { ceph, clock, views, description } = stage
  if (ceph === undefined || description.ceph === undefined) return undefined
  const { namespace } = description.ceph
  const nodeOf = new Map(description.ceph.osds.map(({ id, node }) => [id, node]))
  /** OSDs that somebody decided over, with the pod that they ran in. */
  const taken = new Map<number, { readonly atMs: number; readonly uids: ReadonlySet<string> }>()
  const podsOf = (osd: number) =>
    [...views.of(pods).values()].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['ceph-osd-id'] === String(osd),
    )
  const take = (osd: number, goes: readonly { readonly metadata: { readonly uid?: string } }[]) => {
    const uids = goes.map(({ metadata }) => metadata.uid ?? '')
    taken.set(osd, { atMs: clock.now(), uids: new Set([...(taken.get(osd)?.uids ?? []), ...uids]) })
  }

  /** It goes, or is gone. One that serves again does so in another pod; what has lasted for so long did not go at all. */
  function isAway(osd: number, { serving }: CephTruth): boolean {
    const before = taken.get(osd)
    if (before === undefined) return false
    if (!serving.has(osd)) return true
    return (
      clock.now() - before.atMs < lastsMs && podsOf(osd).some(({ metadata }) => before.uids.has(metadata.uid ?? ''))
    )
  }

  const brokeAt = (osd: number) => excuses.brokeAt(`osd ${osd}`) ?? excuses.brokeAt(`node ${nodeOf.get(osd)}`)

  /** Gone by no decision, and either too young to be known or with nobody there to know. */
  function isExcused(osd: number): boolean {
    const atMs = brokeAt(osd)
    if (atMs === undefined) return false
    return clock.now() - atMs < patienceMs || !excuses.isAttendedFor(patienceMs)
  }

  /** What is wrong with it, in words. */
  function judge(osd: number, truth: CephTruth, by: string): string[] {
    if (!truth.serving.has(osd)) return []
    const wrongs: string[] = []
    for (const group of truth.groups) {
      if (!group.serving.includes(osd)) continue
      const stays = (other: number) => other !== osd && !isAway(other, truth)
      const others = group.serving.filter(stays)
      const whole = group.whole.filter(stays)
      const lacking =
        others.length < group.minSize ? 'processes' : whole.length < group.minSize ? 'whole copies' : undefined
      if (lacking === undefined || isAbsolved(group)) continue
      wrongs.push(
        `osd.${osd} was taken by ${by}, and left placement groups of ${group.pool} without enough ${lacking} (floor ${group.minSize})`,
      )
    }
    return wrongs
  }

  /** Something of it broke that explains what is lacking. */
  function isAbsolved({ acting, whole }: GroupTruth): boolean {
    if (excuses.isMeddledWith('storage')) return true
    return [...nodeOf.keys()].some((osd) => isExcused(osd) && (!acting.includes(osd) || !whole.includes(osd)))
  }

  /** When all copies of all data are whole again, what broke before excuses nothing any more. */
  function mendWhatIsWhole({ groups, serving }: CephTruth): void {
    if (serving.size < nodeOf.size || groups.some(({ acting, whole }) => whole.length < acting.length)) return
    for (const what of excuses.broken()) {
      const isOff = what.startsWith('node ') && !stage.world.kubelet.isOn(what.slice('node '.length))
      if (!isOff && clock.now() - (excuses.brokeAt(what) ?? 0) > 30_000) excuses.mended(what)
    }
  }

  return {
    taking({ namespace: at, name }, by) {
      if (at !== namespace) return undefined
      const pod = views.of(pods).get(`${at}/${name}`)
      const { app, 'ceph-osd-id': id } = pod?.metadata.labels ?? {}
      if (pod === undefined || app !== 'rook-ceph-osd' || id === undefined) return undefined
      const osd = Number(id)
      const wrongs = judge(osd, ceph.controls.truth(), by)
      const askedMs = clock.now()
      return () => {
        // The guard may answer late: by then the disk may have been pulled, or placement groups may belong elsewhere.
        const isTakenByOthers = excuses.isMeddledWith('storage') || (brokeAt(osd) ?? -1) >= askedMs
        for (const wrong of isTakenByOthers ? [] : wrongs) blame('S1', wrong)
        // Only this one: who is evicted twice may have a successor by then, which serves again.
        take(osd, [pod])
      }
    },
    restarted(osd) {
      for (const wrong of judge(osd, ceph.controls.truth(), 'an update')) blame('S1', wrong)
      take(osd, podsOf(osd))
    },
    look() {
      const truth = ceph.controls.truth()
      for (const osd of taken.keys()) if (!isAway(osd, truth)) taken.delete(osd)
      mendWhatIsWhole(truth)
      for (const group of truth.groups) {
        if (group.isPeering || group.serving.length >= group.minSize) continue
        const missing = group.acting.filter((osd) => !group.serving.includes(osd))
        const isBroken =
          [...nodeOf.keys()].some((osd) => brokeAt(osd) !== undefined) || excuses.isMeddledWith('storage')
        if (isBroken) continue
        const where = missing.map((osd) => views.of(nodes).get(nodeOf.get(osd) ?? '')?.metadata.name).join(' and ')
        blame(
          'S1',
          `clients could not reach placement groups of ${group.pool}, whose OSDs on ${where} were down on purpose`,
        )
      }
    },
  }
}
