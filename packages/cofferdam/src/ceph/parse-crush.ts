import type { CrushBucket, CrushMap, CrushRule } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import { countAt, integerAt, listAt, objectAt, observeShape, textAt } from './json-shape.ts'

/**
 * Reads `osd crush dump`.
 *
 * Guarantees: buckets hold the real tree only; the shadow trees that Ceph keeps per device class (`default~ssd`) are
 * folded into the rules that use them. A rule that takes nothing places nothing, and is left out.
 */
export function parseCrush(json: unknown): Observed<CrushMap> {
  return observeShape('osd crush dump', () => {
    const dump = objectAt(json, 'osd crush dump')
    const typeOrder = listAt(dump['types'], 'types')
      .map((type, index) => readType(type, `types[${index}]`))
      .sort((left, right) => left.id - right.id)
      .map(({ name }) => name)
    return {
      buckets: listAt(dump['buckets'], 'buckets')
        .map((bucket, index) => readBucket(bucket, `buckets[${index}]`))
        .filter(({ name }) => !name.includes('~')),
      rules: listAt(dump['rules'], 'rules').flatMap((rule, index) => readRule(rule, `rules[${index}]`, typeOrder)),
      typeOrder,
    }
  })
}

/** The names of the types in `osd crush dump`, by their numbers. */
export function parseTypeNames(json: unknown): Observed<ReadonlyMap<number, string>> {
  return observeShape('osd crush dump', () => {
    const types = listAt(objectAt(json, 'osd crush dump')['types'], 'types')
    return new Map(types.map((type, index) => readType(type, `types[${index}]`)).map(({ id, name }) => [id, name]))
  })
}

/** Reads `osd crush rule dump`, which has the same rules. */
export function parseCrushRules(json: unknown, typeOrder: readonly string[]): Observed<readonly CrushRule[]> {
  return observeShape('osd crush rule dump', () =>
    listAt(json, 'osd crush rule dump').flatMap((rule, index) => readRule(rule, `[${index}]`, typeOrder)),
  )
}

function readType(value: unknown, where: string): { readonly id: number; readonly name: string } {
  const type = objectAt(value, where)
  return { id: countAt(type['type_id'], `${where}.type_id`), name: textAt(type['name'], `${where}.name`) }
}

function readBucket(value: unknown, where: string): CrushBucket {
  const bucket = objectAt(value, where)
  return {
    id: integerAt(bucket['id'], `${where}.id`),
    name: textAt(bucket['name'], `${where}.name`),
    type: textAt(bucket['type_name'], `${where}.type_name`),
    children: listAt(bucket['items'], `${where}.items`).map((item, index) => {
      const place = `${where}.items[${index}]`
      return integerAt(objectAt(item, place)['id'], `${place}.id`)
    }),
  }
}

interface RuleSteps {
  /** What its `take` steps name: `default`, `default~ssd`. */
  readonly taken: readonly string[]
  readonly chosenTypes: readonly string[]
}

function readRule(value: unknown, where: string, typeOrder: readonly string[]): readonly CrushRule[] {
  const rule = objectAt(value, where)
  const { taken, chosenTypes } = readSteps(rule['steps'], `${where}.steps`)
  const [first] = taken
  if (first === undefined) return []
  const [root = '', deviceClass] = first.split('~')
  const isOneClass = taken.every((item) => item.split('~')[1] === deviceClass)
  return [
    {
      id: countAt(rule['rule_id'], `${where}.rule_id`),
      name: textAt(rule['rule_name'], `${where}.rule_name`),
      failureDomain: narrowest(chosenTypes, typeOrder),
      root,
      ...(deviceClass !== undefined && isOneClass ? { deviceClass } : {}),
    },
  ]
}

function readSteps(value: unknown, where: string): RuleSteps {
  const taken: string[] = []
  const chosenTypes: string[] = []
  listAt(value, where).forEach((item, index) => {
    const place = `${where}[${index}]`
    const step = objectAt(item, place)
    const op = textAt(step['op'], `${place}.op`)
    if (op === 'take') taken.push(textAt(step['item_name'], `${place}.item_name`))
    // `choose_firstn`, `chooseleaf_indep`, `choosemsr` ...; `set_choose_tries` only tunes.
    else if (op.startsWith('choose')) chosenTypes.push(textAt(step['type'], `${place}.type`))
  })
  return { taken, chosenTypes }
}

/**
 * A step that picks several OSDs below a host still spreads over hosts, so OSDs count only when nothing wider is named.
 * A type that the map does not list is taken as narrow: a domain that is too small protects more.
 */
function narrowest(types: readonly string[], typeOrder: readonly string[]): string {
  const osd = typeOrder[0] ?? 'osd'
  const wider = types.filter((type) => type !== osd)
  return wider.sort((left, right) => typeOrder.indexOf(left) - typeOrder.indexOf(right))[0] ?? 'osd'
}
