import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { type TrackedWrite, trackUpdate } from './track-update.ts'

const noon = '2024-05-01T12:00:00Z'
const later = '2024-05-01T12:00:05Z'

const deployment = builtinSchema('apps/v1', 'Deployment') as Schema
const configMap = builtinSchema('v1', 'ConfigMap') as Schema

function write(given: Partial<Omit<TrackedWrite, 'next'>> & { readonly next: object }): KubeObject {
  const next = deepFreeze(given.next) as KubeObject
  const defaults = { previous: undefined, schema: configMap, manager: 'ann', apiVersion: next.apiVersion, time: noon }
  return deepFreeze(trackUpdate({ ...defaults, ...given, next }))
}

function config(data: JsonObject, metadata: object = {}): KubeObject & { readonly data: JsonObject } {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', ...metadata }, data }
}

function entry(manager: string, fields: JsonObject, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: noon,
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...more,
  }
}

describe('owners after a create', () => {
  it('are the same that the real server writes for a deployment', () => {
    const container = {
      name: 'nginx',
      image: 'nginx:1',
      resources: {},
      env: [{ name: 'MODE', value: 'fast' }],
      ports: [
        { containerPort: 443, protocol: 'TCP' },
        { containerPort: 80, protocol: 'TCP' },
      ],
    }
    const created = write({
      schema: deployment,
      manager: 'kubectl-create',
      next: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {
          name: 'web',
          namespace: 'shop',
          uid: 'u',
          creationTimestamp: noon,
          generation: 1,
          labels: { app: 'web' },
        },
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'web' } },
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: {
              containers: [container],
              restartPolicy: 'Always',
              securityContext: {},
              nodeSelector: { disk: 'ssd' },
            },
          },
        },
      },
    })
    const port = { '.': {}, 'f:containerPort': {}, 'f:protocol': {} }
    expect(JSON.stringify(created.metadata.managedFields)).toBe(
      JSON.stringify([
        entry(
          'kubectl-create',
          {
            'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
            'f:spec': {
              'f:replicas': {},
              'f:selector': {},
              'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
              'f:template': {
                'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
                'f:spec': {
                  'f:containers': {
                    'k:{"name":"nginx"}': {
                      '.': {},
                      'f:env': { '.': {}, 'k:{"name":"MODE"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
                      'f:image': {},
                      'f:name': {},
                      'f:ports': {
                        '.': {},
                        'k:{"containerPort":80,"protocol":"TCP"}': port,
                        'k:{"containerPort":443,"protocol":"TCP"}': port,
                      },
                      'f:resources': {},
                    },
                  },
                  'f:nodeSelector': {},
                  'f:restartPolicy': {},
                  'f:securityContext': {},
                },
              },
            },
          },
          { apiVersion: 'apps/v1' },
        ),
      ]),
    )
  })

  it('own the containers of a custom resource as well, since nothing of it is there by itself', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          },
        },
      },
    }
    const next = { apiVersion: 'x.io/v1', kind: 'Pool', metadata: { name: 'p' }, spec: { size: 3, tags: ['a'] } }
    expect(write({ schema, next }).metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:spec': { '.': {}, 'f:size': {}, 'f:tags': { '.': {}, 'v:"a"': {} } },
    })
  })

  it('are nobody when the object has nothing to own', () => {
    const next = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
    expect(write({ next })).toBe(next)
  })

  it('call a manager without a name unknown', () => {
    expect(write({ manager: '', next: config({ a: '1' }) }).metadata.managedFields?.[0]?.manager).toBe('unknown')
  })
})

describe('owners after an update', () => {
  const created = write({ next: config({ a: '1', b: '1' }) })
  const annsFields = { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } }

  it('lose to the writer what it changed, and the writer owns what it added', () => {
    const updated = write({
      previous: created,
      next: { ...created, data: { a: '1', b: '2', c: '3' } },
      manager: 'bob',
      time: later,
    })
    expect(updated.metadata.managedFields).toEqual([
      entry('ann', { 'f:data': { '.': {}, 'f:a': {} } }),
      entry('bob', { 'f:data': { 'f:b': {}, 'f:c': {} } }, { time: later }),
    ])
  })

  it('lose what is gone, and keep the time of what they wrote before', () => {
    const updated = write({ previous: created, next: { ...created, data: { a: '1' } }, manager: 'bob', time: later })
    expect(updated.metadata.managedFields).toEqual([entry('ann', { 'f:data': { '.': {}, 'f:a': {} } })])
  })

  it('vanish when nothing is left to them', () => {
    const updated = write({
      previous: created,
      next: { ...created, data: { c: '1' } },
      manager: 'bob',
      time: later,
    })
    const emptied = write({ previous: updated, next: { ...updated, data: {} }, manager: 'eve', time: later })
    expect(emptied.metadata.managedFields).toEqual([entry('ann', { 'f:data': {} })])
  })

  it('lose what was changed even when they applied it', () => {
    const managedFields = [entry('git', annsFields, { operation: 'Apply' })]
    const applied = deepFreeze(config({ a: '1', b: '1' }, { managedFields }))
    const updated = write({ previous: applied, next: config({ a: '2', b: '1' }), manager: 'bob', time: later })
    expect(updated.metadata.managedFields).toEqual([
      entry('git', { 'f:data': { '.': {}, 'f:b': {} } }, { operation: 'Apply' }),
      entry('bob', { 'f:data': { 'f:a': {} } }, { time: later }),
    ])
  })

  it('are told apart by subresource and by version', () => {
    const schema = builtinSchema('v1', 'Pod') as Schema
    const pod = write({
      schema,
      next: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: 'n' } },
    })
    const ready = { ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
    const running = write({ schema, previous: pod, next: ready, subresource: 'status', time: later })
    expect(running.metadata.managedFields).toEqual([
      entry('ann', { 'f:spec': { 'f:nodeName': {} } }),
      entry(
        'ann',
        {
          'f:status': {
            'f:conditions': { '.': {}, 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
            'f:phase': {},
          },
        },
        { time: later, subresource: 'status' },
      ),
    ])
  })

  it('do not change when the update changes nothing, and the object is not copied', () => {
    const next = deepFreeze({ ...created, metadata: { ...created.metadata, resourceVersion: '7', generation: 2 } })
    expect(
      trackUpdate({ previous: created, next, schema: configMap, manager: 'bob', apiVersion: 'v1', time: later }),
    ).toBe(next)
  })

  it('do not look at fields that the endpoint does not write', () => {
    const schema = builtinSchema('v1', 'Pod') as Schema
    const next = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { nodeName: 'n' },
      status: { phase: 'Running' },
    }
    expect(write({ schema, next, ignored: ['status'] }).metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:spec': { 'f:nodeName': {} },
    })
  })

  it('stay when a client sends the object without managedFields', () => {
    const updated = write({ previous: created, next: config({ a: '1', b: '1' }), manager: 'bob', time: later })
    expect(updated.metadata.managedFields).toEqual([entry('ann', annsFields)])
  })

  it('stay when a client sends managedFields that cannot be read', () => {
    const broken = [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV7', fieldsV1: {} }]
    const updated = write({ previous: created, next: config({ a: '1', b: '1' }, { managedFields: broken }) })
    expect(updated.metadata.managedFields).toEqual([entry('ann', annsFields)])
  })

  it('are those a client sends, as kubectl does when it moves from client-side to server-side apply', () => {
    const sent = [entry('kubectl', annsFields, { operation: 'Apply', time: '2024-05-01T14:00:00+02:00' })]
    const updated = write({
      previous: created,
      next: config({ a: '1', b: '2' }, { managedFields: sent }),
      manager: 'bob',
      time: later,
    })
    expect(updated.metadata.managedFields).toEqual([
      entry('kubectl', { 'f:data': { '.': {}, 'f:a': {} } }, { operation: 'Apply' }),
      entry('bob', { 'f:data': { 'f:b': {} } }, { time: later }),
    ])
  })

  it('cannot be set through a subresource', () => {
    const next = config({ a: '1', b: '1' }, { managedFields: [entry('eve', annsFields)] })
    expect(write({ previous: created, next, subresource: 'status' }).metadata.managedFields).toEqual([
      entry('ann', annsFields),
    ])
  })

  for (const [name, managedFields] of Object.entries({ 'an empty list': [], 'one empty entry': [{}] })) {
    it(`are forgotten when a client sends ${name}, and nobody is tracked from then on`, () => {
      const forgotten = write({ previous: created, next: config({ a: '9' }, { managedFields }), manager: 'bob' })
      expect(forgotten).toEqual(config({ a: '9' }))
      expect(write({ previous: forgotten, next: config({ a: '10' }) })).toEqual(config({ a: '10' }))
    })
  }

  it('of list items with one name own these items together', () => {
    const schema = builtinSchema('v1', 'Pod') as Schema
    const env = (...values: string[]) => values.map((value) => ({ name: 'A', value }))
    const pod = (values: string[]) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', env: env(...values) }] },
    })
    const first = write({ schema, next: pod(['1', '2']) })
    const second = write({ schema, previous: first, next: pod(['1', '3']), manager: 'bob', time: later })
    const item = (below: JsonObject) => ({ 'f:spec': { 'f:containers': { 'k:{"name":"c"}': below } } })
    expect(second.metadata.managedFields).toEqual([
      entry('ann', item({ '.': {}, 'f:env': {}, 'f:name': {} })),
      entry('bob', item({ 'f:env': { 'k:{"name":"A"}': {} } }), { time: later }),
    ])
  })
})

describe('the number of managers', () => {
  it('is kept at ten by merging the oldest updates', () => {
    let object = write({ next: config({ start: '1' }) })
    for (let index = 0; index < 12; index++) {
      const data = { ...(object as unknown as { data: JsonObject }).data, [`k${index}`]: '1' }
      const time = `2024-05-01T12:00:${10 + index}Z`
      object = write({ previous: object, next: { ...object, data }, manager: `m${index}`, time })
    }
    const entries = object.metadata.managedFields ?? []
    expect(entries.map(({ manager }) => manager)).toEqual([
      'ancient-changes',
      'm3',
      'm4',
      'm5',
      'm6',
      'm7',
      'm8',
      'm9',
      'm10',
      'm11',
    ])
    expect(entries[0]).toEqual(
      entry(
        'ancient-changes',
        { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:start': {} } },
        { time: '2024-05-01T12:00:12Z' },
      ),
    )
  })
})

describe('shapes', () => {
  it('are shared: a thousand objects of one kind have one set of fields between them', () => {
    const sets = new Set(
      Array.from({ length: 1000 }, (_, index) => write({ next: config({ a: `${index}` }) })).map(
        ({ metadata }) => metadata.managedFields?.[0]?.fieldsV1,
      ),
    )
    expect(sets.size).toBe(1)
  })
})
