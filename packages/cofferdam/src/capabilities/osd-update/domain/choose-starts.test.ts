import { expect, it } from 'vitest'
import { away, told, type UpdateFixture } from './testing/update-fixture.ts'

/** No two OSDs share a placement group; 0 and 1 are on host-a, 2 and 3 on host-b, 4 and 5 on host-c. */
const free: UpdateFixture = { map: { pgs: [] }, settings: { order: 'by-domain' } }

const table: Record<string, { readonly given: UpdateFixture; readonly start: readonly number[] }> = {
  'host by host, the first host begins alone though all could go': { given: free, start: [0, 1] },
  'while one of a host restarts, only others of the same host go beside it': {
    given: { ...free, needing: [1, 2, 3, 4, 5], osds: { 0: away(5) } },
    start: [1],
  },
  'while OSDs of two hosts restart, as after a change of the order, no third host begins': {
    given: { ...free, needing: [1, 2, 4, 5], osds: { 0: away(5), 3: away(5) } },
    start: [],
  },
}

it.each(Object.entries(table))('%s', (_, { given, start }) => {
  expect(told(given)[1]).toEqual(start)
})
