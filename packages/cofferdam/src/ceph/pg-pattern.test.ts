import { describe, expect, it } from 'vitest'
import { compilePgPattern } from './pg-pattern.ts'

function matches(pattern: string | undefined, state: string): boolean | undefined {
  const compiled = compilePgPattern(pattern)
  return compiled.known ? compiled.value(state) : undefined
}

describe('which PG states are healthy by default', () => {
  const cases: Record<string, boolean> = {
    'active+clean': true,
    'active+clean+scrubbing': true,
    'active+clean+scrubbing+deep': true,
    'active+clean+snaptrim': true,
    'active+clean+snaptrim_wait': true,
    active: false,
    'active+undersized+degraded': false,
    'active+clean+remapped': false,
    'active+clean+laggy': false,
    'active+clean+wait': false,
    'stale+active+clean': false,
    'undersized+degraded+peered': false,
    unknown: false,
    '': false,
  }
  it.each(Object.entries(cases))('%s: %s', (state, isHealthy) => {
    expect(matches(undefined, state)).toBe(isHealthy)
  })
})

describe('a pattern of the user', () => {
  it('matches anywhere in the state, as it does in Go', () => {
    expect(matches('clean', 'active+clean+remapped')).toBe(true)
    expect(matches('^clean', 'active+clean')).toBe(false)
  })

  it('that is no pattern is unknown and is shown', () => {
    expect(compilePgPattern('active(')).toEqual({
      known: false,
      why: expect.stringContaining('"active(" is no regular expression'),
    })
    expect(compilePgPattern('(?=active)').known).toBe(false)
  })

  it('that would hang an ordinary engine is answered at once', () => {
    expect(matches('^(a+)+$', `${'a'.repeat(5000)}!`)).toBe(false)
  })
})
