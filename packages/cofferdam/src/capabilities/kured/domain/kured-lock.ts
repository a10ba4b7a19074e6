import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'

/** Whose places in kured's lock are Cofferdam's. No node is called so: kured compares it with names of nodes. */
export const lockOwner = 'cofferdam'

/** One of the nodes that kured's lock lets reboot at a time, as the annotation on its DaemonSet has it. */
export interface KuredPlace {
  readonly holder: string
  /** The node was cordoned before kured came, so kured does not uncordon it. */
  readonly wasUnschedulable: boolean
  readonly createdMs: number
  /** 0: it never lapses. */
  readonly ttlMs: number
}

export interface KuredLock {
  /** With a concurrency above 1 kured writes and reads another form, and takes one for the other without a word. */
  readonly form: 'none' | 'single' | 'multiple'
  readonly places: readonly KuredPlace[]
}

const nanosPerMs = 1_000_000

/** Fails closed: what kured would not have written is unknown, and nothing is put in its place. */
export function parseKuredLock(text: string | undefined): Observed<KuredLock> {
  if (text === undefined) return known({ form: 'none', places: [] })
  const value = parseJson(text)
  if (!isJsonObject(value)) return unknown('it is no JSON object')
  if (!('locks' in value) && !('maxOwners' in value)) {
    const place = parsePlace(value)
    return place === undefined ? unknown('it names no holder and time') : known({ form: 'single', places: [place] })
  }
  const { locks = null } = value
  if (locks !== null && !Array.isArray(locks)) return unknown('its locks are no list')
  const places = (locks ?? []).map(parsePlace)
  const read = places.filter((place) => place !== undefined)
  if (read.length < places.length) return unknown('one of its locks names no holder and time')
  return known({ form: 'multiple', places: read })
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function parsePlace(value: Json): KuredPlace | undefined {
  if (!isJsonObject(value)) return undefined
  const { nodeID, metadata, created, TTL = 0 } = value
  const createdMs = typeof created === 'string' ? parseRfc3339(created) : undefined
  if (typeof nodeID !== 'string' || nodeID === '' || createdMs === undefined || typeof TTL !== 'number')
    return undefined
  const wasUnschedulable = isJsonObject(metadata) && metadata['unschedulable'] === true
  return { holder: nodeID, wasUnschedulable, createdMs, ttlMs: TTL / nanosPerMs }
}

/** As kured of this concurrency reads it; null where it holds nothing and kured would have removed it. */
export function formatKuredLock(places: readonly KuredPlace[], concurrency: number): string | null {
  const entries = places.map(({ holder, wasUnschedulable, createdMs, ttlMs }) => ({
    nodeID: holder,
    metadata: { unschedulable: wasUnschedulable },
    created: new Date(createdMs).toISOString(),
    TTL: Math.round(ttlMs * nanosPerMs),
  }))
  if (concurrency > 1) return JSON.stringify({ maxOwners: concurrency, locks: entries })
  const [only] = entries
  return only === undefined ? null : JSON.stringify(only)
}

/** To kured it is free then. */
export function hasLapsed({ createdMs, ttlMs }: KuredPlace, nowMs: number): boolean {
  return ttlMs > 0 && nowMs - createdMs >= ttlMs
}
