import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiError, hasReason } from '../../api/api-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { type Condition, conditionOf, type KubeObject } from '../../api/kube-object.ts'
import type { ResourceType } from '../../api/resource-type.ts'
import { customResourceDefinitions } from '../../api/resources.ts'
import { type ContractFixture, eventually, firstEvents, refusal } from './fixture.contract.ts'

interface Gate extends KubeObject {
  readonly spec?: JsonObject
  readonly status?: JsonObject
}

const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['width'],
      properties: {
        width: { type: 'integer', minimum: 1, maximum: 100 },
        mode: { type: 'string', enum: ['open', 'closed'], default: 'closed' },
        limits: {
          type: 'object',
          properties: { least: { type: 'integer' }, most: { type: 'integer' } },
          'x-kubernetes-validations': [
            {
              rule: '!has(self.least) || !has(self.most) || self.least <= self.most',
              message: 'least must not exceed most',
            },
          ],
        },
        bars: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, metal: { type: 'string' } },
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: { phase: { type: 'string' } },
    },
  },
}

function definition(group: string, name = 'gates'): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gates', singular: 'gate', kind: 'Gate', listKind: 'GateList' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
      ],
    },
  } as KubeObject
}

/** Kinds that are declared at run time. */
export function describeCustomResources(fixture: ContractFixture): void {
  describe('custom resources', () => {
    let namespace = ''
    let gates: ResourceType<Gate> = { group: '', version: 'v1', plural: 'gates', kind: 'Gate', namespaced: true }

    beforeAll(async () => {
      namespace = await fixture.namespace()
      gates = { ...gates, group: `${namespace}.example` }
      const crd = await fixture.api.create(customResourceDefinitions, definition(gates.group))
      await eventually(async () => {
        const latest = await fixture.api.get(customResourceDefinitions, { name: crd.metadata.name })
        return conditionOf(latest as { status?: { conditions?: Condition[] } }, 'Established')?.status === 'True'
      })
      await eventually(() =>
        fixture.api.list(gates, { namespace }).catch((error: unknown) => {
          if (hasReason(error, 'NotFound')) return undefined
          throw error
        }),
      )
    })

    afterAll(async () => {
      await fixture.api.delete(customResourceDefinitions, { name: `gates.${gates.group}` })
    })

    const create = (name: string, spec: JsonObject, more: object = {}) =>
      fixture.api.create(gates, {
        apiVersion: `${gates.group}/v1`,
        kind: 'Gate',
        metadata: { namespace, name },
        spec,
        ...more,
      })

    it('are given their defaults, and lose what their schema does not know', async () => {
      const gate = await create('defaults', { width: 3, colour: 'red' })
      expect(gate.spec).toEqual({ width: 3, mode: 'closed' })
      expect(gate.metadata.generation).toBe(1)
      expect(await fixture.api.get(gates, { namespace, name: 'defaults' })).toEqual(gate)
    })

    it('with an unknown field are refused with 400 when the writer is strict', async () => {
      const object = { apiVersion: `${gates.group}/v1`, kind: 'Gate', metadata: { namespace, name: 'strict' } }
      const odd = { ...object, spec: { width: 3, colour: 'red' } }
      const refused = await refusal(fixture.api.create(gates, odd, { fieldValidation: 'Strict' }))
      expect(refused).toMatchObject({ code: 400, reason: 'BadRequest' })
      expect(refused.message).toContain('unknown field "spec.colour"')
    })

    it('that break their schema are refused with 422, and every field is named', async () => {
      const refused = await refusal(create('broken', { width: 1000, mode: 'ajar' }))
      expect(refused).toMatchObject({ code: 422, reason: 'Invalid', details: { kind: 'Gate', group: gates.group } })
      // Servers may add that rules could not be checked, in a cause without a field.
      const causes = (error: ApiError) =>
        error.details?.causes
          ?.filter(({ field }) => field?.startsWith('spec.'))
          .map(({ reason, field }) => `${field} ${reason}`)
      expect(causes(refused)?.toSorted()).toEqual(['spec.mode FieldValueNotSupported', 'spec.width FieldValueInvalid'])
      expect(causes(await refusal(create('broken', {})))).toEqual(['spec.width FieldValueRequired'])
    })

    it('that break a rule are refused with its words', async () => {
      const refused = await refusal(create('rule', { width: 1, limits: { least: 3, most: 2 } }))
      expect(refused).toMatchObject({ code: 422, reason: 'Invalid' })
      expect(refused.message).toContain('least must not exceed most')
    })

    it('keep status and spec apart', async () => {
      const key = { namespace, name: 'status' }
      const gate = await create('status', { width: 3 }, { status: { phase: 'Early' } })
      expect(gate.status).toBeUndefined()
      const reported = await fixture.api.update(
        gates,
        { ...gate, spec: { width: 9 }, status: { phase: 'Ready' } },
        { subresource: 'status' },
      )
      expect(reported).toMatchObject({ metadata: { generation: 1 }, spec: { width: 3 }, status: { phase: 'Ready' } })
      const body = { spec: { width: 4 }, status: { phase: 'Lost' } }
      const changed = await fixture.api.patch(gates, key, { type: 'merge', body })
      expect(changed).toMatchObject({ metadata: { generation: 2 }, spec: { width: 4 }, status: { phase: 'Ready' } })
      const labels = { metadata: { labels: { a: 'b' } } }
      const labelled = await fixture.api.patch(gates, key, { type: 'merge', body: labels })
      expect(labelled.metadata.generation).toBe(2)
    })

    it('cannot be replaced without the version they were read at: 422', async () => {
      const gate = await create('unconditional', { width: 3 })
      const { resourceVersion: _, ...metadata } = gate.metadata
      expect(await refusal(fixture.api.update(gates, { ...gate, metadata, spec: { width: 4 } }))).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { causes: [{ field: 'metadata.resourceVersion' }] },
      })
    })

    it('have no strategic merge: 415', async () => {
      await create('strategic', { width: 3 })
      const patch = { type: 'strategic', body: { spec: { width: 4 } } } as const
      expect(await refusal(fixture.api.patch(gates, { namespace, name: 'strategic' }, patch))).toMatchObject({
        code: 415,
        reason: 'UnsupportedMediaType',
      })
    })

    it('are applied with their lists as maps', async () => {
      const key = { namespace, name: 'applied' }
      const applyAs = (fieldManager: string, spec: JsonObject) => {
        const body = { apiVersion: `${gates.group}/v1`, kind: 'Gate', metadata: key, spec }
        return fixture.api.patch(gates, key, { type: 'apply', body }, { fieldManager })
      }
      await applyAs('ann', { width: 3, bars: [{ name: 'left', metal: 'iron' }] })
      const applied = await applyAs('bob', { bars: [{ name: 'right', metal: 'brass' }] })
      expect(applied.spec?.['bars']).toEqual([
        { name: 'left', metal: 'iron' },
        { name: 'right', metal: 'brass' },
      ])
    })

    it('are listed and watched like any other', async () => {
      const query = { namespace, labelSelector: 'watched=yes' }
      const { resourceVersion } = await fixture.api.list(gates, query)
      const metadata = { namespace, name: 'watched', labels: { watched: 'yes' } }
      const gate = await create('watched', { width: 3 }, { metadata })
      expect((await fixture.api.list(gates, query)).items).toEqual([gate])
      expect(await firstEvents(fixture.api, gates, { ...query, resourceVersion }, 1)).toEqual([
        { type: 'ADDED', object: gate },
      ])
    })
  })

  describe('definitions of custom resources', () => {
    it('with a name that is not theirs are refused with 422', async () => {
      const group = `${await fixture.namespace()}.example`
      expect(await refusal(fixture.api.create(customResourceDefinitions, definition(group, 'doors')))).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { causes: [{ field: 'metadata.name' }] },
      })
    })

    it('take their objects and the kind with them', async () => {
      const namespace = await fixture.namespace()
      const group = `${namespace}.example`
      const gates: ResourceType<Gate> = { group, version: 'v1', plural: 'gates', kind: 'Gate', namespaced: true }
      await fixture.api.create(customResourceDefinitions, definition(group))
      const gate: Gate = {
        apiVersion: `${group}/v1`,
        kind: 'Gate',
        metadata: { namespace, name: 'a' },
        spec: { width: 3 },
      }
      await eventually(() =>
        fixture.api.create(gates, gate).catch((error: unknown) => {
          if (hasReason(error, 'NotFound')) return undefined
          throw error
        }),
      )
      await fixture.api.delete(customResourceDefinitions, { name: `gates.${group}` })
      await eventually(async () => {
        try {
          await fixture.api.list(gates, { namespace })
          return false
        } catch (error) {
          return hasReason(error, 'NotFound')
        }
      })
    })
  })
}
