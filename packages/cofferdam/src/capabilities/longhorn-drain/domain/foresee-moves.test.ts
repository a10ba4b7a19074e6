import { describe, expect, it } from 'vitest'
import { foreseeMoves } from './foresee-moves.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'

const takes = { takesReplicas: true, disks: [{ name: 'd', uuid: 'd', isEvictionAsked: false, allowScheduling: true }] }
const nodes = { n1: takes, n2: takes, n3: takes } as Fixture['nodes']
const two = { copies: { n1: 'healthy', n2: 'healthy' }, numberOfReplicas: 2 } as const
const three = { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' }, numberOfReplicas: 3 } as const
const alone = { copies: { n1: 'healthy' }, numberOfReplicas: 1 } as const

describe('copies of n1 that would have no place', () => {
  const rows: Record<string, { readonly given: Fixture; readonly then: readonly string[] }> = {
    'none, where a node without a copy takes one': {
      given: { policy: 'block-for-eviction', nodes, volumes: { db: two } },
      then: [],
    },
    'where every other node has a copy: the drain would wait for a node that nobody adds': {
      given: { policy: 'block-for-eviction', nodes, volumes: { db: three } },
      then: ['replica/db-n1'],
    },
    'none, where the policy moves only last copies, and there are others': {
      given: { policy: 'block-for-eviction-if-contains-last-replica', nodes, volumes: { db: three } },
      then: [],
    },
    'a last copy, where no other node takes any': {
      given: {
        policy: 'block-for-eviction-if-contains-last-replica',
        nodes: { n1: takes, n2: { ...takes, takesReplicas: false } } as Fixture['nodes'],
        volumes: { db: alone },
      },
      then: ['replica/db-n1'],
    },
    'none, where the policy moves nothing: the copy is back with its node': {
      given: { policy: 'block-if-contains-last-replica', nodes, volumes: { db: three } },
      then: [],
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const found = foreseeMoves(longhornFixture(given)).placelessOn('n1', 'Reboot')
    expect(found.map(({ object }) => object)).toEqual(then)
    expect(found.every(({ why }) => why.includes('no node takes another copy: n1 is to be drained'))).toBe(true)
  })
})
