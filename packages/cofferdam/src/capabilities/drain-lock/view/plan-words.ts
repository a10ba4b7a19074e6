import type { DrainPlan } from './plan-drain.ts'

/** `4 waves (no plan has fewer)` */
export function wavesText({ waves, lowerBound }: Pick<DrainPlan, 'waves' | 'lowerBound'>): string {
  const fewest = waves.length === lowerBound ? 'no plan has fewer' : `at least ${lowerBound} are needed`
  return `${waves.length === 1 ? '1 wave' : `${waves.length} waves`} (${fewest})`
}

/** `about 2 h 10 min` */
export function estimateText({ estimateSeconds: seconds }: Pick<DrainPlan, 'estimateSeconds'>): string {
  if (seconds === null) return 'not known'
  const minutes = Math.max(1, Math.round(seconds / 60))
  const hours = Math.floor(minutes / 60)
  if (hours === 0) return `about ${minutes} min`
  return `about ${minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`}`
}

/** Nodes of which the same is said, together: hundreds wait for one thing. Without a node what is said stands alone. */
export function sameSaid(
  rows: readonly { readonly node: string; readonly why: string }[],
): { readonly why: string; readonly nodes: readonly string[] }[] {
  const groups = new Map<string, string[]>()
  for (const { node, why } of rows) {
    const key = node === '' ? why : why.replaceAll(node, 'this node')
    const nodes = groups.get(key) ?? []
    groups.set(key, nodes)
    if (node !== '') nodes.push(node)
  }
  return [...groups].map(([why, nodes]) => ({ why, nodes }))
}
