import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { budget, deployment, openWorld } from '../testing/scenario.ts'
import { deleteOutsideMachine } from './outside-machine.ts'

describe('a Machine that is kept in another cluster and is deleted', () => {
  const rows: Record<string, { allows: number; drainTimeoutSeconds?: number; isGone: boolean }> = {
    'is drained, and its Node goes': { allows: 3, isGone: true },
    'waits for budgets for as long as it takes': { allows: 0, isGone: false },
    'goes with all that is on it when its drain has lasted too long': {
      allows: 0,
      drainTimeoutSeconds: 600,
      isGone: true,
    },
  }
  it.each(Object.entries(rows))('%s', async (_sentence, { allows, isGone, ...options }) => {
    const world = await openWorld({ nodeCount: 3 })
    const { api, clock, seconds } = world
    await api.create(deployments, deployment('web', { replicas: 3 }))
    await api.create(podDisruptionBudgets, budget('web', { maxUnavailable: allows }))
    await seconds(30)
    const deletion = deleteOutsideMachine({ api, clock, kubelet: world.world.kubelet }, 'node-2', options)
    await seconds(700)
    if (isGone) await deletion
    const { items } = await api.list(nodes)
    expect(items.some(({ metadata }) => metadata.name === 'node-2')).toBe(!isGone)
    world.stop()
  })
})
