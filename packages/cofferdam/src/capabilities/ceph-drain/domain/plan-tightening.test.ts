import { expect, it } from 'vitest'
import { asWanted } from './osd-budgets.ts'
import { planTightening } from './plan-tightening.ts'
import type { OsdBudget } from './snapshot.ts'
import { tell } from './testing/fixture.ts'

const zones = { 'zone-1': [1, 4], 'zone-2': [2], 'zone-3': [3] }
const general = (maxUnavailable: number, exceptOsds: readonly number[]): OsdBudget => ({
  name: 'rook-ceph-osd',
  maxUnavailable,
  selector: { covers: 'all', exceptOsds },
  isOurs: true,
})
const block = (domain: string): OsdBudget => ({
  name: `rook-ceph-osd-zone-${domain}`,
  maxUnavailable: 0,
  selector: { covers: 'domain', type: 'zone', domain },
  isOurs: true,
})

const rows: Record<string, { standing: OsdBudget[]; wanted: OsdBudget[]; then: string[] }> = {
  'blocks over what a closed budget holds wait until they can take its place: evictions between would fail for good': {
    standing: [general(0, [1, 4])],
    wanted: [block('zone-2'), block('zone-3')],
    then: [],
  },
  'a block over OSDs that the closed budget leaves out is created: nothing else holds them': {
    standing: [general(0, [1, 4])],
    wanted: [block('zone-1'), block('zone-3')],
    then: ['rook-ceph-osd-zone-zone-1: 0'],
  },
  'a budget that lets an OSD go is closed: blocks beside it had OSDs under two budgets for 8 seconds while Rook’s were adopted':
    {
      standing: [general(1, [])],
      wanted: [block('zone-2')],
      then: ['rook-ceph-osd: 0'],
    },
  'nothing is closed where nothing more is to be held': {
    standing: [general(0, [1, 4]), block('zone-2')],
    wanted: [general(1, [])],
    then: [],
  },
  'where nothing of ours stands, all of it is written: it loosens nothing': {
    standing: [],
    wanted: [general(1, [])],
    then: ['rook-ceph-osd: 1'],
  },
}

it.each(Object.entries(rows))('while nothing may be released: %s', (_sentence, { standing, wanted, then }) => {
  const { osds } = tell({ zones })
  const steps = planTightening({ osds, budgets: standing }, wanted.map(asWanted))
  expect(
    steps.map((step) => (step.action === 'apply' ? `${step.budget.name}: ${step.budget.maxUnavailable}` : step.name)),
  ).toEqual(then)
})
