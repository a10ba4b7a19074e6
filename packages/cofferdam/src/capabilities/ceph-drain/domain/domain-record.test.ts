import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import type { DomainAnswer } from './decision.ts'
import { buildDomainRecord, parseDomainRecord } from './domain-record.ts'

const answer = (at: number, mayDrain: boolean, explanation = `host h${at} says so`): DomainAnswer => ({
  domain: `h${at}`,
  osds: [at * 2, at * 2 + 1],
  nodes: [`node-${at}`],
  mayDrain,
  reason: mayDrain ? 'SafeToDrain' : 'OtherDomainDown',
  explanation,
})
const many = (count: number, mayDrain: (at: number) => boolean) =>
  Array.from({ length: count }, (_, at) => answer(at, mayDrain(at)))
const bytes = (text: string) => Buffer.byteLength(text)

describe('what is written down about failure domains', () => {
  it('is read back as it was', () => {
    const domains = [answer(0, true), answer(1, false, 'pool "größe" would lose too much')]
    expect(parseDomainRecord(buildDomainRecord(domains))).toEqual(known({ total: 2, held: 1, answers: domains }))
  })

  it('is all of them up to 200, and beyond that those that may not be drained', () => {
    const read = (count: number) => {
      const parsed = parseDomainRecord(buildDomainRecord(many(count, (at) => at === 3)))
      return parsed.known && { ...parsed.value, answers: parsed.value.answers.length }
    }
    expect([read(200), read(201)]).toEqual([
      { total: 200, held: 199, answers: 200 },
      { total: 201, held: 200, answers: 200 },
    ])
  })

  it('stays far below what annotations may hold, and still counts what does not fit', () => {
    const text = buildDomainRecord(many(20_000, () => false))
    const parsed = parseDomainRecord(text)
    expect(bytes(text)).toBeGreaterThan(90 * 1024)
    expect(bytes(text)).toBeLessThanOrEqual(96 * 1024)
    expect(parsed).toMatchObject({ known: true, value: { total: 20_000, held: 20_000 } })
  })

  it('stays below it also with few domains of very many letters', () => {
    const text = buildDomainRecord([answer(0, true, 'ß'.repeat(60_000)), answer(1, false)])
    expect(parseDomainRecord(text)).toEqual(known({ total: 2, held: 1, answers: [answer(1, false)] }))
  })
})

describe('a record of failure domains that somebody else wrote', () => {
  const whole = { total: 1, held: 0, answers: [answer(0, true)] }
  const cases: Record<string, { given: unknown; then: ReturnType<typeof parseDomainRecord> }> = {
    'may have reasons and fields that are not known yet': {
      given: { ...whole, more: 1, answers: [{ ...answer(0, true), reason: 'QuiteNew', more: 2 }] },
      then: known({ ...whole, answers: [{ ...answer(0, true), reason: 'QuiteNew' }] }),
    },
    'is not believed when it is a list': { given: [whole], then: unknown('it is no JSON object') },
    'is not believed without its counts': {
      given: { answers: [] },
      then: unknown('total, held or answers is missing'),
    },
    'is not believed when an answer does not say whether': {
      given: { ...whole, answers: [answer(0, true), { ...answer(1, true), mayDrain: 'yes' }] },
      then: unknown('answers[1] is none'),
    },
    'is not believed when OSDs are no numbers': {
      given: { ...whole, answers: [{ ...answer(0, true), osds: ['osd.0'] }] },
      then: unknown('answers[0] is none'),
    },
    'is not believed when an answer is nothing': {
      given: { ...whole, answers: [null] },
      then: unknown('answers[0] is none'),
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(parseDomainRecord(JSON.stringify(given))).toEqual(then)
  })

  it('is not believed when it is no JSON', () => {
    expect(parseDomainRecord('')).toEqual(unknown('it is no JSON'))
  })
})
