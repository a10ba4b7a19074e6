import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { wantedPolicyAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { expect } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './longhorn-fixture.ts'
import { expectNothingBroken, pair, single, slowly } from './longhorn-rows.ts'

/** A policy is in force, and another is wanted by the annotation. */
export function openWithWantedPolicy(policy: string, wanted: string): Promise<LonghornFixture> {
  return openLonghornFixture(
    { volumes: [single, pair], timings: slowly },
    { policy, annotations: { [wantedPolicyAnnotation]: wanted } },
  )
}

/** `node-1` is cordoned and drained in the same moment, with a guard beside; before that the nodes in `held` have a budget. */
export async function expectDrainByWantedPolicy(
  fixture: LonghornFixture,
  { policy, wanted, held }: { readonly policy: string; readonly wanted: string; readonly held: readonly string[] },
): Promise<void> {
  fixture.operate({ isGuard: true })
  await fixture.use('db', 'node-2')
  await fixture.use('solo', 'node-3')
  await fixture.seconds(5)
  expect(fixture.held()).toEqual(held)
  const counts = new Set<number>()
  const end = fixture.views.of(longhornReplicas).subscribe(() => counts.add(fixture.replicasOf('db').length))
  const start = fixture.clock.now()
  const drain = fixture.drain('node-1')
  await fixture.seconds(5)
  expect([drain.isOver(), fixture.policyInForce()]).toEqual([false, wanted])
  await fixture.until('the drain is over', drain.isOver, 180)
  await drain.ended
  end()
  expect(fixture.placesOf('solo')).not.toContain('node-1')
  expect(fixture.placesOf('db').includes('node-1')).toBe(wanted !== 'block-for-eviction')
  expect(Math.min(...counts, 2)).toBe(2)
  if (wanted === 'block-for-eviction') expect(fixture.robustnessSince('db', start)).toEqual(['healthy'])
  await fixture.cordon('node-1', false)
  await fixture.until('it is as before', () => fixture.policyInForce() === policy, 30)
  await fixture.until('db is healthy', () => fixture.robustnessOf('db') === 'healthy', 120)
  expectNothingBroken(fixture, 'solo', 'db')
}
