import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'

export interface ObjectReaderOptions<T> {
  /** For people: `pod`. */
  readonly kind: string
  readonly read: (key: ObjectKey, signal: AbortSignal) => Promise<T>
  readonly clock: Clock
  /** How long one answer may take. Default 1 s. */
  readonly patienceMs?: number
  /** How many are read at once; beyond that the answer is that it is not known. Default 16. */
  readonly mostUnderWay?: number
}

interface ObjectKey {
  readonly namespace: string
  readonly name: string
}

/** Undefined: there is none. */
export type ReadObject<T> = (key: ObjectKey) => Promise<Observed<T | undefined>>

/** Asks the API server itself for what the guard's own copy does not have, or may have as it was before. */
export function createObjectReader<T>(options: ObjectReaderOptions<T>): ReadObject<T> {
  const { kind, read, clock, patienceMs = 1_000, mostUnderWay = 16 } = options
  let underWay = 0

  async function readInTime(key: ObjectKey): Promise<Observed<T | undefined>> {
    const ended = new AbortController()
    const late = sleep(clock, patienceMs, ended.signal).then(() =>
      unknown(`the API server did not give the ${kind} in time`),
    )
    try {
      return await Promise.race([read(key, ended.signal).then((object) => known(object)), late])
    } catch (error) {
      if (hasReason(error, 'NotFound')) return known(undefined)
      return unknown(`the ${kind} could not be read: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      ended.abort()
    }
  }

  return async (key) => {
    if (underWay >= mostUnderWay) return unknown(`too many ${kind}s are being read at the moment`)
    underWay += 1
    try {
      return await readInTime(key)
    } finally {
      underWay -= 1
    }
  }
}
