import type { SickNode } from './choose-target.ts'
import type { JudgedCluster } from './decide.ts'
import type { FenceAnswer } from './decision.ts'
import type { FencingIndex } from './fences.ts'

interface Judged {
  readonly judged: readonly JudgedCluster[]
  readonly sick: readonly SickNode[]
  readonly targets: ReadonlySet<string>
}

/** May the machine of a node be fenced? For every node with an OSD that runs or ran, in the order of their names. */
export function nodeAnswers(index: FencingIndex, { judged, sick, targets }: Judged): FenceAnswer[] {
  const isSick = new Set(sick.map(({ node }) => node.name))
  const answers: FenceAnswer[] = []
  for (const node of index.snapshot.nodes) {
    const concerned = judged.filter(({ labelled: { osds } }) =>
      [osds.running, osds.uncertain, osds.down].some((on) => on.has(node.name)),
    )
    if (concerned.length === 0) continue
    const machine = index.machinesByNode.get(node.name)
    const base = { node: node.name, machine: machine?.name }
    const holding = concerned.filter(({ labelled: { osds } }) => !osds.down.has(node.name))
    const refusing = holding.find(({ verdict }) => !verdict.maySpare)
    if (targets.has(node.name) && !isSick.has(node.name)) {
      answers.push({ ...base, mayFence: true, reason: 'FenceUnderWay', explanation: 'It is being fenced.', wayOut: '' })
    } else if (holding.length === 0) {
      const explanation = 'No OSD runs on it any more, so storage does not hold it back.'
      answers.push({ ...base, mayFence: true, reason: 'MachineHasNoOsds', explanation, wayOut: '' })
    } else if (refusing !== undefined && !targets.has(node.name)) {
      const { reason, explanation, wayOut } = refusing.verdict
      answers.push({ ...base, mayFence: false, reason, explanation, wayOut })
    } else if (isSick.has(node.name) && !targets.has(node.name)) {
      const first = [...targets].filter((name) => isSick.has(name)).join(', ')
      const explanation = `${first === '' ? 'Another node' : first} comes first.`
      answers.push({
        ...base,
        mayFence: false,
        reason: 'FenceInTurn',
        explanation,
        wayOut: 'Its turn comes when Ceph is clean again.',
      })
    } else {
      const explanation = 'All placement groups are clean: one machine may be fenced.'
      answers.push({ ...base, mayFence: true, reason: 'FenceAllowed', explanation, wayOut: '' })
    }
  }
  return answers.sort((a, b) => (a.node < b.node ? -1 : 1))
}
