import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, expect, it } from 'vitest'
import { askStatus } from './testing/ask-commands.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { agreeOnNodes } from './testing/node-agreement.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

const drainOf = async (name: string) => (await askStatus(fixture)).nodes.find((node) => node.name === name)?.drain

it('while a request takes node-1 out and kubectl drains node-2, nobody says drained where another does not, and both are called draining: status and explain never said so of a drain by kubectl', async () => {
  fixture = await openLockFixture()
  await fixture.addStaying('orders')
  await fixture.addStaying('web')
  fixture.operate()
  await fixture.seconds(5)
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.reach('reboot-1', 'Drained')
  fixture.drain('node-2')
  await fixture.until('node-2 is draining', async () => (await drainOf('node-2')) === 'EvictionAttempted', 30)
  const { disagreements, drains } = await agreeOnNodes(fixture)
  expect(disagreements).toEqual([])
  expect(drains).toEqual(expect.arrayContaining(['DrainCompleted', 'EvictionAttempted', 'NotCordoned']))
})

it('a node that Karpenter empties without a cordon is drained for everybody: the operator said Drained=True, and explain, status and the page that it is simply ready', async () => {
  fixture = await openLockFixture()
  fixture.operate()
  await fixture.seconds(5)
  const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }]
  await fixture.api.patch(nodes, { name: 'node-3' }, { type: 'merge', body: { spec: { taints } } })
  await fixture.seconds(2)
  const { disagreements, drains } = await agreeOnNodes(fixture)
  expect(disagreements).toEqual([])
  expect(drains).toContain('DrainCompleted')
  expect((await askStatus(fixture)).nodes.find(({ name }) => name === 'node-3')).toMatchObject({ isCordoned: true })
})
