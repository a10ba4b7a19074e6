import type { Side } from './side.ts'

/** Rules for a spec with `min` and `max` (integers), `ratio` (number), `name` (text) and `tags` (texts). */
export const rules: readonly string[] = [
  'self.min <= self.max',
  'self.name in ["a", "b"]',
  'self.name in ["a", 1]',
  '[1, 2.5].size() == 2',
  '[self.min, self.max].size() == 2',
  '[self.min, self.name].size() == 2',
  '[self.min, self.ratio].size() == 2',
  '[self.name, "a"].size() == 2',
  '[dyn(self.min), self.name].size() == 2',
  '[self.min, dyn(self.name)].size() == 2',
  '["a", null].size() == 2',
  '[[], [1]].size() == 2',
  '[[1], ["a"]].size() == 2',
  '[self.tags, ["a"]].size() == 2',
  '{"a": 1, "b": 2}["a"] == 1',
  '{"a": 1, "b": true}["a"] == 1',
  '{"a": 1, 2: 1}["a"] == 1',
  '{"a": dyn(1), "b": true}["a"] == 1',
  '[{}, {"a": 1}].size() == 2',
  'self.tags.all(tag, tag in ["a", 2.5])',
  'self.tags.all(tag, tag in [self.name, "a"])',
  'self.tags.all(tag, tag in [self.min, "a"])',
  '"%s is %d".format([self.name, self.min]) != ""',
  '"%s is %d".format([dyn(self.name), self.min]) != ""',
  'self.min + 1',
  'self.minimum > 1',
  'that.min > 1',
]

const group = 'rules.cofferdam.example'

/** What a server says to a kind with this rule, which it is asked to try only: the code. */
export async function ruleVerdict(side: Side, rule: string): Promise<number> {
  const integer = { type: 'integer' }
  const properties = {
    min: integer,
    max: integer,
    ratio: { type: 'number' },
    name: { type: 'string', maxLength: 10 },
    tags: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } },
  }
  const spec = { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] }
  const { code } = await side.send({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `ruled.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'ruled', singular: 'ruled', kind: 'Ruled', listKind: 'RuledList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          },
        ],
      },
    },
  })
  return code
}
