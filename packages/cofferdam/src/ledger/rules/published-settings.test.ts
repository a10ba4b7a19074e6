import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { known } from '../../shared/observed.ts'
import { type PublishedSettings, parseSettings, settingsText } from './published-settings.ts'

const settings: PublishedSettings = {
  drainLock: { mode: 'spec', minTolerationMs: 600_000, fallbackAfterMs: 60_000 },
  appLocks: { maxTtlMs: 28_800_000, maxHoldMs: 86_400_000, maxPerNamespace: 0 },
}
const text =
  '{"mode":"spec","minTolerationSeconds":600,"fallbackAfterSeconds":60,"maxLockSeconds":28800,"maxHoldSeconds":86400,"locksPerNamespace":0}'
const trusting = {
  cephClusters: ['rook-ceph/rook-ceph', 'other/ceph'],
  ownOsds: ['rook-ceph/rook-ceph'],
  growOsds: ['rook-ceph/rook-ceph'],
  rookImage: 'registry.example/rook/ceph:v1.18.8',
}
const changed = (fields: object) => JSON.stringify({ ...JSON.parse(text), ...fields })
const unreadable = 'what is published cannot be read:'

describe('the settings that the operator publishes', () => {
  it('are read as they were written', () => {
    expect(settingsText(settings)).toBe(text)
    expect(parseSettings(text)).toEqual(known(settings))
  })

  it('say which CephClusters the operator acts on, so that everybody counts the same', () => {
    const trust = {
      named: trusting.cephClusters,
      own: trusting.ownOsds,
      grow: trusting.growOsds,
      rookImage: trusting.rookImage,
    }
    expect(parseSettings(changed(trusting))).toEqual(known({ ...settings, trust }))
    expect(parseSettings(settingsText({ ...settings, trust }))).toEqual(known({ ...settings, trust }))
  })

  it('name clusters without an image of Rook where the operator knows none: only the growth of OSDs asks for it', () => {
    const { named, own, grow } = { named: trusting.cephClusters, own: trusting.ownOsds, grow: trusting.growOsds }
    const trust = { named, own, grow, rookImage: undefined }
    expect(parseSettings(changed({ ...trusting, rookImage: undefined }))).toEqual(known({ ...settings, trust }))
    expect(parseSettings(changed({ ...trusting, rookImage: 7 }))).toEqual(known({ ...settings, trust }))
  })

  it('say how long a planned outage may last, and are read without it as an earlier version wrote them', () => {
    const drainLock = { ...settings.drainLock, plannedOutageMs: 7_200_000 }
    expect(parseSettings(changed({ plannedOutageSeconds: 7_200 }))).toEqual(known({ ...settings, drainLock }))
    expect(parseSettings(settingsText({ ...settings, drainLock }))).toEqual(known({ ...settings, drainLock }))
  })

  it('say which version publishes them, and one that is no text is left out: nothing is judged by it', () => {
    expect(parseSettings(settingsText({ ...settings, version: '1.2.3' }))).toEqual(
      known({ ...settings, version: '1.2.3' }),
    )
    expect(parseSettings(changed({ version: 3 }))).toEqual(known(settings))
  })

  const cases: Record<string, { given: string | undefined; why: string }> = {
    'a planned outage that is no number is unknown, and not taken for none': {
      given: changed({ plannedOutageSeconds: '1h' }),
      why: `${unreadable} "plannedOutageSeconds" is no number of 0 or more`,
    },
    'clusters that are no list are unknown, and not taken for none': {
      given: changed({ ...trusting, cephClusters: 'rook-ceph/rook-ceph' }),
      why: `${unreadable} "cephClusters", "ownOsds" and "growOsds" are no lists of names`,
    },
    'nothing published is unknown': { given: undefined, why: 'not published' },
    'no JSON is unknown': { given: 'spec', why: `${unreadable} it is not JSON` },
    'no object is unknown': { given: '[]', why: `${unreadable} it is no JSON object` },
    'a mode of another version is unknown': {
      given: changed({ mode: 'pray' }),
      why: `${unreadable} "mode" is none of reserve, spec, settle`,
    },
    'one field that is missing makes all of it unknown': {
      given: changed({ maxHoldSeconds: undefined }),
      why: `${unreadable} "maxHoldSeconds" is no number of 0 or more`,
    },
    'less than nothing is unknown': {
      given: changed({ locksPerNamespace: -1 }),
      why: `${unreadable} "locksPerNamespace" is no number of 0 or more`,
    },
    'a whole book is unknown': {
      given: changed({ notes: 'x'.repeat(17_000) }),
      why: `${unreadable} it has more than 16384 characters`,
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, why }) => {
    expect(parseSettings(given)).toEqual({ known: false, why })
  })

  it('whatever the text says, nothing is thrown, and what is known makes the same text again', () => {
    const odd = fc
      .record({ mode: fc.constantFrom('reserve', 'settle', 'x', 1), maxLockSeconds: fc.oneof(fc.nat(), fc.double()) })
      .map(changed)
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), odd), (given) => {
        const parsed = parseSettings(given)
        if (parsed.known) expect(parseSettings(settingsText(parsed.value))).toEqual(parsed)
      }),
    )
  })
})
