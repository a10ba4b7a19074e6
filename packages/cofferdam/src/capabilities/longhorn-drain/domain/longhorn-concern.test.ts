import { expect, it } from 'vitest'
import { longhornConcern } from './longhorn-concern.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'

const nodes = { n1: { takesReplicas: true }, n2: { takesReplicas: true }, n3: { takesReplicas: true } }
const two = { copies: { n1: 'healthy', n2: 'healthy' }, numberOfReplicas: 2 } as const
const alone = { copies: { n1: 'healthy' }, numberOfReplicas: 1 } as const
const lastAlone = 'block-for-eviction-if-contains-last-replica'

const rows: Record<string, { readonly given: Fixture; readonly then: ReturnType<ReturnType<typeof longhornConcern>> }> =
  {
    'takes copies, where drains move them: it must not leave beside the node that loses them': {
      given: { policy: 'block-for-eviction', nodes, volumes: { db: two } },
      then: 'takes-copies',
    },
    'is of no concern, where drains move nothing: it need not wait for anybody': {
      given: { policy: 'always-allow', nodes, volumes: { db: two } },
      then: undefined,
    },
    'is of no concern, where only last copies move, and there is none': {
      given: { policy: lastAlone, nodes, volumes: { db: two } },
      then: undefined,
    },
    'takes copies, where only last copies move, and one is the last': {
      given: { policy: lastAlone, nodes, volumes: { db: two, solo: alone } },
      then: 'takes-copies',
    },
    'takes copies, where all copies but one have failed: that one moves': {
      given: {
        policy: lastAlone,
        nodes,
        volumes: { db: { copies: { n1: 'healthy', n2: 'failed' }, numberOfReplicas: 2 } },
      },
      then: 'takes-copies',
    },
    'is of no concern, where every copy has failed: nothing is left to move': {
      given: {
        policy: 'block-for-eviction',
        nodes,
        volumes: { db: { copies: { n1: 'failed', n2: 'failed' }, numberOfReplicas: 2 } },
      },
      then: undefined,
    },
    'is of no concern, where Longhorn puts nothing on it': {
      given: { policy: 'block-for-eviction', nodes: { ...nodes, n3: { takesReplicas: false } }, volumes: { db: two } },
      then: undefined,
    },
    'has data, where an engine runs on it': {
      given: {
        policy: 'block-for-eviction',
        nodes: { ...nodes, n3: { takesReplicas: true, manager: { engines: ['db'] } } },
        volumes: { db: two },
      },
      then: 'has-data',
    },
  }

it.each(Object.entries(rows))('n3 %s', (_sentence, { given, then }) => {
  expect(longhornConcern(longhornFixture(given))('n3')).toBe(then)
})

it('a node that Longhorn does not know is of no concern to it', () => {
  const snapshot = longhornFixture({ policy: 'block-for-eviction', nodes, volumes: { db: two } })
  expect(longhornConcern(snapshot)('elsewhere')).toBeUndefined()
})
