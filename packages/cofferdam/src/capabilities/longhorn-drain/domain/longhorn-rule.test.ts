import { expect, it } from 'vitest'
import { IndexedSnapshot } from './longhorn-index.ts'
import { mayProtectForLonghorn } from './longhorn-rule.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

it('a replica without a node protects nothing for Longhorn, which gives up on it: a second budget was made, and drains failed on two', () => {
  const copies = { n1: 'healthy', '': { instanceManager: undefined } } as const
  const seen = longhornFixture({ nodes: { n1: { isCordoned: true } }, volumes: { db: { copies } } })
  const index = new IndexedSnapshot()
  index.update(seen)
  const nowhere = index.replicasOf('db').filter(({ node }) => node === '')
  expect(nowhere.map((copy) => mayProtectForLonghorn(index, copy))).toEqual([false])
})
