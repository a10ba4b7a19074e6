import { setTimeout as pause } from 'node:timers/promises'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { isRequestOver } from '@cofferdam/product/shared/tool-request.ts'
import { runKubectl } from '../control-plane/run-kubectl.ts'
import type { Lab } from '../lab.ts'
import type { RunningProgram } from '../processes/run-program.ts'
import type { FireStage } from './fires.ts'

/** A tool that empties one node after the other, reboots it, gives it back, and begins with the next. */
export interface DrainLoop {
  readonly name: string
  /** How many nodes it has drained, rebooted and given back. */
  drained(): number
  /** How often it had to begin anew. */
  begunAnew(): number
  /** Begins no other node; resolves when the one under way is given back. */
  end(): Promise<void>
}

type Turn = (stage: FireStage, node: string, number: number) => Promise<boolean>

const downSeconds = 3
const patienceMs = 300_000
const names = ['kubectl drain', 'cofferdam drain', 'an agent with requests'] as const

/** Whether it ended well; one that is not through in time is ended. */
async function ending(program: RunningProgram): Promise<boolean> {
  const timer = setTimeout(() => void program.stop(), patienceMs)
  const { code } = await program.ended
  clearTimeout(timer)
  return code === 0
}

async function untilTrue(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  const end = performance.now() + patienceMs
  while (performance.now() < end) {
    if (await Promise.resolve(holds()).catch(() => false)) return true
    await pause(500)
  }
  return false
}

/** The API server may be away: who gives a node back tries until it is there. */
async function uncordon({ plane }: Lab, node: string): Promise<boolean> {
  return untilTrue(async () => (await runKubectl(plane, ['uncordon', node])).code === 0)
}

async function reboot({ machines }: Lab, node: string): Promise<void> {
  if (machines.isOn(node)) machines.reboot(node, downSeconds)
  await pause((downSeconds + 1) * 1_000)
  await untilTrue(() => machines.isOn(node))
}

const byKubectl: Turn = async ({ lab }, node) => {
  const isDrained = await ending(lab.drain(node))
  if (isDrained) await reboot(lab, node)
  return (await uncordon(lab, node)) && isDrained
}

const requestOf = (lab: Lab, node: string, isOurs: (requester: string | undefined) => boolean) =>
  lab.api
    .list(nodeDisruptions)
    .then(({ items }) => items.filter(({ spec }) => spec.nodeName === node && isOurs(spec.requester)))

async function finishRequests(lab: Lab, node: string, isOurs: (requester: string | undefined) => boolean) {
  return untilTrue(async () => (await requestOf(lab, node, isOurs)).every(isRequestOver))
}

const agent = 'fire-agent'

const byCommand: Turn = async ({ lab }, node) => {
  const isDrained = await ending(lab.cofferdam('drain', node, '--reason', 'new kernel', '--timeout', '4m'))
  const isOurs = (requester: string | undefined) => requester !== agent
  if (isDrained) {
    await reboot(lab, node)
    return finishRequests(lab, node, isOurs)
  }
  // Its request stands, in nobody's hands: whoever gave up takes it back.
  await untilTrue(async () => {
    for (const { metadata } of (await requestOf(lab, node, isOurs)).filter((each) => !isRequestOver(each)))
      await lab.api.delete(nodeDisruptions, { name: metadata.name })
    return true
  })
  return false
}

const byRequests: Turn = async ({ lab }, node, number) => {
  const name = `fire-${number}`
  const request = {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { nodeName: node, requester: agent, reason: 'new firmware' },
  }
  await untilTrue(async () => {
    const present = await lab.api.list(nodeDisruptions)
    if (present.items.some(({ metadata }) => metadata.name === name)) return true
    await lab.api.create(nodeDisruptions, request as never)
    return true
  })
  const isDrained = await untilTrue(
    async () => (await lab.api.get(nodeDisruptions, { name })).status?.phase === 'Drained',
  )
  if (isDrained) await reboot(lab, node)
  const isOver = isDrained && (await untilTrue(async () => isRequestOver(await lab.api.get(nodeDisruptions, { name }))))
  await untilTrue(async () => {
    if ((await lab.api.list(nodeDisruptions)).items.some(({ metadata }) => metadata.name === name))
      await lab.api.delete(nodeDisruptions, { name })
    return true
  })
  return isOver
}

const turns: Readonly<Record<(typeof names)[number], Turn>> = {
  'kubectl drain': byKubectl,
  'cofferdam drain': byCommand,
  'an agent with requests': byRequests,
}

/** Three tools at once, each on a node of its own, begun within a second. */
export function startDrainLoops(stage: FireStage): DrainLoop[] {
  const taken = new Set<string>()
  const nodes = [...stage.racks.values()].flat()
  return names.map((name) => {
    let isEnding = false
    let drained = 0
    let begunAnew = 0
    let number = 0
    const running = (async () => {
      while (!isEnding) {
        const free = nodes.filter((node) => !taken.has(node))
        const node = free[Math.floor(stage.random.next() * free.length)] as string
        taken.add(node)
        number += 1
        stage.lab.journal.tell('fire', `${name} begins with ${node}`)
        const isDone = await turns[name](stage, node, number)
        taken.delete(node)
        stage.lab.journal.tell('fire', `${name} ${isDone ? 'is through with' : 'gave up'} ${node}`)
        if (isDone) drained += 1
        else begunAnew += 1
        await pause(1_000)
      }
    })()
    return {
      name,
      drained: () => drained,
      begunAnew: () => begunAnew,
      end() {
        isEnding = true
        return running
      },
    }
  })
}
