import { describe, expect, it } from 'vitest'
import { breakGlassAnnotation, formatBreakGlass, parseBreakGlass } from './break-glass.ts'

const untilMs = Date.parse('2026-01-01T00:30:00Z')
const said = `annotation ${breakGlassAnnotation}`

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
