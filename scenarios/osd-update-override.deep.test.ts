import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const next = 'v19.2.4'
const patient = 240_000

/** No placement group can miss a copy. */
async function openTight(policy: JsonObject, copies = { size: 2, minSize: 2 }): Promise<void> {
  fixture = await openUpdateFixture({
    storage: 3,
    osdsPerNode: 2,
    copies,
    annotations: { 'cofferdam.io/update-max-in-parallel': '4' },
  })
  await fixture.patchCluster({ spec: policy })
  fixture.operate()
  await fixture.seconds(60)
}

const both = { skipUpgradeChecks: true, continueUpgradeAfterChecksEvenIfNotHealthy: true }

describe('a pool whose min_size is its size', () => {
  it(
    'blocks the update for as long as nobody overrides the checks, and every placement group is served',
    async () => {
      await openTight({})
      await fixture.want(next)
      await fixture.seconds(900)
      const { violations, below, started } = fixture.oracle
      expect({ violations, below, started }).toEqual({ violations: [], below: [], started: [] })
      expect(await fixture.told()).toContain('Warning OsdUpdateBlocked')
    },
    patient,
  )

  it.each<{ flags: string; policy: JsonObject }>([
    { flags: 'skipUpgradeChecks', policy: { skipUpgradeChecks: true } },
    {
      flags: 'continueUpgradeAfterChecksEvenIfNotHealthy',
      policy: { continueUpgradeAfterChecksEvenIfNotHealthy: true },
    },
    { flags: 'both flags', policy: both },
  ])(
    'with $flags the update ends: OSDs go one at a time, and each is a warning',
    async ({ policy }) => {
      await openTight(policy)
      await fixture.want(next)
      await fixture.until('all are updated', () => fixture.isUpdated(next), 1_800)
      await fixture.until('the storage is free', () => fixture.holders().length === 0, 120)
      const { violations, overridden, started } = fixture.oracle
      expect({ violations, started: started.length, atOnce: fixture.oracle.mostAtOnce() }).toEqual({
        violations: [],
        started: 6,
        atOnce: 1,
      })
      expect(overridden.length).toBeGreaterThan(0)
      const told = await fixture.told()
      const warnings = told.filter((one) => one === 'Warning UpdateChecksOverridden')
      expect([warnings.length, told.includes('Warning UpdateChecksOff')]).toEqual([overridden.length, true])
    },
    patient,
  )

  it(
    'a drain and the update still exclude each other: no flag lets an OSD stop beside a drained node',
    async () => {
      await openTight(both, { size: 3, minSize: 2 })
      await fixture.request('reboot-storage-1', 'storage-1')
      await fixture.until('the drain holds the storage', () => fixture.holders().length > 0, 300)
      await fixture.want(next)
      await fixture.seconds(60)
      const { violations, started } = fixture.oracle
      expect({ violations, started }).toEqual({ violations: [], started: [] })
    },
    patient,
  )
})
