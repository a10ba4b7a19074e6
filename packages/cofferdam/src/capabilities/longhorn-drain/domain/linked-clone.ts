import type { LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'

export const longhornVersionSetting = 'current-longhorn-version'

/** On linked clones from before the version that can rebuild them. */
const legacyCloneLabel = 'longhorn.io/legacy-linked-clone'

/**
 * Why the replicas of a volume stay where they are, where it is a linked clone and Longhorn does not move it; undefined: it does, or the
 * volume is no such clone. Versions 1.10.0 to 1.12.0 refuse to evict replicas of linked clones, and never rebuild them; 1.12.1 does both,
 * but not for clones that were made before.
 *
 * Fails closed: of a version that cannot be read it is not known that it moves them.
 */
export function boundCloneOf({ metadata, spec }: LonghornVolume, version: unknown): string | undefined {
  if (spec?.cloneMode !== 'linked-clone') return undefined
  const what = `it is a linked clone${sourceOf(spec.dataSource)}`
  if (metadata.labels?.[legacyCloneLabel] === 'true') return `${what} from before Longhorn 1.12.1, which never moves`
  const moves = movesLinkedClones(version)
  if (moves === true) return undefined
  return moves === false
    ? `${what}, and Longhorn ${String(version)} does not move linked clones`
    : `${what}, and it is not known whether this version of Longhorn moves linked clones`
}

function movesLinkedClones(version: unknown): boolean | undefined {
  const [, ...parts] = typeof version === 'string' ? (/^v?(\d+)\.(\d+)\.(\d+)/u.exec(version) ?? []) : []
  const [major, minor, patch] = parts.map(Number)
  if (major === undefined || minor === undefined || patch === undefined) return undefined
  if (major !== 1) return major > 1
  return minor > 12 || (minor === 12 && patch >= 1)
}

function sourceOf(dataSource: unknown): string {
  const name = typeof dataSource === 'string' ? /^(?:vol|snap):\/\/([^/]+)/u.exec(dataSource)?.[1] : undefined
  return name === undefined ? '' : ` of volume ${name}`
}
