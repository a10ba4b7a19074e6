import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { createLonghornJudge } from './judge.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

describe.each(['hold', 'guide'] as const)('in mode %s a judge that has seen all before', (mode) => {
  const chain = longhornFixture({
    isAutoscaled: true,
    nodes: { n1: {}, n2: {}, n3: {} },
    volumes: { a: { copies: { n1: 'healthy', n2: 'healthy' } }, b: { copies: { n2: 'healthy', n3: 'healthy' } } },
  })
  const before: LonghornSnapshot = { ...chain, settings: { ...chain.settings, mode } }

  it('settles nodes along a chain of volumes: the end of it may rest on what the beginning gave up', () => {
    const after = withFailed(before, 'a-n2')
    const judge = createLonghornJudge()
    const wanted = [before, after].map((seen) => {
      const { budgets } = judge.decide(seen)
      expect(budgets).toEqual(decideLonghornDrain(seen).budgets)
      return budgets.map((answer) => answer.wanted).join(' ')
    })
    expect(wanted).toEqual(['absent present absent', 'present absent present'])
  })
})

it('a replica that names no volume may have the only data there is, and holds its node', () => {
  const seen = longhornFixture({
    nodes: { n1: { isCordoned: true }, n2: {} },
    volumes: { a: { copies: { n1: 'healthy', n2: 'healthy' } } },
  })
  const replicas = seen.replicas.map((replica) => ({ ...replica, volume: '' }))
  expect(decideLonghornDrain({ ...seen, replicas }).nodes.map(({ mayDrain }) => mayDrain)).toEqual([false])
})

function withFailed(seen: LonghornSnapshot, name: string): LonghornSnapshot {
  const replicas = seen.replicas.map((each) =>
    each.name === name ? { ...each, failedAt: '2026-01-02T00:00:00Z' } : each,
  )
  return { ...seen, replicas }
}
