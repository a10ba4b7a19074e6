import type { StorageClassDeviceSet } from '@cofferdam/kubernetes/api/kinds/rook.ts'

/**
 * The device set of an OSD on a claim, by the labels of its Deployment. Deployments of older Rooks name the claim alone, and its name begins with that of
 * its set; the longest name that fits counts, for `set1` is the beginning of `set1-fast` too.
 * Assumes: the labels name a claim.
 */
export function deviceSetOfClaim(
  sets: readonly StorageClassDeviceSet[],
  labels: Readonly<Record<string, string>>,
): StorageClassDeviceSet | undefined {
  const named = labels['ceph.rook.io/DeviceSet']
  if (named !== undefined) return sets.find(({ name }) => name === named)
  const claim = labels['ceph.rook.io/pvc'] as string
  const fitting = sets.filter(({ name }) => claim.startsWith(`${name.replaceAll('.', '-')}-`))
  return fitting.sort((a, b) => b.name.length - a.name.length)[0]
}
