import { type LonghornSetting, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { namespaces, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { wantedPolicyAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { explainText, planText, statusText } from './testing/commands.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { expectNothingBroken, mib, pair, single } from './testing/longhorn-rows.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const last = 'block-if-contains-last-replica'

const holds = () =>
  [...fixture.views.of(podDisruptionBudgets).values()]
    .filter(({ metadata }) => metadata.name.startsWith('cofferdam-hold-'))
    .map(({ metadata }) => metadata.name)

/** As a second Longhorn, or what an uninstalled one has left behind. */
async function addSetting(where: string): Promise<LonghornSetting> {
  await fixture.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: where } })
  return fixture.api.create(longhornSettings, {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Setting',
    metadata: { name: drainPolicySetting, namespace: where },
    value: last,
  })
}

it('settings of Longhorn in a second namespace stop what is written in the middle of a drain, and let nothing go: which Longhorn has the data is not known. When one is left, the drain ends', async () => {
  fixture = await openLonghornFixture(
    { namespace: 'storage', volumes: [single, pair], timings: { rebuildBytesPerSecond: 8 * mib } },
    { policy: last, annotations: { [wantedPolicyAnnotation]: 'block-for-eviction' } },
  )
  await writeOperatorLease(fixture)
  fixture.operate({ isGuard: true })
  await fixture.use('db', 'node-2')
  await fixture.use('solo', 'node-3')
  await fixture.seconds(5)
  const stray = await addSetting('left-over')
  await fixture.seconds(1)
  const before = holds()
  const drain = fixture.drain('node-1')
  await fixture.request('reboot', { nodeName: 'node-2' })
  await fixture.seconds(60)
  expect([drain.isOver(), fixture.policyInForce(), fixture.phaseOf('reboot')]).toEqual([false, last, 'Waiting'])
  expect(holds()).toEqual(before)
  const both = '(left-over, storage)'
  expect((await fixture.notes(drainPolicySetting)).at(-1)).toContain(both)
  expect(await explainText(fixture.api, fixture.clock, 'node/node-1')).toContain(both)
  expect(await statusText(fixture.api, fixture.clock)).toContain(both)
  expect(await explainText(fixture.api, fixture.clock, 'nodedisruption/reboot')).toContain(both)

  const rehearsed = await planText(fixture.api, fixture.clock, 'node-3')
  expect(rehearsed).toContain(both)
  expect(rehearsed).toContain('storage/longhorn-system/longhorn')

  await fixture.api.delete(nodeDisruptions, { name: 'reboot' })
  await fixture.api.delete(longhornSettings, { namespace: 'left-over', name: stray.metadata.name })
  await fixture.until('the drain is over', drain.isOver, 180)
  await drain.ended
  expectNothingBroken(fixture, 'solo', 'db')
})
