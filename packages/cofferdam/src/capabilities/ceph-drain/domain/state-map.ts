import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { recordNotes } from '../../../shared/record-notes.ts'

/** What must survive a restart, as Rook keeps it in the ConfigMap `rook-ceph-pdbstatemap`; ours are the last ones. */
export interface DrainState {
  /** The failure domains chosen to be down, as label values; a budget may still hold them when the data asks for it. Rook's key holds the first; `cofferdam.io_open-domains` all. */
  readonly openDomains: readonly string[]
  /** Whether noout is wanted on them: they were opened because of a drained node. */
  readonly wantsNoout: boolean
  /** When the placement groups of this drain were seen unclean; undefined after a reset. Written once, so that waiting costs no writes. */
  readonly lastUncleanAt: string | undefined
  /** By domain: when noout was first wanted on it. */
  readonly nooutSince: Readonly<Record<string, string>>
  /** Buckets on which we set noout: only those are ever unset by us. */
  readonly ownNoout: readonly string[]
  /** Those of them that Ceph showed: one that is missing later was removed by somebody. */
  readonly seenNoout: readonly string[]
  /** Buckets from which somebody removed it in the middle of this drain: it is not set again. */
  readonly removedNoout: readonly string[]
  /** OSDs that were down while all data was clean, and still are: nothing waits for them. */
  readonly unneededOsds: readonly number[]
}

export const calmState: DrainState = {
  openDomains: [],
  wantsNoout: false,
  lastUncleanAt: undefined,
  nooutSince: {},
  ownNoout: [],
  seenNoout: [],
  removedNoout: [],
  unneededOsds: [],
}

/** The name of the ConfigMap, in the cluster's namespace. */
export const stateMapName = 'rook-ceph-pdbstatemap'

const keys = {
  domain: 'draining-failure-domain',
  uncleanAt: 'draining-failure-domain-duration',
  wantsNoout: 'set-no-out',
  openDomains: 'cofferdam.io_open-domains',
  ownNoout: 'cofferdam.io_own-noout',
  seenNoout: 'cofferdam.io_seen-noout',
  removedNoout: 'cofferdam.io_removed-noout',
  unneededOsds: 'cofferdam.io_spare-osds',
} as const
/** Those of the keys that only Cofferdam writes. */
export const ownStateKeys: readonly string[] = Object.values(keys).filter((key) => key.startsWith('cofferdam.io_'))
const ownNotes: readonly string[] = Object.values(recordNotes)
const nooutSuffix = '-noout-last-set-at'

/**
 * Reads the map, whoever wrote it.
 *
 * A map that Rook wrote says when it set noout but not that it did: those flags count as ours, so that taking over leaves
 * none behind. Values that make no sense count as absent.
 */
export function parseDrainState(data: Readonly<Record<string, string>> | undefined): DrainState {
  const entries = data ?? {}
  const nooutSince = Object.fromEntries(
    Object.entries(entries)
      .filter(([key, value]) => key.endsWith(nooutSuffix) && key.length > nooutSuffix.length && value !== '')
      .map(([key, value]) => [key.slice(0, -nooutSuffix.length), value]),
  )
  const first = listOf(entries[keys.domain])
  const all = listOf(entries[keys.openDomains])
  return {
    // Rook rewrites its key and leaves ours alone: where they differ, its value is the newer one.
    openDomains: first.every((domain) => all.includes(domain)) && first.length > 0 ? all : first,
    wantsNoout: entries[keys.wantsNoout] === 'true',
    lastUncleanAt: entries[keys.uncleanAt] === '' ? undefined : entries[keys.uncleanAt],
    nooutSince,
    ownNoout: entries[keys.ownNoout] === undefined ? Object.keys(nooutSince).sort() : listOf(entries[keys.ownNoout]),
    seenNoout: listOf(entries[keys.seenNoout]),
    removedNoout: listOf(entries[keys.removedNoout]),
    unneededOsds: listOf(entries[keys.unneededOsds])
      .filter((id) => /^\d+$/.test(id))
      .map(Number)
      .sort((a, b) => a - b),
  }
}

/** Whether the key is Rook's or ours: what is not said by the state is over. Any other belongs to somebody else. */
export function isStateKey(key: string): boolean {
  return (Object.values(keys) as string[]).includes(key) || key.endsWith(nooutSuffix)
}

export function buildDrainState(state: DrainState): Record<string, string> {
  return {
    [keys.domain]: state.openDomains[0] ?? '',
    [keys.openDomains]: state.openDomains.join(','),
    [keys.ownNoout]: state.ownNoout.join(','),
    [keys.unneededOsds]: state.unneededOsds.join(','),
    ...(state.seenNoout.length === 0 ? {} : { [keys.seenNoout]: state.seenNoout.join(',') }),
    ...(state.removedNoout.length === 0 ? {} : { [keys.removedNoout]: state.removedNoout.join(',') }),
    ...(state.wantsNoout ? { [keys.wantsNoout]: 'true' } : {}),
    ...(state.lastUncleanAt === undefined ? {} : { [keys.uncleanAt]: state.lastUncleanAt }),
    ...Object.fromEntries(Object.entries(state.nooutSince).map(([domain, at]) => [`${domain}${nooutSuffix}`, at])),
  }
}

type StateMap = Pick<ConfigMap, 'data' | 'binaryData' | 'metadata'> | undefined

/** What of the map is ours, whoever made it. */
export interface OwnPart {
  readonly isThere: boolean
  /** Buckets with noout that are on record as ours, by our own key alone. */
  readonly noout: readonly string[]
  /** The bucket on which Rook, going on with what is recorded, keeps noout. */
  readonly rooksNoout: string | undefined
}

export function ownPartOf(map: StateMap): OwnPart {
  const data = map?.data ?? {}
  const notes = map?.metadata.annotations ?? {}
  return {
    isThere: ownStateKeys.some((key) => Object.hasOwn(data, key)) || ownNotes.some((key) => Object.hasOwn(notes, key)),
    noout: listOf(data[keys.ownNoout]),
    rooksNoout: data[keys.wantsNoout] === 'true' ? listOf(data[keys.domain])[0] : undefined,
  }
}

/** What becomes of the map when we leave it; undefined: it is removed. */
export interface RecordRelease {
  readonly data: Readonly<Record<string, string>> | undefined
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * The map without what is ours. Rook's keys stay where Rook goes on, and what is neither Rook's nor ours stays in any case.
 *
 * Guarantees: flags that are `left` stay on record.
 */
export function releaseDrainState(
  map: StateMap,
  { left, isRooks }: { readonly left: readonly string[]; readonly isRooks: boolean },
): RecordRelease {
  const isRooksKey = (key: string) =>
    ([keys.domain, keys.uncleanAt, keys.wantsNoout] as string[]).includes(key) || key.endsWith(nooutSuffix)
  const stays = Object.entries(map?.data ?? {}).filter(
    ([key]) => !ownStateKeys.includes(key) && (isRooks || !isRooksKey(key)),
  )
  const notes = Object.entries(map?.metadata.annotations ?? {}).filter(([key]) => !ownNotes.includes(key))
  const annotations = Object.fromEntries(notes)
  const kept = left.length === 0 ? stays : [...stays, [keys.ownNoout, left.join(',')] as const]
  const isEmpty = kept.length === 0 && Object.keys(map?.binaryData ?? {}).length === 0
  return { data: isEmpty && !isRooks ? undefined : Object.fromEntries(kept), annotations }
}

function listOf(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(',').map((part) => part.trim()))].filter((part) => part !== '').sort()
}
