import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { type ApplyRequest, serverSideApply } from './server-side-apply.ts'
import { trackUpdate } from './track-update.ts'

const noon = '2024-05-01T12:00:00Z'
const later = '2024-05-01T12:00:05Z'
const deploymentSchema = builtinSchema('apps/v1', 'Deployment') as Schema

function apply(given: Partial<ApplyRequest> & { readonly applied: JsonObject }): KubeObject & JsonObject {
  const request = {
    live: undefined,
    schema: deploymentSchema,
    manager: 'git',
    force: false,
    apiVersion: 'apps/v1',
    time: noon,
  }
  return deepFreeze(
    serverSideApply({ ...request, ...given, applied: deepFreeze(given.applied) }).object,
  ) as KubeObject & JsonObject
}

function deployment(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop', ...metadata }, spec }
}

function containers(...items: JsonObject[]): JsonObject {
  return { template: { spec: { containers: items } } }
}

/** A deployment somebody created without apply. */
function created(manager: string, spec: JsonObject): KubeObject & JsonObject {
  const next = deepFreeze(deployment(spec)) as unknown as KubeObject
  const write = { previous: undefined, next, schema: deploymentSchema, manager, apiVersion: 'apps/v1', time: noon }
  return deepFreeze(trackUpdate(write)) as KubeObject & JsonObject
}

function ownersOf(object: KubeObject): JsonObject {
  const owners = object.metadata.managedFields ?? []
  return Object.fromEntries(owners.map(({ manager, operation, fieldsV1 }) => [`${manager} ${operation}`, fieldsV1]))
}

function refusal(attempt: () => unknown): JsonObject {
  try {
    attempt()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.toStatus() as unknown as JsonObject
  }
  return { code: 200 }
}

describe('an apply that creates', () => {
  it('makes the object as configured and owns exactly what it configured', () => {
    const applied = deployment({
      replicas: 2,
      ...containers({ name: 'a', image: 'x', ports: [{ containerPort: 80 }] }),
    })
    expect(apply({ applied })).toEqual({
      ...applied,
      metadata: {
        name: 'web',
        namespace: 'shop',
        managedFields: [
          {
            manager: 'git',
            operation: 'Apply',
            apiVersion: 'apps/v1',
            time: noon,
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:replicas': {},
                'f:template': {
                  'f:spec': {
                    'f:containers': {
                      'k:{"name":"a"}': {
                        '.': {},
                        'f:image': {},
                        'f:name': {},
                        'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
                      },
                    },
                  },
                },
              },
            },
          },
        ],
      },
    })
  })

  it('has no use for nulls, but keeps them where they are content', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            limit: { type: 'integer', nullable: true },
            values: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    }
    const applied = {
      apiVersion: 'x.io/v1',
      kind: 'Pool',
      metadata: { name: 'p' },
      spec: { size: null, limit: null, values: { a: null } },
    }
    expect(apply({ schema, apiVersion: 'x.io/v1', applied })['spec']).toEqual({ limit: null, values: { a: null } })
  })
})

describe('an apply over what others made', () => {
  const live = created('kubectl-create', {
    replicas: 2,
    ...containers({ name: 'nginx', image: 'nginx:1' }, { name: 'mesh', image: 'mesh:1' }),
  })

  it('is refused with 409, field by field, when it would change what another manager owns', () => {
    const applied = deployment({ replicas: 5, ...containers({ name: 'nginx', image: 'nginx:2' }) })
    expect(refusal(() => apply({ live, applied }))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Conflict',
      code: 409,
      message:
        'Apply failed with 2 conflicts: conflicts with "kubectl-create" using apps/v1:\n' +
        '- .spec.replicas\n- .spec.template.spec.containers[name="nginx"].image',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "kubectl-create" using apps/v1',
            field: '.spec.replicas',
          },
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "kubectl-create" using apps/v1',
            field: '.spec.template.spec.containers[name="nginx"].image',
          },
        ],
      },
    })
  })

  it('says it in one line when there is one conflict', () => {
    const applied = deployment({ replicas: 5 })
    expect(refusal(() => apply({ live, applied }))['message']).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-create" using apps/v1: .spec.replicas',
    )
  })

  it('names appliers without their version, and subresources', () => {
    const status = { readyReplicas: 1 }
    const first = apply({ live, applied: { ...deployment({}), status }, manager: 'scaler', subresource: 'status' })
    const applied = { ...deployment({}), status: { readyReplicas: 2 } }
    expect(refusal(() => apply({ live: first, applied }))['message']).toBe(
      'Apply failed with 1 conflict: conflict with "scaler" with subresource "status": .status.readyReplicas',
    )
  })

  it('takes the fields over when it is forced', () => {
    const forced = apply({ live, applied: deployment({ replicas: 5 }), force: true, time: later })
    expect(forced['spec']).toEqual({ ...(live['spec'] as JsonObject), replicas: 5 })
    expect(ownersOf(forced)['git Apply']).toEqual({ 'f:spec': { 'f:replicas': {} } })
    expect(JSON.stringify(ownersOf(forced)['kubectl-create Update'])).not.toContain('f:replicas')
  })

  it('shares a field without conflict when it wants the value that is there, and leaves the object alone', () => {
    const shared = apply({ live, applied: deployment({ replicas: 2 }), time: later })
    expect(shared['spec']).toBe(live['spec'])
    expect(ownersOf(shared)).toEqual({ ...ownersOf(live), 'git Apply': { 'f:spec': { 'f:replicas': {} } } })
    expect(
      refusal(() => apply({ live: shared, applied: deployment({ replicas: 3 }), manager: 'other' }))['message'],
    ).toBe(
      'Apply failed with 2 conflicts: conflicts with "git":\n- .spec.replicas\n' +
        'conflicts with "kubectl-create" using apps/v1:\n- .spec.replicas',
    )
  })

  it('adds list items beside those of others, in the order it gives its own', () => {
    const applied = deployment(containers({ name: 'log', image: 'log:1' }, { name: 'mesh', image: 'mesh:1' }))
    expect(apply({ live, applied })['spec']).toEqual({
      replicas: 2,
      ...containers(
        { name: 'nginx', image: 'nginx:1' },
        { name: 'log', image: 'log:1' },
        { name: 'mesh', image: 'mesh:1' },
      ),
    })
  })

  it('puts what was there before the first apply under one name when nobody was tracked', () => {
    const untracked = deepFreeze(deployment({ replicas: 2 })) as unknown as KubeObject
    const applied = apply({ live: untracked, applied: deployment({ paused: true }) })
    expect(ownersOf(applied)).toEqual({
      'before-first-apply Update': { 'f:spec': { 'f:replicas': {} } },
      'git Apply': { 'f:spec': { 'f:paused': {} } },
    })
  })

  it('leaves the fields of another endpoint to that endpoint', () => {
    const applied = { ...deployment({ paused: true }), status: { replicas: 9 } }
    const done = apply({ live, applied, ignored: ['status'] })
    expect(done['status']).toBeUndefined()
    expect(ownersOf(done)['git Apply']).toEqual({ 'f:spec': { 'f:paused': {} } })
  })
})

describe('an apply by the same manager', () => {
  const configured = deployment(
    {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      ...containers(
        {
          name: 'a',
          image: 'x',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        },
        { name: 'b', image: 'y' },
      ),
    },
    { labels: { app: 'web' }, finalizers: ['x/y'] },
  )
  const live = apply({ applied: configured })

  it('that changes nothing returns the live object itself', () => {
    expect(apply({ live, applied: configured, time: later })).toBe(live)
  })

  it('that repeats server-set metadata changes nothing either', () => {
    const applied = { ...configured, metadata: { ...(configured['metadata'] as JsonObject), creationTimestamp: null } }
    const stored = deepFreeze({ ...live, metadata: { ...live.metadata, creationTimestamp: noon } })
    expect(apply({ live: stored, applied, time: later })).toBe(stored)
  })

  it('that says null where nothing is, as generated manifests do, changes nothing either', () => {
    const template = (creationTimestamp: JsonObject) => ({
      template: { metadata: { labels: { a: '1' }, ...creationTimestamp } },
    })
    const applied = deployment(template({ creationTimestamp: null }))
    const first = apply({ applied })
    expect(first['spec']).toEqual(template({}))
    expect(apply({ live: first, applied, time: later })).toBe(first)
  })

  it('removes what it no longer wants, from fields to list items and members of sets', () => {
    const applied = deployment({
      selector: { matchLabels: { app: 'web' } },
      ...containers({ name: 'a', image: 'x', env: [{ name: 'B', value: '2' }] }),
    })
    const { managedFields: _, ...metadata } = apply({ live, applied, time: later }).metadata
    expect({ ...apply({ live, applied, time: later }), metadata }).toEqual(applied)
  })

  it('keeps a container that it wants empty', () => {
    const template = (securityContext: JsonObject) => deployment({ template: { spec: { securityContext } } })
    const first = apply({ applied: template({ runAsUser: 1 }) })
    const second = apply({ live: first, applied: template({}), time: later })
    expect(second['spec']).toEqual({ template: { spec: { securityContext: {} } } })
    expect(apply({ live: second, applied: template({}) })).toBe(second)
  })

  it('leaves what another manager also owns', () => {
    const shared = apply({ live, applied: deployment({ replicas: 2 }), manager: 'scaler' })
    const given = apply({
      live: shared,
      applied: deployment({ selector: { matchLabels: { app: 'web' } } }),
      time: later,
    })
    expect(given['spec']).toEqual({ replicas: 2, selector: { matchLabels: { app: 'web' } } })
    expect(ownersOf(given)['scaler Apply']).toEqual({ 'f:spec': { 'f:replicas': {} } })
  })

  it('takes a list item away with all that others set in it', () => {
    const defaulted = deepFreeze({
      ...live,
      spec: {
        ...(live['spec'] as JsonObject),
        ...containers(
          {
            name: 'a',
            image: 'x',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          },
          { name: 'b', image: 'y', imagePullPolicy: 'Always' },
        ),
      },
    })
    const applied = deployment({ replicas: 2, ...containers({ name: 'a', image: 'x' }) })
    expect(apply({ live: defaulted, applied })['spec']).toEqual({
      replicas: 2,
      ...containers({ name: 'a', image: 'x' }),
    })
  })

  it('replaces atomic lists and maps as one', () => {
    const template = (spec: JsonObject) => ({ template: { spec } })
    const first = apply({ applied: deployment(template({ nodeSelector: { a: '1' }, tolerations: [{ key: 'a' }] })) })
    const second = apply({
      live: first,
      applied: deployment(template({ nodeSelector: { b: '2' }, tolerations: [{ key: 'b' }] })),
    })
    expect(second['spec']).toEqual(template({ nodeSelector: { b: '2' }, tolerations: [{ key: 'b' }] }))
  })

  it('leaves no entry behind when it wants nothing any more', () => {
    const { spec: _, ...nothing } = deployment({})
    const gone = apply({ live, applied: nothing, time: later })
    expect(gone).toEqual(nothing)
  })
})

describe('kubectl, coming from client-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const live = (() => {
    const configured = deployment({ replicas: 2, paused: true })
    const next = deployment(
      { replicas: 2, paused: true },
      { annotations: { [annotation]: JSON.stringify(configured) } },
    )
    const write = { previous: undefined, schema: deploymentSchema, apiVersion: 'apps/v1', time: noon }
    return deepFreeze(
      trackUpdate({ ...write, next: next as unknown as KubeObject, manager: 'kubectl-client-side-apply' }),
    )
  })()

  it('may change what it applied before, and the annotation follows', () => {
    const applied = deployment({ replicas: 3, paused: true })
    const done = apply({ live, applied, manager: 'kubectl', time: later })
    expect((done['spec'] as JsonObject)['replicas']).toBe(3)
    expect(done.metadata.annotations?.[annotation]).toBe(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"paused":true,"replicas":3}}\n',
    )
  })

  it('is refused what somebody changed since', () => {
    const scaled = { ...live, spec: { replicas: 9, paused: true } } as KubeObject
    const write = { previous: live, next: scaled, schema: deploymentSchema, apiVersion: 'apps/v1', time: later }
    const after = trackUpdate({ ...write, manager: 'scaler' })
    expect(
      refusal(() => apply({ live: after, applied: deployment({ replicas: 3 }), manager: 'kubectl' }))['message'],
    ).toBe('Apply failed with 1 conflict: conflict with "scaler" using apps/v1: .spec.replicas')
  })

  it('is the only manager with that right', () => {
    expect(refusal(() => apply({ live, applied: deployment({ replicas: 3 }), manager: 'git' }))['code']).toBe(409)
  })
})
