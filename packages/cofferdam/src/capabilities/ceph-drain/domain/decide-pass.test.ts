import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { withoutMark } from './budget-mark.ts'
import { decidePass } from './decide-pass.ts'
import { buildOsdBudget } from './osd-budgets.ts'
import { type Heard, type HeardRefusal, heardNothing, type PassMemory, type PassSnapshot } from './pass-snapshot.ts'
import { ours, type Scenario, tell } from './testing/fixture.ts'
import { ledgerWith } from './testing/small-ledger.ts'

const remembered: PassMemory = {
  failures: [],
  isNoteCleared: true,
  heldEpoch: undefined,
  probe: { isDue: false, problem: undefined },
}
const hosts = { 'zone-1': [1], 'zone-2': [2], 'zone-3': [3] }

interface Given extends Scenario {
  readonly heard?: Partial<Heard>
  readonly memory?: Partial<PassMemory>
  readonly pass?: Partial<PassSnapshot>
}

function passOf({ heard, memory, pass, ...scenario }: Given): PassSnapshot {
  const observed = tell(scenario)
  const objects = observed.budgets.map((budget): PodDisruptionBudget => buildOsdBudget(observed.cluster, budget))
  return {
    observed,
    budgets: objects,
    map: exampleMap({ hosts, pgs: [{ pg: '1.0', state: 'active+clean', acting: [1, 2, 3] }] }),
    isReachable: true,
    record: {
      namespace: 'rook-ceph',
      name: 'rook-ceph-pdbstatemap',
      configMap: undefined,
      state: observed.state,
      reason: undefined,
      silentSince: undefined,
    },
    silentSince: undefined,
    problems: [],
    turnBefore: undefined,
    ...pass,
    memory: { ...remembered, ...memory },
    heard: { ...heardNothing, ...heard },
  }
}

const decide = (given: Given) => decidePass(passOf(given))
const stepsOf = (given: Given) => decide(given).steps.map(({ name }) => name)

const calm = { budgets: ours('default') }
/** zone-1 is down on a drained node, and the others are held already: it is released now. */
const opening = { down: [1], cordoned: ['node-1'], budgets: ours('zone-1', 'zone-2', 'zone-3') }
/** zone-1 is being drained, and the first OSD has gone under the default budget. */
const draining = { zones: { 'zone-1': [1, 4], 'zone-2': [2], 'zone-3': [3] }, down: [1], cordoned: ['node-1'] }
const closing = ['settle-storage', 'tell', 'report']

describe('a pass over a calm cluster', () => {
  it('asks nobody, holds nothing, writes what differs and tells', () => {
    expect(stepsOf(calm)).toEqual(['record', 'budgets', ...closing])
  })

  it('tries what the opinion of Ceph is worth after all else: no budget waits for it', () => {
    const due = { probe: { isDue: true, problem: undefined } }
    expect(stepsOf({ ...calm, memory: due })).toEqual(['record', 'budgets', ...closing, 'try-ceph'])
    expect(decide({ ...calm, heard: { isProbeChanged: true } }).recheckAfterSeconds).toBe(1)
  })

  it('where Rook has the budgets writes nothing but a note of its own', () => {
    expect(stepsOf({ mode: 'observe', rook: { managesBudgets: true } })).toEqual(['note', ...closing])
  })

  it('where Rook gets the budgets back releases what is ours first, and no second time', () => {
    const given: Given = { ...calm, mode: 'observe', rook: { managesBudgets: true } }
    expect(stepsOf(given)).toEqual(['budgets', 'note', ...closing])
    expect(stepsOf({ ...given, heard: { performed: ['budgets', 'note'] } })).toEqual(closing)
  })

  it('where two writers are told to have the budgets changes none of them, and warns', () => {
    const { steps } = decide({ ...calm, mode: 'contested', rook: { managesBudgets: true } })
    expect(steps.map(({ name }) => name)).toEqual(['note', ...closing])
    expect(steps.find(({ name }) => name === 'report')).toMatchObject({ isWarning: true })
  })
})

describe('a failure domain that is to be opened', () => {
  const asked = { ...draining, budgets: ours('zone-1', 'zone-2', 'zone-3') }
  const said = { cephSays: { 'zone-1': known(true) } }

  it('waits for what Ceph says of it: nothing else is done before', () => {
    const map = exampleMap({ hosts: draining.zones, pgs: [{ pg: '1.0', acting: [4, 2, 3] }] })
    const { steps } = decide({ ...asked, pass: { map }, heard: { ledger: known(ledgerWith()) } })
    expect(steps).toEqual([{ do: 'ask', name: 'hear-ceph', domains: [{ domain: 'zone-1', osds: [4] }] }])
  })

  it('is held in the ledger first, then recorded, then opened, and its flag is set last', () => {
    const heard = { ledger: known(ledgerWith()), ...said }
    expect(stepsOf({ ...opening, heard })).toEqual(['hold-storage', 'record', 'budgets', 'flags'])
  })

  it('has what came of its flag on record before anything is told', () => {
    const flags = { set: ['zone-1'], unset: [], gone: [], failed: [] }
    const performed = ['hold-storage', 'record', 'budgets', 'flags']
    const heard = { ledger: known(ledgerWith()), ...said, flags, performed }
    expect(stepsOf({ ...opening, heard })).toEqual(['record-flags', ...closing])
  })

  it('is not asked for again where the ledger gives it to nobody: the third time it counts as unknown, and budgets are written', () => {
    const refused = (ledgerRefusals: number) => ({ ledger: known(ledgerWith()), ...said, ledgerRefusals })
    // A step that is the same twice would end the pass, and the budgets would be left as they are.
    expect(decide({ ...opening, heard: refused(1) }).steps[0]).toMatchObject({ name: 'hold-storage', refusals: 1 })
    expect(decide({ ...opening, heard: refused(2) }).steps[0]).toMatchObject({ name: 'hold-storage', refusals: 2 })
    expect(stepsOf({ ...opening, heard: refused(3) })).toContain('budgets')
    expect(stepsOf({ ...opening, heard: refused(3) })).not.toContain('hold-storage')
  })

  it('is not held twice by the process that has it', () => {
    const held = ledgerWith('ceph-drain has zone-1')
    const heard = { ledger: known(held), ...said }
    const heldEpoch = held.entries[0]?.epoch
    expect(stepsOf({ ...opening, heard, memory: { heldEpoch } })[0]).toBe('record')
    expect(stepsOf({ ...opening, heard })[0]).toBe('hold-storage')
  })
})

describe('a Ceph that is out of reach', () => {
  it('is asked nothing before a zone is opened: the answer would be waited for, and nothing be closed meanwhile', () => {
    const map = exampleMap({ hosts: draining.zones, pgs: [{ pg: '1.0', acting: [4, 2, 3] }] })
    const given = { ...draining, budgets: ours('zone-1', 'zone-2', 'zone-3') }
    expect(stepsOf({ ...given, pass: { map, isReachable: false } })).not.toContain('hear-ceph')
  })

  it('is not tried, and one whose map shows no question is not either', () => {
    const due = { probe: { isDue: true, problem: undefined } }
    const empty = exampleMap({ hosts, pgs: [] })
    expect(stepsOf({ ...calm, memory: due, pass: { isReachable: false } })).not.toContain('try-ceph')
    expect(stepsOf({ ...calm, memory: due, pass: { map: empty } })).not.toContain('try-ceph')
  })
})

describe('a budget of Rook that is as it should be', () => {
  it('is given our mark when it is taken over: it would not be released with the others', () => {
    const observed = tell(calm)
    const unmarked = observed.budgets.map((budget) => withoutMark(buildOsdBudget(observed.cluster, budget)))
    const { steps } = decide({ ...calm, pass: { budgets: unmarked } })
    expect(steps.find(({ name }) => name === 'budgets')).toMatchObject({
      writes: [{ verb: 'replace', budget: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'cofferdam' } } } }],
    })
  })

  it('and one that was edited by hand keep no pass from its end while the record is refused: OSDs would go unheld', () => {
    const observed = tell(calm)
    const [rooks] = observed.budgets.map((budget) => withoutMark(buildOsdBudget(observed.cluster, budget)))
    if (rooks === undefined) throw new Error('there should be a budget')
    const name = 'rook-ceph-osd-zone-x'
    const edited = { ...rooks, metadata: { ...rooks.metadata, name }, spec: { ...rooks.spec, selector: {} } }
    const other = { name, maxUnavailable: 1, selector: { covers: 'other' }, isOurs: true } as const
    const refused = { why: 'busy', isPassing: true, isForbidden: false, forMs: 0 }
    const { steps } = decide({
      pass: { observed: { ...observed, budgets: [other] }, budgets: [edited] },
      heard: { record: { refused }, performed: ['record'] },
    })
    expect(steps.map(({ name: step }) => step)).toEqual(['budgets'])
  })
})

describe('a record that is refused', () => {
  const refusal: HeardRefusal = { why: 'forbidden', isPassing: false, isForbidden: true, forMs: 30_000 }
  const refused = (given: Partial<HeardRefusal> = {}): Partial<Heard> => ({
    record: { refused: { ...refusal, ...given } },
    performed: ['record'],
  })

  it('leaves what protects data, and a note that says so', () => {
    const { steps, recheckAfterSeconds, decision } = decide({ ...calm, heard: refused() })
    expect(steps.map(({ name }) => name)).toEqual(['budgets', 'note', ...closing])
    expect([decision.reason, recheckAfterSeconds]).toEqual(['RecordRefused', 15])
  })

  it('has flags of ours taken back first, and says what came of them before it ends', () => {
    const given: Given = {
      state: { ownNoout: ['zone-1'] },
      ceph: { nooutBuckets: ['zone-1'] },
      ...calm,
      pass: { turnBefore: { turn: undefined, looseNodes: undefined } },
    }
    expect(stepsOf({ ...given, heard: refused() })).toEqual(['budgets', 'flags'])
    const flags = { set: [], unset: ['zone-1'], gone: [], failed: [] }
    const heard = { ...refused(), flags, performed: ['record', 'budgets', 'flags'] }
    expect(stepsOf({ ...given, heard })).toEqual(['note', 'leave-turn', ...closing])
  })

  it('ends the pass where it may be taken in a moment, after what protects data', () => {
    const { steps, failsUnrecorded } = decide({ ...calm, heard: refused({ isPassing: true, forMs: 0 }) })
    expect([steps.map(({ name }) => name), failsUnrecorded]).toEqual([['budgets'], true])
  })
})

describe('mons and mgrs beside the OSDs', () => {
  const free = {
    turn: { domains: [], openNodes: [], heldNodes: { 'node-1': '1', 'node-2': '2', 'node-3': '3' } },
    looseNodes: [],
  }
  const beside = (turnBefore: PassSnapshot['turnBefore']) => ({ ...calm, pass: { turnBefore } })

  it('are held to both turns before the budgets are written, and to the new one when they stand', () => {
    const { steps } = decide(beside(free))
    expect(steps.map(({ name }) => name)).toEqual(['enter-turn', 'record', 'budgets', 'leave-turn', ...closing])
    expect(steps.find(({ name }) => name === 'leave-turn')).toMatchObject({ turn: { domains: [] } })
  })

  it('that may have gone since the look keep OSDs from being released, and the turn from counting', () => {
    const { steps, recheckAfterSeconds } = decide(beside({ turn: undefined, looseNodes: undefined }))
    expect(steps.find(({ name }) => name === 'leave-turn')).toMatchObject({ turn: undefined })
    expect(recheckAfterSeconds).toBe(1)
  })

  it('are left alone where the budgets are not ours', () => {
    expect(stepsOf({ ...beside(free), mode: 'observe' })[0]).toBe('forget-turn')
  })
})

describe('what could not be done', () => {
  it('is told, and on record until it is done', () => {
    const left = { object: 'bucket/zone-1', problem: 'noout could not be unset: denied' }
    const unsettled = { object: 'disruptionledger/cluster', problem: 'could not renew' }
    const { steps } = decide({ ...calm, memory: { failures: [left] }, heard: { unsettled: [unsettled] } })
    const record = steps.find(({ name }) => name === 'record')
    expect(record).toMatchObject({ change: { decision: { problems: [left] } } })
    expect(steps.find(({ name }) => name === 'report')).toMatchObject({ decision: { problems: [unsettled] } })
  })

  it('of a Ceph that misjudges is an alarm and holds nothing up', () => {
    const probe = { isDue: false, problem: 'this release of Ceph misjudges' }
    const { decision } = decide({ ...calm, memory: { probe } })
    expect([decision.alarm, decision.budgets.length, decision.reason]).toEqual([true, 1, 'AnyOsdMayGo'])
  })

  it('of a Ceph that has no opinion keeps the failure domain held', () => {
    const map = exampleMap({ hosts: draining.zones, pgs: [{ pg: '1.0', acting: [4, 2, 3] }] })
    const given = { ...draining, budgets: ours('zone-1', 'zone-2', 'zone-3'), pass: { map } }
    expect(decide(given).steps).toEqual([{ do: 'ask', name: 'hear-ceph', domains: [{ domain: 'zone-1', osds: [4] }] }])
    const heard = { cephSays: { 'zone-1': unknown('no answer within 15 s') } }
    expect(decide({ ...given, heard }).decision.problems).toContainEqual({
      object: 'bucket/zone-1',
      problem: 'Ceph gives no ok-to-stop answer for it: no answer within 15 s',
    })
  })
})

describe('a pass after a node with running OSDs was lost', () => {
  const lost = { ...calm, pass: { hasNewLoss: true } }

  it('closes the default budget and then asks Ceph: its answer may take seconds, for a mon may have gone with the node', () => {
    const { steps } = decide(lost)
    expect(steps.map(({ name }) => name)).toEqual(['close-budgets', 'read-ceph'])
    expect(steps[0]).toMatchObject({ writes: [{ verb: 'replace', budget: { spec: { maxUnavailable: 0 } } }] })
  })

  it('writes nothing before where everything is closed, or where the budgets are not ours', () => {
    expect(stepsOf({ ...lost, budgets: ours('closed') })).toEqual(['read-ceph'])
    expect(stepsOf({ ...lost, budgets: ours('zone-1', 'zone-3') })).toEqual(['read-ceph'])
    expect(stepsOf({ ...lost, mode: 'observe' })).toEqual(['read-ceph'])
  })

  it('goes on as ever when Ceph was read', () => {
    const performed = ['close-budgets', 'read-ceph']
    expect(stepsOf({ ...lost, heard: { performed } })).toEqual(['record', 'budgets', ...closing])
  })
})
