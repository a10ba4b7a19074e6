import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { RecordedAnswer, RecordedDomains } from '../../../shared/storage-view.ts'
import type { DomainAnswer } from './decision.ts'

const listedWhole = 200
/** All annotations of an object share 256 KiB. */
const longestBytes = 96 * 1024

/** The answers as the text of one annotation. */
export function buildDomainRecord(domains: readonly DomainAnswer[]): string {
  const held = domains.filter(({ mayDrain }) => !mayDrain)
  const write = (answers: readonly string[]) =>
    `{"total":${domains.length},"held":${held.length},"answers":[${answers.join(',')}]}`
  if (domains.length <= listedWhole) {
    const whole = write(domains.map(answerText))
    if (bytesOf(whole) <= longestBytes) return whole
  }
  const fitting: string[] = []
  let left = longestBytes - bytesOf(write([]))
  for (const answer of held) {
    const text = answerText(answer)
    left -= bytesOf(text) + 1
    if (left < 0) break
    fitting.push(text)
  }
  return write(fitting)
}

function answerText({ domain, osds, nodes, mayDrain, reason, explanation }: DomainAnswer): string {
  return JSON.stringify({ domain, osds, nodes, mayDrain, reason, explanation })
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Reads what was written down; fields that a newer version added are passed over. */
export function parseDomainRecord(text: string): Observed<RecordedDomains> {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    return unknown('it is no JSON')
  }
  if (!isJsonObject(record)) return unknown('it is no JSON object')
  const { total, held, answers } = record
  if (!isCount(total) || !isCount(held) || !Array.isArray(answers)) return unknown('total, held or answers is missing')
  const parsed: RecordedAnswer[] = []
  for (const [at, answer] of (answers as readonly Json[]).entries()) {
    if (!isAnswer(answer)) return unknown(`answers[${at}] is none`)
    const { domain, osds, nodes, mayDrain, reason, explanation } = answer
    parsed.push({ domain, osds, nodes, mayDrain, reason, explanation })
  }
  return known({ total, held, answers: parsed })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

function isAnswer(value: unknown): value is RecordedAnswer {
  return (
    isJsonObject(value) &&
    [value['domain'], value['reason'], value['explanation']].every((text) => typeof text === 'string') &&
    typeof value['mayDrain'] === 'boolean' &&
    isListOf(value['osds'], isCount) &&
    isListOf(value['nodes'], (node) => typeof node === 'string')
  )
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem)
}
