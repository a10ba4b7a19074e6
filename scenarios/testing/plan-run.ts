import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { createDrainCommand } from '@cofferdam/product/cli/drain/drain.ts'
import type { DrainPlanFile } from '@cofferdam/product/cli/plan/drain-plan-file.ts'
import { createPlanDrainCommand } from '@cofferdam/product/cli/plan/plan-drain.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { Kubelet } from '@cofferdam/simulator/world/nodes/kubelet.ts'

export interface PlanStage {
  readonly api: KubeApi
  readonly clock: VirtualClock
  readonly views: Views
  readonly machines: Pick<Kubelet, 'reboot'>
  seconds(count: number): Promise<void>
}

export interface PlanRunOutcome {
  readonly plan: DrainPlanFile
  readonly code: number
  /** What the command printed. */
  readonly says: string
  /** In the order in which they were. */
  readonly rebooted: readonly string[]
  /** Budgets of applications that had fewer healthy pods than they demand, with the time. */
  readonly harmed: readonly string[]
  /** The most nodes that were down together. */
  readonly mostDown: number
}

const downSeconds = 20
const longestSeconds = 3 * 3_600

/**
 * Plans the drain of all nodes with the real command, carries the plan out with the real command, and reboots every node once it may be.
 * Nodes of which the plan says beforehand that their copies have no place are not asked for again.
 */
export async function carryOutPlan(stage: PlanStage, flags: readonly string[]): Promise<PlanRunOutcome> {
  const { connect } = inProcess(stage.api)
  const ports = { connect, clock: stage.clock, random: seededRandom(1), requester: () => 'ann@desk' }
  const requests = stage.views.of(nodeDisruptions)
  const planFor = async (...nodes: string[]) => {
    const command = createPlanDrainCommand(ports)
    const { out } = await whilePassing(stage, runCommand(command, 'drain', ...nodes, '-o', 'json', ...flags))
    return JSON.parse(out) as DrainPlanFile
  }
  const first = await planFor('--all')
  const placeless = first.foreseen.filter(({ reason }) => reason === 'NoPlaceForReplica').map(({ node }) => node)
  const wanted = first.waves.flat().filter((node) => !placeless.includes(node))
  const plan = placeless.length === 0 || wanted.length === 0 ? first : await planFor(...wanted)
  if (wanted.length === 0)
    return { plan: { ...plan, waves: [] }, code: 0, says: '', rebooted: [], harmed: [], mostDown: 0 }
  const directory = await mkdtemp(join(tmpdir(), 'cofferdam-plan-'))
  const path = join(directory, 'plan.json')
  await writeFile(path, JSON.stringify(plan))
  const rebooted: string[] = []
  const harmed: string[] = []
  let mostDown = 0
  const eachSecond = () => {
    const down = [...requests.values()].filter(({ status }) => status?.phase === 'Drained')
    mostDown = Math.max(mostDown, down.length)
    for (const { spec } of down) {
      if (rebooted.includes(spec.nodeName)) continue
      rebooted.push(spec.nodeName)
      stage.machines.reboot(spec.nodeName, downSeconds)
    }
    for (const { metadata, status } of stage.views.of(podDisruptionBudgets).values()) {
      if (metadata.namespace !== 'shop' || (status?.currentHealthy ?? 0) >= (status?.desiredHealthy ?? 0)) continue
      harmed.push(`${metadata.name} has ${status?.currentHealthy} of ${status?.desiredHealthy} at ${stage.clock.now()}`)
    }
  }
  try {
    const command = createDrainCommand(ports)
    const { code, out } = await whilePassing(
      stage,
      runCommand(command, 'drain', '--plan', path, '--timeout', '0'),
      eachSecond,
    )
    return { plan, code, says: out, rebooted, harmed, mostDown }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Lets time pass until the command has ended. */
async function whilePassing<T>(stage: PlanStage, command: Promise<T>, eachSecond = () => {}): Promise<T> {
  let isOver = false
  const ended = command.finally(() => {
    isOver = true
  })
  for (let second = 0; !isOver && second < longestSeconds; second += 1) {
    await stage.seconds(1)
    eachSecond()
  }
  if (!isOver) {
    const open = [...stage.views.of(nodeDisruptions).values()].filter(({ status }) => status?.phase !== 'Completed')
    const states = open.map(
      ({ spec, status }) => `${spec.nodeName} is ${status?.phase}: ${JSON.stringify(status?.blockedBy)}`,
    )
    throw new Error(`the command has not ended within ${longestSeconds} s\n${states.join('\n')}`)
  }
  return ended
}
