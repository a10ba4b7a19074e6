import type { FencedCluster, FencedMon, FencedNodeView } from './snapshot.ts'

/** How long a node must have sent no heartbeat before its monitor counts as gone: shorter outages pass by themselves. */
const graceMs = 2 * 60_000
/** A released machine that has not brought its monitor back after so long will not be the only one any more. */
const patienceMs = 15 * 60_000

/** Ceph is silent because most of its monitors are on nodes that are gone. */
export interface LostQuorum {
  readonly mons: number
  /** Monitors on nodes without a heartbeat. */
  readonly dead: readonly string[]
  /** Their nodes, the last to fall silent first: with it Ceph still answered. */
  readonly deadNodes: readonly string[]
  /** Dead nodes whose machines may be fenced now. */
  readonly released: ReadonlySet<string>
}

type QuorumFacts = Pick<FencedCluster, 'mons' | 'silence'>

/**
 * Whether dead nodes explain that Ceph is silent, and which of them may be fenced to bring a monitor back: without them Ceph
 * never answers, and without its answer nothing would ever be fenced.
 *
 * Guarantees: a node is released only if its kubelet has sent no heartbeat for two minutes and it carries a monitor, fewer
 * monitors than a majority can be running, and Ceph gave no answer since the last of those nodes fell silent: one that did needs
 * none of them; and no node that is rebooted on plan. One at a time, the last to fall silent first; another one only when the monitor of the first is back, or has not
 * come back within a quarter of an hour.
 */
export function lostQuorum(
  { mons = [], silence }: QuorumFacts,
  nodes: ReadonlyMap<string, FencedNodeView>,
  nowMs: number,
  isPlanned: (node: string) => boolean = () => false,
): LostQuorum | undefined {
  if (silence === undefined || mons.length === 0) return undefined
  const states = mons.map((mon) => ({ ...stateOf(mon, nodes, nowMs), name: mon.name }))
  const majority = Math.floor(mons.length / 2) + 1
  if (states.filter(({ mayRun }) => mayRun).length >= majority) return undefined
  const dead = states.filter(({ mayRun, silentNodes }) => !mayRun && silentNodes.length > 0)
  if (dead.length === 0) return undefined
  const silent = [...new Set(dead.flatMap(({ silentNodes }) => silentNodes))].sort(
    (a, b) => b.sinceMs - a.sinceMs || (a.node.name < b.node.name ? -1 : 1),
  )
  const lastMs = Math.max(...silent.map(({ sinceMs }) => sinceMs))
  if (silence.lastAnswerMs !== undefined && silence.lastAnswerMs > lastMs) return undefined
  const away = states.filter(({ mayRun, silentNodes }) => !mayRun && silentNodes.length === 0).length
  const overdue = Math.floor((nowMs - lastMs - graceMs) / patienceMs)
  const quota = Math.max(0, 1 + overdue - away)
  const deadNodes = [...new Set(silent.map(({ node }) => node.name))]
  return {
    mons: mons.length,
    dead: dead.map(({ name }) => name).sort(),
    deadNodes,
    released: new Set(deadNodes.filter((node) => !isPlanned(node)).slice(0, quota)),
  }
}

/** In how many milliseconds the answer may be another because time has passed; undefined: while Ceph answers, never. */
export function quorumChangesInMs(
  { silence }: QuorumFacts,
  nodes: readonly FencedNodeView[],
  nowMs: number,
): number | undefined {
  if (silence === undefined) return undefined
  const waits = nodes.flatMap(({ isSilent, notReadySinceMs }) => {
    if (isSilent !== true || notReadySinceMs === undefined) return []
    const overMs = nowMs - notReadySinceMs - graceMs
    return overMs < 0 ? -overMs : patienceMs - (overMs % patienceMs)
  })
  return waits.length === 0 ? undefined : Math.min(...waits)
}

interface SilentNode {
  readonly node: FencedNodeView
  readonly sinceMs: number
}

/** A monitor cannot run where no kubelet speaks any more, nor where one says that it does not; everywhere else it may. */
function stateOf(
  { places }: FencedMon,
  nodes: ReadonlyMap<string, FencedNodeView>,
  nowMs: number,
): { readonly mayRun: boolean; readonly silentNodes: readonly SilentNode[] } {
  let mayRun = false
  const silentNodes: SilentNode[] = []
  for (const { nodeName, isReady } of places) {
    const node = nodes.get(nodeName)
    if (node === undefined) continue
    const sinceMs = node.notReadySinceMs
    if (node.isReady) mayRun ||= isReady
    else if (node.isSilent === true && sinceMs !== undefined && nowMs - sinceMs >= graceMs)
      silentNodes.push({ node, sinceMs })
    else mayRun = true
  }
  return { mayRun, silentNodes }
}

export function explainLostQuorum({ mons, dead, deadNodes, released }: LostQuorum): string {
  const where = `Ceph has no quorum: ${dead.length} of ${mons} monitors (${dead.join(', ')}) are on nodes without a heartbeat (${deadNodes.join(', ')})`
  return released.size === 0
    ? `${where}. A monitor that was moved or restarted is awaited first.`
    : `${where}. To bring a monitor back, ${[...released].join(', ')} may be fenced.`
}
