import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { CephTrust } from '../../shared/ceph-trust/named-clusters.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import type { AppLockPolicy } from './app-lock.ts'
import type { DrainLockSettings } from './drain-lock-settings.ts'

/** On the ledger: what the operator was started with, for whoever judges without it. */
export const settingsAnnotation = 'cofferdam.io/settings'

export interface PublishedSettings {
  /** `plannedOutageMs` is absent where remediation is not kept from nodes that reboot. */
  readonly drainLock: Pick<DrainLockSettings, 'mode' | 'minTolerationMs' | 'fallbackAfterMs'> &
    Partial<Pick<DrainLockSettings, 'plannedOutageMs'>>
  readonly appLocks: AppLockPolicy
  /** Absent where an operator of an earlier version published them. */
  readonly trust?: CephTrust
  /** Of the operator. Absent where one of an earlier version published them. */
  readonly version?: string
}

const modes: readonly DrainLockSettings['mode'][] = ['reserve', 'spec', 'settle']
const longestText = 16_384

/** The annotation. The same settings give the same text. */
export function settingsText({ drainLock, appLocks, trust, version }: PublishedSettings): string {
  return JSON.stringify({
    mode: drainLock.mode,
    minTolerationSeconds: drainLock.minTolerationMs / 1000,
    fallbackAfterSeconds: drainLock.fallbackAfterMs / 1000,
    maxLockSeconds: appLocks.maxTtlMs / 1000,
    maxHoldSeconds: appLocks.maxHoldMs / 1000,
    locksPerNamespace: appLocks.maxPerNamespace,
    ...(drainLock.plannedOutageMs !== undefined && { plannedOutageSeconds: drainLock.plannedOutageMs / 1000 }),
    ...(trust !== undefined && {
      cephClusters: trust.named,
      ownOsds: trust.own,
      growOsds: trust.grow,
      ...(trust.rookImage !== undefined && { rookImage: trust.rookImage }),
    }),
    ...(version !== undefined && { version }),
  })
}

/** Reads the annotation, all of it or nothing. Never throws. */
export function parseSettings(text: string | undefined): Observed<PublishedSettings> {
  if (text === undefined) return unknown('not published')
  if (text.length > longestText) return unreadable(`it has more than ${longestText} characters`)
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return unreadable('it is not JSON')
  }
  if (!isJsonObject(fields)) return unreadable('it is no JSON object')
  const mode = modes.find((each) => each === fields['mode'])
  if (mode === undefined) return unreadable(`"mode" is none of ${modes.join(', ')}`)
  const numbers = numberFields.map((field) => fields[field])
  const wrong = numberFields.find((_, index) => !isCount(numbers[index]))
  if (wrong !== undefined) return unreadable(`"${wrong}" is no number of 0 or more`)
  const { plannedOutageSeconds } = fields
  if (plannedOutageSeconds !== undefined && !isCount(plannedOutageSeconds)) {
    return unreadable('"plannedOutageSeconds" is no number of 0 or more')
  }
  const trust = trustIn(fields)
  if (trust === 'unreadable') return unreadable('"cephClusters", "ownOsds" and "growOsds" are no lists of names')
  const [minToleration, fallbackAfter, maxLock, maxHold, maxPerNamespace] = numbers as FiveNumbers
  return known({
    drainLock: {
      mode,
      minTolerationMs: minToleration * 1000,
      fallbackAfterMs: fallbackAfter * 1000,
      ...(plannedOutageSeconds !== undefined && { plannedOutageMs: plannedOutageSeconds * 1000 }),
    },
    appLocks: { maxTtlMs: maxLock * 1000, maxHoldMs: maxHold * 1000, maxPerNamespace },
    ...(trust !== undefined && { trust }),
    // It only informs: nothing is judged by it.
    ...(typeof fields['version'] === 'string' && { version: fields['version'] }),
  })
}

function trustIn(fields: { readonly [key: string]: Json | undefined }): CephTrust | 'unreadable' | undefined {
  const { cephClusters: named, ownOsds: own, growOsds: grow, rookImage } = fields
  if (named === undefined) return undefined
  if (!isNames(named) || !isNames(own) || !isNames(grow)) return 'unreadable'
  return { named, own, grow, rookImage: typeof rookImage === 'string' ? rookImage : undefined }
}

function isNames(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

type FiveNumbers = [number, number, number, number, number]

const numberFields = [
  'minTolerationSeconds',
  'fallbackAfterSeconds',
  'maxLockSeconds',
  'maxHoldSeconds',
  'locksPerNamespace',
] as const

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

function unreadable(why: string): Observed<PublishedSettings> {
  return unknown(`what is published cannot be read: ${why}`)
}
