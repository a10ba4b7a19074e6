import { expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { ours, tell } from '../domain/testing/stage.ts'
import { SecondOpinions } from './second-opinions.ts'

const zones = { 'zone-1': [1, 4], 'zone-2': [2, 5], 'zone-3': [3, 6] }
const map = exampleMap({ hosts: zones, pgs: [{ pg: '1.0', acting: [4, 5, 6] }] })
const noCommands = { run: () => Promise.reject(new Error('nobody asks')) }

async function openWhen(says: (osds: readonly number[]) => Observed<boolean>) {
  const asked: number[][] = []
  const opinions = new SecondOpinions({
    ceph: {
      async askOkToStop(_, osds) {
        asked.push([...osds])
        return says(osds)
      },
    },
  })
  const given = { zones, down: [1, 2], cordoned: ['node-1'], budgets: ours('zone-1', 'zone-2', 'zone-3') }
  const snapshot = tell(given)
  const { signal } = new AbortController()
  const { state } = await opinions.decide({ snapshot, map, ceph: noCommands, signal })
  return { open: state.openDomains, asked }
}

it('asks Ceph about the zone that takes the place of one it had no opinion on: else that one would go unasked', async () => {
  const says = (osds: readonly number[]) => (osds.includes(4) ? unknown('it answered about other OSDs') : known(true))
  expect(await openWhen(says)).toEqual({ open: ['zone-2'], asked: [[4], [5]] })
})

it('opens none where Ceph has no opinion on any: two zones that took turns would write without end', async () => {
  const { open, asked } = await openWhen(() => unknown('it answered about other OSDs'))
  expect({ open, asked }).toEqual({ open: [], asked: [[4], [5]] })
})
