import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import {
  longhornInstanceManagers,
  longhornReplicas,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornAnswer } from '@cofferdam/product/capabilities/longhorn-drain/view/longhorn-answer.ts'
import type { LonghornSummary } from '@cofferdam/product/capabilities/longhorn-drain/view/summarize-longhorn.ts'
import type { LonghornPanelModel } from '@cofferdam/product/dashboard/server/longhorn-panel-model.ts'
import { createLonghornWatch } from '@cofferdam/product/dashboard/server/longhorn-watch.ts'
import { isClosedToPods } from '@cofferdam/product/shared/closed-node.ts'
import { type AskPorts, askExplain, askPage, askStatus } from './ask-commands.ts'
import { atOneMoment } from './at-one-moment.ts'

export interface LonghornAgreement {
  readonly disagreements: readonly string[]
  readonly reasons: readonly string[]
}

type Ports = AskPorts & {
  /** What the page's own watch shows; it may be half a second behind. */
  readonly board: () => LonghornPanelModel | undefined
  /** Whether the operator keeps the budgets, not Longhorn. */
  readonly isOurs: boolean
}

export interface FollowedLonghorn {
  /**
   * Compares now, and again until the budgets have caught up: the operator within five seconds, Longhorn itself, which looks every half
   * minute, within forty. The clock moves on by half a second at least, which the page takes to look again.
   */
  compare(): Promise<LonghornAgreement>
  stop(): Promise<void>
}

const looksMost = 10

/** As the page follows it all along. */
export function followLonghorn(
  fixture: AskPorts & { seconds(count: number): Promise<void> },
  isOurs: boolean,
): FollowedLonghorn {
  const watch = createLonghornWatch({ api: fixture.api, clock: fixture.clock, random: seededRandom(1) })
  const ports = { ...fixture, isOurs, board: () => [...watch.list()][0] }
  return {
    async compare() {
      await fixture.seconds(0.6)
      const looks: LonghornAgreement[] = []
      while (looks.length < looksMost) {
        const look = await compareLonghorn(ports)
        looks.push(look)
        if (look.disagreements.length === 0) break
        await fixture.seconds(isOurs ? 0.5 : 4)
      }
      const [first, ...rest] = looks
      return {
        disagreements: (first?.disagreements ?? []).filter(
          (each) =>
            !isExcused(each) ||
            (rest.length + 1 === looksMost && rest.every(({ disagreements }) => disagreements.includes(each))),
        ),
        reasons: [...new Set(looks.flatMap(({ reasons }) => reasons))],
      }
    },
    stop: () => watch.stop(),
  }
}

const isExcused = (sentence: string) => sentence.startsWith(behindMark)
const behindMark = 'behind: '

async function compareLonghorn(ports: Ports): Promise<LonghornAgreement> {
  return atOneMoment(
    ports.api,
    [nodes, pods, podDisruptionBudgets, longhornReplicas, longhornVolumes, longhornInstanceManagers],
    () => lookAtLonghorn(ports),
  )
}

/** Of every node and every instance manager: what is said, and what the API server does with an eviction. */
async function lookAtLonghorn(ports: Ports): Promise<LonghornAgreement> {
  const { api } = ports
  const [{ items: nodeList }, { items: podList }, { items: budgets }] = await Promise.all([
    api.list(nodes),
    api.list(pods),
    api.list(podDisruptionBudgets),
  ])
  const managers = podList.filter(({ metadata }) => metadata.name.startsWith('instance-manager'))
  const status = ((await askStatus(ports)) as { longhorn?: LonghornSummary }).longhorn
  const page = await askPage(ports)
  const board = ports.board()
  const disagreements: string[] = []
  const reasons = new Set<string>()

  for (const node of nodeList) {
    const { name } = node.metadata
    const isCordoned = isClosedToPods(node)
    const { answer } = await askExplain(ports, `node/${name}`)
    const said = (answer as { longhorn?: LonghornAnswer }).longhorn
    if (said === undefined) {
      disagreements.push(`node/${name}: explain says nothing of Longhorn`)
      continue
    }
    reasons.add(said.reason)
    const blame = (sentence: string) =>
      disagreements.push(`node/${name}: explain says ${told(said)}${isCordoned ? '' : ', rehearsed'}; ${sentence}`)
    const listed = status?.nodes.find(({ node }) => node === name)
    const place = board?.places.find(({ node }) => node === name)?.leaving
    if (isCordoned && (listed === undefined || told(listed) !== told(said))) blame(`status says ${told(listed)}`)
    if (isCordoned && board !== undefined && (place === undefined || told(place) !== told(said)))
      blame(`the page says ${told(place)}`)
    if (answer.mayGo && !said.mayDrain && said.heldBy.some(({ passes }) => !passes))
      blame('a drain of the node may go all the same')
    const refused: string[] = []
    for (const pod of managers.filter(({ spec: { nodeName } }) => nodeName === name)) {
      const code = await dryRunEviction(api, pod)
      if (code === 429) refused.push(pod.metadata.name)
      const isRunning =
        pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True' && code !== 404
      if (isRunning) disagreements.push(...(await compareManager(pod, code)))
    }
    if (isCordoned && said.mayDrain && refused.length > 0) blame(`evictions of ${refused.join(', ')} are refused`)
    // Longhorn makes no budget again on a node that is cordoned: once it let the node go, explain may say that it should be held.
    const isCovered = managers.some(
      (pod) => pod.spec.nodeName === name && isReady(pod) && (ports.isOurs || budgetsOf(pod, budgets).length > 0),
    )
    if (isCordoned && !said.mayDrain && isCovered && refused.length === 0 && said.reason !== 'InstanceManagerAway')
      disagreements.push(`${behindMark}node/${name}: explain says ${told(said)}, and no eviction is refused`)
  }
  return { disagreements, reasons: [...reasons] }

  async function compareManager(pod: Pod, code: number): Promise<string[]> {
    const found: string[] = []
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`
    const { answer } = await askExplain(ports, `pod/${name}`)
    if (answer.mayGo !== (code === 201))
      found.push(`pod/${name}: explain says ${answer.mayGo}, its eviction is answered with ${code}`)
    for (const budget of budgetsOf(pod, budgets)) {
      const key = `${budget.metadata.namespace}/${budget.metadata.name}`
      const of = await askExplain(ports, `pdb/${key}`)
      const says = page.budgets.get(key)?.says ?? 'nothing'
      if (of.answer.mayGo !== (code === 201)) found.push(`pdb/${key}: explain says ${of.answer.mayGo}, the API ${code}`)
      if (says.startsWith('Blocked') === (code === 201))
        found.push(`pdb/${key}: the page says "${says}", the API ${code}`)
    }
    return found
  }
}

function isReady(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

function told(said: Pick<LonghornAnswer, 'mayDrain' | 'reason' | 'explanation'> | undefined): string {
  return said === undefined ? 'nothing' : `${said.mayDrain ? 'may go' : 'held'} (${said.reason}: ${said.explanation})`
}

/** 201, or the code of the refusal. Nothing is evicted. */
export async function dryRunEviction(api: KubeApi, { metadata }: Pod): Promise<number> {
  try {
    await evictPod(api, { namespace: metadata.namespace ?? '', name: metadata.name }, { dryRun: true })
    return 201
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}
