import { describe, expect, it } from 'vitest'
import { ApiError } from './api/api-error.ts'
import type { KubeObject } from './api/kube-object.ts'
import type { ResourceType } from './api/resource-type.ts'
import { customResourceDefinitions } from './api/resources.ts'
import { openOperatedLonghorn } from './controllers/testing/longhorn-operator.ts'
import { buildCustomResourceDefinitions } from './deploy/custom-resource-definitions.ts'
import { buildAccess, operatorAccount } from './deploy/operator-manifests.ts'
import { typeOfObject } from './embedded/type-of-object.ts'
import { serviceAccountUser } from './embedded/user-info.ts'
import type { KubeApi } from './kube/kube-api.ts'
import { createMetrics } from './observability/metrics.ts'
import { permissionsOf, startOperator } from './operator.ts'
import { changedApi, openStory } from './world/testing/story.ts'

const controller = 'longhorn-drain'

/** Notes every right that is made use of. Collections are listed in pages, as before servers could stream them. */
function notingRights(api: KubeApi, used: Set<string>): KubeApi {
  const note = (verb: string, { group, plural }: ResourceType, subresource?: string) =>
    used.add(`${verb} ${group}/${plural}${subresource === undefined ? '' : `/${subresource}`}`)
  return changedApi(api, {
    list(type, query) {
      note('list', type as ResourceType)
      return api.list(type, query)
    },
    watch(type, query) {
      if (query?.sendInitialEvents) throw new ApiError('Invalid', 'sendInitialEvents is forbidden for watch')
      note('watch', type as ResourceType)
      return api.watch(type, query)
    },
    create(type, object, options) {
      note('create', type as ResourceType)
      return api.create(type, object, options)
    },
    patch(type, key, patch, options) {
      note('patch', type as ResourceType, options?.subresource)
      return api.patch(type, key, patch, options)
    },
    delete(type, key, options) {
      note('delete', type as ResourceType)
      return api.delete(type, key, options)
    },
  })
}

describe('the rights of longhorn-drain', () => {
  it('are enough for a whole drain, and it makes use of every one of them', async () => {
    const used = new Set<string>()
    const stage = await openOperatedLonghorn(
      {
        settings: { 'node-drain-policy': 'block-for-eviction' },
        volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
      },
      {
        async api({ api, server }) {
          const access = buildAccess({ [controller]: permissionsOf[controller] }) as unknown as readonly KubeObject[]
          for (const object of access) await api.create(typeOfObject(server.catalogue, object) as ResourceType, object)
          return notingRights(server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name)), used)
        },
      },
    )
    const { controls, cordon, evict, guarded, seconds, until, warned, close } = stage
    await controls.attach('db', 'node-2')
    await seconds(5)
    await cordon('node-1')
    await until(async () => (await evict('node-1')) === 'going')
    await cordon('node-1', false)
    await until(async () => (await guarded()).length === 3, 60)
    expect(warned).toEqual([])
    const granted = permissionsOf[controller].flatMap(({ group, resource, verbs }) =>
      verbs.map((verb) => `${verb} ${group}/${resource}`),
    )
    expect([...used].sort()).toEqual(granted.sort())
    await close()
  })
})

describe('an operator in a cluster without Longhorn', () => {
  it('is ready, writes nothing, and reports no failure', async () => {
    const story = openStory()
    for (const definition of buildCustomResourceDefinitions()) {
      await story.api.create(customResourceDefinitions, definition as unknown as KubeObject)
    }
    const warnings: unknown[] = []
    const operator = startOperator({
      api: story.api,
      clock: story.clock,
      random: story.random,
      log: { info() {}, warn: (facts: unknown) => warnings.push(facts), error() {}, debug() {} } as never,
      metrics: createMetrics(),
      controllers: [controller],
      dryRun: false,
    })
    await story.seconds(600)
    expect(operator.health.map(({ check }) => check())).toEqual([{ ok: true }, { ok: true }])
    expect(warnings).toEqual([])
    const stopped = operator.stop()
    await story.seconds(30)
    await stopped
    story.stop()
  })
})
