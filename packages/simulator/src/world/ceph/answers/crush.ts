import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephState } from '../ceph-state.ts'
import type { CrushItem, CrushRule, CrushTree } from '../crush-tree.ts'
import { crushTypes } from '../crush-types.ts'
import type { OsdMap } from '../osd-map.ts'
import { releaseOf } from './status.ts'

/** Weights in a CRUSH map are fixed-point numbers. */
const weightUnit = 0x10000

/** `osd tree`; states keep only OSDs that are in one of them, and the buckets above those. */
export function osdTree({ map }: CephState, states: readonly string[]): JsonObject {
  const isShown = (item: CrushItem) =>
    states.length === 0 || item.osds.some((osd) => states.every((state) => isInState(map, osd, state)))
  return {
    nodes: map.tree.items.filter(isShown).map((item) => describeItem(item, map)),
    stray: [...map.osds.values()].filter(({ id }) => !map.tree.byId.has(id)).map(({ id }) => describeStray(id, map)),
  }
}

function isInState(map: OsdMap, osd: number, state: string): boolean {
  if (state === 'up') return map.isUp(osd)
  if (state === 'down') return !map.isUp(osd)
  if (state === 'in') return map.isIn(osd)
  return state === 'out' && !map.isIn(osd)
}

function describeItem(item: CrushItem, map: OsdMap): JsonObject {
  const { id, name, type, typeId } = item
  const poolWeights = item.parent === undefined ? {} : { pool_weights: {} }
  if (type !== 'osd') {
    const children = item.children.map((child) => child.id).reverse()
    return { id, name, type, type_id: typeId, ...poolWeights, children }
  }
  return {
    id,
    device_class: item.deviceClass,
    name,
    type,
    type_id: typeId,
    crush_weight: item.weights.get('') ?? 0,
    depth: item.depth,
    ...poolWeights,
    exists: 1,
    status: map.isUp(id) ? 'up' : 'down',
    reweight: map.isIn(id) ? 1 : 0,
    primary_affinity: 1,
  }
}

/** One that exists and is nowhere in the CRUSH map. */
function describeStray(id: number, map: OsdMap): JsonObject {
  return {
    id,
    name: `osd.${id}`,
    type: 'osd',
    type_id: 0,
    crush_weight: 0,
    depth: 0,
    exists: 1,
    status: map.isUp(id) ? 'up' : 'down',
    reweight: map.isIn(id) ? 1 : 0,
    primary_affinity: 1,
  }
}

export function crushRules(state: CephState): JsonObject[] {
  const { tree } = state.map
  const isPacific = releaseOf(state) === 'pacific'
  return tree.rules.map((rule) => ({
    rule_id: rule.id,
    rule_name: rule.name,
    ...(isPacific ? { ruleset: rule.id } : {}),
    type: rule.kind === 'replicated' ? 1 : 3,
    ...(isPacific ? sizesOf(rule) : {}),
    steps: ruleSteps(rule, tree),
  }))
}

/** For how many copies a rule is meant; releases since Quincy do not ask. */
function sizesOf({ kind }: CrushRule): JsonObject {
  return kind === 'replicated' ? { min_size: 1, max_size: 10 } : { min_size: 3, max_size: 20 }
}

function ruleSteps(rule: CrushRule, tree: CrushTree): JsonObject[] {
  const { kind, failureDomain, deviceClass } = rule
  const how = kind === 'replicated' ? 'firstn' : 'indep'
  // OSDs are leaves already: there is nothing to choose below them.
  const choose = failureDomain === 'osd' ? 'choose' : 'chooseleaf'
  const patience: JsonObject[] =
    kind === 'replicated'
      ? []
      : [
          { op: 'set_chooseleaf_tries', num: 5 },
          { op: 'set_choose_tries', num: 100 },
        ]
  return [
    ...patience,
    { op: 'take', item: idIn(tree, tree.root, deviceClass), item_name: nameIn(tree.root, deviceClass) },
    { op: `${choose}_${how}`, num: 0, type: failureDomain },
    { op: 'emit' },
  ]
}

/** `osd crush dump`: beside the buckets their shadows, one of each for every device class. */
export function crushDump(state: CephState): JsonObject {
  const { tree } = state.map
  const buckets = tree.items.filter(({ type }) => type !== 'osd')
  return {
    devices: tree.osdIds.map((id) => ({ id, name: `osd.${id}`, class: tree.byId.get(id)?.deviceClass })),
    types: crushTypes.map((name, type_id) => ({ type_id, name })),
    buckets: [undefined, ...tree.deviceClasses].flatMap((kind) =>
      buckets.map((bucket) => describeBucket(tree, bucket, kind)),
    ),
    rules: crushRules(state),
    tunables,
    choose_args: {},
  }
}

function describeBucket(tree: CrushTree, bucket: CrushItem, deviceClass: string | undefined): JsonObject {
  const weightOf = ({ weights }: CrushItem) => Math.round((weights.get(deviceClass ?? '') ?? 0) * weightUnit)
  const members = bucket.children.filter(
    (child) => child.type !== 'osd' || (deviceClass ?? child.deviceClass) === child.deviceClass,
  )
  return {
    id: idIn(tree, bucket, deviceClass),
    name: nameIn(bucket, deviceClass),
    type_id: bucket.typeId,
    type_name: bucket.type,
    weight: weightOf(bucket),
    alg: 'straw2',
    hash: 'rjenkins1',
    items: members.map((child, pos) => ({
      id: child.type === 'osd' ? child.id : idIn(tree, child, deviceClass),
      weight: weightOf(child),
      pos,
    })),
  }
}

function nameIn({ name }: CrushItem, deviceClass: string | undefined): string {
  return deviceClass === undefined ? name : `${name}~${deviceClass}`
}

/** Shadows are numbered after all real buckets, class by class. */
function idIn(tree: CrushTree, { id }: CrushItem, deviceClass: string | undefined): number {
  if (deviceClass === undefined) return id
  const bucketCount = tree.items.length - tree.osdIds.length
  return id - bucketCount * (tree.deviceClasses.indexOf(deviceClass) + 1)
}

const tunables: JsonObject = {
  choose_local_tries: 0,
  choose_local_fallback_tries: 0,
  choose_total_tries: 50,
  chooseleaf_descend_once: 1,
  chooseleaf_vary_r: 1,
  chooseleaf_stable: 1,
  straw_calc_version: 1,
  allowed_bucket_algs: 54,
  profile: 'jewel',
  optimal_tunables: 1,
  legacy_tunables: 0,
  minimum_required_version: 'jewel',
  require_feature_tunables: 1,
  require_feature_tunables2: 1,
  has_v2_rules: 1,
  require_feature_tunables3: 1,
  has_v3_rules: 0,
  has_v4_buckets: 1,
  require_feature_tunables5: 1,
  has_v5_rules: 0,
}
