import type { SickNode } from './choose-target.ts'
import type { NodesForQuorum } from './decide-gates.ts'
import type { FenceAnswer } from './decision.ts'
import type { FencingIndex } from './fencing-index.ts'
import type { JudgedCluster } from './judged-cluster.ts'
import type { Occupancy } from './occupancy.ts'
import { overrideText } from './override-text.ts'
import type { PlannedOutage } from './planned-outages.ts'
import { plannedWords } from './planned-words.ts'

type Words = Pick<FenceAnswer, 'mayFence' | 'reason' | 'explanation' | 'wayOut'>

interface Judged {
  /** In the order of the clusters. */
  readonly judged: readonly JudgedCluster[]
  readonly sick: readonly SickNode[]
  readonly targets: ReadonlySet<string>
  readonly forQuorum: NodesForQuorum
  /** Answers of the last pass; unchanged ones are reused. */
  readonly before: readonly FenceAnswer[]
}

const underWay: Words = { mayFence: true, reason: 'FenceUnderWay', explanation: 'It is being fenced.', wayOut: '' }
const empty: Words = {
  mayFence: true,
  reason: 'MachineHasNoOsds',
  explanation: 'No OSD runs on it any more, so storage does not hold it back.',
  wayOut: '',
}
const restoresQuorum: Words = {
  mayFence: true,
  reason: 'FenceRestoresQuorum',
  explanation: 'Ceph has no quorum, and its monitor here is needed for one: the machine may be fenced.',
  wayOut: '',
}
const allowed: Words = {
  mayFence: true,
  reason: 'FenceAllowed',
  explanation: 'All placement groups are clean: one machine may be fenced.',
  wayOut: '',
}

/** May the machine of a node be fenced? For every node with an OSD that runs or ran, or that is rebooted on plan, in the order of their names. */
export function nodeAnswers(
  index: FencingIndex,
  { judged, sick, targets, forQuorum, before }: Judged,
): readonly FenceAnswer[] {
  const sickClusters = new Map(sick.map(({ node, clusters }) => [node.name, clusters]))
  const isSick = new Set(sickClusters.keys())
  const fenced = new Set(judged.flatMap(({ fences }) => fences.flatMap(({ isOver, node }) => (isOver ? [] : [node]))))
  const first = [...targets].filter((name) => isSick.has(name))
  const special = new Set([...fenced, ...targets, ...isSick])
  const refusals = new Map<Occupancy, Words | undefined>()
  const answers: FenceAnswer[] = []
  for (const { node, machine, occupancy } of index.placedNodes) {
    const outage = index.outages.get(node)
    if (occupancy.concerned.length === 0 && outage === undefined) continue
    const words =
      occupancy.isInUse && !special.has(node) && outage === undefined
        ? (refusalOf(occupancy) ?? allowed)
        : wordsFor(node, occupancy, outage)
    const known = before[answers.length]
    const isKnown = known?.node === node && known.machine === machine && says(known, words)
    answers.push(isKnown ? known : built(node, machine, words))
  }
  return answers

  function wordsFor(name: string, occupancy: Occupancy, outage: PlannedOutage | undefined): Words {
    if (fenced.has(name)) return underWay
    if (outage?.isOver === false) return plannedWords(outage)
    const words = storageWords(name, occupancy)
    return outage !== undefined && words.mayFence && words !== restoresQuorum ? plannedWords(outage) : words
  }

  function storageWords(name: string, occupancy: Occupancy): Words {
    if (forQuorum.released.has(name)) return restoresQuorum
    if (!occupancy.isInUse) return empty
    if (targets.has(name)) return allowed
    const clusters = sickClusters.get(name)
    const refusal = refusalOf(occupancy)
    if (clusters === undefined) return refusal ?? allowed
    return withOverride(refusal ?? wordsInTurn(first), clusters)
  }

  function refusalOf(occupancy: Occupancy): Words | undefined {
    if (refusals.has(occupancy)) return refusals.get(occupancy)
    const refusing = judged.find(
      ({ verdict }, at) => !verdict.mayLoseOne && (occupancy.runs.includes(at) || occupancy.unknown.includes(at)),
    )
    const words = refusing === undefined ? undefined : { ...refusing.verdict, mayFence: false }
    refusals.set(occupancy, words)
    return words
  }
}

function built(
  node: string,
  machine: string | undefined,
  { mayFence, reason, explanation, wayOut }: Words,
): FenceAnswer {
  return { node, machine, mayFence, reason, explanation, wayOut }
}

function says(known: Words, { mayFence, reason, explanation, wayOut }: Words): boolean {
  return (
    known.mayFence === mayFence &&
    known.reason === reason &&
    known.explanation === explanation &&
    known.wayOut === wayOut
  )
}

function wordsInTurn(first: readonly string[]): Words {
  return {
    mayFence: false,
    reason: 'FenceInTurn',
    explanation: `${first.join(', ')} is first in the queue.`,
    wayOut: 'It is queued until Ceph is clean again.',
  }
}

/** Whatever keeps a sick node says how it can be fenced all the same. */
function withOverride(words: Words, clusters: SickNode['clusters']): Words {
  const overrides = clusters.map(({ cluster }) => overrideText(cluster)).filter((text) => !words.wayOut.includes(text))
  return overrides.length === 0 ? words : { ...words, wayOut: [words.wayOut, ...overrides].join(' ') }
}
