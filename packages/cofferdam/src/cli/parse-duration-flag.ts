import { durationText, parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { InvalidArgumentError, Option } from 'commander'

/** Milliseconds of `2h`, `1h30m`, `90s`. */
export function parseDurationFlag(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms === 0) throw new InvalidArgumentError('it is a duration such as 2h, 90m or 1h30m.')
  return ms
}

/** The same, and `0` for no limit. */
export function parseWaitFlag(text: string): number {
  return /^0[hms]?$/.test(text.trim()) ? 0 : parseDurationFlag(text)
}

/** The same, and a number without a unit counts seconds, as with kubectl. */
export function parseRequestTimeout(text: string): number {
  return parseWaitFlag(/^[1-9]\d*$/.test(text.trim()) ? `${text.trim()}s` : text)
}

/** A flag with a duration that has a default, which help shows as people write it. */
export function durationOption(
  flags: string,
  says: string,
  { ms, parse = parseDurationFlag }: { readonly ms: number; readonly parse?: (text: string) => number },
): Option {
  return new Option(flags, says).argParser(parse).default(ms, durationText(ms))
}
