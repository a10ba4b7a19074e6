import { describe, expect, it } from 'vitest'
import { compileJsonPath } from './json-path.ts'

const node = {
  metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'a', app: 'web' } },
  spec: {
    replicas: 3,
    containers: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', count: 3 },
      { type: 'Disk', status: 'False', count: 1 },
    ],
  },
}

const paths: Record<string, unknown[]> = {
  '.spec.replicas': [3],
  '{.spec.replicas}': [3],
  '$.spec.replicas': [3],
  '.spec.missing.deeper': [],
  ".metadata.labels['topology.kubernetes.io/zone']": ['a'],
  '.metadata.labels.topology\\.kubernetes\\.io/zone': ['a'],
  '.metadata.labels["app"]': ['web'],
  '.spec.containers[0].name': ['a'],
  '.spec.containers[-1].name': ['b'],
  '.spec.containers[5].name': [],
  '.spec.containers[*].name': ['a', 'b'],
  '.spec.containers[0:1].name': ['a'],
  '.status.conditions[?(@.type=="Ready")].status': ['True'],
  ".status.conditions[?(@.type == 'Disk')].status": ['False'],
  '.status.conditions[?(@.count>1)].type': ['Ready'],
  '.status.conditions[?(@.status!="True")].type': ['Disk'],
  '.status.conditions[?(@.type=="None")].status': [],
  '..port': [1, 2],
  '.metadata.labels.*': ['a', 'web'],
}

describe('compileJsonPath', () => {
  for (const [path, found] of Object.entries(paths)) {
    it(`${path} finds ${JSON.stringify(found)}`, () => {
      expect(compileJsonPath(path)(node)).toEqual(found)
    })
  }

  for (const path of ['.spec[', '.spec.containers[x]', '.spec.containers[?(@.a==)]', '.spec..', '.a b']) {
    it(`${path} is refused with the place that cannot be read`, () => {
      expect(() => compileJsonPath(path)).toThrow(/of the path/)
    })
  }

  it('inherited fields are not found', () => {
    expect(compileJsonPath('.constructor.name')({})).toEqual([])
  })
})
