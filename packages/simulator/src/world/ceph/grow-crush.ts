import type { CrushDescription, OsdDescription } from './ceph-description.ts'
import { typeIdOf } from './crush-tree.ts'

/** By CRUSH type: `{ host: 'node-a', zone: 'zone-x' }`. */
export type CrushLocation = Readonly<Record<string, string>>

/**
 * The same CRUSH map with one more OSD. As Ceph does it: the nearest bucket that is there already takes it, and what is named
 * below that bucket is made.
 */
export function growCrush(root: CrushDescription, osd: OsdDescription, location: CrushLocation): CrushDescription {
  const buckets = Object.entries(location)
    .filter(([type]) => type !== root.type)
    .sort(([a], [b]) => typeIdOf(a) - typeIdOf(b))
  let made: CrushDescription | undefined
  const addTo = (bucket: CrushDescription): CrushDescription =>
    made === undefined
      ? { ...bucket, osds: [...(bucket.osds ?? []), osd] }
      : { ...bucket, children: [...(bucket.children ?? []), made] }
  for (const [type, name] of buckets) {
    const grown = replaceBucket(root, name, addTo)
    if (grown !== root) return grown
    made = addTo({ type, name })
  }
  return addTo(root)
}

/** The same CRUSH map, with all its buckets, and without this OSD. */
export function withoutOsd(bucket: CrushDescription, id: number): CrushDescription {
  const { children, osds } = bucket
  return {
    ...bucket,
    ...(children && { children: children.map((child) => withoutOsd(child, id)) }),
    ...(osds && { osds: osds.filter((osd) => osd.id !== id) }),
  }
}

function replaceBucket(
  bucket: CrushDescription,
  name: string,
  change: (found: CrushDescription) => CrushDescription,
): CrushDescription {
  if (bucket.name === name) return change(bucket)
  for (const [place, child] of (bucket.children ?? []).entries()) {
    const changed = replaceBucket(child, name, change)
    if (changed !== child) return { ...bucket, children: bucket.children?.with(place, changed) ?? [] }
  }
  return bucket
}
