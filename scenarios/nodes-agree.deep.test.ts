import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { agreeOnNodes } from './testing/node-agreement.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

it.each([1, 2, 3])(
  'whatever is drained, cordoned, tainted, rebooted or given up, and by whom: drained for one is drained for all (seed %i)',
  async (seed) => {
    fixture = await openLockFixture({ seed })
    await fixture.addStaying('orders')
    await fixture.addStaying('web')
    await fixture.addLeaving('cart')
    const operator = fixture.operate({ isReplaced: true })
    await fixture.seconds(10)
    operator.killAfter(30)
    const random = seededRandom(seed * 104_729)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T
    const names = [...fixture.views.of(nodes).values()].map(({ metadata }) => metadata.name)
    const spec = (name: string, change: object) =>
      fixture.api.patch(nodes, { name }, { type: 'merge', body: { spec: { ...change } } })
    const taints = ['karpenter.sh/disrupted', 'ToBeDeletedByClusterAutoscaler', 'medik8s.io/drain']
    const deeds: readonly (() => unknown)[] = [
      () => spec(pick(names), { unschedulable: true }),
      () => spec(pick(names), { unschedulable: null, taints: null }),
      () => spec(pick(names), { taints: [{ key: pick(taints), effect: 'NoSchedule' }] }),
      () => void fixture.drain(pick(names)),
      () => void fixture.drain(pick(names)),
      () => fixture.request(`reboot-${fixture.clock.now()}`, { nodeName: pick(names) }),
      () => fixture.world.kubelet.reboot(pick(names), 5 + Math.floor(random.next() * 60)),
    ]
    const found: string[] = []
    const seen = new Set<string>()
    for (let step = 0; step < 40; step += 1) {
      await pick(deeds)()
      await fixture.seconds(pick([0.5, 3, 20]))
      const { disagreements, drains } = await agreeOnNodes(fixture)
      found.push(...disagreements.map((each) => `step ${step}: ${each}`))
      for (const drain of drains) seen.add(drain)
    }
    expect(found).toEqual([])
    expect([...seen]).toEqual(expect.arrayContaining(['DrainCompleted', 'EvictionAttempted', 'NotCordoned']))
  },
)
