import type { Pod, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { barePod, container, inDefault, node, openScenario } from '../testing/scenario.ts'
import { startScheduler } from './scheduler.ts'

async function openScheduler(nodeCount: number) {
  const scenario = openScenario()
  for (let number = 1; number <= nodeCount; number += 1) await scenario.api.create(nodes, node(number))
  const { api, clock, random, failures } = scenario
  const actor = startScheduler({ api, clock, random, onFailure: (failure) => failures.push(failure) })
  await scenario.seconds(1)
  const nodeOf = async (name: string) => (await api.get(pods, inDefault(name))).spec.nodeName
  return { ...scenario, actor, nodeOf }
}

function asking(cpu: string): Partial<PodSpec> {
  return { containers: [{ ...container, resources: { requests: { cpu } } }] }
}

describe('the scheduler', () => {
  it('binds a pod and tells where', async () => {
    const scenario = await openScheduler(2)
    await scenario.api.create(pods, barePod('a'))
    await scenario.seconds(1)
    const pod = await scenario.api.get(pods, inDefault('a'))
    expect([pod.spec.nodeName, conditionOf(pod, 'PodScheduled')?.status]).toEqual(['node-1', 'True'])
    expect(await scenario.eventsAbout('a')).toEqual(['Normal Scheduled x1: Successfully assigned default/a to node-1'])
    scenario.actor.stop()
  })

  it('says once why a pod finds no place, and binds it when a node comes', async () => {
    const scenario = await openScheduler(1)
    await scenario.api.create(pods, barePod('big', asking('3')))
    await scenario.api.create(pods, barePod('late', asking('3')))
    await scenario.seconds(60)
    const waiting = await scenario.api.get(pods, inDefault('late'))
    const message = '0/1 nodes are available: 1 Insufficient cpu.'
    expect(conditionOf(waiting, 'PodScheduled')).toMatchObject({ status: 'False', reason: 'Unschedulable', message })
    expect(await scenario.eventsAbout('late')).toEqual([`Warning FailedScheduling x1: ${message}`])
    await scenario.api.create(nodes, node(2))
    await scenario.seconds(5)
    expect(await scenario.nodeOf('late')).toBe('node-2')
    scenario.actor.stop()
  })

  it('tries again when a pod has gone, when a node is uncordoned, and when the pod changes', async () => {
    const scenario = await openScheduler(1)
    await scenario.api.create(pods, barePod('first', asking('3')))
    await scenario.seconds(1)
    await scenario.api.create(pods, barePod('second', asking('3')))
    await scenario.seconds(5)
    await scenario.api.delete(pods, inDefault('first'), { gracePeriodSeconds: 0 })
    await scenario.seconds(5)
    expect(await scenario.nodeOf('second')).toBe('node-1')
    const cordon = (unschedulable: boolean | null) =>
      scenario.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable } } })
    await cordon(true)
    await scenario.api.create(pods, barePod('third'))
    await scenario.seconds(5)
    expect(await scenario.nodeOf('third')).toBeUndefined()
    await cordon(null)
    await scenario.seconds(5)
    expect(await scenario.nodeOf('third')).toBe('node-1')
    scenario.actor.stop()
  })

  it('places a pod that waits for its neighbour as soon as the neighbour is placed', async () => {
    const scenario = await openScheduler(3)
    const near = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' }
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
    await scenario.api.create(pods, barePod('cache', { affinity }))
    await scenario.seconds(5)
    expect(await scenario.nodeOf('cache')).toBeUndefined()
    await scenario.api.create(
      pods,
      barePod('db', { labels: { app: 'db' }, nodeSelector: { 'kubernetes.io/hostname': 'node-3' } }),
    )
    await scenario.seconds(5)
    expect(await scenario.nodeOf('cache')).toBe('node-3')
    scenario.actor.stop()
  })

  it('never puts more on a node than it can hold, whatever arrives at once', async () => {
    const scenario = await openScheduler(3)
    for (let number = 0; number < 10; number += 1) await scenario.api.create(pods, barePod(`p${number}`, asking('2')))
    await scenario.seconds(5)
    const perNode = new Map<string | undefined, number>()
    for (const { spec } of await scenario.list(pods)) perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1)
    expect(Object.fromEntries(perNode)).toEqual({ 'node-1': 2, 'node-2': 2, 'node-3': 2, undefined: 4 })
    scenario.actor.stop()
  })

  it('serves urgent pods first when places come free', async () => {
    const scenario = await openScheduler(1)
    await scenario.api.create(pods, barePod('holder', asking('4')))
    await scenario.seconds(1)
    await scenario.api.create(pods, barePod('ordinary', { ...asking('4') }))
    const urgent: Pod = barePod('urgent', { ...asking('4'), priorityClassName: 'system-node-critical' })
    await scenario.api.create(pods, urgent)
    await scenario.seconds(5)
    await scenario.api.delete(pods, inDefault('holder'), { gracePeriodSeconds: 0 })
    await scenario.seconds(5)
    expect([await scenario.nodeOf('urgent'), await scenario.nodeOf('ordinary')]).toEqual(['node-1', undefined])
    scenario.actor.stop()
  })

  it('places a pod again that a restored backup has without a place, and not beside itself', async () => {
    const scenario = await openScheduler(1)
    await scenario.api.create(pods, barePod('big', { ...asking('3'), schedulingGates: [{ name: 'later' }] } as PodSpec))
    await scenario.seconds(1)
    const backup = scenario.server.backup()
    const open = { type: 'merge', body: { spec: { schedulingGates: null } } } as const
    await scenario.api.patch(pods, inDefault('big'), open)
    await scenario.seconds(5)
    expect(await scenario.nodeOf('big')).toBe('node-1')
    scenario.server.restore(backup)
    await scenario.seconds(5)
    expect(await scenario.nodeOf('big')).toBeUndefined()
    await scenario.api.patch(pods, inDefault('big'), open)
    await scenario.seconds(5)
    expect(await scenario.nodeOf('big')).toBe('node-1')
    scenario.actor.stop()
  })

  it('leaves pods alone that belong to another scheduler or wait at a gate', async () => {
    const scenario = await openScheduler(1)
    const spec = { schedulerName: 'other' } as Partial<PodSpec>
    const gated = { schedulingGates: [{ name: 'example.com/wait' }] } as Partial<PodSpec>
    await scenario.api.create(pods, barePod('theirs', spec))
    await scenario.api.create(pods, barePod('gated', gated))
    await scenario.seconds(5)
    expect([await scenario.nodeOf('theirs'), await scenario.nodeOf('gated')]).toEqual([undefined, undefined])
    await scenario.api.patch(pods, inDefault('gated'), { type: 'merge', body: { spec: { schedulingGates: null } } })
    await scenario.seconds(5)
    expect(await scenario.nodeOf('gated')).toBe('node-1')
    scenario.actor.stop()
  })
})
