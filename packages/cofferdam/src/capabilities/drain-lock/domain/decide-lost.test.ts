import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../../ledger/rules/ledger.ts'
import { known } from '../../../shared/observed.ts'
import { decideDisruption } from './decide.ts'
import {
  ceph,
  drained,
  draining,
  entry,
  granted,
  ledgerOf,
  locked,
  me,
  now,
  other,
  recovering,
  type Scenario,
  tell,
} from './testing/fixture.ts'

describe('a ledger that was lost', () => {
  const unclean = { ...ceph, isClean: known(false) }
  const decide = (given: Scenario) =>
    decideDisruption(tell({ budgets: [locked()], pods: [], ledger: emptyLedger, ...given }))
  const taken = ({ steps }: ReturnType<typeof decide>) =>
    steps.flatMap((step) => (step.step === 'take' ? step.claims.map(({ key, uid }) => `${key} ${uid}`) : []))

  it('is asked again for a node that is gone while data waits, by the UID on record or by none', () => {
    const gone = { node: null, storage: [unclean], record: recovering }
    expect(taken(decide(gone))).toContain('node/node-a node-a-1')
    expect(taken(decide({ ...gone, record: { ...recovering, nodeUid: undefined } }))).toContain('node/node-a ')
  })

  it('is not asked twice by one who has a place in the queue for it', () => {
    const gone = { node: null, storage: [unclean], record: recovering }
    const claims = decide(gone).steps.flatMap((step) => (step.step === 'take' ? step.claims : []))
    const held = entry('node/node-a', { requestId: 'R2', holder: other, state: 'Acting' })
    const ticket = { requestId: 'R1', number: 2, holder: me, since: now, claims }
    const ledger = { ...ledgerOf(held), tickets: [ticket] } as Ledger
    expect(decide({ ...gone, ledger }).steps).toEqual([])
    expect(taken(decide({ ...gone, ledger: ledgerOf(held) }))).not.toEqual([])
  })

  it('leaves the boot of a node that was said to go on record, and only that: another boot is the reboot that was asked for', () => {
    const heldByOther = ledgerOf(entry('node/node-a', { requestId: 'R2', holder: other, state: 'Acting' }))
    const boot = (given: Scenario) =>
      decide({ ledger: heldByOther, node: { isCordoned: true }, ...given }).record.bootIDBefore
    expect(boot({ record: drained })).toBe('boot-1')
    expect(boot({ record: draining })).toBeUndefined()
  })

  it('has its intent written again under keys that stand, with the boot on record, the present one, or none', () => {
    const intends = (given: Scenario) =>
      decide({ ledger: granted, storage: [unclean], ...given }).steps.flatMap((step) =>
        step.step === 'intend' ? [step.bootID] : [],
      )
    const bootless = { ...recovering, bootIDBefore: undefined }
    expect(intends({ record: recovering, node: { bootID: 'boot-2' } })).toEqual(['boot-1'])
    expect(intends({ record: bootless, node: { bootID: 'boot-2' } })).toEqual(['boot-2'])
    expect(intends({ record: bootless, node: null })).toEqual([''])
  })
})
