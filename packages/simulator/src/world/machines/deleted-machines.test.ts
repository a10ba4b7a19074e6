import {
  customResourceDefinitions,
  deployments,
  nodes,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { machineDefinitions } from '../../cluster-file/machine-definitions.ts'
import { openCeph } from '../ceph/testing/ceph-fixture.ts'
import { budget, deployment } from '../testing/scenario.ts'
import type { MachineDrain } from './machines-description.ts'
import { createSimulatedMachines } from './simulated-machines.ts'
import { openMachines } from './testing/machines-fixture.ts'

describe('a Machine that is deleted', () => {
  it.each([
    ['preDrain', 'openshift'],
    ['preTerminate', 'openshift'],
  ] as const)('waits with its power on while it has a %s hook of %s', async (hook, api) => {
    const fixture = await openMachines({ api })
    const { machines, seconds, change } = fixture
    try {
      await change('workers-2', { spec: { lifecycleHooks: { [hook]: [{ name: 'wait', owner: 'me' }] } } })
      await fixture.api.delete(machines.kinds.machines, { namespace: machines.kinds.namespace, name: 'workers-2' })
      await seconds(600)
      expect(await fixture.machineLines()).toContain('workers-2 Deleting node-2')
      expect(fixture.world.kubelet.isOn('node-2')).toBe(true)
      await change('workers-2', { spec: { lifecycleHooks: null } })
      await seconds(40)
      expect(await fixture.machineLines()).toEqual([
        'workers-1 Running node-1',
        ...[3, 4, 5, 6].map((number) => `workers-${number} Running node-${number}`),
        'workers-7 Running workers-7',
      ])
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('waits for the annotations of Cluster API too', async () => {
    const fixture = await openMachines({ api: 'cluster-api' })
    const annotation = 'pre-terminate.delete.hook.machine.cluster.x-k8s.io/me'
    try {
      await fixture.change('workers-2', { metadata: { annotations: { [annotation]: '' } } })
      await fixture.api.delete(fixture.machines.kinds.machines, { namespace: 'default', name: 'workers-2' })
      await fixture.seconds(60)
      expect(fixture.world.kubelet.isOn('node-2')).toBe(true)
      await fixture.change('workers-2', { metadata: { annotations: { [annotation]: null } } })
      await fixture.seconds(2)
      expect(fixture.world.kubelet.isOn('node-2')).toBe(false)
    } finally {
      fixture.stop()
    }
  })

  const drained: Record<string, { drain: MachineDrain; allows: number; afterSeconds: number; isOn: boolean }> = {
    'is drained first, and goes when its node is empty': { drain: {}, allows: 1, afterSeconds: 60, isOn: false },
    'waits for a budget for as long as it takes': { drain: {}, allows: 0, afterSeconds: 3600, isOn: true },
    'goes with all that is on it when the drain has lasted too long': {
      drain: { timeoutSeconds: 600 },
      allows: 0,
      afterSeconds: 640,
      isOn: false,
    },
  }
  it.each(Object.entries(drained))('%s', async (_sentence, { drain, allows, afterSeconds, isOn }) => {
    const fixture = await openMachines({ api: 'cluster-api', drain })
    const { api, machines, seconds, world } = fixture
    try {
      await api.create(deployments, deployment('web', { replicas: 12 }))
      await api.create(podDisruptionBudgets, budget('web', { maxUnavailable: allows * 12 }))
      await seconds(30)
      await api.delete(machines.kinds.machines, { namespace: 'default', name: 'workers-2' })
      await seconds(1)
      expect((await api.get(nodes, { name: 'node-2' })).spec?.unschedulable).toBe(true)
      expect(world.kubelet.isOn('node-2')).toBe(true)
      await seconds(afterSeconds)
      expect(world.kubelet.isOn('node-2')).toBe(isOn)
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('goes though it was found empty between two attempts, and somebody switches it on again: it stayed for ever (short seed 703819)', async () => {
    const fixture = await openMachines({ api: 'cluster-api', drain: {} })
    const { api, machines, seconds, change, world } = fixture
    try {
      await api.create(deployments, deployment('web', { replicas: 12 }))
      await seconds(30)
      await api.delete(machines.kinds.machines, { namespace: 'default', name: 'workers-2' })
      await seconds(19)
      await change('workers-2', { metadata: { annotations: { touched: 'yes' } } })
      await seconds(1)
      expect(world.kubelet.isOn('node-2')).toBe(false)
      world.kubelet.powerOn('node-2')
      await seconds(60)
      expect((await fixture.machineLines()).filter((line) => line.startsWith('workers-2'))).toEqual([])
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('is replaced when the provider has machines again, not before', async () => {
    const fixture = await openMachines()
    const { kinds, controls } = fixture.machines
    try {
      controls.sellOut(true)
      await fixture.api.delete(kinds.machines, { namespace: kinds.namespace, name: 'workers-1' })
      await fixture.minutes(30)
      expect(await fixture.machineLines()).toContain('workers-7 Provisioning -')
      controls.sellOut(false)
      await fixture.seconds(10)
      expect(await fixture.machineLines()).toContain('workers-7 Running workers-7')
    } finally {
      fixture.stop()
    }
  })
})

describe('a MachineSet', () => {
  it('grows and shrinks as it is told, and what was marked goes first', async () => {
    const fixture = await openMachines()
    const { kinds } = fixture.machines
    const scale = (replicas: number) =>
      fixture.api.patch(
        kinds.machineSets,
        { namespace: kinds.namespace, name: 'workers' },
        { type: 'merge', body: { spec: { replicas } } },
      )
    try {
      await scale(8)
      await fixture.minutes(4)
      expect((await fixture.machineLines()).slice(-2)).toEqual([
        'workers-7 Running workers-7',
        'workers-8 Running workers-8',
      ])
      await fixture.change('workers-5', { metadata: { annotations: { [kinds.deleteFirst]: '' } } })
      await scale(6)
      await fixture.minutes(4)
      expect((await fixture.machineLines()).map((line) => line.split(' ')[0])).toEqual(
        [1, 2, 3, 4, 6, 7].map((number) => `workers-${number}`),
      )
      expect(await fixture.api.get(kinds.machineSets, { namespace: kinds.namespace, name: 'workers' })).toMatchObject({
        status: { replicas: 6, readyReplicas: 6, availableReplicas: 6 },
      })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(1)
      expect(await fixture.api.get(kinds.machineSets, { namespace: kinds.namespace, name: 'workers' })).toMatchObject({
        status: { replicas: 6, readyReplicas: 5, availableReplicas: 5 },
      })
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('with a node that is not there has a Machine without one, until it comes', async () => {
    const fixture = await openMachines({ sets: [{ name: 'ghosts', nodes: ['ghost'], volumes: 'lost' }] })
    try {
      expect(await fixture.machineLines()).toEqual(['ghosts-1 Provisioning -'])
      await fixture.api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'ghost' } })
      await fixture.seconds(10)
      expect(await fixture.machineLines()).toEqual(['ghosts-1 Running ghost'])
    } finally {
      fixture.stop()
    }
  })
})

/** Ceph on six nodes with a machine behind each. */
async function openStorage(volumes: 'follow' | 'lost') {
  const fixture = await openCeph()
  const { api, clock, random, world, failures } = fixture
  for (const definition of machineDefinitions()) await api.create(customResourceDefinitions, definition)
  const machines = createSimulatedMachines(
    { api, clock, random, views: world.views, kubelet: world.kubelet, onFailure: (failure) => failures.push(failure) },
    { sets: [{ name: 'workers', nodes: [1, 2, 3, 4, 5, 6].map((number) => `node-${number}`), volumes }] },
  )
  await fixture.seconds(3)
  const { kinds } = machines
  const osdsOn = async (node: string) =>
    (await api.list(pods, { labelSelector: 'app=rook-ceph-osd' })).items
      .filter(({ spec, status }) => spec.nodeName === node && status?.phase === 'Running')
      .map(({ metadata }) => metadata.labels?.['ceph-osd-id'])
  return {
    ...fixture,
    machines,
    osdsOn,
    shoot: (name: string) => api.delete(kinds.machines, { namespace: kinds.namespace, name }),
    stop() {
      machines.stop()
      fixture.stop()
    },
  }
}

describe('the disks of a machine that was replaced', () => {
  it('follow to the new one when they are volumes of a cloud: its OSDs are up there, and all is clean', async () => {
    const fixture = await openStorage('follow')
    try {
      const before = await fixture.osdsOn('node-2')
      await fixture.shoot('workers-2')
      await fixture.seconds(300)
      expect(await fixture.osdsOn('workers-7')).toEqual(before)
      expect(await fixture.osdsOn('node-2')).toEqual([])
      expect(await fixture.states()).toEqual({ 'active+clean': 64 })
      const { items } = await fixture.api.list(deployments, { labelSelector: 'app=rook-ceph-mon' })
      expect(items.map(({ spec }) => spec.template.spec.nodeSelector?.['kubernetes.io/hostname'])).toEqual([
        'node-1',
        'workers-7',
        'node-3',
      ])
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('are lost when they were in it: its OSDs wait for a node that never comes, while mons move', async () => {
    const fixture = await openStorage('lost')
    try {
      await fixture.shoot('workers-2')
      await fixture.seconds(300)
      expect(await fixture.osdsOn('workers-7')).toEqual([])
      const { items } = await fixture.api.list(pods, { labelSelector: 'app=rook-ceph-osd' })
      expect(items.filter(({ status }) => status?.phase === 'Pending').length).toBe(2)
      expect((await fixture.states())['active+clean']).toBeLessThan(64)
      const mons = await fixture.api.list(pods, { labelSelector: 'app=rook-ceph-mon,mon=b' })
      expect(mons.items.map(({ spec }) => spec.nodeName)).toEqual(['workers-7'])
    } finally {
      fixture.stop()
    }
  })

  it('follow to the next one when the replacement goes before it ever came', async () => {
    const fixture = await openStorage('follow')
    try {
      const before = await fixture.osdsOn('node-2')
      await fixture.shoot('workers-2')
      await fixture.seconds(60)
      await fixture.shoot('workers-7')
      await fixture.seconds(300)
      expect(await fixture.osdsOn('workers-8')).toEqual(before)
    } finally {
      fixture.stop()
    }
  })

  it('follow to the heir when the replacement goes while the old machine still holds them', async () => {
    const fixture = await openStorage('follow')
    const { kinds } = fixture.machines
    const hook = (preTerminate: readonly { name: string; owner: string }[]) =>
      fixture.api.patch(
        kinds.machines,
        { namespace: kinds.namespace, name: 'workers-2' },
        { type: 'merge', body: { spec: { lifecycleHooks: { preTerminate } } } },
      )
    try {
      const before = await fixture.osdsOn('node-2')
      await hook([{ name: 'wait', owner: 'me' }])
      await fixture.shoot('workers-2')
      await fixture.seconds(200)
      await fixture.shoot('workers-7')
      await fixture.seconds(240)
      expect(await fixture.osdsOn('node-2')).toEqual(before)
      await hook([])
      await fixture.seconds(120)
      expect(await fixture.osdsOn('workers-8')).toEqual(before)
    } finally {
      fixture.stop()
    }
  })

  it('stay with their own machine: one that went because its set shrank is nobody’s predecessor', async () => {
    const fixture = await openStorage('follow')
    const { kinds } = fixture.machines
    try {
      const before = await fixture.osdsOn('node-1')
      const key = { namespace: kinds.namespace, name: 'workers' }
      await fixture.api.patch(kinds.machineSets, key, { type: 'merge', body: { spec: { replicas: 5 } } })
      await fixture.seconds(60)
      await fixture.shoot('workers-1')
      await fixture.seconds(300)
      expect(await fixture.osdsOn('workers-7')).toEqual(before)
      expect(fixture.machines.controls.replaced()).toEqual([
        { machine: 'openshift-machine-api/workers-1', node: 'node-1', by: 'openshift-machine-api/workers-7' },
      ])
    } finally {
      fixture.stop()
    }
  })
})
