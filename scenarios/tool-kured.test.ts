import { afterEach, describe, expect, it } from 'vitest'
import { installKured, type KuredCluster } from './testing/kured-cluster.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
let kured: KuredCluster | undefined

afterEach(async () => {
  kured?.stop()
  await fixture.close()
})

async function open(options: Parameters<typeof installKured>[1] & { nodeCount?: number } = {}) {
  const { nodeCount = 3, ...flags } = options
  fixture = await openLockFixture({ nodeCount })
  const { api, clock, views, world } = fixture
  const kured_ = await installKured({ api, clock, views, kubelet: world.kubelet }, flags)
  kured = kured_
  return kured_
}

const minute = 60
const names = ['node-1', 'node-2', 'node-3']

describe('kured whose lock Cofferdam manages', () => {
  it('reboots three nodes one after the other, each when its request has drained it', async () => {
    const cluster = await open()
    await cluster.optIn(true)
    fixture.operate()
    await fixture.addLeaving('web', { replicas: 3 })
    await fixture.until('Cofferdam holds the lock', () => cluster.holders().join() === 'cofferdam', 30)
    const atOnce = new Set<number>()
    for (const name of names) cluster.requireReboot(name)
    await fixture.until(
      'all are rebooted and back',
      () => {
        atOnce.add(names.filter((name) => !fixture.world.kubelet.isOn(name)).length)
        return cluster.rebooted.length === 3 && cluster.standing().length === 0
      },
      60 * minute,
    )
    expect([...atOnce].sort()).toEqual([0, 1])
    expect(cluster.requests().map(({ status }) => status?.phase)).toEqual(['Completed', 'Completed', 'Completed'])
    await fixture.seconds(3 * minute)
    expect(names.flatMap((name) => [fixture.isCordoned(name), cluster.isAnnotated(name)])).not.toContain(true)
    expect(cluster.holders()).toEqual(['cofferdam'])
    expect(cluster.traces()).toEqual([])
    expect(fixture.heldKeys()).toEqual([])
  })
})
