import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { parseDrainPolicy, parseVolumePolicy, policyFor, ruleOf, strictestOf } from './policy.ts'
import { drainPolicies } from './snapshot.ts'

describe('a drain policy', () => {
  it.each(drainPolicies)('%s is read as it is written', (policy) => {
    expect(parseDrainPolicy(policy)).toEqual(known(policy))
  })

  it('is read in its shorter spelling too', () => {
    expect(parseDrainPolicy('block-for-eviction-if-last-replica')).toEqual(
      known('block-for-eviction-if-contains-last-replica'),
    )
  })

  it('is unknown when it is missing, no text, or a word of its own', () => {
    expect([undefined, null, 7, '', 'yes'].map((value) => parseDrainPolicy(value).known)).toEqual(
      Array.from({ length: 5 }, () => false),
    )
  })

  it('comes out of anything without an error', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (label, parameter) => {
        expect(typeof parseDrainPolicy(label).known).toBe('boolean')
        const own = parseVolumePolicy({ label, parameter })
        expect(own === undefined || typeof own.known === 'boolean').toBe(true)
      }),
    )
  })
})

describe('the policy of a volume', () => {
  it('is that of its label, else that of its class, else none of its own', () => {
    const label = 'always-allow'
    const parameter = 'block-for-eviction'
    expect(parseVolumePolicy({ label, parameter })).toEqual(known('always-allow'))
    expect(parseVolumePolicy({ label: undefined, parameter })).toEqual(known('block-for-eviction'))
    expect(parseVolumePolicy({ label: '', parameter: undefined })).toBeUndefined()
  })

  it('stays unknown when its label means nothing: the class does not stand in for it', () => {
    expect(parseVolumePolicy({ label: 'nonsense', parameter: 'always-allow' })?.known).toBe(false)
  })

  it('comes before that of the settings', () => {
    const setting = known('block-for-eviction' as const)
    expect(ruleOf({ setting, volume: undefined })).toBe('move-all')
    expect(ruleOf({ setting, volume: { policy: known('always-allow') } })).toBe('free')
  })
})

describe('the policy of the settings for a node', () => {
  const policy = known('block-for-eviction' as const)
  const rebootPolicy = known('block-if-contains-last-replica' as const)

  it('is the same whatever the intent: replicas that were to leave first stayed through a reboot, and were one disk away from loss', () => {
    for (const intent of [undefined, 'Reboot', 'Remove', 'Replace'] as const)
      expect(policyFor({ policy }, intent)).toEqual(policy)
  })

  it('is another for reboots, and for nothing else, where the user says so', () => {
    const settings = { policy, rebootPolicy }
    expect(policyFor(settings, 'Reboot')).toEqual(rebootPolicy)
    for (const intent of [undefined, 'Remove', 'Replace'] as const) expect(policyFor(settings, intent)).toEqual(policy)
  })
})

it('of several policies the strictest is the one under which most has to happen first', () => {
  expect(strictestOf('always-allow')).toBe('always-allow')
  expect(strictestOf('block-if-contains-last-replica', 'block-for-eviction', 'always-allow')).toBe('block-for-eviction')
  expect(strictestOf('allow-if-replica-is-stopped', 'block-for-eviction-if-contains-last-replica')).toBe(
    'block-for-eviction-if-contains-last-replica',
  )
})
