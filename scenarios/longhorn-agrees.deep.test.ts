import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { drainPolicyLabel } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { drainPolicies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { afterEach, expect, it } from 'vitest'
import { type FollowedLonghorn, followLonghorn } from './testing/longhorn-agreement.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { pair, single, trio } from './testing/longhorn-rows.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: LonghornFixture
let followed: FollowedLonghorn
afterEach(async () => {
  await followed.stop()
  await fixture.close()
})

const names = ['node-1', 'node-2', 'node-3']
const rows = [null, 'guide', 'hold'].flatMap((mode) => drainPolicies.map((policy) => [mode, policy] as const))
const precious = { [drainPolicyLabel]: 'block-for-eviction' }

const taint = (name: string, taints: Json) =>
  fixture.api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints } } })

async function open(mode: string | null, policy: string, seed = 1): Promise<void> {
  fixture = await openLonghornFixture(
    // Where we hold, one volume wants more than the setting does.
    { volumes: [single, pair, mode === 'hold' ? { ...trio, labels: precious } : trio] },
    { policy, seed, annotations: { 'cofferdam.io/manage': mode } },
  )
  await writeOperatorLease(fixture)
  followed = followLonghorn(fixture, mode === 'hold')
}

it.each(rows)(
  'mode %s, %s: whatever befalls nodes, volumes and drains, nobody contradicts the API server or another',
  async (mode, policy) => {
    await open(mode, policy)
    fixture.operate({ isGuard: true })
    await fixture.seconds(5)
    await fixture.use('db', 'node-2')
    await fixture.use('solo')
    const random = seededRandom(rows.findIndex((row) => row[0] === mode && row[1] === policy) + 77)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T
    const deeds: readonly (() => unknown)[] = [
      () => void fixture.drain(pick(names)),
      () => void fixture.drain(pick(names)),
      () => fixture.cordon(pick(names)),
      () => fixture.cordon(pick(names), false),
      () => fixture.cordon(pick(names), false),
      () => taint(pick(names), [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }]),
      () => taint(pick(names), null),
      () => taint(pick(names), null),
      () => fixture.setPolicy(pick([...drainPolicies, 'nonsense'])),
      () => fixture.world.kubelet.reboot(pick(names), 20),
      () => fixture.controls.failReplica(fixture.replicaOn('trio', pick(names))),
    ]
    const found: string[] = []
    for (let step = 0; step < 20; step += 1) {
      await Promise.resolve(pick(deeds)()).catch(() => undefined)
      await fixture.seconds(pick([0.5, 2, 15]))
      const { disagreements } = await followed.compare()
      found.push(...disagreements.map((each) => `step ${step}: ${each}`))
    }
    expect(found).toEqual([])
    if (mode === 'hold') expect(fixture.oracle.violations).toEqual([])
  },
)
