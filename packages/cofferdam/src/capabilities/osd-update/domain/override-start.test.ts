import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import { away, nowMs, osdDown, type UpdateFixture, updateSnapshot } from './testing/update-fixture.ts'
import type { UpdateSettings } from './update-settings.ts'

const skip: Partial<UpdateSettings> = { skipUpgradeChecks: true }
const goOn: Partial<UpdateSettings> = { continueUpgradeAfterChecksEvenIfNotHealthy: true }
/** No copy can be missed: 0, 2 and 4 have two placement groups, 1, 3 and 5 have one. */
const noneToSpare = {
  pools: [{ id: 1, minSize: 3 }],
  pgs: [
    { pg: '1.0', acting: [0, 2, 4] },
    { pg: '1.1', acting: [1, 3, 5] },
    { pg: '1.2', acting: [0, 2, 4] },
  ],
}
const degraded = { isClean: known(false) }

interface Case {
  readonly given: UpdateFixture
  readonly start: readonly number[]
  /** The OSD whose checks are overridden. */
  readonly overridden?: number
}

const cases: Readonly<Record<string, Case>> = {
  'without a flag an update that would take placement groups away waits': {
    given: { map: noneToSpare },
    start: [],
  },
  'with skipUpgradeChecks the OSD that takes least away goes alone': {
    given: { map: noneToSpare, settings: skip },
    start: [1],
    overridden: 1,
  },
  'with skipUpgradeChecks nothing starts where somebody holds every pod: no flag is stronger than an owner': {
    given: {
      map: noneToSpare,
      settings: skip,
      cluster: { mode: 'plan' },
      needing: [1, 3],
      osds: { 1: { held: 'orders is locked' }, 3: { held: 'orders is locked' } },
    },
    start: [],
  },
  'with continueUpgradeAfterChecksEvenIfNotHealthy too, when nothing else can start': {
    given: { map: noneToSpare, settings: goOn },
    start: [1],
    overridden: 1,
  },
  'with continueUpgradeAfterChecksEvenIfNotHealthy what is safe goes in safe rounds, as many as may': {
    given: { settings: goOn },
    start: [0, 1],
  },
  'with skipUpgradeChecks OSDs go one at a time also where two could': { given: { settings: skip }, start: [0] },
  'with skipUpgradeChecks the next one waits until the last is back': {
    given: { settings: skip, osds: { 0: away(10) } },
    start: [],
  },
  'beside an OSD whose checks were overridden nothing starts, however safe: never two at once': {
    given: {
      settings: goOn,
      osds: { 0: away(10) },
      record: { startedMs: nowMs - 10_000, overrides: { count: 1, last: { osd: 0, why: 'x', atMs: nowMs - 10_000 } } },
    },
    start: [],
  },
  'nothing starts beside it either when the flag was taken away meanwhile': {
    given: {
      osds: { 0: away(10) },
      record: { startedMs: nowMs - 10_000, overrides: { count: 1, last: { osd: 0, why: 'x', atMs: nowMs - 10_000 } } },
    },
    start: [],
  },
  'where recovery may still end what hinders, it is waited for a minute before an OSD is stopped': {
    given: { map: noneToSpare, settings: skip, ceph: degraded, record: { startedMs: 1, lastEndedMs: nowMs - 30_000 } },
    start: [],
  },
  'after that minute the update goes on': {
    given: { map: noneToSpare, settings: skip, ceph: degraded, record: { startedMs: 1, lastEndedMs: nowMs - 60_000 } },
    start: [1],
    overridden: 1,
  },
  'a placement group that would have no copy left counts more than many below their floor': {
    given: {
      settings: goOn,
      map: {
        pools: [
          { id: 1, minSize: 3 },
          { id: 2, size: 1, minSize: 1 },
        ],
        pgs: [
          { pg: '1.0', acting: [0, 2, 4] },
          { pg: '1.1', acting: [0, 2, 4] },
          { pg: '2.0', acting: [1] },
          { pg: '2.1', acting: [3] },
          { pg: '2.2', acting: [5] },
        ],
      },
    },
    start: [0],
    overridden: 0,
  },
  'the only copy of a pool of size 1 goes too, last of all': {
    given: {
      settings: goOn,
      needing: [1],
      map: { pools: [{ id: 1, size: 1, minSize: 1 }], pgs: [{ pg: '1.0', acting: [1] }] },
    },
    start: [1],
    overridden: 1,
  },
  'an OSD that is down is no longer needed: with skipUpgradeChecks it goes beside another one': {
    given: {
      settings: skip,
      needing: [0, 1],
      osds: { 0: { isPodReady: false } },
      map: { osds: [osdDown(0)], pgs: [] },
    },
    start: [0, 1],
  },
  'no flag overrides a frozen update: the change has shown to be bad': {
    given: {
      map: noneToSpare,
      settings: { ...skip, ...goOn },
      record: { frozen: { osd: 5, why: 'not back', atMs: 1 }, failed: [{ osd: 5, why: 'not back', atMs: 1 }] },
    },
    start: [],
  },
  'no flag overrides a drain that holds or awaits the storage': {
    given: {
      map: noneToSpare,
      settings: { ...skip, ...goOn },
      arbiter: unknown('the ledger cannot be read'),
    },
    start: [],
  },
  'no flag lets an OSD stop while Ceph does not answer': {
    given: { settings: { ...skip, ...goOn }, ceph: unknown('timeout') },
    start: [],
  },
}

describe('an update whose checks are overridden', () => {
  it.each(Object.entries(cases))('%s', (_, { given, start, overridden }) => {
    const decision = decideOsdUpdate(updateSnapshot(given))
    expect([decision.start, decision.override?.osd]).toEqual([start, overridden])
  })

  it('names the placement groups and what they lose, in the record and in words', () => {
    const { override, record, explanation } = decideOsdUpdate(updateSnapshot({ map: noneToSpare, settings: skip }))
    const harm = '1 placement group is below min_size while it restarts: 1.1 of pool rbd keeps 2 of 3 copies'
    expect(override).toEqual({ osd: 1, by: 'skipUpgradeChecks', harm })
    expect(record.overrides).toEqual({ count: 1, last: { osd: 1, why: `skipUpgradeChecks: ${harm}`, atMs: nowMs } })
    expect(explanation).toContain(`because skipUpgradeChecks is set: ${harm}`)
  })
})
