import { describe, expect, it } from 'vitest'
import { chooseTargets, isInScope, type SickNode } from './choose-target.ts'
import type { Fence } from './decision.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import { exampleCluster, startMs } from './testing/small-fencing.ts'

function labelled(name: string, domains: Readonly<Record<string, readonly string[]>> = {}): LabelledCluster {
  return {
    cluster: exampleCluster([], { name }),
    at: 0,
    key: `rook/${name}`,
    osds: { domains: new Map(Object.entries(domains)) } as unknown as LabelledCluster['osds'],
    quorum: undefined,
    unclaimed: [],
    budgetName: name,
    budget: undefined,
    formerBudgets: [],
  }
}

const [fast, slow] = [labelled('fast'), labelled('slow')]
const both = new Set([fast, slow])

function sick(name: string, clusters: readonly LabelledCluster[], bootID = 'boot-1'): SickNode {
  return { node: { name, isReady: false, notReadySinceMs: startMs, bootID }, machine: undefined, clusters }
}

function fence(node: string, more: Partial<Fence> = {}): Fence {
  const cluster = { namespace: 'rook', name: 'fast', uid: 'u' }
  return { cluster, node, machine: `m-${node}`, scope: '', bootID: 'boot-1', sinceMs: startMs, isOver: false, ...more }
}

interface Case {
  readonly sick: readonly SickNode[]
  readonly mayLoseOne?: ReadonlySet<LabelledCluster>
  readonly fences?: readonly Fence[]
  readonly then: readonly string[]
}

const cases: Readonly<Record<string, Case>> = {
  'is the first of two that are sick in one cluster: the second would take its data below the floor': {
    sick: [sick('a', [fast]), sick('b', [fast])],
    then: ['a'],
  },
  'is one of each cluster': { sick: [sick('a', [fast]), sick('b', [slow])], then: ['a', 'b'] },
  'is none with OSDs of two clusters of which one can lose none': {
    sick: [sick('a', [fast, slow])],
    mayLoseOne: new Set([fast]),
    then: [],
  },
  'is none with OSDs of two clusters of which one has lost its one already': {
    sick: [sick('a', [fast]), sick('b', [fast, slow]), sick('c', [slow])],
    then: ['a', 'c'],
  },
  'takes its one from every cluster with OSDs on it': {
    sick: [sick('a', [fast, slow]), sick('b', [slow])],
    then: ['a'],
  },
  'stays one whose fence has begun, though its cluster can lose none now: half of a fence helps no one': {
    sick: [sick('a', [fast])],
    mayLoseOne: new Set(),
    fences: [fence('a')],
    then: ['a'],
  },
  'is not one that came back by another boot and is sick again: that fence was another one': {
    sick: [sick('a', [fast], 'boot-2')],
    mayLoseOne: new Set(),
    fences: [fence('a')],
    then: [],
  },
  'stays one whose boot was not on record': {
    sick: [sick('a', [fast], 'boot-2')],
    mayLoseOne: new Set(),
    fences: [fence('a', { bootID: '' })],
    then: ['a'],
  },
  'stays one whose fence has begun and that is not sick any more': { sick: [], fences: [fence('a')], then: ['a'] },
  'is not one whose fence is over': {
    sick: [sick('a', [fast])],
    mayLoseOne: new Set(),
    fences: [fence('a', { isOver: true })],
    then: [],
  },
  'is not a machine without a node': { sick: [], fences: [fence('')], then: [] },
}

describe('what may be fenced now', () => {
  it.each(Object.entries(cases))('%s', (_, { sick: nodes, mayLoseOne = both, fences = [], then }) => {
    expect([...chooseTargets(nodes, mayLoseOne, fences)]).toEqual(then)
  })
})

it('who holds one failure domain does not mind a fence of a node that is in it alone', () => {
  const cluster = labelled('fast', { a: ['zone-1'], b: ['zone-1', 'zone-2'], c: ['zone-2'] })
  expect(['a', 'b', 'c', 'unknown'].map((node) => isInScope(cluster, node, { scope: 'zone-1' }))).toEqual([
    true,
    false,
    false,
    false,
  ])
})
