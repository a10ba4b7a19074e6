import { describe, expect, it } from 'vitest'
import { rehearseDrains } from './rehearse-drains.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

describe('a drain of a node with an engine on it', () => {
  const rehearsed = (attachedBy: string | undefined) => {
    const snapshot = longhornFixture({
      nodes: { n1: { manager: { engines: ['db'] } }, n2: {} },
      volumes: { db: { copies: { n2: 'healthy' }, attachedBy, attachedTo: 'n1' } },
    })
    const { passing, lasting } = rehearseDrains(snapshot).find(({ node }) => node === 'n1') ?? {}
    const of = (blockers: typeof passing) => (blockers ?? []).map(({ reason }) => reason)
    return { passing: of(passing), lasting: of(lasting) }
  }

  it('waits only for pods that leave with it', () => {
    expect(rehearsed('pod shop/db-0, pod shop/db-1')).toEqual({ passing: ['VolumeAttached'], lasting: [] })
  })

  it('waits for good where something else has attached the volume, or nobody knows what', () => {
    expect(rehearsed('pod shop/db-0, backup b-1')).toEqual({ passing: [], lasting: ['VolumeAttached'] })
    expect(rehearsed(undefined)).toEqual({ passing: [], lasting: ['VolumeAttached'] })
  })
})

it('a copy that runs in no instance manager protects nobody: the node with the other one is held', () => {
  const snapshot = longhornFixture({
    nodes: { n1: {}, n2: {} },
    volumes: { db: { copies: { n1: 'healthy', n2: { instanceManager: undefined } } } },
  })
  const held = rehearseDrains(snapshot).filter(({ lasting }) => lasting.length > 0)
  expect(held.map(({ node, lasting }) => `${node} ${lasting[0]?.reason}`)).toEqual(['n1 LastReplica'])
})
