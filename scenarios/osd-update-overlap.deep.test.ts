import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, expect, it } from 'vitest'
import { namespace, openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const budget = (name: string, spec: PodDisruptionBudget['spec']): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace, name },
  spec,
})
const ofAll = budget('rook-ceph-osd', { maxUnavailable: 1, selector: { matchLabels: { app: 'rook-ceph-osd' } } })
const second = budget('rook-ceph-osd-again', { maxUnavailable: 0, selector: { matchLabels: { app: 'rook-ceph-osd' } } })

it('a restart that meets OSDs under two budgets for 20 s, as when Rook exchanges its own, gives up none of them: all are restarted once there is one', async () => {
  fixture = await openUpdateFixture({
    isBesideRook: true,
    annotations: { 'cofferdam.io/update-max-in-parallel': '4' },
  })
  await fixture.api.create(podDisruptionBudgets, ofAll)
  fixture.operate()
  await fixture.seconds(60)
  await fixture.api.create(podDisruptionBudgets, second)
  const annotations = { 'cofferdam.io/restart-osds': timestamp(fixture.clock) }
  await fixture.patchCluster({ metadata: { annotations } })
  await fixture.seconds(20)
  expect(fixture.oracle.started).toEqual([])
  await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'rook-ceph-osd-again' })
  const all = fixture.osdIds().map((osd) => `${osd} anew`)
  await fixture.until('all were restarted', () => fixture.oracle.started.length >= all.length, 3_600)
  await fixture.until('all are back', () => fixture.oracle.onTheWay().length === 0, 300)
  const { violations, below, started } = fixture.oracle
  expect({ violations, below, started: [...started].sort() }).toEqual({
    violations: [],
    below: [],
    started: all.sort(),
  })
})
