import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** On kured's DaemonSet: to which nodes Cofferdam has handed a place of the lock, so that any operator knows which it may take back. */
export const handedAnnotation = 'cofferdam.io/lock-handed-to'

export interface HandedPlace {
  readonly nodeName: string
  /** The boot that was to end. */
  readonly bootID: string
  /** When the place was last written: one that kured acquired by itself has another time. */
  readonly createdMs: number
  readonly sinceMs: number
  /** When it was taken back because kured did not reboot the node. */
  readonly gaveUpMs?: number
}

/** What cannot be read is left out: its place then counts as kured's own, and is not taken back. Never throws. */
export function parseHandedPlaces(text: string | undefined): readonly HandedPlace[] {
  if (text === undefined) return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([nodeName, entry]) => {
    if (!isJsonObject(entry)) return []
    const time = (field: string) => {
      const at = entry[field]
      return typeof at === 'string' ? parseRfc3339(at) : undefined
    }
    const { boot } = entry
    const [createdMs, sinceMs, gaveUpMs] = [time('created'), time('since'), time('gaveUp')]
    if (typeof boot !== 'string' || createdMs === undefined || sinceMs === undefined) return []
    return [{ nodeName, bootID: boot, createdMs, sinceMs, ...(gaveUpMs === undefined ? {} : { gaveUpMs }) }]
  })
}

/** Null where there is nothing to remember. */
export function formatHandedPlaces(handed: readonly HandedPlace[]): string | null {
  if (handed.length === 0) return null
  const entries = handed.map(({ nodeName, bootID, createdMs, sinceMs, gaveUpMs }) => [
    nodeName,
    {
      boot: bootID,
      created: rfc3339(createdMs),
      since: rfc3339(sinceMs),
      ...(gaveUpMs === undefined ? {} : { gaveUp: rfc3339(gaveUpMs) }),
    },
  ])
  return JSON.stringify(Object.fromEntries(entries))
}
