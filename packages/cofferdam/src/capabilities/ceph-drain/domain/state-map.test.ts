import { describe, expect, it } from 'vitest'
import {
  buildDrainState,
  calmState,
  type DrainState,
  isStateKey,
  parseDrainState,
  releaseDrainState,
} from './state-map.ts'

describe('what survives a restart', () => {
  const busy: DrainState = {
    openDomains: ['zone-a', 'zone-b'],
    wantsNoout: true,
    lastUncleanAt: '2026-01-01T12:00:00Z',
    nooutSince: { 'zone-a': '2026-01-01T11:59:00Z' },
    ownNoout: ['zone.a'],
    seenNoout: ['zone.a'],
    removedNoout: ['zone.b'],
    unneededOsds: [3, 11],
  }

  it('is written under keys that a Rook user knows, and read back the same', () => {
    const data = buildDrainState(busy)
    expect(data).toEqual({
      'draining-failure-domain': 'zone-a',
      'draining-failure-domain-duration': '2026-01-01T12:00:00Z',
      'set-no-out': 'true',
      'zone-a-noout-last-set-at': '2026-01-01T11:59:00Z',
      'cofferdam.io_open-domains': 'zone-a,zone-b',
      'cofferdam.io_own-noout': 'zone.a',
      'cofferdam.io_seen-noout': 'zone.a',
      'cofferdam.io_removed-noout': 'zone.b',
      'cofferdam.io_spare-osds': '3,11',
    })
    expect(parseDrainState(data)).toEqual(busy)
    expect(parseDrainState(buildDrainState(calmState))).toEqual(calmState)
  })

  it('uses only keys that a ConfigMap takes', () => {
    for (const key of Object.keys(buildDrainState(busy))) expect(key).toMatch(/^[-._a-zA-Z0-9]+$/)
  })

  it('knows its own keys from those of others: what is over goes, and a note of somebody stays', () => {
    for (const key of [...Object.keys(buildDrainState(busy)), 'zone-z-noout-last-set-at']) {
      expect([key, isStateKey(key)]).toEqual([key, true])
    }
    expect(isStateKey('note')).toBe(false)
  })

  it('no map, an empty one and nonsense are calm', () => {
    expect(parseDrainState(undefined)).toEqual(calmState)
    expect(parseDrainState({})).toEqual(calmState)
    expect(
      parseDrainState({
        'draining-failure-domain': '',
        'set-no-out': 'perhaps',
        'cofferdam.io_spare-osds': 'x,-1,1.5',
        'cofferdam.io_own-noout': '',
        '-noout-last-set-at': 'now',
        'draining-failure-domain-duration': '',
      }),
    ).toEqual(calmState)
  })

  it('taken over from Rook, its drain goes on and its flags are ours to take off', () => {
    const rooks = {
      'draining-failure-domain': 'zone-b',
      'draining-failure-domain-duration': '2026-01-01T12:00:00Z',
      'set-no-out': 'true',
      'zone-b-noout-last-set-at': '2026-01-01T11:59:00Z',
    }
    expect(parseDrainState(rooks)).toEqual({
      openDomains: ['zone-b'],
      wantsNoout: true,
      lastUncleanAt: '2026-01-01T12:00:00Z',
      nooutSince: { 'zone-b': '2026-01-01T11:59:00Z' },
      ownNoout: ['zone-b'],
      seenNoout: [],
      removedNoout: [],
      unneededOsds: [],
    })
  })

  it('where Rook wrote last, its word counts', () => {
    const data = { 'draining-failure-domain': 'zone-c', 'cofferdam.io_open-domains': 'zone-a,zone-b' }
    expect(parseDrainState(data).openDomains).toEqual(['zone-c'])
    expect(parseDrainState({ ...data, 'draining-failure-domain': '' }).openDomains).toEqual([])
  })
})

it('a map that is not there leaves nothing behind but flags that are still set', () => {
  expect(releaseDrainState(undefined, { left: [], isRooks: false })).toEqual({ data: undefined, annotations: {} })
  expect(releaseDrainState(undefined, { left: ['zone.a'], isRooks: false }).data).toEqual({
    'cofferdam.io_own-noout': 'zone.a',
  })
})
