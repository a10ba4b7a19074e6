import type { LonghornDecision } from './decision.ts'
import type { GuidanceDecision, GuidanceStep } from './guidance-decision.ts'
import { type AskedMark, askedAnnotation, buildAskedMark, type GuidanceMarks, type NodeMark } from './guidance-marks.ts'
import { IndexedSnapshot } from './longhorn-index.ts'
import { hasProtectedCopyElsewhere } from './protection.ts'
import type { DrainPolicy, LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

interface NodeGuidance {
  readonly snapshot: LonghornSnapshot
  readonly decision: LonghornDecision
  readonly marks: GuidanceMarks
  readonly leaving: readonly LonghornNodeView[]
  /** Undefined: no node may be asked for. */
  readonly inForce: DrainPolicy | undefined
}

/** Asks for nodes to be emptied where volumes want what the policy in force does not do, and takes it back. */
export function guideNodes(guidance: NodeGuidance): GuidanceDecision {
  const { snapshot, marks } = guidance
  const unreadable = new Set(snapshot.unreadable.map(({ object }) => object))
  const leaving = new Set(guidance.leaving)
  const steps: GuidanceStep[] = []
  const problems: { object: string; problem: string }[] = []
  for (const node of snapshot.nodes) {
    const mark = marks.nodes.get(node.name)
    if (mark?.asked === undefined || unreadable.has(`node/${node.name}`)) continue
    if (!mark.asked.known) {
      const problem = `${mark.asked.why}, so nothing is taken back. Set spec.evictionRequested and spec.allowScheduling as they should be, and take the annotation away`
      problems.push({ object: `node/${node.name}`, problem })
      continue
    }
    const step = leaving.has(node) ? yieldTo(node, mark, mark.asked.value) : withdraw(node, mark, mark.asked.value)
    if (step !== undefined) steps.push(step)
  }
  return { steps: [...steps, ...askForNodes(guidance, unreadable)], problems }
}

function askForNodes(guidance: NodeGuidance, unreadable: ReadonlySet<string>): GuidanceStep[] {
  const { decision, marks, inForce, leaving } = guidance
  if (inForce === undefined || inForce === 'block-for-eviction') return []
  const open = new Map(
    leaving
      .filter(({ name, kubernetes, isEvictionAsked }) => {
        const isOurs = marks.nodes.get(name)?.asked !== undefined
        return kubernetes === 'ready' && !isEvictionAsked && !isOurs && !unreadable.has(`node/${name}`)
      })
      .map((node) => [node.name, node]),
  )
  const answers = decision.evictions.filter(
    ({ node, isRequested, event }) => open.has(node) && isRequested && event === 'EvictionAutomatic',
  )
  if (answers.length === 0) return []
  const waiting = replicasLeftBehind(guidance, new Set(answers.map(({ replica }) => replica)))
  return [...open.keys()].sort().flatMap((name) => {
    const replicas = waiting.filter(({ node }) => node === name)
    return replicas.length === 0 ? [] : [ask(name, marks.nodes.get(name), { replicas, inForce })]
  })
}

/** Replicas that a policy of their own wants moved, and that the policy in force leaves where they are. */
function replicasLeftBehind({ snapshot, inForce }: NodeGuidance, wanted: ReadonlySet<string>): ReplicaView[] {
  const willing = new Set(
    snapshot.volumes
      .filter(({ policy, isStrictLocal }) => policy?.known === true && !isStrictLocal)
      .map(({ name }) => name),
  )
  if (willing.size === 0) return []
  const replicas = snapshot.replicas.filter(
    ({ name, volume, isBeingDeleted }) => wanted.has(name) && willing.has(volume) && !isBeingDeleted,
  )
  if (replicas.length === 0 || inForce !== 'block-for-eviction-if-contains-last-replica') return replicas
  const index = new IndexedSnapshot()
  index.update(snapshot)
  const none: ReadonlySet<string> = new Set()
  const so = { index, released: none, planned: none, surplus: none }
  return replicas.filter((replica) => hasProtectedCopyElsewhere(so, replica))
}

function ask(
  name: string,
  mark: NodeMark | undefined,
  { replicas, inForce }: { readonly replicas: readonly ReplicaView[]; readonly inForce: DrainPolicy },
): GuidanceStep {
  const volumes = [...new Set(replicas.map(({ volume }) => volume))].sort()
  const more = volumes.length > 3 ? ` and ${volumes.length - 3} more` : ''
  const which = `${volumes.length === 1 ? 'Volume' : 'Volumes'} ${volumes.slice(0, 3).join(', ')}${more}`
  const asked = buildAskedMark({ allowScheduling: mark?.allowScheduling ?? false, isYielded: false })
  return {
    kind: 'node',
    name,
    annotations: { [askedAnnotation]: asked },
    spec: { evictionRequested: true, allowScheduling: false },
    reason: 'NodeEvictionAsked',
    explanation: `${which} must leave node ${name}, which policy ${inForce} does not do. Longhorn can only evict a whole node: all replicas on it move.`,
  }
}

/**
 * Writes down what became his while the node leaves: the request once he lowered it, and scheduling once he opened the
 * node or asked for its eviction himself. Whatever he does next then stays.
 */
function yieldTo(node: LonghornNodeView, mark: NodeMark, asked: AskedMark): GuidanceStep | undefined {
  if (node.isEvictionAsked && !asked.isYielded) return undefined
  const allowScheduling = isToOpen(node, mark, asked)
  if (asked.isYielded && asked.allowScheduling === allowScheduling) return undefined
  return {
    kind: 'node',
    name: node.name,
    annotations: { [askedAnnotation]: buildAskedMark({ allowScheduling, isYielded: true }) },
    ...(asked.isYielded ? {} : { reason: 'GuideYields' as const }),
    explanation: `The eviction of node ${node.name} was withdrawn by another client; it is not requested again in this drain.`,
  }
}

function withdraw(node: LonghornNodeView, mark: NodeMark, asked: AskedMark): GuidanceStep {
  const isOurs = node.isEvictionAsked && !asked.isYielded
  const opens = isToOpen(node, mark, asked)
  return {
    kind: 'node',
    name: node.name,
    annotations: { [askedAnnotation]: null },
    spec: { ...(isOurs ? { evictionRequested: false } : {}), ...(opens ? { allowScheduling: true } : {}) },
    ...(isOurs ? { reason: 'NodeEvictionWithdrawn' as const } : {}),
    explanation: `Node ${node.name} is not being drained any more: its eviction is withdrawn${opens ? ', and it takes replicas again' : ''}.`,
  }
}

/** Longhorn refuses scheduling on a node that is being emptied, so it stays off where somebody else empties it. */
function isToOpen(node: LonghornNodeView, { allowScheduling }: NodeMark, asked: AskedMark): boolean {
  const isHis = node.isEvictionAsked && asked.isYielded
  return asked.allowScheduling && !allowScheduling && !isHis
}
