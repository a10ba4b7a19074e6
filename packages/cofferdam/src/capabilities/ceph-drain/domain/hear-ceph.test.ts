import { expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { decideHearingCeph } from './hear-ceph.ts'
import { ours, tell } from './testing/fixture.ts'

const zones = { 'zone-1': [1, 4], 'zone-2': [2, 5], 'zone-3': [3, 6] }
const map = exampleMap({ hosts: zones, pgs: [{ pg: '1.0', acting: [4, 5, 6] }] })

function openWhen(says: (osds: readonly number[]) => Observed<boolean>) {
  const asked: number[][] = []
  const cephSays: Record<string, Observed<boolean>> = {}
  const given = { zones, down: [1, 2], cordoned: ['node-1'], budgets: ours('zone-1', 'zone-2', 'zone-3') }
  for (;;) {
    const { decision, unheard } = decideHearingCeph(tell(given), { map, cephSays })
    if (unheard.length === 0) return { open: decision.state.openDomains, asked }
    for (const { domain, osds } of unheard) {
      asked.push([...osds])
      cephSays[domain] = says(osds)
    }
  }
}

it('asks Ceph about the zone that takes the place of one it had no opinion on: else that one would go unasked', () => {
  const says = (osds: readonly number[]) => (osds.includes(4) ? unknown('it answered about other OSDs') : known(true))
  expect(openWhen(says)).toEqual({ open: ['zone-2'], asked: [[4], [5]] })
})

it('opens none where Ceph has no opinion on any: two zones that took turns would write without end', () => {
  const { open, asked } = openWhen(() => unknown('it answered about other OSDs'))
  expect({ open, asked }).toEqual({ open: [], asked: [[4], [5]] })
})

it('names the pools that are not counted: Ceph would refuse for data that nobody keeps', () => {
  const ignored = { ...map, ignoredPools: [{ id: 7, name: 'scratch' }] as never }
  const given = { zones, down: [1], cordoned: ['node-1'], budgets: ours('zone-1', 'zone-2', 'zone-3') }
  const { unheard } = decideHearingCeph(tell(given), { map: ignored, cephSays: {} })
  expect(unheard).toEqual([{ domain: 'zone-1', osds: [4], ignoredPools: [7] }])
})

it('asks Ceph about an OSD whose pod Kubernetes has lost and that Ceph has up: it may be one of the last two that serve', () => {
  const given = {
    zones,
    down: [4],
    cephDown: [],
    osd: { 4: { hasPodOnNode: true } },
    budgets: ours('zone-1', 'zone-2', 'zone-3'),
  }
  const { unheard } = decideHearingCeph(tell({ ...given, ceph: { assumedDownOsds: [4] } }), { map, cephSays: {} })
  expect(unheard).toEqual([{ domain: 'zone-1', osds: [4] }])
})
