import {
  configMaps,
  daemonSets,
  deployments,
  nodes,
  podDisruptionBudgets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { openTools } from './actor.ts'
import { drainNode } from './testing/drain.ts'
import { budget, daemonSet, deployment, openWorld, type Scenario, statefulSet } from './testing/scenario.ts'

/** Every event of every kind that can be watched, in the order in which the server sent them. */
function watchEverything(scenario: Scenario): { readonly trace: string[]; readonly stop: () => void } {
  const trace: string[] = []
  const watches: AbortController[] = []
  for (const { type, strategy } of scenario.server.catalogue.all()) {
    if (strategy.answer !== undefined) continue
    const watch = new AbortController()
    watches.push(watch)
    void (async () => {
      for await (const event of scenario.api.watch(type, { resourceVersion: '0', signal: watch.signal })) {
        if (event.type !== 'BOOKMARK') trace.push(`${type.plural} ${event.type} ${JSON.stringify(event.object)}`)
      }
    })().catch((error: unknown) => trace.push(`${type.plural} ${String(error)}`))
  }
  const stop = () => {
    for (const watch of watches) watch.abort()
  }
  return { trace, stop }
}

/** Draws all the time, and makes the server draw: new objects need uids, names and suffixes, new watches their bookmarks. */
function startNewcomer({ api, clock, random, failures }: Scenario): void {
  const tools = openTools('newcomer', { api, clock, random, onFailure: (failure) => failures.push(failure) })
  const look = async () => {
    const payload = { drawn: String(tools.random.next()) }
    const metadata = { name: '', generateName: 'newcomer-', namespace: 'default' }
    const made = await tools.api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: payload })
    tools.recorder.record(made, 'Normal', 'Drawn', `${payload.drawn} was drawn`)
  }
  tools.views.of(configMaps).onReady(() => {})
  tools.every(7_000, () => void look().catch((error: unknown) => tools.fail('look', error)))
}

/** What happened to everybody else, but for versions, which count all writes of the cluster. */
function withoutNewcomer(trace: readonly string[]): string[] {
  return trace
    .filter((line) => !line.includes('newcomer'))
    .map((line) => line.replaceAll(/"resourceVersion":"\d+"/g, ''))
}

/** Six nodes, three apps, a drain, a reboot, a rollout. */
async function runScenario(seed: number, join: (scenario: Scenario) => void = () => {}): Promise<string[]> {
  const scenario = await openWorld({ seed, nodeCount: 6 })
  join(scenario)
  const { trace, stop } = watchEverything(scenario)
  await scenario.api.create(deployments, deployment('web', { replicas: 5 }))
  await scenario.api.create(statefulSets, statefulSet('db'))
  await scenario.api.create(daemonSets, daemonSet('agent'))
  await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  await scenario.seconds(30)
  const drain = drainNode(scenario, 'node-1')
  await scenario.seconds(60)
  await drain
  scenario.world.kubelet.reboot('node-1', 90)
  scenario.world.kubelet.reboot('node-2', 5)
  await scenario.seconds(200)
  await scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
  await scenario.api.patch(
    deployments,
    { namespace: 'default', name: 'web' },
    {
      type: 'merge',
      body: { spec: { template: { metadata: { annotations: { again: 'yes' } } } } },
    },
  )
  await scenario.seconds(60)
  stop()
  scenario.stop()
  expect(scenario.failures).toEqual([])
  return trace
}

describe('one seed, one history', () => {
  it('the same seed gives the same events of all objects, byte for byte, and another seed does not', async () => {
    const first = await runScenario(7)
    const second = await runScenario(7)
    const other = await runScenario(8)
    expect(first.length).toBeGreaterThan(500)
    expect(second.join('\n')).toBe(first.join('\n'))
    expect(other.join('\n')).not.toBe(first.join('\n'))
  })

  it('one actor more changes nothing for those who were there before: no name, no uid, no instant', async () => {
    const alone = await runScenario(7)
    const joined = await runScenario(7, startNewcomer)
    expect(joined.length).toBeGreaterThan(alone.length + 40)
    const before = withoutNewcomer(alone)
    const after = withoutNewcomer(joined)
    expect(after.filter((line, at) => line !== before[at]).slice(0, 3)).toEqual([])
    expect(after.length).toBe(before.length)
  })

  it('a world that was stopped leaves no timer and writes nothing more', async () => {
    const scenario = await openWorld()
    await scenario.api.create(deployments, deployment('web'))
    await scenario.seconds(3)
    scenario.stop()
    await scenario.clock.advance(0)
    const { version } = scenario.server
    await scenario.seconds(3_600)
    expect([scenario.server.version, scenario.clock.nextAt()]).toEqual([version, undefined])
  })
})
