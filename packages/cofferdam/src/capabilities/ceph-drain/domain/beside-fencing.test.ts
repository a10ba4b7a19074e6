import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import { besideFencing } from './decide-storage-facts.ts'

const facts: StorageFacts = {
  key: 'storage/rook-ceph/rook-ceph',
  uid: 'c',
  failureDomain: 'x',
  isClean: known(true),
  mayGo: known({ allowed: true, explanation: 'All data is there.' }),
}

const cases = {
  'a drain that was not granted the storage yet may ask for it although machines may be fenced': [
    { gate: known('open' as const), isGranted: false },
    'may go',
  ],
  'a drain that was granted the storage waits until no machine may be fenced': [
    { gate: known('open' as const), isGranted: true },
    'not known: machines may still be fenced',
  ],
  'a drain that was granted the storage begins when fencing is closed': [
    { gate: known('closed' as const), isGranted: true },
    'may go',
  ],
  'no drain begins while a machine of another failure domain is being fenced': [
    { gate: known('fence under way' as const), isGranted: false },
    'must stay',
  ],
  'no drain begins when it cannot be told whether a machine is being fenced': [
    { gate: unknown('no answer'), isGranted: false },
    'not known: it is not known whether a machine is being fenced: no answer',
  ],
} as const

describe('a drain beside fencing', () => {
  it.each(Object.entries(cases))('%s', (_, [seen, outcome]) => {
    const { mayGo } = besideFencing(facts, seen)
    expect(mayGo.known ? (mayGo.value.allowed ? 'may go' : 'must stay') : `not known: ${mayGo.why}`).toBe(outcome)
  })
})

it('a node that may not go anyway keeps its own reason: fencing would be blamed for what data forbids', () => {
  const forbidden = { ...facts, mayGo: known({ allowed: false, explanation: 'Too few copies.' }) }
  const unheard = { ...facts, mayGo: unknown('Ceph is silent') }
  const gate = { gate: known('fence under way' as const), isGranted: true }
  expect([besideFencing(forbidden, gate), besideFencing(unheard, gate)]).toEqual([forbidden, unheard])
})
