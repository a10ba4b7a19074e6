import { expect, it } from 'vitest'
import type { GrowthPlace } from './growth-places.ts'
import { whyRefused } from './judge-result.ts'
import type { NewOsd } from './new-osd.ts'
import { uuidOf } from './testing/growth-objects.ts'

const onNode: GrowthPlace = { name: 'a', asked: '2' }
const onClaim: GrowthPlace = { name: 'set1-data-0', asked: '2', claim: { set: 'set1', index: 0, isMissing: false } }
const osd = (id: number, facts: Partial<NewOsd> = {}): NewOsd => ({
  id,
  uuid: uuidOf(id),
  node: 'a',
  location: { host: 'a' },
  ...facts,
})
const claimed = (id: number, facts: Partial<NewOsd> = {}): NewOsd => ({
  ...osd(id),
  node: undefined,
  location: {},
  pvc: 'set1-data-0',
  ...facts,
})
const { uuid: _, ...unmarked } = osd(4)

const table: Record<string, { readonly osds: readonly NewOsd[]; readonly place?: GrowthPlace; readonly why?: string }> =
  {
    'what Ceph knows by the same UUID is made': { osds: [osd(4), osd(5)] },
    'what is on the claim that was asked about is made': { osds: [claimed(4)], place: onClaim },
    'two OSDs on one volume claim are not made: one of them would open the disk of the other': {
      osds: [claimed(4), claimed(5)],
      place: onClaim,
      why: 'it reports 2 new OSDs, and at most 1 can come of what was asked',
    },
    'a claim has no OSD that is bound to a node, where its volume may not be': {
      osds: [osd(5)],
      place: onClaim,
      why: 'osd.5 is said to be on no volume claim',
    },
    'an OSD without a UUID is not made: nothing would tie it to what Ceph knows': {
      osds: [unmarked],
      why: 'osd.4 has "" for a UUID',
    },
    'a level of the CRUSH map that is none is refused: drains would count the OSD to no failure domain': {
      osds: [osd(4, { location: { host: 'a', shelf: 'b' } })],
      why: 'osd.4 is said to be in shelf=b',
    },
    'a name of the CRUSH map that could be an option of a command is refused': {
      osds: [osd(4, { location: { host: 'a', rack: '--force' } })],
      why: 'osd.4 is said to be in rack=--force',
    },
  }

it.each(Object.entries(table))('%s', (_name, { osds, place = onNode, why }) => {
  const known = new Map([4, 5].map((id) => [id, uuidOf(id)]))
  expect(whyRefused(osds, { place, known })).toBe(why)
})
