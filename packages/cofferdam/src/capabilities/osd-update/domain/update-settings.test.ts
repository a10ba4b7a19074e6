import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { defaultUpdateSettings, parseUpdateSettings, type UpdateSettings } from './update-settings.ts'

function cluster(spec: unknown, annotations: Record<string, string> = {}): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'rook-ceph', namespace: 'rook-ceph', annotations },
    spec,
  } as CephCluster
}

const inParallel = 'spec.updatePolicy.osds.maxInParallelPerCluster'
const limits = 'a whole number of at least 1, or a percentage from "1%" to "100%"'

describe('how a CephCluster wants its OSDs updated', () => {
  it('one that says nothing has 15 % in parallel and the defaults', () => {
    for (const spec of [undefined, {}, { updatePolicy: {} }, { updatePolicy: { osds: {} }, storage: null }]) {
      expect(parseUpdateSettings(cluster(spec))).toEqual({
        settings: { ...defaultUpdateSettings, maxInParallel: { kind: 'percent', percent: 15 } },
        problems: [],
        deprecated: [],
      })
    }
  })

  it('an annotation that is no text is refused and named, and the default holds', () => {
    const odd = cluster({}, { 'cofferdam.io/update-order': 7 } as never)
    expect(parseUpdateSettings(odd)).toMatchObject({
      settings: { order: defaultUpdateSettings.order },
      problems: [{ field: 'annotation cofferdam.io/update-order' }],
    })
  })

  it('one that says everything has all of it', () => {
    const spec = {
      updatePolicy: {
        skipUpgradeChecks: true,
        continueUpgradeAfterChecksEvenIfNotHealthy: true,
        osds: { maxInParallelPerCluster: '30%', removeIfOutAndSafeToDestroy: true },
      },
      storage: { osdMaxUpdatesInParallel: 7 },
      upgradeOSDRequiresHealthyPGs: true,
    }
    const annotations = {
      'cofferdam.io/update-max-in-parallel': '3',
      'cofferdam.io/update-order': 'by-domain',
      'cofferdam.io/update-pace': 'barrier',
      'cofferdam.io/update-soak-seconds': '120',
      'cofferdam.io/update-reserve': '1',
      'cofferdam.io/update-canary': 'true',
      'cofferdam.io/update-deadline-seconds': '900',
      'cofferdam.io/update-strategy': 'ok-to-upgrade',
      'cofferdam.io/update-ceph-version': '20.2.5-9-g1234abc',
      'cofferdam.io/update-mons-first': 'false',
    }
    expect(parseUpdateSettings(cluster(spec, annotations))).toEqual({
      settings: {
        maxInParallel: { kind: 'percent', percent: 30 },
        rookMaxInParallel: 7,
        skipUpgradeChecks: true,
        continueUpgradeAfterChecksEvenIfNotHealthy: true,
        removeIfOutAndSafeToDestroy: true,
        requiresHealthyPgs: true,
        order: 'by-domain',
        pace: 'barrier',
        soakSeconds: 120,
        reserve: 1,
        canary: true,
        deadlineSeconds: 900,
        strategy: 'ok-to-upgrade',
        monsFirst: false,
        cephVersion: '20.2.5-9-g1234abc',
      } satisfies UpdateSettings,
      problems: [],
      deprecated: [],
    })
  })

  it.each([
    { says: 'its own place', osds: 5, annotation: '3', rook: 7, limit: { kind: 'count', count: 5 } },
    { says: 'the annotation', annotation: '3', rook: 7, limit: { kind: 'count', count: 3 } },
    { says: 'the annotation, as a percentage', annotation: '3%', rook: 7, limit: { kind: 'percent', percent: 3 } },
    { says: "Rook's field", rook: 7, limit: { kind: 'count', count: 7 } },
  ])('the limit is what $says has, before all that comes after', ({ osds, annotation, rook, limit }) => {
    const spec = {
      updatePolicy: { osds: { maxInParallelPerCluster: osds } },
      storage: { osdMaxUpdatesInParallel: rook },
    }
    const notes = annotation === undefined ? {} : { 'cofferdam.io/update-max-in-parallel': annotation }
    const { settings, problems } = parseUpdateSettings(cluster(spec, notes))
    expect({ limit: settings.maxInParallel, rook: settings.rookMaxInParallel, problems }).toEqual({
      limit,
      rook: 7,
      problems: [],
    })
  })
})

describe('older places', () => {
  const old = {
    skipUpgradeChecks: true,
    continueUpgradeAfterChecksEvenIfNotHealthy: true,
    removeOSDsIfOutAndSafeToRemove: true,
  }
  const deprecated = [
    { field: 'spec.skipUpgradeChecks', instead: 'spec.updatePolicy.skipUpgradeChecks' },
    {
      field: 'spec.continueUpgradeAfterChecksEvenIfNotHealthy',
      instead: 'spec.updatePolicy.continueUpgradeAfterChecksEvenIfNotHealthy',
    },
    {
      field: 'spec.removeOSDsIfOutAndSafeToRemove',
      instead: 'spec.updatePolicy.osds.removeIfOutAndSafeToDestroy',
    },
  ]

  it('still count, and are reported as deprecated', () => {
    expect(parseUpdateSettings(cluster(old))).toEqual({
      settings: {
        ...defaultUpdateSettings,
        skipUpgradeChecks: true,
        continueUpgradeAfterChecksEvenIfNotHealthy: true,
        removeIfOutAndSafeToDestroy: true,
      },
      problems: [],
      deprecated,
    })
  })

  it('give way to the new place, even where that says no and the old one makes no sense', () => {
    const updatePolicy = {
      skipUpgradeChecks: false,
      continueUpgradeAfterChecksEvenIfNotHealthy: false,
      osds: { removeIfOutAndSafeToDestroy: false },
    }
    const both = { ...old, skipUpgradeChecks: 'perhaps', updatePolicy }
    expect(parseUpdateSettings(cluster(both))).toEqual({ settings: defaultUpdateSettings, problems: [], deprecated })
  })
})

describe('a value that is not allowed', () => {
  const lastGood: UpdateSettings = { ...defaultUpdateSettings, maxInParallel: { kind: 'count', count: 2 }, reserve: 1 }

  it.each([
    { value: 0, shown: '0' },
    { value: -3, shown: '-3' },
    { value: 1.5, shown: '1.5' },
    { value: '150%', shown: '"150%"' },
    { value: '0%', shown: '"0%"' },
    { value: 'abc', shown: '"abc"' },
    { value: '4', shown: '"4"' },
    { value: true, shown: 'true' },
  ])('$shown OSDs in parallel is refused by name, and the last good configuration stays', ({ value, shown }) => {
    const spec = { updatePolicy: { osds: { maxInParallelPerCluster: value, removeIfOutAndSafeToDestroy: true } } }
    const parsed = parseUpdateSettings(cluster(spec, { 'cofferdam.io/update-reserve': '3' }), lastGood)
    expect(parsed.problems).toEqual([{ field: inParallel, problem: `${shown} is refused; allowed is ${limits}` }])
    expect(parsed.settings).toBe(lastGood)
  })

  it.each([
    [
      'spec.storage.osdMaxUpdatesInParallel',
      { storage: { osdMaxUpdatesInParallel: 0 } },
      {},
      'a whole number of at least 1',
    ],
    ['spec.upgradeOSDRequiresHealthyPGs', { upgradeOSDRequiresHealthyPGs: 'yes' }, {}, 'true or false'],
    ['spec.skipUpgradeChecks', { skipUpgradeChecks: 1 }, {}, 'true or false'],
    ['spec.updatePolicy.skipUpgradeChecks', { updatePolicy: { skipUpgradeChecks: 'no' } }, {}, 'true or false'],
    ['spec.updatePolicy', { updatePolicy: 'all' }, {}, 'an object'],
    ['spec.updatePolicy.osds', { updatePolicy: { osds: [] } }, {}, 'an object'],
    ['annotation cofferdam.io/update-max-in-parallel', {}, { 'max-in-parallel': '0' }, limits],
    ['annotation cofferdam.io/update-order', {}, { order: 'fast' }, '"fewest-rounds" or "by-domain"'],
    ['annotation cofferdam.io/update-pace', {}, { pace: '' }, '"rolling" or "barrier"'],
    ['annotation cofferdam.io/update-soak-seconds', {}, { 'soak-seconds': '-1' }, 'a whole number from 0 to 86400'],
    ['annotation cofferdam.io/update-reserve', {}, { reserve: '1.5' }, 'a whole number from 0 to 16'],
    ['annotation cofferdam.io/update-canary', {}, { canary: 'yes' }, '"true" or "false"'],
    [
      'annotation cofferdam.io/update-deadline-seconds',
      {},
      { 'deadline-seconds': '0' },
      'a whole number from 1 to 86400',
    ],
    ['annotation cofferdam.io/update-strategy', {}, { strategy: 'fast' }, '"plan" or "ok-to-stop" or "ok-to-upgrade"'],
    [
      'annotation cofferdam.io/update-ceph-version',
      {},
      { 'ceph-version': '--conf=x' },
      'a version as `ceph osd metadata` has it',
    ],
  ])('%s is named, with what is allowed', (field, spec, notes, allowed) => {
    const annotations = Object.fromEntries(
      Object.entries(notes).map(([name, value]) => [`cofferdam.io/update-${name}`, value]),
    )
    const { settings, problems } = parseUpdateSettings(cluster(spec, annotations), lastGood)
    expect(problems.map((problem) => problem.field)).toEqual([field])
    expect(problems[0]?.problem).toContain(`is refused; allowed is ${allowed}`)
    expect(settings).toBe(lastGood)
  })

  it('tells of all of them at once', () => {
    const spec = { updatePolicy: { osds: { maxInParallelPerCluster: 0 }, skipUpgradeChecks: 'x' } }
    const { problems } = parseUpdateSettings(cluster(spec, { 'cofferdam.io/update-canary': 'x' }), lastGood)
    expect(problems.map(({ field }) => field)).toEqual([
      inParallel,
      'spec.updatePolicy.skipUpgradeChecks',
      'annotation cofferdam.io/update-canary',
    ])
  })

  it('lets one OSD at a time where there never was a good limit, and keeps what can be read', () => {
    const spec = { updatePolicy: { osds: { maxInParallelPerCluster: '150%' }, skipUpgradeChecks: true } }
    expect(parseUpdateSettings(cluster(spec)).settings).toEqual({
      ...defaultUpdateSettings,
      maxInParallel: { kind: 'count', count: 1 },
      skipUpgradeChecks: true,
    })
  })

  it('of another field leaves a limit that can be read as it is, where there never was a good configuration', () => {
    const spec = { updatePolicy: { osds: { maxInParallelPerCluster: 9 } } }
    const { settings } = parseUpdateSettings(cluster(spec, { 'cofferdam.io/update-reserve': 'many' }))
    expect(settings).toEqual({ ...defaultUpdateSettings, maxInParallel: { kind: 'count', count: 9 } })
  })
})
