import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornStage, openLonghornStage } from './testing/longhorn-stage.ts'

let stage: LonghornStage
afterEach(() => stage.close())

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }
const volumes = [
  { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data },
  { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data },
]
const isCordoned = (node: string) => stage.views.of(nodes).get(node)?.spec?.unschedulable === true

async function open(): Promise<void> {
  stage = await openLonghornStage({ volumes, timings: { rebuildBytesPerSecond: 8 * mib } })
  stage.operate()
  await stage.use('db', 'node-2')
  await stage.use('solo', 'node-1', 'node-2')
  await stage.seconds(5)
}

it('a node that is to be removed is cordoned, all of its replicas move, and then it may go', async () => {
  await open()
  const start = stage.clock.now()
  stage.trace.chapter('node-1 is to be removed')
  await stage.request('remove-1', { nodeName: 'node-1', intent: 'Remove' })
  await stage.until('it is cordoned', () => isCordoned('node-1'), 60)
  await stage.until('it may go', () => stage.phaseOf('remove-1') === 'Drained', 300)
  expect([...stage.placesOf('db'), ...stage.placesOf('solo')]).not.toContain('node-1')
  expect(stage.robustnessSince('db', start)).not.toContain('degraded')
  expect(stage.guarded()).toEqual(['node-2', 'node-3'])
  expect(stage.isIntact('db', 'solo')).toBe(true)
  expect(stage.oracle.violations).toEqual([])
  await expect(stage.trace.text()).toMatchFileSnapshot('./longhorn-removal.golden.txt')
})

it('a node that reboots moves only the last copy; what stays on it is whole again before the request is completed', async () => {
  await open()
  await stage.request('reboot-1', { nodeName: 'node-1' })
  await stage.until('it may go', () => stage.phaseOf('reboot-1') === 'Drained', 300)
  expect([stage.placesOf('db'), stage.placesOf('solo').includes('node-1')]).toEqual([['node-1', 'node-2'], false])
  stage.world.kubelet.reboot('node-1', 60)
  await stage.until('it is completed', () => stage.phaseOf('reboot-1') === 'Completed', 600)
  await stage.until('db is healthy', () => stage.robustnessOf('db') === 'healthy', 120)
  expect([isCordoned('node-1'), stage.flags(), stage.placesOf('db')]).toEqual([false, [], ['node-1', 'node-2']])
  expect(stage.isIntact('db', 'solo')).toBe(true)
  expect(stage.oracle.violations).toEqual([])
})
