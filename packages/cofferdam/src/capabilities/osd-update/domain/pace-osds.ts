import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { osdImage } from './osd-deployment.ts'
import { paceHoldOf } from './pace-label.ts'
import type { OpenOsd, PaceState } from './pace-state.ts'
import type { RookOperator, RookPass } from './rook-pass.ts'
import type { OsdPace, UpdatableOsd, UpdateRecord } from './snapshot.ts'
import { whyAnew } from './why-left-alone.ts'

/** On a CephCluster: another value lets Rook reconcile every OSD again, in rounds. */
export const paceAgainAnnotation = 'cofferdam.io/pace-again'

const separator = '|'

/**
 * What Rook makes OSD Deployments of: the CephCluster and its own program. Where the program cannot be seen, the one of before counts.
 */
export function paceKey(cluster: CephCluster, { images }: RookOperator, before: PaceState | undefined): string {
  const { generation = 0, annotations } = cluster.metadata
  const program = images.length > 0 ? [...images].sort().join(' ') : (before?.key.split(separator)[1] ?? '')
  return [generation, program, annotations?.[paceAgainAnnotation] ?? ''].join(separator)
}

export function osdPaceOf(deployment: Deployment, cluster: CephCluster): OsdPace {
  const wanted = cluster.spec?.cephVersion?.image
  const image = osdImage(deployment)
  const { generation = 0 } = deployment.metadata
  return {
    hold: paceHoldOf(deployment),
    isExempt: whyAnew(deployment, cluster) !== undefined,
    isImageWanted: wanted === undefined || image === undefined || image === wanted,
    generation,
  }
}

/**
 * What is remembered, for what Rook makes OSDs of now.
 *
 * Guarantees: after a change every OSD is open to a whole pass of Rook once more, those that are open at this moment too. The first
 * time only where Rook has not finished with the CephCluster, or somebody paced it before and what was remembered is lost.
 * Returns undefined the first time, until Rook was heard.
 */
export function currentPace(
  before: PaceState | undefined,
  given: { readonly key: string; readonly osds: readonly UpdatableOsd[]; readonly rook: RookPass | undefined },
): PaceState | undefined {
  const { key, osds, rook } = given
  const all = osds.map(({ id }) => id)
  if (before === undefined) {
    if (rook === undefined) return undefined
    const isFirst = osds.every(({ pace }) => pace?.hold !== 'ours')
    const isDone = isFirst && rook.state === 'resting' && rook.failure === undefined && rook.isUpToDate
    return { key, pending: isDone ? [] : all, open: [], rounds: 0 }
  }
  if (before.key === key) return before
  const byId = new Map(osds.map((osd) => [osd.id, osd]))
  const open = before.open.map(({ osd, atMs, generation }): OpenOsd => {
    return { osd, atMs, generation: byId.get(osd)?.pace?.generation ?? generation }
  })
  return { key, pending: all, open, rounds: 0 }
}

/** Whether OSDs are to be opened to Rook, or are. Those that nothing can be done about hold nobody up. */
export function isWalkDue(pace: PaceState, osds: readonly UpdatableOsd[], { failed }: UpdateRecord): boolean {
  const given = new Set(failed.map(({ osd }) => osd))
  return pace.open.length > 0 || osds.some((osd) => isPending(osd, pace) && isFree(osd) && !given.has(osd.id))
}

function isFree({ problem, leftAlone }: UpdatableOsd): boolean {
  return problem === undefined && leftAlone === undefined
}

function isPending({ id, pace: own }: UpdatableOsd, { pending }: PaceState): boolean {
  return own?.isExempt !== true && (pending.includes(id) || own?.isImageWanted === false)
}

/**
 * An OSD that Rook writes in the order that we choose. What is open counts as restarting, whether Rook has touched it or not; one
 * that has its label still, or again, never began.
 */
export function pacedOsd(
  osd: UpdatableOsd,
  given: { readonly pace: PaceState; readonly noteMs: number | undefined; readonly nowMs: number },
): UpdatableOsd {
  const { pace, noteMs, nowMs } = given
  const opened = pace.open.find((one) => one.osd === osd.id)
  if (opened === undefined) return { ...osd, needsUpdate: osd.problem === undefined && isPending(osd, pace) }
  const { startedMs: _, ...unmarked } = osd
  const closed = { ...unmarked, needsUpdate: false }
  if (osd.pace?.hold !== 'none') return closed
  const started = { ...closed, startedMs: noteMs ?? opened.atMs }
  if (isTouched(osd, opened)) return { ...started, touchedMs: opened.touchedMs ?? nowMs }
  return { ...started, awaitsRook: true }
}

export function isTouched({ pace }: UpdatableOsd, { generation }: OpenOsd): boolean {
  return (pace?.generation ?? 0) > generation
}
