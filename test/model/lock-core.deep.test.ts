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
  const cases: Record<keyof typeof plantedBugs, { what: string; steps: number }> = {
    'nobody compares epochs': { what: 'I2 epochs: intend under an epoch that is void', steps: 15 },
    'a time to live frees what was acted upon': {
      what: 'I6 nothing free too early: Somebody takes a key while what was done under it is still felt.',
      steps: 8,
    },
    'what is free is taken, and the rest is waited for': {
      what: 'I7 no hold-and-wait: Two drains wait for each other for ever, each with what the other needs.',
      steps: 4,
    },
    'a lock is an annotation': {
      what: 'I4 enough replicas: An application has fewer replicas than its budget wants.',
      steps: 10,
    },
    'who holds a key already does not matter': {
      what: 'I1 one holder: Two drains take pods of the same application at the same time.',
      steps: 4,
    },
    'the intent speaks of the node alone': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 9,
    },
    'budgets are locked before that is on record': {
      what: 'I8 locks on record: A lock is left behind that nobody remembers to give back.',
      steps: 4,
    },
    'a node is opened while it is drained': { what: 'I11 uncordon: the drain is under way', steps: 14 },
    'a ticket is kept by those who hold': {
      what: 'I7 no hold-and-wait: Two drains wait for each other for ever, each with what the other needs.',
      steps: 31,
    },
    'only the node is asked for': {
      what: 'L1: whatever happens from here, some request never ends or leaves something behind',
      steps: 0,
    },
    'the failure domain of storage does not matter': {
      what: 'I6 nothing free too early: Somebody takes a key while what was done under it is still felt.',
      steps: 3,
    },
    'the storage of others may be taken': {
      what: 'I1 one holder: Two drains take pods of the same application at the same time.',
      steps: 3,
    },
    'the intent is never written': {
      what: 'L1: whatever happens from here, some request never ends or leaves something behind',
      steps: 0,
    },
    'to release is to release everybody': { what: 'I9 release: release of R-1 touched a key of R-0', steps: 24 },
    'one key is forgotten when all are released': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 26,
    },
    'a ticket is never taken back': {
      what: 'L1: whatever happens from here, some request never ends or leaves something behind',
      steps: 6,
    },
    'who asks again goes to the end of the queue': { what: 'I16 tickets: R-1 lost its place', steps: 7 },
    'who steps back goes to the end of the queue': { what: 'I16 tickets: R-0 lost its place', steps: 5 },
    'who steps back loses its place': { what: 'I16 tickets: R-1 lost its place', steps: 5 },
    'budgets stay locked when the drain is over': { what: 'I13 nothing left: a budget is locked', steps: 30 },
    'the node stays cordoned when the drain is over': { what: 'I13 nothing left: a node is cordoned', steps: 28 },
    'a node is said to be drained while pods leave': {
      what: 'I14 drained: a-0 and b-0 would go down unasked',
      steps: 9,
    },
    'a pod that is terminating counts as gone': { what: 'I14 drained: a-0 and b-0 would go down unasked', steps: 12 },
    'the word that a node may go is never taken back': { what: 'I11 uncordon: the drain is under way', steps: 17 },
    'everything is released as soon as the intent is written': {
      what: 'L1: whatever happens from here, some request never ends or leaves something behind',
      steps: 0,
    },
    'a drain does not ask whether an owner has locked': {
      what: 'I15 owner: a drain begins on what the owner has locked',
      steps: 2,
    },
    'the guard does not ask whether an owner has locked': {
      what: 'I15 owner: an eviction passes a lock of the owner',
      steps: 2,
    },
    'an owner’s lock is never read': { what: 'I15 owner: a drain begins on what the owner has locked', steps: 2 },
    'storage is not asked': {
      what: 'I6 nothing free too early: Somebody takes a key while what was done under it is still felt.',
      steps: 25,
    },
    'the storage of a drain is not held': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 9,
    },
    'pods that stayed need not be back': {
      what: 'I6 pods that stayed: The budget of a pod that is not back yet is taken by somebody else.',
      steps: 24,
    },
    'the guard lets everybody through': { what: 'I15 owner: an eviction passes a lock of the owner', steps: 2 },
    'the guard lets nobody through, not even the holder': {
      what: 'deadlock: a request has not ended and nothing can happen any more',
      steps: 8,
    },
    'a reservation takes no disruption': {
      what: 'I4 enough replicas: An application has fewer replicas than its budget wants.',
      steps: 11,
    },
    'a reservation names no pod': {
      what: 'L1: whatever happens from here, some request never ends or leaves something behind',
      steps: 0,
    },
    'a disruption is reserved that is not there': {
      what: 'I4 enough replicas: An application has fewer replicas than its budget wants.',
      steps: 11,
    },
    'what a vanished holder did is not waited for': {
      what: 'I6 nothing free too early: Somebody takes a key while what was done under it is still felt.',
      steps: 9,
    },
    'budgets are never locked': { what: 'named waits: it waits and does not say for what', steps: 4 },
    'the node is never cordoned': { what: 'named waits: it waits and does not say for what', steps: 11 },
    'no pod is ever evicted': { what: 'named waits: it waits and does not say for what', steps: 7 },
    'locks are released while the record still says that the node may go': {
      what: 'I11 uncordon: the drain is under way',
      steps: 25,
    },
    'the guard does not compare epochs': { what: 'I2 epochs: evicted under an epoch that is void', steps: 13 },
    'break-glass leaves no record': {
      what: 'I17 break-glass: pdb/shop/a of R-0 was taken and that is not on record',
      steps: 5,
    },
    'whoever lost a key by break-glass keeps its epoch': {
      what: 'I17 break-glass: R-0 may go on with node/node-0',
      steps: 5,
    },
    'break-glass takes everything from whoever it takes a key from': {
      what: 'I17 break-glass: node/node-1 of R-1 is still felt and was freed',
      steps: 12,
    },
    'a drain does not ask which of its keys were broken': {
      what: 'I17 break-glass: R-1 goes on without its keys',
      steps: 15,
    },
    'break-glass never ends': { what: 'I17 break-glass: R-0 breaks keys without leave', steps: 5 },
    'a ledger that was deleted is an empty one': { what: 'I2 epochs: an epoch was given out again', steps: 7 },
    'epochs are raised, and what was held is not missed': {
      what: 'I18 forgotten: R-0 begins while the ledger has forgotten R-1',
      steps: 13,
    },
    'the storage of what was lost is not entered again': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 12,
    },
    'of two records the earlier one gets the key': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 38,
    },
    'a ledger that was lost is never rebuilt': {
      what: 'deadlock: a request has not ended and nothing can happen any more',
      steps: 19,
    },
    'a key stays with whoever was put back with the ledger': {
      what: 'I3 whole plans: A node goes though a budget that it counts on is not its own.',
      steps: 38,
    },
    'a drain whose intent was lost begins anew': {
      what: 'I6 nothing free too early: Somebody takes a key while what was done under it is still felt.',
      steps: 32,
    },
    'whoever needs something else than it was granted goes to the end of the queue': {
      what: 'I16 tickets: R-1 lost its place',
      steps: 7,
    },
    'a limit is checked before the grant and not within it': {
      what: 'I20 limits: node/node-0 and node/node-1 go beside a limit of one',
      steps: 8,
    },
    'a node that is held without a place is counted when its cordon is seen': {
      what: 'I20 limits: node/node-0 and node/node-1 go beside a limit of one',
      steps: 11,
    },
    'a node is known by its name': { what: 'I19 made again: intend on a node that the request is not about', steps: 9 },
    'a node that was made again is no node': {
      what: 'deadlock: a request has not ended and nothing can happen any more',
      steps: 29,
    },
    'the guard asks for the very budget that was locked': {
      what: 'I4 enough replicas: An application has fewer replicas than its budget wants.',
      steps: 12,
    },
  }
  it('there are fifty of them at least', () => expect(Object.keys(cases).length).toBeGreaterThanOrEqual(50))

  it.each(Object.entries(cases))('%s', (name, expected) => {
    const { bounds, parts } = plantedBugs[name as keyof typeof plantedBugs]
    const [finding] = explore(bounds, { parts }).findings
    const { what = 'nothing', trace = [] } = finding ?? {}
    expect({ what, steps: trace.length }).toEqual(expected)
  })
})
