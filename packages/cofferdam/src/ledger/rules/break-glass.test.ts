import { describe, expect, it } from 'vitest'
import { breakGlassAnnotation } from '../../shared/break-glass-annotation.ts'
import { explainIgnoredGlass, formatBreakGlass, isBreakingGlass, parseBreakGlass } from './break-glass.ts'

const untilMs = Date.parse('2026-01-01T00:30:00Z')
const said = `annotation ${breakGlassAnnotation}`

describe('how long glass is broken', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const cases: Record<string, { forMs: number; isBroken: boolean }> = {
    'for half an hour, as it was asked': { forMs: 1_800_000, isBroken: true },
    'for an hour, by a clock that is four minutes ahead': { forMs: 3_840_000, isBroken: true },
    'not at all for two hours: it is an override, not a setting': { forMs: 7_200_000, isBroken: false },
    'not after its end': { forMs: 0, isBroken: false },
  }
  it.each(Object.entries(cases))('%s', (_, { forMs, isBroken }) => {
    expect(isBreakingGlass({ by: 'ann', reason: 'fire', untilMs: nowMs + forMs }, nowMs)).toBe(isBroken)
  })
})

describe('glass that is not broken', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const why = (forMs: number) => explainIgnoredGlass({ by: 'ann', reason: 'fire', untilMs: nowMs + forMs }, nowMs)

  it('says whether it is over or was asked for too long: one is asked for again, the other shorter', () => {
    expect([why(-60_000), why(7_200_000)]).toEqual([
      'break-glass by ann ended at 2025-12-31T23:59:00Z and is ignored',
      'break-glass by ann until 2026-01-01T02:00:00Z is ignored: it may last 1h at most',
    ])
  })

  it.each([
    ['a blank name', { by: ' ', reason: 'fire' }],
    ['a number for a name', { by: 7, reason: 'fire' }],
    ['a number for a reason', { by: 'ann', reason: 7 }],
    ['a blank reason', { by: 'ann', reason: ' ' }],
  ])('has %s: later no one could say who took the locks and why', (_, fields) => {
    expect(parseBreakGlass(JSON.stringify({ ...fields, until: '2026-01-01T00:30:00Z' }))).toEqual({
      problem: `${said} does not say by whom and why; it breaks nothing`,
    })
  })
})

describe('broken glass', () => {
  it('is read as it was written', () => {
    const breakGlass = { by: 'ann@desk', reason: 'fire', untilMs }
    expect(parseBreakGlass(formatBreakGlass(breakGlass))).toEqual({ breakGlass })
  })

  const cases: Record<string, { given: string | undefined; then: ReturnType<typeof parseBreakGlass> }> = {
    'that is not there breaks nothing, and that is no problem': { given: undefined, then: {} },
    'that is no JSON breaks nothing': { given: 'yes!', then: { problem: `${said} is not JSON; it breaks nothing` } },
    'that is a list breaks nothing': { given: '[]', then: { problem: `${said} is no JSON object; it breaks nothing` } },
    'without a name breaks nothing': {
      given: '{"reason":"fire","until":"2026-01-01T00:30:00Z"}',
      then: { problem: `${said} does not say by whom and why; it breaks nothing` },
    },
    'with an empty reason breaks nothing': {
      given: '{"by":"ann","reason":" ","until":"2026-01-01T00:30:00Z"}',
      then: { problem: `${said} does not say by whom and why; it breaks nothing` },
    },
    'without an end breaks nothing, for it would be broken for ever': {
      given: '{"by":"ann","reason":"fire"}',
      then: { problem: `${said} does not say until when; it breaks nothing` },
    },
    'that ends at no time at all breaks nothing': {
      given: '{"by":"ann","reason":"fire","until":"soon"}',
      then: { problem: `${said} does not say until when; it breaks nothing` },
    },
  }
  it.each(Object.entries(cases))('%s', (_, { given, then }) => {
    expect(parseBreakGlass(given)).toEqual(then)
  })
})
