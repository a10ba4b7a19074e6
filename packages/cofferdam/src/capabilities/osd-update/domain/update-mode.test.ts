import { describe, expect, it } from 'vitest'
import { updateModeOf } from './update-mode.ts'

const key = 'rook-ceph/rook-ceph'
const beside = { named: [key], own: [], grow: [], rookImage: undefined }
const alone = { ...beside, own: [key] }
const cluster = (annotations: Record<string, string> = {}) => {
  const metadata = { namespace: 'rook-ceph', name: 'rook-ceph', annotations }
  return { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata }
}
const says = (updates: string) => cluster({ 'cofferdam.io/updates': updates })

const table: Record<string, { readonly given: Parameters<typeof updateModeOf>; readonly mode: string }> = {
  'beside Rook it is only planned unless told': { given: [cluster(), { trust: beside, rookRuns: true }], mode: 'plan' },
  'a Rook that is gone hands nothing over': { given: [cluster(), { trust: beside, rookRuns: false }], mode: 'plan' },
  'beside Rook it is paced where that is said': {
    given: [says('pace'), { trust: beside, rookRuns: true }],
    mode: 'pace',
  },
  'without Rook it is owned': { given: [cluster(), { trust: alone, rookRuns: false }], mode: 'own' },
  'a Rook that runs all the same is named, and nothing is touched': {
    given: [cluster(), { trust: alone, rookRuns: true }],
    mode: 'contested',
  },
  'own is not for the CephCluster alone to say': {
    given: [says('own'), { trust: beside, rookRuns: true }],
    mode: 'plan',
  },
  'nonsense is the least': { given: [says('yes'), { trust: beside, rookRuns: true }], mode: 'off' },
  'the former switch of budgets still switches updates off': {
    given: [cluster({ 'cofferdam.io/manage': 'false' }), { trust: alone, rookRuns: false }],
    mode: 'off',
  },
  'the former switch gives way to the new one': {
    given: [
      cluster({ 'cofferdam.io/manage': 'false', 'cofferdam.io/updates': 'plan' }),
      { trust: alone, rookRuns: false },
    ],
    mode: 'plan',
  },
  'where no operator has published what it may and no Rook runs, it is owned, as the operator would': {
    given: [cluster(), { trust: undefined, rookRuns: false }],
    mode: 'own',
  },
  'where no operator has published what it may, a Rook that runs counts': {
    given: [cluster(), { trust: undefined, rookRuns: true }],
    mode: 'plan',
  },
}

describe('who updates the OSDs of a cluster', () => {
  it.each(Object.entries(table))('%s', (_, { given, mode }) => {
    expect(updateModeOf(...given).mode).toBe(mode)
  })

  it('what is said of updates and not done is named; what is said of budgets is for others to name', () => {
    const wrong = cluster({ 'cofferdam.io/updates': 'own', 'cofferdam.io/budgets': 'all' })
    expect(updateModeOf(wrong, { trust: beside, rookRuns: true }).problems).toEqual([
      expect.stringContaining('cofferdam.io/updates: own needs rook-ceph/rook-ceph in --own-osds'),
    ])
  })
})
