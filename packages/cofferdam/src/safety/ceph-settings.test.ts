import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { type CephTrust, trustsAlone } from '../shared/ceph-trust/named-clusters.ts'
import { defaultSettings, parseCephCluster, parseDisruptionSettings } from './ceph-settings.ts'
import { domainTypeInUse, labelOfBucket } from './domain-type.ts'

const cluster = (disruptionManagement?: unknown, annotations: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'my-cluster', namespace: 'rook-ceph', uid: 'uid-1', annotations },
    spec: { disruptionManagement },
  }) as KubeObject

describe('what a CephCluster says about its budgets', () => {
  it('nothing said: the defaults, without a warning', () => {
    expect(parseDisruptionSettings(cluster())).toEqual(defaultSettings)
    expect(parseDisruptionSettings(cluster('nonsense'))).toEqual(defaultSettings)
    expect(parseDisruptionSettings(cluster({ osdMaintenanceTimeout: 0, pgHealthyRegex: '' }))).toEqual(defaultSettings)
  })

  it('everything said', () => {
    const said = cluster(
      { osdMaintenanceTimeout: 45, pgHealthyRegex: '^active.*$' },
      { 'cofferdam.io/failure-domain': 'rack', 'cofferdam.io/max-domains': '2' },
    )
    expect(parseDisruptionSettings(said)).toEqual({
      ...defaultSettings,
      osdMaintenanceTimeoutMinutes: 45,
      pgHealthyRegex: '^active.*$',
      failureDomainOverride: 'rack',
      maxDomains: 2,
    })
  })

  const minutes: Readonly<Record<string, readonly [unknown, number, number]>> = {
    'one minute is a time': [1, 1, 0],
    'half a minute is none, and 30 minutes count': [0.5, 30, 1],
    'less than nothing is none: noout would never be set': [-5, 30, 1],
    'a number in quotes is none': ['45', 30, 1],
    'nothing at all is none': [null, 30, 1],
  }
  it.each(Object.entries(minutes))('of the time that an OSD may be away: %s', (_, [given, used, warned]) => {
    const { osdMaintenanceTimeoutMinutes, warnings } = parseDisruptionSettings(
      cluster({ osdMaintenanceTimeout: given }),
    )
    expect([osdMaintenanceTimeoutMinutes, warnings.length]).toEqual([used, warned])
  })

  it('a cluster without annotations or without a spec has the defaults: it must not stop the others', () => {
    const bare = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: { name: 'bare' } }
    expect([bare, { ...bare, spec: 'nonsense' }].map((each) => parseDisruptionSettings(each as KubeObject))).toEqual([
      defaultSettings,
      defaultSettings,
    ])
  })

  it('an image for Rook in an annotation is refused in words: whoever may edit a cluster must not choose what the operator runs', () => {
    const { warnings } = parseDisruptionSettings(cluster({}, { 'cofferdam.io/rook-image': 'evil/rook:1' }))
    expect(warnings).toEqual([
      'annotation cofferdam.io/rook-image has no effect: --rook-image of the operator names the image',
    ])
  })

  it('fields without effect are accepted and named', () => {
    const dead = {
      pgHealthCheckTimeout: 5,
      manageMachineDisruptionBudgets: true,
      machineDisruptionBudgetNamespace: 'm',
    }
    expect(parseDisruptionSettings(cluster(dead)).warnings).toEqual([
      'spec.disruptionManagement.pgHealthCheckTimeout is accepted and has no effect',
    ])
  })

  it('values that cannot be used are named, and the defaults count', () => {
    const bad = cluster(
      { osdMaintenanceTimeout: '30m', pgHealthyRegex: 7 },
      { 'cofferdam.io/failure-domain': 'shelf', 'cofferdam.io/max-domains': '0' },
    )
    const { warnings, ...settings } = parseDisruptionSettings(bad)
    expect({ ...settings, warnings: [] }).toEqual(defaultSettings)
    expect(warnings).toEqual([
      'spec.disruptionManagement.osdMaintenanceTimeout "30m" is no number of minutes; 30 is used',
      'spec.disruptionManagement.pgHealthyRegex is no text; the default pattern is used',
      'annotation cofferdam.io/failure-domain "shelf" is no type of failure domain',
      'annotation cofferdam.io/max-domains "0" is no count of at least 1; 1 is used',
    ])
  })
})

describe('who has the budgets', () => {
  const on = { managePodBudgets: true }
  const optIn = { 'cofferdam.io/manage': 'true' }
  const optOut = { 'cofferdam.io/manage': 'false' }
  const alone = trustsAlone([{ namespace: 'rook-ceph', name: 'my-cluster' }])
  const rooks: CephTrust = { ...alone, own: [] }
  const rows: [string, KubeObject, CephTrust, string, object | undefined][] = [
    ['alone and switched on: we have', cluster(on), alone, 'manage', undefined],
    ['alone and switched off: what is ours goes', cluster({ managePodBudgets: false }), alone, 'observe', undefined],
    ['alone and nothing said: what is ours goes', cluster(), alone, 'observe', undefined],
    ['alone and opted out: what is ours goes', cluster(on, optOut), alone, 'observe', undefined],
    ['beside Rook that handles them: we observe', cluster(on), rooks, 'observe', { managesBudgets: true }],
    [
      'beside Rook that handles them, opted in: nothing is changed, and we never fight',
      cluster(on, optIn),
      rooks,
      'contested',
      { managesBudgets: true },
    ],
    [
      'beside Rook whose handling is off, opted in: we have',
      cluster({}, optIn),
      rooks,
      'manage',
      { managesBudgets: false },
    ],
    [
      'beside Rook whose handling is off, not opted in: we observe',
      cluster({}),
      rooks,
      'observe',
      { managesBudgets: false },
    ],
    [
      'beside Rook whose handling is off, opted out again: what is ours goes',
      cluster({}, optOut),
      rooks,
      'observe',
      { managesBudgets: false },
    ],
  ]
  it.each(rows)('%s', (_sentence, given, trust, mode, rook) => {
    const view = parseCephCluster(given, { trust, rookRuns: false })
    expect([view.mode, view.rook]).toEqual([mode, rook])
  })

  it('a Rook that went away hands nothing over, and is reported while the budgets are its own', () => {
    const warningsOf = (given: KubeObject, rookRuns: boolean) =>
      parseCephCluster(given, { trust: rooks, rookRuns }).settings.warnings
    expect(warningsOf(cluster(on), true)).toEqual([])
    expect(warningsOf(cluster(on), false)).toEqual([
      "Rook's operator does not run, so no operator updates the budgets of rook-ceph/my-cluster; they stay as they are until it is back, or until they are handed over with cofferdam adopt cephcluster/rook-ceph/my-cluster",
    ])
    expect(warningsOf(cluster({}, { 'cofferdam.io/budgets': 'manage' }), false)).toEqual([])
    expect(warningsOf(cluster({}), false), 'budgets that Rook never managed do not miss it').toEqual([])
    expect(
      parseCephCluster(cluster(on, optOut), { trust: alone, rookRuns: false }).settings.warnings.filter((text) =>
        text.startsWith("Rook's operator"),
      ),
      'where Cofferdam is alone no Rook is missed',
    ).toEqual([])
  })
})

describe('the type of failure domain', () => {
  it('is the narrowest that any pool enforces', () => {
    expect(domainTypeInUse(undefined, ['region', 'zone'])).toBe('zone')
    expect(domainTypeInUse(undefined, ['region', 'zone', 'host'])).toBe('host')
    expect(domainTypeInUse(undefined, ['region'])).toBe('region')
  })

  it('is host where nothing usable is said, and always what the override says', () => {
    expect(domainTypeInUse(undefined, ['shelf', 'osd'])).toBe('host')
    expect(domainTypeInUse(undefined, undefined)).toBe('host')
    expect(domainTypeInUse('rack', ['host'])).toBe('rack')
    expect(domainTypeInUse(undefined, 'zone')).toBe('zone')
  })

  it('names its buckets as labels do, where no point may stand', () => {
    expect(labelOfBucket('zone.eu.1')).toBe('zone-eu-1')
  })
})
