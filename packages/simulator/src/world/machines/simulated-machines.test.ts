import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { openMachines } from './testing/machines-fixture.ts'

describe('machines behind nodes', () => {
  it.each([
    ['openshift', undefined],
    ['cluster-api', undefined],
    ['cluster-api', 'v1beta1'],
  ] as const)('of %s %s each have their node, a phase and a provider id', async (api, version) => {
    const fixture = await openMachines({ api, ...(version === undefined ? {} : { version }) })
    try {
      expect(await fixture.machineLines()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `workers-${n} Running node-${n}`))
      expect((await fixture.machine('workers-2')).spec?.providerID).toBe('simulated:///zone-b/workers-2')
      expect(fixture.machines.controls.machineOf('node-2')).toBe(`${fixture.machines.kinds.namespace}/workers-2`)
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('that are deleted lose power, node and themselves, and the set brings one that is like the old', async () => {
    const fixture = await openMachines()
    const { api, machines, seconds } = fixture
    try {
      await api.delete(machines.kinds.machines, { namespace: machines.kinds.namespace, name: 'workers-3' })
      await seconds(5)
      expect(fixture.world.kubelet.isOn('node-3')).toBe(false)
      expect(await fixture.machineLines()).toContain('workers-3 Deleting node-3')
      expect(await fixture.machineLines()).toContain('workers-7 Provisioning -')
      await seconds(40)
      expect(await fixture.machineLines()).not.toContain('workers-3 Deleting node-3')
      expect((await fixture.nodeLines()).map((line) => line.split(' ')[0])).not.toContain('node-3')
      await seconds(150)
      expect(await fixture.machineLines()).toContain('workers-7 Running workers-7')
      expect((await api.get(nodes, { name: 'workers-7' })).metadata.labels).toEqual({
        'kubernetes.io/hostname': 'workers-7',
        'topology.kubernetes.io/zone': 'zone-c',
      })
      expect(machines.controls.replaced()).toEqual([
        { machine: 'openshift-machine-api/workers-3', node: 'node-3', by: 'openshift-machine-api/workers-7' },
      ])
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  })

  it('whose object is deleted past its finalizers and created again at once keep running, and nobody is made in their stead', async () => {
    const fixture = await openMachines()
    const { api, machines, seconds } = fixture
    const { kinds } = machines
    try {
      const key = { namespace: kinds.namespace, name: 'workers-3' }
      const { metadata, status, ...rest } = await fixture.machine('workers-3')
      const { labels = {}, ownerReferences = [], finalizers = [] } = metadata
      await Promise.all([
        api.patch(kinds.machines, key, { type: 'merge', body: { metadata: { finalizers: null } } }),
        api.delete(kinds.machines, key),
        api.create(kinds.machines, { ...rest, metadata: { ...key, labels, ownerReferences, finalizers } }),
        api.patch(
          kinds.machines,
          key,
          { type: 'merge', body: { status: status as JsonObject } },
          { subresource: 'status' },
        ),
      ])
      await seconds(120)
      expect((await fixture.machine('workers-3')).metadata.uid).not.toBe(metadata.uid)
      expect(await fixture.machineLines()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `workers-${n} Running node-${n}`))
      expect(machines.controls.replaced()).toEqual([])
      expect(fixture.world.kubelet.isOn('node-3')).toBe(true)
    } finally {
      fixture.stop()
    }
  })
})
