import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'

/** Raised inside a parser when the JSON is not what Ceph documents; it never leaves `observeShape`. */
class UnexpectedShape extends Error {}

export function unexpected(where: string, problem: string): never {
  throw new UnexpectedShape(`${where} ${problem}`)
}

/** Runs a parser; what is missing or of the wrong type becomes `unknown` and says where. Bugs travel on. */
export function observeShape<T>(command: string, parse: () => T): Observed<T> {
  try {
    return known(parse())
  } catch (error) {
    if (error instanceof UnexpectedShape) return unknown(`the answer to ${command} cannot be used: ${error.message}`)
    throw error
  }
}

/** The JSON in what a command printed; the command line puts an empty line before it. */
export function parseJsonText(command: string, text: string): Observed<unknown> {
  if (text.trim() === '') return unknown(`the answer to ${command} cannot be used: it is empty`)
  try {
    return known(JSON.parse(text))
  } catch {
    return unknown(`the answer to ${command} cannot be used: it is no whole JSON (${text.length} characters)`)
  }
}

export function objectAt(value: unknown, where: string): JsonObject {
  return isJsonObject(value) ? value : unexpected(where, isAbsent(value) ? 'is missing' : 'is not an object')
}

export function listAt(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : unexpected(where, isAbsent(value) ? 'is missing' : 'is not a list')
}

export function textAt(value: unknown, where: string): string {
  return typeof value === 'string' ? value : unexpected(where, isAbsent(value) ? 'is missing' : 'is not text')
}

/** Ceph prints some numbers as text, and which ones differs between releases. */
export function integerAt(value: unknown, where: string): number {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  return unexpected(where, isAbsent(value) ? 'is missing' : 'is not a whole number')
}

export function countAt(value: unknown, where: string): number {
  const number = integerAt(value, where)
  return number >= 0 ? number : unexpected(where, 'is negative')
}

/** 1 and 0, true and false, and both of them as text. */
export function flagAt(value: unknown, where: string): boolean {
  if (value === true || value === 1 || value === '1' || value === 'true') return true
  if (value === false || value === 0 || value === '0' || value === 'false') return false
  return unexpected(where, isAbsent(value) ? 'is missing' : 'is neither yes nor no')
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}
