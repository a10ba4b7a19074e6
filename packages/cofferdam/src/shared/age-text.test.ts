import { expect, it } from 'vitest'
import { ageText } from './age-text.ts'

const now = '2026-01-02T00:00:00Z'
const cases: Record<string, { given: string | undefined; then: string | undefined }> = {
  'this moment': { given: now, then: '0s' },
  'a clock that runs ahead is no time to come': { given: '2026-01-02T00:00:09Z', then: '0s' },
  'seconds, up to two minutes': { given: '2026-01-01T23:58:01Z', then: '119s' },
  'minutes, up to two hours': { given: '2026-01-01T22:00:01Z', then: '119m' },
  'hours, up to two days': { given: '2026-01-01T00:00:00Z', then: '24h' },
  days: { given: '2025-12-25T00:00:00Z', then: '8d' },
  'microseconds as leases carry them': { given: '2026-01-01T23:59:00.123000Z', then: '59s' },
  'nothing known is nothing said': { given: undefined, then: undefined },
  'what is no time is not guessed at': { given: 'yesterday', then: undefined },
}
it.each(Object.entries(cases))('%s', (_name, { given, then }) => expect(ageText(given, now)).toBe(then))
