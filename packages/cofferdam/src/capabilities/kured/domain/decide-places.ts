import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { compareText } from '../../../shared/last-writer.ts'
import { formatHandedPlaces, type HandedPlace, handedAnnotation } from './handed-places.ts'
import { formatKuredLock, hasLapsed, type KuredPlace, lockOwner } from './kured-lock.ts'
import { isOverdue, isPaused, type KuredView } from './kured-view.ts'
import type { KuredNode } from './snapshot.ts'
import type { KuredNews } from './steps.ts'

/** Without an operator kured goes on by itself after this time. */
export const ownTtlMs = 600_000

export interface DecidedPlaces {
  /** Annotations to be written; undefined: what stands there is right. */
  readonly annotations?: Readonly<Record<string, string | null>>
  readonly news: readonly KuredNews[]
  /** Nodes that have a place then. */
  readonly holders: ReadonlySet<string>
  readonly handed: readonly HandedPlace[]
}

interface Judged {
  readonly place?: KuredPlace
  readonly given?: HandedPlace
  readonly news?: KuredNews
}

type HandedOut = Required<Judged>

/**
 * Who has which place of kured's lock: a node that is drained for its reboot, or Cofferdam.
 *
 * Guarantees: a place that kured acquired by itself stays its node's until kured releases it or it lapses. A place that was handed to a
 * node is taken back only while that node is up in the boot it was handed for. Never more nodes have a place than kured's concurrency.
 */
export function decidePlaces(view: KuredView): DecidedPlaces {
  const { lock, flags, isActive, nowMs, handed } = view
  const ofNodes = lock.places.filter(({ holder }) => holder !== lockOwner)
  const judged = ofNodes.map((place) => judgePlace(view, place))
  const kept = judged.flatMap(({ place }) => place ?? [])
  const handing = isActive && view.mayBegin ? handOut(view, kept) : []
  const nodePlaces = [...kept, ...handing.map(({ place }) => place)]
  const holders = new Set(nodePlaces.map(({ holder }) => holder))
  const given = [...judged, ...handing].flatMap((each) => each.given ?? [])
  const remembered = [...given, ...handed.filter((each) => isRemembered(view, each, given))]
  const places = [...nodePlaces, ...(isActive ? ownPlaces(view, nodePlaces.length) : [])]
  const isForm = lock.form === 'none' ? places.length === 0 : (lock.form === 'multiple') === flags.concurrency > 1
  const isLockRight = isSameJson(lock.places, places) && (isForm || !isActive)
  const isRecordRight = formatHandedPlaces(remembered) === formatHandedPlaces(handed)
  const news = [...judged, ...handing].flatMap((each) => each.news ?? [])
  if (isLockRight && isRecordRight) return { news: [], holders, handed: remembered }
  const annotations = {
    [flags.lockAnnotation]: formatKuredLock(places, flags.concurrency),
    [handedAnnotation]: formatHandedPlaces(remembered),
  }
  return { annotations, news, holders, handed: remembered }

  function ownPlaces({ lock: { places: before } }: KuredView, taken: number): readonly KuredPlace[] {
    // Of a lock with several places Cofferdam has all, beside those of nodes: when a node releases its own, none is free for a moment.
    const count = flags.concurrency > 1 ? flags.concurrency : 1 - taken
    const own = before.filter(({ holder }) => holder === lockOwner)
    const oldestMs = Math.min(...own.map(({ createdMs }) => createdMs))
    const isFresh = own.length === count && nowMs - oldestMs < ownTtlMs / 2 && oldestMs <= nowMs
    if (isFresh) return own
    const place = { holder: lockOwner, wasUnschedulable: false, createdMs: wholeSecond(nowMs), ttlMs: ownTtlMs }
    return Array.from({ length: Math.max(0, count) }, () => place)
  }
}

function judgePlace(view: KuredView, place: KuredPlace): Judged {
  const { handed, nodes, standing, nowMs, isActive } = view
  const given = handed.find(
    ({ nodeName, createdMs, gaveUpMs }) =>
      nodeName === place.holder && createdMs === place.createdMs && gaveUpMs === undefined,
  )
  if (given === undefined) return isActive && hasLapsed(place, nowMs) ? {} : { place }
  const node = nodes.get(place.holder)
  if (node === undefined) return {}
  if (isOnItsWay(view, node, given, standing.get(node.name))) return renewed(place, given, nowMs)
  if (!isOverdue(view, given)) return { news: tell(node, 'KuredLockTakenBack', takenBackNote(node)) }
  const gaveUp = { ...given, gaveUpMs: wholeSecond(nowMs) }
  return { given: gaveUp, news: tell(node, 'KuredDoesNotReboot', overdueNote(node, given)) }
}

/** Whether the place is still needed: until kured has ended the reboot, or would not begin it any more. */
function isOnItsWay(
  view: KuredView,
  node: KuredNode,
  given: HandedPlace,
  request: NodeDisruption | undefined,
): boolean {
  if (!node.isReady || node.bootID !== given.bootID) return true
  const { phase } = request?.status ?? {}
  // A pod that lands on the node has the request drain again, which changes nothing for kured.
  const isDrained = (phase === 'Drained' || phase === 'Draining') && request?.metadata.deletionTimestamp === undefined
  return isDrained && node.wantedSince !== undefined && view.mayReboot && !isOverdue(view, given)
}

function renewed(place: KuredPlace, given: HandedPlace, nowMs: number): Judged {
  if (place.ttlMs === 0 || nowMs - place.createdMs < place.ttlMs / 2) return { place, given }
  const createdMs = wholeSecond(nowMs)
  return { place: { ...place, createdMs }, given: { ...given, createdMs } }
}

function handOut(view: KuredView, kept: readonly KuredPlace[]): readonly HandedOut[] {
  const { nodes, standing, flags, nowMs, lock } = view
  const free = Math.max(0, flags.concurrency - kept.length)
  const createdMs = wholeSecond(nowMs)
  return [...standing.values()]
    .flatMap((request) => {
      const node = nodes.get(request.spec.nodeName)
      if (node === undefined || isPaused(view, node) || !mayHaveLock(node, request)) return []
      // One whose place is taken back in this pass does not have the next.
      return lock.places.some(({ holder }) => holder === node.name) ? [] : [{ request, node }]
    })
    .toSorted(
      ({ request: a }, { request: b }) =>
        compareText(drainedSince(a), drainedSince(b)) || compareText(a.metadata.name, b.metadata.name),
    )
    .slice(0, free)
    .map(({ request, node }) => {
      const wasUnschedulable = request.status?.cordonedBy !== `nodedisruption/${request.metadata.name}`
      const place = { holder: node.name, wasUnschedulable, createdMs, ttlMs: flags.lockTtlMs }
      const given = { nodeName: node.name, bootID: node.bootID, createdMs, sinceMs: createdMs }
      return { place, given, news: tell(node, 'KuredLockHanded', handedNote(node, request)) }
    })
}

function mayHaveLock({ isReady, bootID, wantedSince }: KuredNode, { metadata, status }: NodeDisruption): boolean {
  const isDrained = status?.phase === 'Drained' && metadata.deletionTimestamp === undefined
  return isDrained && isReady && wantedSince !== undefined && bootID !== '' && bootID === status.bootIDBefore
}

/** For how long kured is not asked again about a node that it did not reboot. */
function isRemembered({ nodes }: KuredView, each: HandedPlace, given: readonly HandedPlace[]): boolean {
  if (each.gaveUpMs === undefined || given.some(({ nodeName }) => nodeName === each.nodeName)) return false
  const node = nodes.get(each.nodeName)
  return node?.bootID === each.bootID && node.wantedSince !== undefined
}

function drainedSince({ status }: NodeDisruption): string {
  return status?.phaseSince ?? ''
}

/** The annotation has no fractions. */
function wholeSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000
}

function tell(node: KuredNode, reason: KuredNews['reason'], note: string): KuredNews {
  const type = reason === 'KuredDoesNotReboot' ? 'Warning' : 'Normal'
  return { about: { kind: 'Node', name: node.name, uid: node.uid }, type, reason, note }
}

function handedNote({ name }: KuredNode, { metadata }: NodeDisruption): string {
  return `${name} is drained by nodedisruption/${metadata.name}; kured has the lock and can reboot it.`
}

function takenBackNote({ name }: KuredNode): string {
  return `The lock of kured was taken back from ${name}: it is not to be rebooted any more, or not now.`
}

function overdueNote({ name }: KuredNode, { sinceMs }: HandedPlace): string {
  return `kured has had the lock for ${name} since ${rfc3339(sinceMs)} and did not reboot it; the node is released and asked for again in 6 hours. If it needs no reboot, remove its annotation weave.works/kured-reboot-in-progress.`
}
