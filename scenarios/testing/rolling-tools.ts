import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { startDrain } from './drainer.ts'
import type { FencingFixture } from './fencing-fixture.ts'
import { installKured } from './kured-cluster.ts'
import { startRebooter } from './rebooter.ts'

/** Somebody who reboots many nodes, one after the other or several at a time. */
export interface RollingTool {
  readonly name: string
  /** Nodes that it has not rebooted yet. */
  left(): readonly string[]
  stop(): void
}

const pollMs = 5_000

function bootOf({ views }: FencingFixture, nodeName: string): string {
  return views.of(nodes).get(nodeName)?.status?.nodeInfo?.bootID ?? ''
}

function isReady({ views }: FencingFixture, nodeName: string): boolean {
  const node = views.of(nodes).get(nodeName)
  return node !== undefined && conditionOf(node, 'Ready')?.status === 'True'
}

/** Somebody who makes a request for every node at once, makes those anew that others cancelled, and has an agent that reboots what may go. */
export function rollByRequests(
  fixture: FencingFixture,
  nodeNames: readonly string[],
  downSeconds: number,
): RollingTool {
  const { clock, world, views, trace } = fixture
  const before = new Map(nodeNames.map((name) => [name, bootOf(fixture, name)]))
  const isOwn = ({ spec }: NodeDisruption) => spec.requester === 'alice'
  const stopRebooting = startRebooter({ world, clock, tell: trace.tell }, downSeconds, isOwn)
  const requests = views.of(nodeDisruptions)
  let isStopped = false
  let made = 0
  const left = () => nodeNames.filter((name) => bootOf(fixture, name) === before.get(name))

  async function roll(): Promise<void> {
    while (!isStopped) {
      const asked = new Set(
        [...requests.values()]
          .filter((request) => isOwn(request) && !isOver(request.status?.phase))
          .map(({ spec }) => spec.nodeName),
      )
      for (const nodeName of left()) {
        if (asked.has(nodeName) || isStopped) continue
        made += 1
        const more = { requester: 'alice', force: true, deleteEmptyDirData: true } as const
        await fixture.request(`alice-${made}`, nodeName, more).catch(() => undefined)
      }
      await sleep(clock, 60_000)
    }
  }

  void roll()
  return {
    name: 'requests',
    left,
    stop() {
      isStopped = true
      stopRebooting()
    },
  }
}

/** kured on every node, some of which want a reboot. It reboots what Cofferdam has drained for it, four at a time. */
export async function rollByKured(
  { api, clock, views, world }: FencingFixture,
  nodeNames: readonly string[],
  downSeconds: number,
): Promise<RollingTool> {
  const kured = await installKured({ api, clock, views, kubelet: world.kubelet }, { concurrency: 4, downSeconds })
  await kured.optIn(true)
  for (const name of nodeNames) kured.requireReboot(name)
  return {
    name: 'kured',
    left: () => nodeNames.filter((name) => kured.isRebootRequired(name)),
    stop: () => kured.stop(),
  }
}

/** Somebody with a shell: `kubectl drain` with a time limit, a reboot, `kubectl uncordon`, the next node. Budgets are all that it asks. */
export function rollByKubectl(fixture: FencingFixture, nodeNames: readonly string[], downSeconds: number): RollingTool {
  const { api, clock, world, trace } = fixture
  const waiting = [...nodeNames]
  let isStopped = false

  async function rebootOne(nodeName: string): Promise<boolean> {
    const ports = { api, clock, tell: trace.tell }
    const drain = startDrain(ports, nodeName)
    const giveUpMs = clock.now() + 300_000
    while (!drain.isOver() && clock.now() < giveUpMs) await sleep(clock, pollMs)
    const isDrained = drain.isOver() && (await drain.ended.then(() => true).catch(() => false))
    // Another tool may have taken it down, or given it back, while its pods went.
    if (isDrained && world.kubelet.isOn(nodeName) && isCordoned(nodeName)) {
      trace.tell(`somebody with kubectl reboots ${nodeName}`)
      world.kubelet.reboot(nodeName, downSeconds)
      for (let waitedMs = 0; waitedMs < 300_000; waitedMs += pollMs) {
        await sleep(clock, pollMs)
        if (world.kubelet.isOn(nodeName) && isReady(fixture, nodeName)) break
      }
    }
    const body = { spec: { unschedulable: null } }
    await api.patch(nodes, { name: nodeName }, { type: 'merge', body }).catch((error: unknown) => {
      if (!hasReason(error, 'NotFound')) throw error
    })
    return isDrained
  }

  function isCordoned(nodeName: string): boolean {
    return fixture.views.of(nodes).get(nodeName)?.spec?.unschedulable === true
  }

  async function roll(): Promise<void> {
    while (!isStopped && waiting.length > 0) {
      const nodeName = waiting.shift() as string
      if (!(await rebootOne(nodeName))) waiting.push(nodeName)
      await sleep(clock, 30_000)
    }
  }

  void roll()
  return {
    name: 'kubectl',
    left: () => waiting,
    stop() {
      isStopped = true
    },
  }
}

export function isOver(phase: string | undefined): boolean {
  return phase === 'Completed' || phase === 'Rejected'
}
