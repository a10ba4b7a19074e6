/** The CRUSH map of the samples' cluster as `osd crush dump` words it, with one shadow tree and rules of every kind. */
export const sampleCrushDump = {
  devices: [...Array(12).keys()].map((id) => ({ id, name: `osd.${id}`, class: 'ssd' })),
  types: [
    { type_id: 11, name: 'root' },
    { type_id: 0, name: 'osd' },
    { type_id: 1, name: 'host' },
    { type_id: 3, name: 'rack' },
  ],
  buckets: [
    bucket(-1, 'default', 'root', [-10, -7, -4]),
    ...[0, 1, 2].flatMap((rack) => [
      bucket(-4 - 3 * rack, `rack${rack}`, 'rack', [-3 - 3 * rack, -2 - 3 * rack]),
      bucket(-2 - 3 * rack, `r${rack}h0`, 'host', [4 * rack + 1, 4 * rack]),
      bucket(-3 - 3 * rack, `r${rack}h1`, 'host', [4 * rack + 3, 4 * rack + 2]),
    ]),
    bucket(-20, 'default~ssd', 'root', [-21]),
    bucket(-21, 'r0h0~ssd', 'host', [0, 1]),
  ],
  rules: [
    rule(0, 'replicated_rule', 1, [take('default'), choose('chooseleaf_firstn', 'host')]),
    rule(2, 'ec_rack', 3, [
      { op: 'set_chooseleaf_tries', num: 5 },
      take('default'),
      choose('chooseleaf_indep', 'rack'),
    ]),
    rule(4, 'ssd_only', 1, [take('default~ssd'), choose('chooseleaf_firstn', 'host')]),
  ],
  tunables: { choose_total_tries: 50 },
  choose_args: {},
}

export function rule(id: number, name: string, type: number, steps: readonly object[]) {
  return { rule_id: id, rule_name: name, type, steps: [...steps, { op: 'emit' }] }
}

export function take(name: string) {
  return { op: 'take', item: -1, item_name: name }
}

export function choose(op: string, type: string, num = 0) {
  return { op, num, type }
}

function bucket(id: number, name: string, type: string, items: readonly number[]) {
  return {
    id,
    name,
    type_id: { host: 1, rack: 3, root: 11 }[type],
    type_name: type,
    weight: 65536 * items.length,
    alg: 'straw2',
    hash: 'rjenkins1',
    items: items.map((item, pos) => ({ id: item, weight: 65536, pos })),
  }
}
