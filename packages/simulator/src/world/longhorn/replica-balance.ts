import { compareText } from '../pod-facts.ts'
import { isHealthy, type ReplicaFacts, robustnessOf, type VolumeFacts } from './volume-health.ts'

interface OpenNode {
  readonly name: string
  readonly zone: string
}

/**
 * Nodes that are better for a copy than one that has it, best choice first: the one where the volume is used, where that
 * is wished; then zones and nodes that have fewer copies than others, where they are to be balanced.
 *
 * Guarantees: every move to such a place, and the deletion of the surplus that follows, leaves fewer copies side by side
 * or a copy beside the user, so that moves come to an end.
 */
export function betterPlaces(facts: VolumeFacts, open: readonly OpenNode[]): string[][] {
  const { replicas, wantedCount, localNode, balance, isAttached } = facts
  const healthy = replicas.filter((replica) => isHealthy(replica, isAttached))
  const isQuiet = robustnessOf(facts) === 'healthy' && healthy.length <= wantedCount
  if (!isQuiet || replicas.some(({ isEvicting }) => isEvicting)) return []
  const places: string[][] = []
  if (localNode !== undefined && replicas.every(({ node }) => node !== localNode)) places.push([localNode])
  if (balance === 'disabled') return places
  const onNode = countBy(healthy, ({ node }) => node)
  const inZone = countBy(healthy, ({ zone }) => zone)
  const isUnused = ({ name }: OpenNode) => !onNode.has(name)
  const scarceZones = scarce(
    open.map(({ zone }) => zone),
    inZone,
    balance,
  )
  const scarceNodes = scarce(
    open.map(({ name }) => name),
    onNode,
    balance,
  )
  places.push(open.filter((node) => scarceZones.has(node.zone) && isUnused(node)).map(({ name }) => name))
  places.push(open.filter(({ name }) => scarceNodes.has(name)).map(({ name }) => name))
  return places.filter((names) => names.length > 0)
}

/** Those with the fewest copies, where another has at least two more; with little effort, those with none. */
function scarce(
  names: readonly string[],
  counts: ReadonlyMap<string, number>,
  balance: VolumeFacts['balance'],
): ReadonlySet<string> {
  const least = Math.min(...names.map((name) => counts.get(name) ?? 0))
  const most = Math.max(0, ...counts.values())
  if (most - least < 2 || (balance === 'least-effort' && least > 0)) return new Set()
  return new Set(names.filter((name) => (counts.get(name) ?? 0) === least))
}

/** The copy that is one too many, where locality or balance lets one go: not the one beside its user, of the others the most crowded. */
export function decideSurplus(facts: VolumeFacts): string | undefined {
  const { replicas, wantedCount, localNode, balance, isAttached } = facts
  const healthy = replicas.filter((replica) => isHealthy(replica, isAttached))
  if (!isAttached || healthy.length <= wantedCount || healthy.length < 2) return undefined
  if (replicas.some(({ isEvicting }) => isEvicting)) return undefined
  const local = healthy.find(({ node }) => node === localNode)
  if (local === undefined && balance === 'disabled') return undefined
  const onNode = countBy(healthy, ({ node }) => node)
  const inZone = countBy(healthy, ({ zone }) => zone)
  const crowding = ({ node, zone }: ReplicaFacts) => (onNode.get(node) ?? 0) * 1_000 + (inZone.get(zone) ?? 0)
  return healthy
    .filter((replica) => replica !== local)
    .sort((a, b) => crowding(b) - crowding(a) || compareText(a.name, b.name))[0]?.name
}

function countBy(replicas: readonly ReplicaFacts[], keyOf: (replica: ReplicaFacts) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const replica of replicas) counts.set(keyOf(replica), (counts.get(keyOf(replica)) ?? 0) + 1)
  return counts
}
