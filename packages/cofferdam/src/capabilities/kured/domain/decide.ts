import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { madeForLabel } from '../../../shared/made-for.ts'
import { known } from '../../../shared/observed.ts'
import { decideToolRequests } from '../../../shared/tool-request.ts'
import { type DecidedPlaces, decidePlaces, ownTtlMs } from './decide-places.ts'
import { lockOwner } from './kured-lock.ts'
import { hasRebooted, type KuredView, kuredTool } from './kured-view.ts'
import { isWindowOpen } from './reboot-window.ts'
import type { KuredDaemonSet, KuredNode, KuredSnapshot } from './snapshot.ts'
import type { KuredNews, KuredStep } from './steps.ts'
import { decideWantedNodes } from './wanted-nodes.ts'

export interface KuredDecision {
  readonly steps: readonly KuredStep[]
  readonly recheckAfterMs?: number
}

const patrolMs = 60_000
/** A reboot that kured began at the end of its window is not cut off. */
const closingMs = 900_000

/**
 * What is done so that kured reboots a node only when a request has drained it: the places of its lock are held, requests are made for the
 * nodes that it wants to reboot, and a place is handed to each that is drained.
 *
 * Fails closed: nothing is written while the DaemonSet, its flags or its lock cannot be read.
 */
export function decideKured(snapshot: KuredSnapshot): KuredDecision {
  const { daemonSet, requests, now } = snapshot
  const nowMs = parseRfc3339(now)
  if (!daemonSet.known || !requests.known || nowMs === undefined) return { steps: [] }
  const set = daemonSet.value
  if (set === undefined) return { steps: endRequests(snapshot.nodes, requests.value) }
  const problem = set.isOptedIn ? problemOf(set) : undefined
  const standing = [...(problem === undefined ? [] : [problem]), ...takenDown(snapshot, set)]
  const report: KuredStep = { do: 'report', standing }
  if (!set.flags.known || !set.lock.known || problem?.reason === 'KuredLockUnreadable') return { steps: [report] }
  const view = buildView(snapshot.nodes, requests.value, {
    nowMs,
    isActive: set.isOptedIn && problem === undefined,
    object: `daemonset/${set.namespace}/${set.name}`,
    flags: set.flags.value,
    lock: set.lock.value,
    handed: set.handed,
  })
  const places = decidePlaces(view)
  const wanted = known(decideWantedNodes(view, places))
  return {
    steps: [...lockSteps(set, places), ...decideToolRequests({ tool: kuredTool, wanted, requests }), report],
    ...recheck(view, places),
  }
}

function lockSteps({ namespace, name, resourceVersion }: KuredDaemonSet, places: DecidedPlaces): KuredStep[] {
  const { annotations, news } = places
  if (annotations === undefined) return []
  return [{ do: 'write', write: 'lock', daemonSet: { namespace, name, resourceVersion }, annotations, news }]
}

/** kured is gone, and takes no node down any more. What it has rebooted is left to recover. */
function endRequests(nodes: readonly KuredNode[], requests: readonly NodeDisruption[]): readonly KuredStep[] {
  const isEnding = (request: NodeDisruption) => {
    const node = nodes.find(({ name }) => name === request.spec.nodeName)
    return request.status?.phase === 'Recovering' || (node !== undefined && hasRebooted(request, node))
  }
  const left = requests.filter((request) => !isEnding(request))
  return decideToolRequests({ tool: kuredTool, wanted: known([]), requests: known(left) })
}

/** Nodes that kured has taken down by itself with pods on them, as --force-reboot does when its drain takes too long. */
function takenDown({ nodes }: KuredSnapshot, { lock, handed }: KuredDaemonSet): KuredNews[] {
  if (!lock.known) return []
  const alone = lock.value.places.filter(({ holder }) => !handed.some(({ nodeName }) => nodeName === holder))
  return nodes
    .filter(
      ({ name, isReady, isDrained }) => !isReady && isDrained === false && alone.some((each) => each.holder === name),
    )
    .map(({ name, uid }) => ({
      about: { kind: 'Node', name, uid },
      type: 'Warning',
      reason: 'KuredRebootsUndrained',
      note: `${name} is down while kured holds its lock for it, and it was not drained: budgets and locks of its pods did not count. Does kured run with --force-reboot?`,
    }))
}

function problemOf(set: KuredDaemonSet): KuredNews | undefined {
  const { namespace, name, uid, flags, lock } = set
  const about = { kind: 'DaemonSet', namespace, name, uid } as const
  const unfit = (note: string): KuredNews => ({ about, type: 'Warning', reason: 'KuredFlagsUnfit', note })
  const unreadable = (note: string): KuredNews => ({ about, type: 'Warning', reason: 'KuredLockUnreadable', note })
  if (!flags.known) return unfit(`The lock of kured is left to kured: ${flags.why}.`)
  if (!lock.known) {
    return unreadable(`Annotation ${flags.value.lockAnnotation} cannot be read: ${lock.why}. It is left as it is.`)
  }
  const { concurrency, annotatesNodes, isBlockedByPods } = flags.value
  const holders = lock.value.places.filter(({ holder }) => holder !== lockOwner)
  if (concurrency === 1 && holders.length > 1) {
    return unreadable(
      `${holders.length} nodes hold the lock, and kured runs with --concurrency=1. It is left as it is.`,
    )
  }
  if (!annotatesNodes) {
    return unfit(
      'The lock of kured is left to kured: without --annotate-nodes it does not say which node it wants to reboot.',
    )
  }
  if (!isBlockedByPods) return undefined
  return unfit(
    'The lock of kured is left to kured: pods of --blocking-pod-selector would be evicted before kured sees them. Protect them with a budget or a lock instead.',
  )
}

function buildView(
  nodes: readonly KuredNode[],
  requests: readonly NodeDisruption[],
  read: Pick<KuredView, 'nowMs' | 'isActive' | 'object' | 'flags' | 'lock' | 'handed'>,
): KuredView {
  const { nowMs } = read
  const own = requests.filter(({ metadata }) => metadata.labels?.[madeForLabel] === kuredTool)
  const isOver = (phase: string | undefined) => phase === 'Completed' || phase === 'Rejected'
  const { window, delayMs } = read.flags
  const mayBegin = isWindowOpen(window, nowMs)
  const over = new Map<string, NodeDisruption[]>()
  for (const request of own.filter(({ status }) => isOver(status?.phase))) {
    over.set(request.spec.nodeName, [...(over.get(request.spec.nodeName) ?? []), request])
  }
  return {
    ...read,
    mayBegin,
    mayReboot: mayBegin || isWindowOpen(window, nowMs - closingMs - delayMs),
    nodes: new Map(nodes.map((node) => [node.name, node])),
    standing: new Map(own.filter(({ status }) => !isOver(status?.phase)).map((each) => [each.spec.nodeName, each])),
    over,
  }
}

function recheck({ isActive, nodes, nowMs, lock }: KuredView, { handed }: DecidedPlaces): Partial<KuredDecision> {
  const isBusy = handed.length > 0 || (isActive && [...nodes.values()].some((node) => node.wantedSince !== undefined))
  if (isBusy) return { recheckAfterMs: patrolMs }
  if (!isActive) return {}
  const own = lock.places.filter(({ holder }) => holder === lockOwner).map(({ createdMs }) => createdMs)
  return { recheckAfterMs: Math.max(1_000, Math.min(ownTtlMs / 2, ...own.map((ms) => ms + ownTtlMs / 2 - nowMs))) }
}
