/** Releases by their first two numbers, both ends included. */
export interface VersionRange {
  readonly from: readonly [number, number]
  readonly to: readonly [number, number]
}

/** `v1.18.8`, `1.18`; a text that begins with no release is in no range. */
export function isInVersionRange(version: string, { from, to }: VersionRange): boolean {
  const [major, minor] = (/^v?(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number)
  if (major === undefined || minor === undefined) return false
  const isBefore = (one: readonly number[], other: readonly number[]) =>
    (one[0] as number) < (other[0] as number) || (one[0] === other[0] && (one[1] as number) < (other[1] as number))
  const seen = [major, minor]
  return !isBefore(seen, from) && !isBefore(to, seen)
}

export function versionRangeText({ from, to }: VersionRange): string {
  return `${from.join('.')} to ${to.join('.')}`
}
