import { describe, expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { decideWithoutRecord, keepHolding } from './decide-without-record.ts'
import { planOsdBudgets } from './osd-budgets.ts'
import { applyStep, inWords, ours, type Scenario, tell } from './testing/fixture.ts'
import { arbiterWith } from './testing/small-ledger.ts'

const lasting = { why: 'metadata.annotations: Too long', isLasting: true }
const passing = { why: 'the object has been modified', isLasting: false }

/** The budgets that stand after all that may be written without the record. */
function standing(scenario: Scenario, refusal = lasting): string[] {
  const snapshot = tell(scenario)
  const held = decideWithoutRecord(snapshot, decideCephDrain(snapshot), refusal)
  return inWords(planOsdBudgets(snapshot.budgets, held.budgets).reduce(applyStep, [...snapshot.budgets]))
}

const drain = { down: [1], cordoned: ['node-1'] } as const
const rows: Record<string, { given: Scenario; refusal?: typeof lasting; then: readonly string[] }> = {
  'somebody deleted every budget: they are made again, or two zones could lose OSDs together': {
    given: { budgets: [] },
    then: ['closed'],
  },
  'somebody deleted every budget in the middle of a drain: the other zones are held again': {
    given: { ...drain, budgets: [] },
    then: ['zone-2', 'zone-3'],
  },
  'a zone loses an OSD: all others are held by the one budget there is, for two on one pod would end a drain with 500':
    {
      given: { ...drain, budgets: ours('default') },
      then: ['closed'],
    },
  'a zone loses an OSD while somebody else writes the record: the others are held, and the default budget is not taken away':
    {
      given: { ...drain, budgets: ours('default') },
      refusal: passing,
      then: ['closed'],
    },
  'the drained zone is open on record: it stays open, for that was remembered before': {
    given: { ...drain, state: { openDomains: ['zone-1'] }, budgets: ours('zone-2', 'zone-3') },
    then: ['zone-2', 'zone-3'],
  },
  'all data is clean again: the blocks stay and the drained zone is held again, for nothing may be forgotten': {
    given: { state: { openDomains: ['zone-1'] }, budgets: ours('zone-2', 'zone-3') },
    then: ['closed but 2,3', 'zone-2', 'zone-3'],
  },
  'a spare OSD came back while another was lost for good: both are held by the default budget': {
    given: { down: [2], data: 'clean', budgets: ours('default but 1') },
    then: ['closed'],
  },
  'all is calm: no drain begins that would be stuck half way, because its zone could not be released': {
    given: { budgets: ours('default') },
    then: ['closed'],
  },
  'somebody else wrote the record at the same moment: what stands stays, for the next attempt is taken': {
    given: { budgets: ours('default') },
    refusal: passing,
    then: ['default'],
  },
  'Ceph has long been silent: nothing more may go, with or without a record': {
    given: { silentMs: 60_000, budgets: ours('default') },
    then: ['closed'],
  },
}

describe('while the record is refused OSDs stay held, and nothing is released', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, refusal, then }) => {
    expect(standing(given, refusal)).toEqual(then)
  })

  it('the answers say so, with the object and what to do, and an open zone keeps its own answer', () => {
    const snapshot = tell({ ...drain, state: { openDomains: ['zone-1'] }, budgets: ours('zone-2', 'zone-3') })
    const open = { ...snapshot, osds: snapshot.osds.concat({ ...snapshot.osds[0], id: 4, isReady: true } as never) }
    const decided = decideCephDrain(open)
    const { reason, explanation, domains } = decideWithoutRecord(open, decided, lasting)
    expect(reason).toBe('RecordRefused')
    expect(explanation).toBe(
      'configmap/rook-ceph-pdbstatemap in rook-ceph cannot be written (metadata.annotations: Too long): OSDs stay held, ' +
        'and no failure domain is released until it can. To do: check that the operator may update it, that no webhook or quota ' +
        'refuses it, and that it is not immutable (kubectl -n rook-ceph get configmap rook-ceph-pdbstatemap -o yaml).',
    )
    expect(domains.map(({ domain, reason: why }) => `${domain} ${why}`)).toEqual([
      'zone-1 DomainReleased',
      'zone-2 OtherDomainDown',
      'zone-3 OtherDomainDown',
    ])
    const calm = tell({ budgets: ours('default') })
    expect(decideWithoutRecord(calm, decideCephDrain(calm), lasting).domains.map((each) => each.reason)).toEqual([
      'RecordRefused',
      'RecordRefused',
      'RecordRefused',
    ])
  })

  it('no noout is set that nobody would know to be ours; one that is on record as ours is taken back', () => {
    const begun = tell({ ...drain, budgets: ours('default') })
    const decided = decideCephDrain(begun)
    expect(decided.noout.set).toEqual(['zone-1'])
    expect(decideWithoutRecord(begun, decided, lasting).noout).toEqual({ set: [], unset: [] })

    const over = tell({
      state: { ownNoout: ['zone-1'], openDomains: ['zone-1'] },
      ceph: { nooutBuckets: ['zone-1', 'zone-3'] },
      budgets: ours('zone-2', 'zone-3'),
    })
    expect(decideWithoutRecord(over, decideCephDrain(over), lasting).noout).toEqual({ set: [], unset: ['zone-1'] })
  })
})

describe('a wanted budget beside the one that stands under its name', () => {
  const one = (word: string) => ours(word)[0] as ReturnType<typeof ours>[number]
  const named = (word: string, name: string) => ({ ...one(word), name })
  const rows: Record<string, [ReturnType<typeof ours>, ReturnType<typeof ours>, string[]]> = {
    'holds the OSDs of both: those that it held would be free': [ours('osds 2,5'), ours('osds 3,2'), ['osds 2,3,5']],
    'holds the same zone as firmly as before': [ours('zone-1'), ours('zone-1'), ['zone-1']],
    'takes the place of a selector that is not ours to write: it protects nobody': [
      [named('zone-1', 'rook-ceph-osd-unplaced')],
      ours('osds 3'),
      ['osds 3'],
    ],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [standing, wanted, then]) => {
    expect(inWords(keepHolding(standing, wanted))).toEqual(then)
  })
})

it('a hold in the ledger stays asked for, and is not released: nothing was opened', () => {
  const arbiter = arbiterWith()
  const begun = tell({ ...drain, arbiter, budgets: ours('default') })
  const calm = tell({ arbiter, budgets: ours('default') })
  expect(decideWithoutRecord(begun, decideCephDrain(begun), lasting).claim?.wants).toBe('hold')
  expect(decideCephDrain(calm).claim?.wants).toBe('release')
  expect(decideWithoutRecord(calm, decideCephDrain(calm), lasting).claim).toBeUndefined()
})
