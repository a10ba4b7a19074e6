import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideCephDrain } from './decide.ts'
import { decideStorageFacts, type StorageFactsInput } from './decide-storage-facts.ts'
import { buildOsdBudget } from './osd-budgets.ts'
import { no, notYet, ours, type Scenario, tell } from './testing/fixture.ts'
import { arbiterWith, cluster, key } from './testing/small-ledger.ts'

interface Asked {
  readonly scenario: Scenario
  readonly node?: string
  readonly osdsOnNode?: readonly number[]
  readonly standing?: readonly string[]
  /** What Ceph reported last; zone unless told. */
  readonly domainType?: string | undefined
}

function factsFor(asked: Asked) {
  const { scenario, node = 'node-1', osdsOnNode = [1], standing = ['default'] } = asked
  const domainType = 'domainType' in asked ? asked.domainType : 'zone'
  const snapshot = tell({ arbiter: arbiterWith(), ...scenario })
  const { arbiter = unknown('none') } = snapshot
  return decideStorageFacts({
    cluster,
    node,
    osdsOnNode,
    decided: { snapshot, decision: decideCephDrain(snapshot), domainType },
    budgets: standingBudgets(standing),
    arbiter,
  })
}

function standingBudgets(words: readonly string[]): PodDisruptionBudget[] {
  return ours(...words).map((budget) => buildOsdBudget(cluster, budget))
}

/** `yes`, `no` or `unknown`, and the failure domain. */
function inShort(asked: Asked): string {
  const { facts } = factsFor(asked)
  return facts
    .map(({ failureDomain, mayGo }) => {
      const answer = mayGo.known ? (mayGo.value.allowed ? 'yes' : 'no') : 'unknown'
      return `${failureDomain} ${answer}`.trim()
    })
    .join()
}

const blocks = ['zone-2', 'zone-3']

const rows: Record<string, { given: Asked; then: string }> = {
  'all data is there: the zone of the node may go': { given: { scenario: {} }, then: 'zone-1 yes' },
  'a node without OSDs has nothing to do with it': {
    given: { scenario: {}, node: 'node-9', osdsOnNode: [] },
    then: '',
  },
  'another zone is down: this one may not go': {
    given: { scenario: { down: [2], cordoned: ['node-2'] } },
    then: 'zone-1 no',
  },
  'the very zone is open already: it may go': {
    given: {
      scenario: { down: [1], cordoned: ['node-1'], state: { openDomains: ['zone-1'] }, budgets: ours(...blocks) },
      standing: blocks,
    },
    then: 'zone-1 yes',
  },
  'too few copies would be left: it may not go': {
    given: { scenario: { verdicts: { 'zone-1': no } } },
    then: 'zone-1 no',
  },
  'Ceph has not reported since the last change: not known': {
    given: { scenario: { verdicts: { 'zone-1': notYet } } },
    then: 'zone-1 unknown',
  },
  'Ceph is silent: not known, and the zone is told all the same': {
    given: { scenario: { silentMs: 60_000 } },
    then: 'zone-1 unknown',
  },
  'the ledger cannot be read: not known': {
    given: { scenario: { arbiter: unknown('it cannot be read') } },
    then: 'zone-1 unknown',
  },
  'somebody holds another zone: the data has nothing against it, the ledger will say so itself': {
    given: { scenario: { arbiter: arbiterWith('reboot-b has zone-2') } },
    then: 'zone-1 yes',
  },
  'the zone is granted and the others are not held yet: not known': {
    given: { scenario: { arbiter: arbiterWith('reboot-a has zone-1') } },
    then: 'zone-1 unknown',
  },
  'a rack was granted before Ceph spread copies over zones, and the other zones are not held yet: not known, or a second zone could go beside it':
    {
      given: { scenario: { arbiter: arbiterWith('reboot-a has rack-1') } },
      then: 'zone-1 unknown',
    },
  'a rack was granted before Ceph spread copies over zones, and no OSD at all can be evicted: it may go': {
    given: { scenario: { arbiter: arbiterWith('reboot-a has rack-1') }, standing: ['closed'] },
    then: 'zone-1 yes',
  },
  'an update of OSDs holds all of the storage: the ledger will say so itself': {
    given: { scenario: { arbiter: arbiterWith('update-a has') } },
    then: 'zone-1 yes',
  },
  'the zone is granted and every other one is held: it may go': {
    given: { scenario: { arbiter: arbiterWith('reboot-a has zone-1') }, standing: ['default but 2,3', ...blocks] },
    then: 'zone-1 yes',
  },
  'the zone is granted and no OSD at all can be evicted: it may go': {
    given: { scenario: { arbiter: arbiterWith('reboot-a has zone-1') }, standing: ['closed'] },
    then: 'zone-1 yes',
  },
  'the zone is granted and Rook has the budgets: they follow their own rules': {
    given: { scenario: { mode: 'observe', arbiter: arbiterWith('reboot-a has zone-1') }, standing: [] },
    then: 'zone-1 yes',
  },
  'an OSD came to the node that nobody has placed yet: not known': {
    given: { scenario: {}, osdsOnNode: [1, 9] },
    then: 'zone-1 unknown',
  },
  'a node whose only OSD nobody has placed yet is in no zone: not known': {
    given: { scenario: {}, node: 'node-9', osdsOnNode: [9] },
    then: 'unknown',
  },
  'Ceph has never reported its failure domains: not known, and in no zone': {
    given: { scenario: {}, domainType: undefined },
    then: 'unknown',
  },
  'Ceph reported racks before, and the OSD has no label for one: not known, and in none': {
    given: { scenario: {}, domainType: 'rack' },
    then: 'unknown',
  },
  'Ceph reported hosts before, and labels have the OSDs of the node in two: not known, and in none of them': {
    given: {
      scenario: {
        zones: { 'zone-1': [1, 4], 'zone-2': [2], 'zone-3': [3] },
        osd: { 1: { topology: { zone: 'zone-1', host: 'a' } }, 4: { topology: { zone: 'zone-1', host: 'b' } } },
      },
      osdsOnNode: [1, 4],
      domainType: 'host',
    },
    then: 'unknown',
  },
  'the OSDs of the node belong to two zones: it may not go': {
    given: {
      scenario: { zones: { 'zone-1': [1], 'zone-2': [2], 'zone-3': [3] }, osd: { 2: { nodeName: known('node-1') } } },
      osdsOnNode: [1, 2],
    },
    then: 'no',
  },
}

describe('what a node means to Ceph', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(inShort(given)).toBe(then)
  })

  it('a domain that is granted before the others are held is behind: another decision may change the answer', () => {
    const scenario = { arbiter: arbiterWith('reboot-a has zone-1') }
    expect(factsFor({ scenario }).isBehind).toBe(true)
    expect(factsFor({ scenario, standing: ['closed'] }).isBehind).toBe(false)
    expect(factsFor({ scenario: {} }).isBehind).toBe(false)
  })
})

describe('what holds the OSDs of a node that is being drained already', () => {
  const holds = (asked: Asked) => factsFor(asked).facts.flatMap(({ holds: found = [] }) => found)

  it('is why Ceph needs them: that their budget allows none was said instead, as if more healthy pods would end it', () => {
    const [hold] = holds({ scenario: { verdicts: { 'zone-1': no } }, standing: ['closed'] })
    expect(hold).toMatchObject({ budgets: ['pdb/rook-ceph/rook-ceph-osd'], object: key, reason: 'TooFewCopies' })
    expect(hold?.wayOut).toContain('zone-1 must stay')
  })

  it('is told for a node with OSDs of two zones too, the reason that others have not given first (short seed 705487)', () => {
    const both = { 5: { nodeName: known('node-1') } }
    const zones = { 'zone-1': [1, 4], 'zone-2': [2, 5], 'zone-3': [3, 6] }
    const scenario: Scenario = { zones, osd: both, verdicts: { 'zone-1': no, 'zone-2': no }, cordoned: ['node-1'] }
    const found = holds({ scenario, osdsOnNode: [1, 4, 5], standing: ['closed'] })
    expect(found.map(({ object, reason }) => [object, reason])).toEqual([[key, 'TooFewCopies']])
    const beside = { ...scenario, verdicts: { 'zone-2': no }, arbiter: arbiterWith('reboot-b has zone-2') }
    expect(
      holds({ scenario: beside, osdsOnNode: [1, 4, 5], standing: ['closed'] }).map(({ reason }) => reason),
    ).toEqual(['TooFewCopies'])
  })

  it('is nothing where they may go', () => {
    expect(holds({ scenario: {} })).toEqual([])
  })
})

describe('whether data is clean', () => {
  const cases: [string, Scenario, boolean | undefined][] = [
    ['all OSDs run and all is clean', {}, true],
    ['an OSD is down that Ceph has not noticed', { down: [1], cephDown: [], data: 'clean' }, false],
    ['data misses copies', { data: 'unclean' }, false],
    ['reports are old', { data: 'unknown' }, undefined],
    ['Ceph is silent', { silentMs: 60_000 }, undefined],
  ]
  it.each(cases)('%s', (_sentence, scenario, clean) => {
    const [facts] = factsFor({ scenario }).facts
    expect(facts?.isClean.known ? facts.isClean.value : undefined).toBe(clean)
  })
})

it('data that is not clean names the OSDs that are down: a release waited for a zone, and no node was named', () => {
  const [unclean] = factsFor({ scenario: { down: [1] } }).facts
  expect(unclean?.awaited).toMatch(/^It is clean when all data is in place again\. .*osd\.1 down/)
  expect(factsFor({ scenario: {} }).facts[0]).not.toHaveProperty('awaited')
})

it('what was not decided a moment ago is not known, and the key is told all the same', () => {
  const input: StorageFactsInput = {
    cluster,
    node: 'node-1',
    osdsOnNode: [1],
    decided: undefined,
    budgets: [],
    arbiter: arbiterWith(),
  }
  const why = 'ceph-drain has not polled the cluster recently'
  const facts = [{ key, uid: 'uid-1', failureDomain: '', mayGo: unknown(why), isClean: unknown(why) }]
  expect(decideStorageFacts(input)).toEqual({ facts, isBehind: false })
  expect(decideStorageFacts({ ...input, osdsOnNode: [] })).toEqual({ facts: [], isBehind: false })
})

it('asked for the storage as a whole, it tells whether data is clean', () => {
  const snapshot = tell({ arbiter: arbiterWith() })
  const { facts } = decideStorageFacts({
    cluster,
    node: undefined,
    osdsOnNode: [],
    decided: { snapshot, decision: decideCephDrain(snapshot), domainType: 'zone' },
    budgets: [],
    arbiter: arbiterWith(),
  })
  expect(facts.map(({ key: told, uid, isClean }) => ({ told, uid, isClean }))).toEqual([
    { told: key, uid: 'uid-1', isClean: known(true) },
  ])
})
