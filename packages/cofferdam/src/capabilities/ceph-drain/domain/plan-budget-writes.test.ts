import { expect, it } from 'vitest'
import { asWanted, buildOsdBudget } from './osd-budgets.ts'
import { onlyTightening, planBudgetWrites } from './plan-budget-writes.ts'
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
    then: ['rook-ceph-osd-zone-zone-1'],
  },
  'blocks are created where the standing budget lets an OSD go': {
    standing: [general(1, [])],
    wanted: [block('zone-2')],
    then: ['rook-ceph-osd-zone-zone-2'],
  },
}

it.each(Object.entries(rows))('while nothing may be released: %s', (_sentence, { standing, wanted, then }) => {
  const snapshot = { ...tell({ zones }), budgets: standing }
  const present = standing.map((budget) => buildOsdBudget(snapshot.cluster, budget))
  const left = onlyTightening(planBudgetWrites(snapshot, present, { budgets: wanted.map(asWanted) }), snapshot)
  expect(left.map((write) => ('budget' in write ? write.budget : write.seen).metadata.name)).toEqual(then)
})
