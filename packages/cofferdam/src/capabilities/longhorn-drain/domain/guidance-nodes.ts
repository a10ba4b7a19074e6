import type { LonghornDecision } from './decision.ts'
import type { EvictionFields, GuidanceDecision, GuidanceStep } from './guidance-decision.ts'
import { type Asked, type AskedMark, askedAnnotation, buildAskedMark, type GuidanceMarks } from './guidance-marks.ts'
import { IndexedSnapshot } from './longhorn-index.ts'
import { hasProtectedCopyElsewhere } from './protection.ts'
import type { RevertedWrite } from './reverted-writes.ts'
import type { DrainPolicy, LonghornNodeView, LonghornSnapshot, ReplicaView } from './snapshot.ts'

interface NodeGuidance {
  readonly snapshot: LonghornSnapshot
  readonly decision: LonghornDecision
  readonly marks: GuidanceMarks
  readonly leaving: readonly LonghornNodeView[]
  /** Undefined: no disk may be asked for. */
  readonly inForce: DrainPolicy | undefined
}

type NodeSteps = Pick<GuidanceDecision, 'steps' | 'reverted'>

const nothingAsked: AskedMark = { node: undefined, disks: new Map() }
const nothing: NodeSteps = { steps: [], reverted: [] }

/** Asks for disks to be emptied where volumes want what the policy in force does not do, and takes it back. */
export function guideNodes(guidance: NodeGuidance): GuidanceDecision {
  const { snapshot, marks } = guidance
  const unreadable = new Set(snapshot.unreadable.map(({ object }) => object))
  const leaving = new Set(guidance.leaving)
  const waiting = replicasLeftBehind(guidance)
  const found: NodeSteps[] = []
  const problems: { object: string; problem: string }[] = []
  for (const node of snapshot.nodes) {
    const mark = marks.nodes.get(node.name)
    if (mark === undefined || unreadable.has(`node/${node.name}`)) continue
    if (mark.asked?.known === false) {
      const problem = `${mark.asked.why}, so nothing is taken back. Set evictionRequested and allowScheduling of the node and its disks as they should be, and take the annotation away`
      problems.push({ object: `node/${node.name}`, problem })
      continue
    }
    const asked = mark.asked?.value ?? nothingAsked
    const whole = { isEvictionAsked: node.isEvictionAsked, allowScheduling: mark.allowScheduling }
    if (!leaving.has(node)) {
      if (mark.asked !== undefined) found.push({ ...nothing, steps: [withdraw(node, whole, asked)] })
      continue
    }
    const replicas = waiting.filter((replica) => replica.node === node.name)
    found.push(stay(node, { whole, asked, wanted: disksToAsk(node, asked, replicas), guidance }))
  }
  return { steps: found.flatMap(({ steps }) => steps), reverted: found.flatMap(({ reverted }) => reverted), problems }
}

interface Emptied {
  readonly isEvictionAsked: boolean
  readonly allowScheduling: boolean
}

interface Leaver {
  readonly whole: Emptied
  readonly asked: AskedMark
  /** Replicas for whose sake a disk is asked for now, by its name. */
  readonly wanted: ReadonlyMap<string, readonly ReplicaView[]>
  readonly guidance: NodeGuidance
}

/**
 * Asks for the disks that are wanted, and writes down what became another client's while the node leaves: the request once he
 * lowered it, and scheduling once he opened the disk or asked for its eviction himself. Whatever he does next then stays.
 */
function stay(node: LonghornNodeView, { whole, asked, wanted, guidance }: Leaver): NodeSteps {
  const disks = new Map<string, Asked>()
  const fields: Record<string, EvictionFields> = {}
  const reverted: RevertedWrite[] = []
  for (const disk of node.disks) {
    const { name } = disk
    const before = asked.disks.get(name)
    if (wanted.has(name)) {
      disks.set(name, { allowScheduling: disk.allowScheduling, isYielded: false })
      fields[name] = { evictionRequested: true, allowScheduling: false }
    } else if (before !== undefined) {
      const after = yielded(disk, before)
      disks.set(name, after)
      if (after.isYielded && !before.isYielded) reverted.push({ kind: 'disk', name, node: node.name })
    }
  }
  const wholeAfter = asked.node === undefined ? undefined : yielded(whole, asked.node)
  const isYieldNew = reverted.length > 0 || wholeAfter?.isYielded !== asked.node?.isYielded
  const mark = buildAskedMark({ node: wholeAfter, disks })
  if (mark === buildAskedMark(asked)) return nothing
  const step: GuidanceStep = {
    kind: 'node',
    name: node.name,
    annotations: { [askedAnnotation]: mark },
    ...(wanted.size === 0 ? {} : { spec: { disks: fields } }),
    ...(wanted.size > 0
      ? { reason: 'DiskEvictionAsked' as const }
      : isYieldNew
        ? { reason: 'GuideYields' as const }
        : {}),
    explanation:
      wanted.size > 0
        ? askText(node.name, wanted, guidance.inForce)
        : `What was requested of node ${node.name} was withdrawn by another client; it is not requested again in this drain.`,
  }
  return { steps: [step], reverted }
}

function yielded(seen: Emptied, asked: Asked): Asked {
  if (seen.isEvictionAsked && !asked.isYielded) return asked
  return { allowScheduling: isToOpen(seen, asked), isYielded: true }
}

function withdraw(node: LonghornNodeView, whole: Emptied, asked: AskedMark): GuidanceStep {
  const disks: Record<string, EvictionFields> = {}
  for (const disk of node.disks) {
    const before = asked.disks.get(disk.name)
    const fields = before === undefined ? {} : restored(disk, before)
    if (Object.keys(fields).length > 0) disks[disk.name] = fields
  }
  const own = asked.node === undefined ? {} : restored(whole, asked.node)
  const changed = [own, ...Object.values(disks)]
  const isOurs = changed.some(({ evictionRequested }) => evictionRequested === false)
  const opens = changed.some(({ allowScheduling }) => allowScheduling === true)
  return {
    kind: 'node',
    name: node.name,
    annotations: { [askedAnnotation]: null },
    spec: { ...own, ...(Object.keys(disks).length === 0 ? {} : { disks }) },
    ...(isOurs ? { reason: 'DiskEvictionWithdrawn' as const } : {}),
    explanation: `Node ${node.name} is not being drained any more: the eviction of its disks is withdrawn${opens ? ', and they take replicas again' : ''}.`,
  }
}

function restored(seen: Emptied, asked: Asked): EvictionFields {
  const isOurs = seen.isEvictionAsked && !asked.isYielded
  return {
    ...(isOurs ? { evictionRequested: false } : {}),
    ...(isToOpen(seen, asked) ? { allowScheduling: true } : {}),
  }
}

/** Longhorn refuses scheduling where something is being emptied, so it stays off where somebody else empties it. */
function isToOpen({ isEvictionAsked, allowScheduling }: Emptied, asked: Asked): boolean {
  const isHis = isEvictionAsked && asked.isYielded
  return asked.allowScheduling && !allowScheduling && !isHis
}

/** Disks that nobody asked for yet and that hold a replica which waits. Where a user empties the node, all of it leaves anyway. */
function disksToAsk(
  { kubernetes, isEvictionAsked, disks }: LonghornNodeView,
  asked: AskedMark,
  replicas: readonly ReplicaView[],
): ReadonlyMap<string, readonly ReplicaView[]> {
  const wanted = new Map<string, readonly ReplicaView[]>()
  if (kubernetes !== 'ready' || isEvictionAsked || asked.node !== undefined) return wanted
  for (const disk of disks) {
    const here = replicas.filter(({ diskUuid }) => diskUuid === disk.uuid)
    if (here.length > 0 && !disk.isEvictionAsked && !asked.disks.has(disk.name)) wanted.set(disk.name, here)
  }
  return wanted
}

/** Replicas that a policy of their own wants moved, and that the policy in force leaves where they are. */
function replicasLeftBehind({ snapshot, decision, leaving, inForce }: NodeGuidance): readonly ReplicaView[] {
  if (inForce === undefined || inForce === 'block-for-eviction') return []
  const places = new Set(leaving.map(({ name }) => name))
  const wanted = new Set(
    decision.evictions
      .filter(({ node, isRequested, event }) => places.has(node) && isRequested && event === 'EvictionAutomatic')
      .map(({ replica }) => replica),
  )
  const willing = new Set(
    snapshot.volumes
      .filter(({ policy, isStrictLocal }) => policy?.known === true && !isStrictLocal)
      .map(({ name }) => name),
  )
  if (wanted.size === 0 || willing.size === 0) return []
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

function askText(
  node: string,
  wanted: ReadonlyMap<string, readonly ReplicaView[]>,
  inForce: DrainPolicy | undefined,
): string {
  const volumes = [...new Set([...wanted.values()].flat().map(({ volume }) => volume))].sort()
  const more = volumes.length > 3 ? ` and ${volumes.length - 3} more` : ''
  const which = `${volumes.length === 1 ? 'Volume' : 'Volumes'} ${volumes.slice(0, 3).join(', ')}${more}`
  const disks = [...wanted.keys()].sort()
  const where = `${disks.length === 1 ? 'disk' : 'disks'} ${disks.join(', ')}`
  return `${which} must leave node ${node}, which policy ${inForce} does not do. Longhorn can only evict a whole disk: all replicas on ${where} move.`
}
