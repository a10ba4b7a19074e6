import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { Side } from '../side.ts'
import type { SubjectKind } from './subject-kind.ts'

const group = 'differential.cofferdam.example'

const definition: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gauges.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge', listKind: 'GaugeList', shortNames: ['gg'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' } },
        selectableFields: [{ jsonPath: '.spec.mode' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['mode'],
                properties: {
                  mode: { type: 'string', enum: ['fast', 'slow'] },
                  count: { type: 'integer', minimum: 0, maximum: 10, default: 1 },
                  limit: { type: 'integer' },
                  label: { type: 'string', maxLength: 8, pattern: '^[a-z]*$', nullable: true },
                  when: { type: 'string', format: 'date-time' },
                  share: { 'x-kubernetes-int-or-string': true },
                  parts: {
                    type: 'array',
                    maxItems: 3,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string' }, weight: { type: 'integer', default: 5 } },
                    },
                  },
                  tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  fixed: {
                    type: 'string',
                    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed never changes' }],
                  },
                },
                'x-kubernetes-validations': [
                  { rule: '!has(self.limit) || self.count <= self.limit', message: 'count must not exceed limit' },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  count: { type: 'integer' },
                  phase: { type: 'string', enum: ['Up', 'Down'] },
                  seen: { type: 'string', default: 'never' },
                },
              },
            },
          },
        },
      },
    ],
  },
}

/** Makes the kind known, and waits until the server takes objects of it. */
export async function installGauges(side: Side): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await side.send({ method: 'POST', path, body: definition })
  for (;;) {
    const { code, body } = await side.send({
      method: 'POST',
      path: `/apis/${group}/v1/namespaces/default/gauges?dryRun=All`,
      body: { apiVersion: `${group}/v1`, kind: 'Gauge', metadata: { name: 'first' }, spec: { mode: 'fast' } },
    })
    if (code === 201 && isJsonObject(body)) return
    await pause(50)
  }
}

export const gaugeKind: SubjectKind = {
  kind: 'Gauge',
  apiVersion: `${group}/v1`,
  collection: `/apis/${group}/v1/namespaces/{ns}/gauges`,
  valid: [
    { spec: { mode: 'fast' } },
    { spec: { mode: 'slow', count: 3, limit: 5, parts: [{ name: 'one' }], tags: ['x'], fixed: 'yes' } },
    { spec: { mode: 'fast', free: { any: { thing: [1, 'two'] } }, share: '50%' }, status: { phase: 'Up' } },
    {},
  ],
  odd: [
    { spec: {} },
    { spec: { mode: 'medium' } },
    { spec: { mode: 'fast', count: 11 } },
    { spec: { mode: 'fast', count: '3' } },
    { spec: { mode: 'fast', count: 3, limit: 1 } },
    { spec: { mode: 'fast', label: 'TOO LONG LABEL' } },
    { spec: { mode: 'fast', label: null } },
    { spec: { mode: 'fast', count: null } },
    { spec: { mode: 'fast', when: 'yesterday' } },
    { spec: { mode: 'fast', share: 1.5 } },
    { spec: { mode: 'fast', parts: [{ name: 'one' }, { name: 'one' }] } },
    { spec: { mode: 'fast', parts: [{ weight: 1 }] } },
    { spec: { mode: 'fast', parts: [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }] } },
    { spec: { mode: 'fast', tags: ['x', 'x'] } },
    { spec: { mode: 'fast', surprise: { deep: 1 } } },
    { spec: 'text' },
    { surprise: 1 },
  ],
  edits: [
    { spec: { count: 4 } },
    { spec: { count: null } },
    { spec: { mode: 'slow' } },
    { spec: { parts: [{ name: 'one', weight: 2 }, { name: 'two' }] } },
    { spec: { tags: [] } },
    { spec: { free: { more: true } } },
    { spec: { label: 'short' } },
  ],
  oddEdits: [
    { spec: { fixed: 'changed' } },
    { spec: { limit: 0 } },
    { spec: { mode: null } },
    { spec: { count: 1.5 } },
    { spec: null },
    { status: { phase: 'Down' } },
    { spec: { unknown: 1 } },
    { kind: 'Other' },
  ],
  statusEdits: [
    { status: { phase: 'Up', count: 2 } },
    { status: { phase: 'Sideways' } },
    { status: { unknown: 1 } },
    { spec: { count: 7 }, status: { count: 1 } },
    { metadata: { labels: { from: 'status' } }, status: { count: 3 } },
    { status: null },
    {},
  ],
  strategic: [{ spec: { count: 2 } }],
  jsonPatches: [
    [{ op: 'replace', path: '/spec/count', value: 6 }],
    [{ op: 'add', path: '/spec/parts/-', value: { name: 'added' } }],
    [{ op: 'remove', path: '/spec/mode' }],
  ],
  applied: [
    { spec: { mode: 'fast' } },
    { spec: { mode: 'slow', count: 2 } },
    { spec: { count: 3, parts: [{ name: 'applied' }] } },
    { spec: { parts: [{ name: 'one', weight: 9 }], tags: ['applied'] } },
    { spec: { mode: 'fast', unknown: 1 } },
    { spec: { count: 'three' } },
  ],
  fieldSelectors: ['spec.mode=fast', 'spec.count=1', 'metadata.name=a'],
}
