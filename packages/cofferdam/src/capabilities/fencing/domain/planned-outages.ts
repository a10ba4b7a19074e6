import type { FencedNodeView, FencingSnapshot, MachineView, RebootRequest } from './snapshot.ts'

/** A node that is away on plan, or is about to be. */
export type PlannedOutage = OutageAhead | OutageNow

interface OutageRequest {
  readonly node: string
  /** The name of the NodeDisruption. */
  readonly request: string
  /** Who asked for it, in readable form. */
  readonly by: string
  /** How long it may be away. */
  readonly returnWithinMs: number
}

/** The node is still Ready. */
interface OutageAhead extends OutageRequest {
  readonly awaySinceMs: undefined
  /** When it is protected no longer; undefined: that counts from when it stops being Ready. */
  readonly untilMs: number | undefined
  readonly isOver: false
}

interface OutageNow extends OutageRequest {
  readonly awaySinceMs: number
  readonly untilMs: number
  /** It was to be back by then and is not: it is a dead node like any other. */
  readonly isOver: boolean
}

type Seen = Pick<FencingSnapshot, 'reboots' | 'nowMs'>

/**
 * Which nodes are rebooted on plan, by node: nobody may fence them while their time lasts.
 *
 * Guarantees: a node is planned only while a request for a reboot stands whose drain has begun, and never for longer than the
 * request allows. One that dies before it was said that it may go is no planned outage, nor is one that was back or was released.
 */
export function plannedOutages(
  { reboots, nowMs }: Seen,
  nodes: ReadonlyMap<string, FencedNodeView>,
  machines: ReadonlyMap<string, MachineView>,
): ReadonlyMap<string, PlannedOutage> {
  const found = new Map<string, PlannedOutage>()
  for (const request of reboots.known ? reboots.value : []) {
    const node = nodes.get(request.nodeName)
    if (node === undefined || isOther(node, request) || isLeaving(machines.get(node.name))) continue
    const outage = outageOf(request, node, nowMs)
    if (outage === undefined || (outage.isOver && found.has(node.name))) continue
    found.set(node.name, outage)
  }
  return found
}

function outageOf(request: RebootRequest, node: FencedNodeView, nowMs: number): PlannedOutage | undefined {
  const { name, by, phase, returnWithinMs, deadlineMs } = request
  const common = { node: node.name, request: name, by, returnWithinMs }
  if (node.isReady) {
    const isPast = deadlineMs !== undefined && nowMs >= deadlineMs
    const isBack = phase === 'Recovering' || isOtherBoot(request, node)
    return isBack || isPast ? undefined : { ...common, awaySinceMs: undefined, untilMs: deadlineMs, isOver: false }
  }
  // Without another boot it recovers because it was released.
  if (phase === 'Draining' || (phase === 'Recovering' && !isOtherBoot(request, node))) return undefined
  const awaySinceMs = awaySince(request, node, nowMs)
  if (isDeadBefore(request, awaySinceMs)) return undefined
  const untilMs = Math.min(awaySinceMs + returnWithinMs, deadlineMs ?? Number.POSITIVE_INFINITY)
  return { ...common, awaySinceMs, untilMs, isOver: nowMs >= untilMs }
}

/**
 * A condition begins anew when a kubelet that was silent complains, as in every boot that fails; so what was noted first counts.
 * A time that has not come yet was written by a clock that is wrong.
 */
function awaySince({ notedAwayMs }: RebootRequest, { notReadySinceMs }: FencedNodeView, nowMs: number): number {
  const known = [notedAwayMs, notReadySinceMs].find((ms) => ms !== undefined && ms <= nowMs)
  return known ?? nowMs
}

/** How far the clocks of a node and of the operator may be apart. */
const clockSlackMs = 5 * 60_000

/** It was down before its last pod was gone: nobody was told that it may go. */
function isDeadBefore({ phase, phaseSinceMs }: RebootRequest, awaySinceMs: number): boolean {
  return phase === 'Drained' && phaseSinceMs !== undefined && awaySinceMs < phaseSinceMs - clockSlackMs
}

function isOther({ uid }: FencedNodeView, { nodeUid }: RebootRequest): boolean {
  return uid !== undefined && nodeUid !== undefined && uid !== nodeUid
}

function isOtherBoot({ bootIDBefore }: RebootRequest, { bootID }: FencedNodeView): boolean {
  return bootIDBefore !== undefined && bootID !== '' && bootID !== bootIDBefore
}

/** A deletion cannot be taken back: without a hook the machine goes, whatever is decided. */
function isLeaving(machine: MachineView | undefined): boolean {
  return machine?.isBeingDeleted === true && !machine.isHookedByUs
}

/** What is noted on a request, so that its time is counted from when its node first went. */
export interface OutageNote {
  readonly request: string
  /** Undefined: the note is removed, since the node came back without a reboot. */
  readonly awaySinceMs: number | undefined
}

/** Only what changes, and only for nodes that somebody would fence. */
export function outageNotes(
  { reboots, nowMs }: Seen,
  nodes: ReadonlyMap<string, FencedNodeView>,
  isWatched: (node: string) => boolean,
): readonly OutageNote[] {
  return (reboots.known ? reboots.value : []).flatMap((request): OutageNote[] => {
    const node = nodes.get(request.nodeName)
    if (node === undefined || isOther(node, request) || request.phase === 'Draining') return []
    const isNoted = request.notedAwayMs !== undefined
    if (node.isReady) {
      return isNoted && !isOtherBoot(request, node) ? [{ request: request.name, awaySinceMs: undefined }] : []
    }
    if (isNoted || !isWatched(node.name)) return []
    return [{ request: request.name, awaySinceMs: awaySince(request, node, nowMs) }]
  })
}

/** In how many milliseconds the first of them is over because time has passed. */
export function outagesChangeInMs(outages: ReadonlyMap<string, PlannedOutage>, nowMs: number): number | undefined {
  const waits = [...outages.values()].flatMap(({ untilMs, isOver }) =>
    isOver || untilMs === undefined ? [] : [untilMs - nowMs],
  )
  return waits.length === 0 ? undefined : Math.min(...waits)
}
