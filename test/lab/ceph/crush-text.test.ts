import { buildCrushTree } from '@cofferdam/simulator/world/ceph/crush-tree.ts'
import { expect, it } from 'vitest'
import { crushText } from './crush-text.ts'

const tree = buildCrushTree(
  {
    type: 'root',
    name: 'default',
    children: [
      {
        type: 'zone',
        name: 'zone-a',
        children: [{ type: 'host', name: 'node-1', osds: [{ id: 0 }, { id: 3, weight: 2.5, deviceClass: 'hdd' }] }],
      },
    ],
  },
  [
    {
      name: 'fast',
      kind: 'replicated',
      size: 3,
      minSize: 2,
      failureDomain: 'osd',
      pgCount: 8,
      deviceClass: 'ssd',
    },
    { name: 'ec', kind: 'erasure', size: 3, minSize: 2, failureDomain: 'zone', pgCount: 8 },
  ],
)

it('buckets come before those that hold them, with the numbers, weights and classes of the description', () => {
  const text = crushText(tree)
  const map = text.slice(text.indexOf('device'), text.indexOf('rule '))
  expect(map.split('\n').filter((line) => !line.startsWith('type '))).toEqual([
    'device 0 osd.0 class ssd',
    'device 3 osd.3 class hdd',
    'host node-1 {',
    '  id -3',
    '  alg straw2',
    '  hash 0',
    '  item osd.0 weight 1.00000',
    '  item osd.3 weight 2.50000',
    '}',
    'zone zone-a {',
    '  id -2',
    '  alg straw2',
    '  hash 0',
    '  item node-1 weight 3.50000',
    '}',
    'root default {',
    '  id -1',
    '  alg straw2',
    '  hash 0',
    '  item zone-a weight 3.50000',
    '}',
    '',
  ])
})

it('each pool has a rule of its own after the one that every cluster has', () => {
  const text = crushText(tree)
  const rules = text.slice(text.indexOf('rule ')).split('}\n').slice(0, -1)
  expect(
    rules.map((rule) =>
      rule
        .split('\n')
        .filter((line) => !/size/.test(line))
        .join(';'),
    ),
  ).toEqual([
    'rule replicated_rule {;  id 0;  type replicated;  step take default;  step chooseleaf firstn 0 type host;  step emit;',
    'rule fast {;  id 1;  type replicated;  step take default class ssd;  step choose firstn 0 type osd;  step emit;',
    'rule ec {;  id 2;  type erasure;  step set_chooseleaf_tries 5;  step set_choose_tries 100;  step take default;  step chooseleaf indep 0 type zone;  step emit;',
  ])
})
