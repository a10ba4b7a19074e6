import type { CrushItem, CrushRule, CrushTree } from './crush-tree.ts'

/** One OSD in place of another. */
export interface UpmapPair {
  readonly from: number
  readonly to: number
}

/**
 * Where a group belongs by its `pg_upmap_items`. A pair that would put two shards into one failure domain, or one on an OSD that is out or that
 * the rule does not take, counts for nothing: the mons remove it, sooner or later.
 */
export function upmapped(
  placed: readonly number[],
  pairs: readonly UpmapPair[],
  {
    tree,
    rule,
    isOut,
  }: { readonly tree: CrushTree; readonly rule: CrushRule; readonly isOut: (osd: number) => boolean },
): number[] {
  const result = [...placed]
  for (const { from, to } of pairs) {
    const place = result.indexOf(from)
    const target = tree.byId.get(to)
    if (place < 0 || target === undefined || isOut(to) || result.includes(to)) continue
    if (rule.deviceClass !== undefined && target.deviceClass !== rule.deviceClass) continue
    const domain = domainOf(target, rule)
    const others = result.filter((_, index) => index !== place).map((osd) => domainOf(tree.byId.get(osd), rule))
    if (domain !== undefined && !others.includes(domain)) result[place] = to
  }
  return result
}

function domainOf(item: CrushItem | undefined, { failureDomain }: CrushRule): CrushItem | undefined {
  let at = item
  while (at !== undefined && at.type !== failureDomain) at = at.parent
  return at
}
