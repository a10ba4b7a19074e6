import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { expect, it } from 'vitest'
import { openMachines } from './testing/machines-stage.ts'

type Ailment = (stage: Awaited<ReturnType<typeof openMachines>>) => unknown

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
    const stage = await openMachines()
    try {
      const before = (await stage.nodeLines())[2]
      await ail(stage)
      await stage.minutes(2)
      expect((await stage.nodeLines())[2]).toMatch(/^node-3 (False|Unknown) c$/)
      stage.machines.controls.powerCycle('node-3')
      await stage.seconds(100)
      expect(stage.world.kubelet.isOn('node-3')).toBe(false)
      await stage.seconds(60)
      expect([before, (await stage.nodeLines())[2]]).toEqual(['node-3 True c', 'node-3 True g'])
      expect(await stage.machineLines()).toContain('workers-3 Running node-3')
      expect(stage.failures).toEqual([])
    } finally {
      stage.stop()
    }
  },
)

it('the power of a node that is not there is nobody’s to cycle', async () => {
  const stage = await openMachines()
  try {
    stage.machines.controls.powerCycle('node-99')
    await stage.minutes(5)
    expect((await stage.nodeLines()).length).toBe(6)
    expect(stage.failures).toEqual([])
  } finally {
    stage.stop()
  }
})

it('a machine that is deleted while it is down stays down', async () => {
  const stage = await openMachines({ timings: { terminateSeconds: 600 } })
  const { kinds, controls } = stage.machines
  try {
    controls.powerCycle('node-1')
    await stage.seconds(10)
    await stage.api.delete(kinds.machines, { namespace: kinds.namespace, name: 'workers-1' })
    await stage.minutes(5)
    expect(stage.world.kubelet.isOn('node-1')).toBe(false)
    expect(stage.failures).toEqual([])
  } finally {
    stage.stop()
  }
})
