import { InvalidArgumentError } from 'commander'

export function parsePort(text: string): number {
  return parseWhole(text, { from: 0, to: 65_535, what: 'a port' })
}

export function parseSeed(text: string): number {
  return parseWhole(text, { from: 0, to: 2 ** 32 - 1, what: 'a seed' })
}

export function parseWhole(
  text: string,
  { from, to, what }: { readonly from: number; readonly to: number; readonly what: string },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= from && value <= to))
    throw new InvalidArgumentError(`${what} is a whole number from ${from} to ${to}.`)
  return value
}
