import { longhornNamespace, longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { wantedPolicyAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicyLabel } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { explainText, statusText } from './testing/commands.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { expectNothingBroken, mib, pair, single, slowly } from './testing/longhorn-rows.ts'
import { expectDrainByWantedPolicy, openWithWantedPolicy } from './testing/longhorn-wanted-policy.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const precious = { [drainPolicyLabel]: 'block-for-eviction' }

/** Whether Longhorn's own budget of the node is there. */
function hasLonghornsBudget(node: string): boolean {
  return [...fixture.views.of(podDisruptionBudgets).values()].some(
    ({ metadata, spec }) =>
      metadata.name.startsWith('instance-manager-') && spec.selector?.matchLabels?.['longhorn.io/node'] === node,
  )
}

const disksOf = (node: string) =>
  Object.values(fixture.views.of(longhornNodes).get(`${longhornNamespace}/${node}`)?.spec?.disks ?? {})

describe('a stricter policy is wanted than the one that is in force', () => {
  it.each([
    ['always-allow', 'block-for-eviction', ['node-1', 'node-2']],
    ['block-if-contains-last-replica', 'block-for-eviction', ['node-1', 'node-2']],
  ] as const)(
    '%s, wanted is %s: a budget is there before the cordon, so a drain in the very next moment waits until all that must leave has left',
    async (policy, wanted, held) => {
      fixture = await openWithWantedPolicy(policy, wanted)
      await expectDrainByWantedPolicy(fixture, { policy, wanted, held })
    },
  )

  it('Longhorn lets the node go at the cordon, by the policy of that moment, and never holds it again: the budget of Cofferdam does', async () => {
    fixture = await openLonghornFixture(
      { volumes: [single], timings: { rebuildBytesPerSecond: mib } },
      { policy: 'always-allow', annotations: { [wantedPolicyAnnotation]: 'block-if-contains-last-replica' } },
    )
    // Longhorn hears of the cordon long before the operator can put the policy in force.
    fixture.operate({ isGuard: true, road: { lagMs: 3_000, conflictRate: 0, random: seededRandom(1) } })
    await fixture.seconds(15)
    await fixture.use('solo', 'node-2')
    await fixture.seconds(15)
    const drain = fixture.drain('node-1')
    await fixture.seconds(120)
    expect([drain.isOver(), hasLonghornsBudget('node-1'), fixture.held()]).toEqual([false, false, ['node-1']])
    expect((await fixture.told('node-1')).at(-1)).toBe('LastReplica')
    await fixture.annotate({ [wantedPolicyAnnotation]: 'block-for-eviction-if-contains-last-replica' })
    await fixture.until('the drain is over', drain.isOver, 180)
    await drain.ended
    expectNothingBroken(fixture, 'solo')
  })

  it('without the guard a pod under two budgets is refused with an error: the drain gives up, no copy is lost, and the next drain ends', async () => {
    fixture = await openLonghornFixture(
      { volumes: [single], timings: slowly },
      { policy: 'always-allow', annotations: { [wantedPolicyAnnotation]: 'block-for-eviction' } },
    )
    fixture.operate()
    await fixture.use('solo', 'node-2')
    await fixture.seconds(5)
    const refusal = await fixture.drain('node-1').ended.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 500 })
    expect(fixture.placesOf('solo')).toEqual(['node-1'])
    await fixture.seconds(5)
    await fixture.drained('node-1', 180)
    expect(fixture.placesOf('solo')).not.toContain('node-1')
    expectNothingBroken(fixture, 'solo')
  })

  it('says in explain and status which policy is wanted and which budget holds the node', async () => {
    fixture = await openLonghornFixture(
      { volumes: [single], timings: { rebuildBytesPerSecond: mib } },
      { policy: 'always-allow', annotations: { [wantedPolicyAnnotation]: 'block-if-contains-last-replica' } },
    )
    fixture.operate({ isGuard: true })
    await fixture.use('solo', 'node-2')
    fixture.drain('node-1')
    await fixture.seconds(40)
    const said = await explainText(fixture.api, fixture.clock, 'node/node-1')
    expect(said).toContain('hold')
    expect(said).toContain('solo')
    expect(await statusText(fixture.api, fixture.clock)).toContain('node-1')
    expect(fixture.oracle.violations).toEqual([])
  })
})

describe('a volume has a policy of its own', () => {
  it('by its label: its replica leaves by its disk while the setting would let it stay, and the disk is given back after the drain', async () => {
    fixture = await openLonghornFixture(
      { volumes: [{ ...pair, labels: precious }, single], timings: slowly },
      { policy: 'block-if-contains-last-replica', nodeCount: 4 },
    )
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2')
    await fixture.seconds(5)
    expect(fixture.held()).toEqual(['node-1', 'node-2'])
    const drain = fixture.drain('node-1')
    await fixture.seconds(5)
    expect([fixture.askedDisks(), fixture.policyInForce()]).toEqual([
      ['default-disk on node-1'],
      'block-if-contains-last-replica',
    ])
    expect(disksOf('node-1').map(({ allowScheduling }) => allowScheduling)).toEqual([false])
    await fixture.until('the drain is over', drain.isOver, 180)
    await drain.ended
    expect(fixture.robustnessSince('db', 0)).not.toContain('degraded')
    await fixture.cordon('node-1', false)
    await fixture.seconds(10)
    expect(fixture.askedDisks()).toEqual([])
    expect(disksOf('node-1').map(({ allowScheduling }) => allowScheduling)).toEqual([true])
    expect(fixture.placesOf('db')).not.toContain('node-1')
    expectNothingBroken(fixture, 'db', 'solo')
  })
})
