import { describe, expect, it } from 'vitest'
import { explore } from './explore.ts'
import { plantedBugs } from './planted-bugs.ts'
import { smallScenarios } from './stories.ts'

describe('in every state that can be reached, nobody loses more than may be lost and every request can still end', () => {
  it.each(smallScenarios.map((bounds) => [bounds.name, bounds] as const))('%s', (_name, bounds) => {
    const { states, findings, isComplete } = explore(bounds)
    expect({ findings, isComplete }).toEqual({ findings: [], isComplete: true })
    expect(states).toBeGreaterThan(500)
  })
})

describe('a planted bug is found, and told in the fewest steps that show it', () => {
  const cases: Record<keyof typeof plantedBugs, { what: string; steps: number; last: string }> = {
    'nobody compares epochs': {
      what: 'I2 epochs: intend under an epoch that is void',
      steps: 15,
      last: 'process 0 for R-0 does: intend under epoch 1',
    },
    'a time to live frees what was acted upon': {
      what: 'I6 nothing free too early: Somebody takes a key while what was done under it is still felt.',
      steps: 8,
      last: 'the keeper of the ledger: orphan F',
    },
    'what is free is taken, and the rest is waited for': {
      what: 'I7 no hold-and-wait: Two drains wait for each other for ever, each with what the other needs.',
      steps: 4,
      last: 'process 0 for R-1 does: take node/node-1 and storage/rook-ceph/main and pdb/shop/a and pdb/shop/b, and fails',
    },
    'a lock is an annotation': {
      what: 'I4 enough replicas: An application has fewer replicas than its budget wants.',
      steps: 10,
      last: 'the API server evicts a-1',
    },
    'who holds a key already does not matter': {
      what: 'I1 one holder: Two drains take pods of the same application at the same time.',
      steps: 4,
      last: 'process 0 for R-1 does: take node/node-1 and storage/rook-ceph/main and pdb/shop/a and pdb/shop/b',
    },
    'the intent speaks of the node alone': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 9,
      last: 'process 0 for R-0 does: intend under epoch 1',
    },
    'budgets are locked before that is on record': {
      what: 'I8 locks on record: A lock is left behind that nobody remembers to give back.',
      steps: 4,
      last: 'process 0 for R-0 does: mark budget a under epoch 1',
    },
    'a node is opened while it is drained': {
      what: 'I11 uncordon: the drain is under way',
      steps: 14,
      last: 'process 0 for R-0 does: uncordon',
    },
  }
  it.each(Object.entries(cases))('%s', (name, expected) => {
    const { bounds, parts } = plantedBugs[name as keyof typeof plantedBugs]
    const [finding] = explore(bounds, { parts }).findings
    const { what = 'nothing', trace = [] } = finding ?? {}
    expect({ what, steps: trace.length, last: trace.at(-1) }).toEqual(expected)
  })
})
