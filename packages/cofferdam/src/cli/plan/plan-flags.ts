import { InvalidArgumentError } from 'commander'
import { type ParallelLimit, parseParallelLimit } from '../../capabilities/osd-update/domain/parallel-limit.ts'
import { parseWhole } from '../parse-number.ts'

export function parseMaxParallel(text: string): ParallelLimit {
  const limit = parseParallelLimit(/^\d{1,9}$/.test(text) ? Number(text) : text)
  if (limit === undefined)
    throw new InvalidArgumentError('it is a whole number of at least 1, or a percentage from 1% to 100%.')
  return limit
}

export function parseReserve(text: string): number {
  return parseWhole(text, { from: 0, to: 16, what: 'a reserve' })
}

export function parseCpuSeconds(text: string): number {
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds <= 3600)) throw new InvalidArgumentError('it is a number of seconds from 0 to 3600, such as 0.5.')
  return seconds
}
