import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { expect, it } from 'vitest'
import { openMachines } from './testing/machines-fixture.ts'

type Ailment = (fixture: Awaited<ReturnType<typeof openMachines>>) => unknown

const ailments: Record<string, Ailment> = {
  'that is off': ({ world }) => world.kubelet.powerOff('node-3'),
  'that nobody hears': ({ world }) => world.kubelet.disconnect('node-3'),
  'whose container runtime hangs': ({ world }) => world.kubelet.setReady('node-3', false),
  'that an annotation keeps off': ({ api }) =>
    api.patch(
      nodes,
      { name: 'node-3' },
      { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/power': 'off' } } } },
    ),
}

it.each(Object.entries(ailments))(
  'a machine %s is well again after its power was cycled, with another boot',
  async (_, ail) => {
    const fixture = await openMachines()
    try {
      const before = (await fixture.nodeLines())[2]
      await ail(fixture)
      await fixture.minutes(2)
      expect((await fixture.nodeLines())[2]).toMatch(/^node-3 (False|Unknown) c$/)
      fixture.machines.controls.powerCycle('node-3')
      await fixture.seconds(100)
      expect(fixture.world.kubelet.isOn('node-3')).toBe(false)
      await fixture.seconds(60)
      expect([before, (await fixture.nodeLines())[2]]).toEqual(['node-3 True c', 'node-3 True g'])
      expect(await fixture.machineLines()).toContain('workers-3 Running node-3')
      expect(fixture.failures).toEqual([])
    } finally {
      fixture.stop()
    }
  },
)

it('the power of a node that is not there is nobody’s to cycle', async () => {
  const fixture = await openMachines()
  try {
    fixture.machines.controls.powerCycle('node-99')
    await fixture.minutes(5)
    expect((await fixture.nodeLines()).length).toBe(6)
    expect(fixture.failures).toEqual([])
  } finally {
    fixture.stop()
  }
})

it('a machine that is deleted while it is down stays down', async () => {
  const fixture = await openMachines({ timings: { terminateSeconds: 600 } })
  const { kinds, controls } = fixture.machines
  try {
    controls.powerCycle('node-1')
    await fixture.seconds(10)
    await fixture.api.delete(kinds.machines, { namespace: kinds.namespace, name: 'workers-1' })
    await fixture.minutes(5)
    expect(fixture.world.kubelet.isOn('node-1')).toBe(false)
    expect(fixture.failures).toEqual([])
  } finally {
    fixture.stop()
  }
})
