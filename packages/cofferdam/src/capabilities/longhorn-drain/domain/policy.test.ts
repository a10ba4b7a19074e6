import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { parseDrainPolicy, parseVolumePolicy, ruleOf } from './policy.ts'
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

  it('is relaxed for a reboot only where it comes from the setting', () => {
    const setting = known('block-for-eviction' as const)
    expect(ruleOf({ setting, volume: undefined, intent: 'Reboot' })).toBe('move-last')
    expect(ruleOf({ setting, volume: { policy: setting }, intent: 'Reboot' })).toBe('move-all')
    expect(ruleOf({ setting, volume: undefined, intent: 'Replace' })).toBe('move-all')
  })
})
