import { describe, expect, it } from 'vitest'
import { type CephTrust, trustsAlone, trustsNone } from '../shared/ceph-trust/named-clusters.ts'
import { type CephOwnership, decideOwnership, hasRooksBudgets } from './ceph-ownership.ts'

const name = { namespace: 'rook-ceph', name: 'rook-ceph' }
const alone = trustsAlone([name])
const named: CephTrust = { ...alone, own: [] }

interface Row {
  readonly trust?: CephTrust
  readonly annotations?: Record<string, string>
  readonly managePodBudgets?: boolean
  readonly rookRuns?: boolean
  readonly then: Pick<CephOwnership, 'budgets' | 'updates'>
  readonly problems?: readonly RegExp[]
}

const rows: Record<string, Row> = {
  'a cluster that nobody named is observed, whatever it says of itself': {
    trust: trustsNone,
    annotations: { 'cofferdam.io/budgets': 'manage', 'cofferdam.io/updates': 'pace' },
    then: { budgets: 'observe', updates: 'off' },
  },
  'named, and nothing said: budgets are observed, updates planned': {
    managePodBudgets: true,
    rookRuns: true,
    then: { budgets: 'observe', updates: 'plan' },
  },
  'Rook scaled to 0 hands nothing over': {
    managePodBudgets: true,
    rookRuns: false,
    then: { budgets: 'observe', updates: 'plan' },
  },
  'Rook gone and its handling of budgets off hands nothing over': { then: { budgets: 'observe', updates: 'plan' } },
  "budgets handed over, Rook's own off: they are ours beside a running Rook": {
    annotations: { 'cofferdam.io/budgets': 'manage' },
    rookRuns: true,
    then: { budgets: 'manage', updates: 'plan' },
  },
  'budgets handed over, and Rook gone for five seconds: still ours': {
    annotations: { 'cofferdam.io/budgets': 'manage' },
    then: { budgets: 'manage', updates: 'plan' },
  },
  'handed over while Rook still manages them: two writers would undo each other, so nothing is written or removed': {
    annotations: { 'cofferdam.io/budgets': 'manage' },
    managePodBudgets: true,
    rookRuns: true,
    then: { budgets: 'contested', updates: 'plan' },
    problems: [/managePodBudgets is true.*cofferdam adopt cephcluster\/rook-ceph\/rook-ceph/],
  },
  'the same while Rook is down for a moment: it would come back to them': {
    annotations: { 'cofferdam.io/budgets': 'manage' },
    managePodBudgets: true,
    then: { budgets: 'contested', updates: 'plan' },
    problems: [/managePodBudgets is true/],
  },
  'the former annotation still counts, or an upgrade would take all protection away': {
    annotations: { 'cofferdam.io/manage': 'true' },
    then: { budgets: 'manage', updates: 'plan' },
    problems: [/cofferdam.io\/manage "true" is deprecated: use cofferdam.io\/budgets: manage/],
  },
  'the former annotation with another word hands nothing over, and is named': {
    annotations: { 'cofferdam.io/manage': 'yes' },
    then: { budgets: 'observe', updates: 'plan' },
    problems: [/cofferdam.io\/manage "yes" is neither "true" nor "false": use cofferdam.io\/budgets: observe/],
  },
  'the former annotation that says no is deprecated as well': {
    annotations: { 'cofferdam.io/manage': 'false' },
    then: { budgets: 'observe', updates: 'plan' },
    problems: [/cofferdam.io\/manage "false" is deprecated: use cofferdam.io\/budgets: observe/],
  },
  'the new annotation wins over the former one': {
    annotations: { 'cofferdam.io/manage': 'true', 'cofferdam.io/budgets': 'observe' },
    then: { budgets: 'observe', updates: 'plan' },
  },
  'a word that is no choice hands nothing over': {
    annotations: { 'cofferdam.io/budgets': 'yes', 'cofferdam.io/updates': 'on' },
    then: { budgets: 'observe', updates: 'off' },
    problems: [/cofferdam.io\/budgets "yes" is none of observe, manage/, /cofferdam.io\/updates "on" is none of off/],
  },
  'updates paced beside Rook': {
    annotations: { 'cofferdam.io/updates': 'pace' },
    rookRuns: true,
    then: { budgets: 'observe', updates: 'pace' },
  },
  'Rook gone while its updates are paced: the labels stay ours': {
    annotations: { 'cofferdam.io/updates': 'pace' },
    then: { budgets: 'observe', updates: 'pace' },
  },
  "a cluster cannot take the OSD Deployments for Cofferdam: the operator's own administrator says so": {
    annotations: { 'cofferdam.io/updates': 'own' },
    then: { budgets: 'observe', updates: 'plan' },
    problems: [/needs rook-ceph\/rook-ceph in --own-osds/],
  },
  'no Rook, said by --own-osds: all is ours': {
    trust: alone,
    managePodBudgets: true,
    then: { budgets: 'manage', updates: 'own' },
  },
  'no Rook, and budgets switched off': { trust: alone, then: { budgets: 'observe', updates: 'own' } },
  'no Rook is said, and one runs: both say that they write, so nothing is written': {
    trust: alone,
    managePodBudgets: true,
    rookRuns: true,
    then: { budgets: 'contested', updates: 'contested' },
    problems: [/Rook's operator runs/],
  },
  'no Rook is said, one runs, and its handling of budgets is off: budgets stay ours': {
    trust: alone,
    annotations: { 'cofferdam.io/budgets': 'manage' },
    rookRuns: true,
    then: { budgets: 'manage', updates: 'contested' },
  },
  'pacing a Rook that is said not to be there': {
    trust: alone,
    annotations: { 'cofferdam.io/updates': 'pace' },
    managePodBudgets: true,
    then: { budgets: 'manage', updates: 'plan' },
    problems: [/take rook-ceph\/rook-ceph out of --own-osds/],
  },
}

it.each([
  ['a spec that is a text', 'external'],
  ['a section that is a text', { disruptionManagement: 'on' }],
  ['a switch that is a text', { disruptionManagement: { managePodBudgets: 'true' } }],
])(
  '%s does not leave the budgets to Rook: with none of the two, nothing would hold a second failure domain',
  (_, spec) => {
    const cluster = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: name, spec }
    expect(hasRooksBudgets(cluster)).toBe(false)
  },
)

describe('whose budgets and OSD Deployments are', () => {
  it.each(Object.entries(rows))('%s', (_sentence, row) => {
    const cluster = {
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { ...name, ...(row.annotations && { annotations: row.annotations }) },
      spec: { disruptionManagement: { managePodBudgets: row.managePodBudgets ?? false } },
    }
    const { problems, ...said } = decideOwnership({
      cluster,
      trust: row.trust ?? named,
      rookRuns: row.rookRuns ?? false,
    })
    expect(said).toEqual(row.then)
    expect(problems).toHaveLength(row.problems?.length ?? 0)
    row.problems?.forEach((pattern, index) => {
      expect(problems[index]).toMatch(pattern)
    })
  })
})
