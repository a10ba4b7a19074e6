import { isSelected, parseLabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { harmlessText } from '../../../shared/harmless-text.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { compareText } from '../../../shared/last-writer.ts'
import type { WantedNode } from '../../../shared/tool-request.ts'
import type { DecidedPlaces } from './decide-places.ts'
import { hasRebooted, isPaused, type KuredView } from './kured-view.ts'
import type { KuredNode } from './snapshot.ts'

const skipDrainLabel = 'cofferdam.io/skip-drain'
/** A request that waits for so long lets another node go before it. */
const longWaitMs = 600_000
const askAgainMs = 300_000

/**
 * Nodes that kured wants to reboot and that may be drained for it now: as many at a time as kured would reboot, the one that has waited
 * longest first. One that cannot begin for long does not hold up the next.
 */
export function decideWantedNodes(view: KuredView, places: Pick<DecidedPlaces, 'holders' | 'handed'>): WantedNode[] {
  const { nodes, standing, flags } = view
  const decided = { ...view, handed: places.handed }
  const kept = [...standing.values()].flatMap((request) => {
    const node = nodes.get(request.spec.nodeName)
    return node !== undefined && isStillWanted(decided, places, request, node) ? [{ request, node }] : []
  })
  const atOnce = flags.concurrency
  const alone = [...places.holders].filter((name) => !standing.has(name)).length
  const passed = kept.filter(({ request }) => hasWaitedLong(view, request)).length
  const free = Math.max(0, atOnce - alone - standing.size + Math.min(passed, atOnce))
  const next = [...nodes.values()]
    .filter((node) => isWanted(node))
    .filter((node) => !standing.has(node.name) && mayBeAsked(decided, places, node))
    .toSorted((a, b) => compareText(a.wantedSince, b.wantedSince) || compareText(a.name, b.name))
    .slice(0, free)
  return [...kept.map(({ node }) => node), ...next].map((node) => buildWanted(view, node))
}

/** A request that is ending is left to end by itself. */
function isStillWanted(
  view: KuredView,
  { holders }: Pick<DecidedPlaces, 'holders'>,
  request: NodeDisruption,
  node: KuredNode,
): boolean {
  if (request.metadata.deletionTimestamp !== undefined) return false
  if (request.status?.phase === 'Recovering' || hasRebooted(request, node)) return true
  if (!isWanted(node) || isPaused(view, node)) return false
  return holders.has(node.name) || (view.isActive && view.mayReboot)
}

function isWanted(node: KuredNode): node is KuredNode & Required<Pick<KuredNode, 'wantedSince'>> {
  return node.wantedSince !== undefined
}

/** One that holds a place is about to reboot or has just done so, and kured has yet to say that it is over. */
function mayBeAsked(view: KuredView, { holders }: Pick<DecidedPlaces, 'holders'>, node: KuredNode): boolean {
  if (!view.isActive || !view.mayBegin || !node.isReady) return false
  if (holders.has(node.name) || isPaused(view, node)) return false
  const before = view.over.get(node.name) ?? []
  return !before.some(({ status }) => sinceMs(view, status?.phaseSince) < askAgainMs)
}

function hasWaitedLong(view: KuredView, { status }: NodeDisruption): boolean {
  return status?.phase === 'Waiting' && sinceMs(view, status.phaseSince) >= longWaitMs
}

function sinceMs({ nowMs }: KuredView, time: string | undefined): number {
  return nowMs - (parseRfc3339(time ?? '') ?? nowMs)
}

function buildWanted({ over, flags, object }: KuredView, { name, bootID, wantedSince = '' }: KuredNode): WantedNode {
  // What is over counts in: kured still wants the node when its pod was replaced, or its drain failed, before it could reboot.
  const before = (over.get(name) ?? []).map(({ metadata }) => metadata.uid as string)
  return {
    nodeName: name,
    askedBy: object,
    identity: [wantedSince, bootID, ...before.sort()].join(' '),
    reason: `kured wants to reboot it since ${harmlessText(wantedSince).slice(0, 64)}`,
    spec: {
      intent: 'Reboot',
      honourSkipDrain: leavesStayingPods(flags.drainPodSelector),
      force: true,
      deleteEmptyDirData: true,
    },
  }
}

/**
 * Whether kured's own drain passes over pods that stay, whatever other labels they have. It would otherwise try to evict them, be refused for as long as their budgets are
 * held, and never reboot.
 */
function leavesStayingPods(selector: string): boolean {
  try {
    const { matchExpressions = [] } = parseLabelSelector(selector)
    const stays = { [skipDrainLabel]: 'true' }
    return matchExpressions.some(
      (part) => part.key === skipDrainLabel && !isSelected({ matchExpressions: [part] }, stays),
    )
  } catch {
    return false
  }
}
