import { crushTypes } from '@cofferdam/product/safety/crush-types.ts'
import type { CrushItem, CrushRule, CrushTree } from '@cofferdam/simulator/world/ceph/crush-tree.ts'

/** What upstream calls the jewel profile, the default of every release since. */
const tunables = {
  choose_local_tries: 0,
  choose_local_fallback_tries: 0,
  choose_total_tries: 50,
  chooseleaf_descend_once: 1,
  chooseleaf_vary_r: 1,
  chooseleaf_stable: 1,
  straw_calc_version: 1,
  allowed_bucket_algs: 54,
}

/** The whole CRUSH map as `crushtool` compiles it: the same numbers of buckets and rules as the simulated Ceph has. */
export function crushText(tree: CrushTree): string {
  const byDepth = tree.items.filter(({ type }) => type !== 'osd').sort((a, b) => b.depth - a.depth)
  const lines = [
    ...Object.entries(tunables).map(([name, value]) => `tunable ${name} ${value}`),
    ...tree.osdIds.map((id) => `device ${id} osd.${id} class ${tree.byId.get(id)?.deviceClass}`),
    ...crushTypes.map((name, id) => `type ${id} ${name}`),
    ...byDepth.flatMap(bucketLines),
    ...tree.rules.flatMap((rule) => ruleLines(rule, tree.root.name)),
  ]
  return `${lines.join('\n')}\n`
}

/** `crushtool` knows only buckets that it has read already, so those farthest from the root come first. */
function bucketLines({ id, name, type, children }: CrushItem): string[] {
  const items = children.map((child) => `  item ${child.name} weight ${(child.weights.get('') ?? 0).toFixed(5)}`)
  return [`${type} ${name} {`, `  id ${id}`, '  alg straw2', '  hash 0', ...items, '}']
}

function ruleLines({ id, name, kind, failureDomain, deviceClass }: CrushRule, root: string): string[] {
  const how = kind === 'replicated' ? 'firstn' : 'indep'
  // OSDs are leaves already: there is nothing to choose below them.
  const choose = failureDomain === 'osd' ? 'choose' : 'chooseleaf'
  const patience = kind === 'replicated' ? [] : ['  step set_chooseleaf_tries 5', '  step set_choose_tries 100']
  return [
    `rule ${name} {`,
    `  id ${id}`,
    `  type ${kind}`,
    '  min_size 1',
    '  max_size 20',
    ...patience,
    `  step take ${root}${deviceClass === undefined ? '' : ` class ${deviceClass}`}`,
    `  step ${choose} ${how} 0 type ${failureDomain}`,
    '  step emit',
    '}',
  ]
}
