import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { viewBudget, viewDrain, viewNode, viewPod } from '@cofferdam/product/dashboard/server/cluster-view.ts'
import { viewCluster } from '@cofferdam/product/dashboard/server/cluster-view-model.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { type AskPorts, askExplain, askPage, askStatus } from './ask-commands.ts'
import { atOneMoment } from './at-one-moment.ts'

export interface NodeAgreement {
  /** What contradicts itself at one moment: never right. */
  readonly disagreements: readonly string[]
  /** Where the conditions that the operator writes are another: right for as long as a watch and a pass take. */
  readonly behind: readonly string[]
  /** How far drains were: `DrainCompleted`. */
  readonly drains: readonly string[]
}

const words: Readonly<Record<string, readonly string[]>> = {
  NotCordoned: ['ready'],
  CordonedOnly: ['cordoned'],
  DrainEnded: ['cordoned'],
  PodsLeaving: ['draining'],
  EvictionAttempted: ['draining'],
  DrainCompleted: ['drained'],
}

/** Of every node: what `explain`, `status` and the page say of its drain, and what the operator wrote on it. */
export async function compareNodes(ports: AskPorts): Promise<NodeAgreement> {
  return atOneMoment(ports.api, [nodes, pods, nodeDisruptions], () => lookAtNodes(ports))
}

async function lookAtNodes(ports: AskPorts): Promise<NodeAgreement> {
  const { api } = ports
  const [nodeList, podList, budgets, drains] = await Promise.all([
    api.list(nodes),
    api.list(pods),
    api.list(podDisruptionBudgets),
    api.list(nodeDisruptions),
  ])
  const status = new Map((await askStatus(ports)).nodes.map(({ name, drain }) => [name, drain]))
  const page = await askPage(ports)
  const view = {
    nodes: nodeList.items.map(viewNode),
    pods: podList.items.map(viewPod),
    budgets: budgets.items.map(viewBudget),
    drains: drains.items.map(viewDrain),
    ledgers: [],
    longhorn: [],
    events: [],
  }
  const nodeVerdicts = [...page.nodes].map(([id, verdict]) => ({ id, ...verdict }))
  const shown = wordsOf({ ...view, nodeVerdicts })
  // Before the first answer is there the page counts by itself.
  const atFirst = wordsOf(view)
  const disagreements: string[] = []
  const behind: string[] = []
  const seen = new Set<string>()
  for (const node of nodeList.items) {
    const { name } = node.metadata
    const { answer } = await askExplain(ports, `node/${name}`)
    if (answer.kind !== 'node') throw new Error(`node/${name} is a ${answer.kind}`)
    const { drain, isReady } = answer.node
    seen.add(drain)
    const blame = (sentence: string) => disagreements.push(`node/${name}: explain says ${drain}; ${sentence}`)
    if (status.get(name) !== drain) blame(`status says ${status.get(name)}`)
    const judged = page.nodes.get(name)
    if (judged?.mayGo !== answer.mayGo || judged.summary !== answer.summary)
      blame(`the page says ${judged?.summary}, explain ${answer.summary}`)
    const word = shown.get(name) ?? ''
    if (isReady && words[drain]?.includes(word) !== true) blame(`the page says ${word}`)
    if (isReady && (atFirst.get(name) === 'drained') !== (drain === 'DrainCompleted'))
      behind.push(`node/${name}: explain says ${drain}; the page says ${atFirst.get(name)} at first`)
    const isDrained = conditionOf(node, 'Drained')?.status === 'True'
    const isDraining = conditionOf(node, 'DrainInProgress')?.status === 'True'
    const written = isDrained ? 'drained' : isDraining ? 'draining' : 'neither'
    const wanted = drain === 'DrainCompleted' ? 'drained' : words[drain]?.includes('draining') ? 'draining' : 'neither'
    if (written !== wanted) behind.push(`node/${name}: explain says ${drain}; its conditions say ${written}`)
  }
  return { disagreements, behind, drains: [...seen] }
}

function wordsOf(view: Parameters<typeof viewCluster>[0]): ReadonlyMap<string, string> {
  const scenarios = viewCluster(view).zones.flatMap((zone) => zone.nodes)
  return new Map(scenarios.map(({ node, state }) => [node.id, state]))
}

/** An operator that was killed is replaced, and has to read everything first. */
const looksMost = 12

/**
 * Compares now, and again until the conditions say the same: what is said must agree at every moment. The clock moves on by half a
 * second each time.
 */
export async function agreeOnNodes(
  fixture: AskPorts & { seconds(count: number): Promise<void> },
): Promise<Pick<NodeAgreement, 'disagreements' | 'drains'>> {
  const looks: NodeAgreement[] = []
  while (looks.length < looksMost) {
    const look = await compareNodes(fixture)
    looks.push(look)
    if (look.behind.length === 0) break
    await fixture.seconds(0.5)
  }
  const [first, ...rest] = looks
  const lasting =
    looks.length < looksMost
      ? []
      : (first?.behind ?? []).filter((each) => rest.every(({ behind }) => behind.includes(each)))
  return {
    disagreements: [...looks.flatMap(({ disagreements }) => disagreements), ...lasting],
    drains: [...new Set(looks.flatMap(({ drains }) => drains))],
  }
}
