import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import type { CustomResourceDefinition } from './custom-resource-definition.ts'
import { definitionsOf } from './custom-resource-definitions.ts'

const schema = { openAPIV3Schema: { type: 'object' as const, properties: { spec: { type: 'object' as const } } } }

const crd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'drains.cofferdam.io' },
  spec: {
    group: 'cofferdam.io',
    scope: 'Cluster',
    names: { plural: 'drains', kind: 'Drain', shortNames: ['dr'], categories: ['cofferdam'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.nodes', statusReplicasPath: '.status.nodes' },
        },
        additionalPrinterColumns: [
          { name: 'Node', type: 'string', jsonPath: '.spec.node' },
          { name: 'Pods', type: 'integer', jsonPath: '.status.pods', priority: 1 },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Since', type: 'date', jsonPath: '.status.since' },
          { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
        ],
        selectableFields: [{ jsonPath: '.spec.node' }],
      },
      { name: 'v1beta1', served: true, storage: false, schema, deprecated: true },
      { name: 'v1alpha1', served: false, storage: false, schema },
    ],
  },
}

describe('definitionsOf', () => {
  it('each served version is a resource; all are stored in one place, in the storage version', () => {
    const [v1, beta, ...more] = definitionsOf(crd)
    expect(more).toEqual([])
    expect(v1).toEqual({
      columns: v1?.columns,
      strategy: v1?.strategy,
      type: { group: 'cofferdam.io', version: 'v1', plural: 'drains', kind: 'Drain', namespaced: false },
      listKind: 'DrainList',
      singular: 'drain',
      shortNames: ['dr'],
      categories: ['cofferdam'],
      schema: schema.openAPIV3Schema,
      origin: 'custom',
      storageKey: 'cofferdam.io/drains',
      storageVersion: 'v1',
      hasStatus: true,
      scale: { specReplicasPath: '.spec.nodes', statusReplicasPath: '.status.nodes' },
      postSubresources: [],
      selectableFields: ['spec.node'],
      hasGeneration: true,
    })
    expect([beta?.storageKey, beta?.storageVersion, beta?.hasStatus]).toEqual(['cofferdam.io/drains', 'v1', false])
  })

  it('printer columns show what their paths find, and nothing where they find nothing', () => {
    const [v1] = definitionsOf(crd)
    const drain = {
      apiVersion: 'cofferdam.io/v1',
      kind: 'Drain',
      metadata: { name: 'd1' },
      spec: { node: 'n1', tags: ['a'] },
      status: { pods: 3, conditions: [{ type: 'Ready', status: 'True' }], since: '2024-01-01T00:00:00Z' },
    }
    const bare: KubeObject = { apiVersion: 'cofferdam.io/v1', kind: 'Drain', metadata: { name: 'd2' } }
    const now = Date.parse('2024-01-01T00:01:30Z')
    const row = (object: KubeObject) => v1?.columns.map((column) => column.cell(object, now))
    expect(v1?.columns.map(({ name, priority }) => [name, priority ?? 0])).toEqual([
      ['Name', 0],
      ['Node', 0],
      ['Pods', 1],
      ['Ready', 0],
      ['Since', 0],
      ['Tags', 0],
    ])
    expect(row(drain)).toEqual(['d1', 'n1', 3, 'True', '90s', '["a"]'])
    expect(row(bare)).toEqual(['d2', null, null, null, null, null])
  })

  it('without columns of its own a resource shows its name and age', () => {
    const beta = definitionsOf(crd)[1]
    expect(beta?.columns.map(({ name }) => name)).toEqual(['Name', 'Age'])
  })

  it('a deprecated version warns whoever writes in it', () => {
    const [v1, beta] = definitionsOf(crd)
    const object: KubeObject = { apiVersion: 'cofferdam.io/v1beta1', kind: 'Drain', metadata: { name: 'd' } }
    expect([v1?.strategy.warn?.(object, undefined), beta?.strategy.warn?.(object, undefined)]).toEqual([
      [],
      ['cofferdam.io/v1beta1 Drain is deprecated'],
    ])
  })
})
