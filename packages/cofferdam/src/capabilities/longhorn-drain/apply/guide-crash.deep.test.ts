import { expect, it } from 'vitest'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { drainPolicyLabel } from '../domain/policy.ts'
import { openGuidedLonghorn } from '../testing/longhorn-guided.ts'

const last = 'block-if-contains-last-replica'
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }

it('a guide that dies after any of its writes leaves nothing that the next one does not put back', async () => {
  const labels = { [drainPolicyLabel]: 'block-for-eviction' }
  const ends: string[] = []
  for (let writes = 0; writes < 24; writes += 1) {
    const fixture = await openGuidedLonghorn(
      { volumes: [{ ...pair, labels }], timings: slowly },
      { 'wanted-policy': 'allow-if-replica-is-stopped' },
    )
    const { controls, cordon, levers, seconds } = fixture
    await controls.attach('db', 'node-2')
    await seconds(10)
    const line = dyingAfter(fixture.api, writes)
    const purge = fixture.operate(line.api)
    await seconds(10)
    await cordon('node-1')
    await seconds(20)
    await cordon('node-1', false)
    await seconds(20)
    await purge()
    const stop = fixture.operate()
    await seconds(40)
    expect(await levers()).toEqual([last])
    await stop()
    fixture.stop()
    ends.push(line.died() ? 'died' : 'lived')
    if (!line.died()) break
  }
  expect(ends.at(-1)).toBe('lived')
  expect(ends.length).toBeGreaterThan(4)
})
