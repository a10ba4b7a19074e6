import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { describe, expect, it } from 'vitest'
import { fixture, inDefault, refusalOf } from './testing/fixture.ts'

const services: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true }
const clusterIP = '10.96.0.77'

function service(name: string, spec: JsonObject): KubeObject {
  const metadata = inDefault(name)
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }], ...spec } } as KubeObject
}

const refusal = {
  code: 422,
  message: `Service "b" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: provided IP is already allocated`,
  details: { causes: [{ field: 'spec.clusterIPs' }] },
}

describe('an address that a service asks for', () => {
  it('is refused to a second one: both would be served here, and a real cluster has one of them only', async () => {
    const { api } = fixture()
    await api.create(services, service('a', { clusterIP }))
    expect(await refusalOf(api.create(services, service('b', { clusterIP })))).toMatchObject(refusal)
    expect(await refusalOf(api.update(services, service('b', { clusterIP })))).toMatchObject(refusal)
  })

  it('is refused also to one that had none, and only had another name', async () => {
    const { api } = fixture()
    await api.create(services, service('a', { clusterIP }))
    const other = await api.create(services, service('b', { type: 'ExternalName', externalName: 'db.example' }))
    const body = { spec: { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP] } }
    const call = api.patch(services, inDefault('b'), { type: 'merge', body })
    expect(await refusalOf(call)).toMatchObject(refusal)
    expect(await api.get(services, inDefault('b'))).toBe(other)
  })

  it('is given where it is only tried, where it is its own, and once the other is gone', async () => {
    const { api } = fixture()
    const first = await api.create(services, service('a', { clusterIP }))
    const second = service('b', { clusterIP, clusterIPs: [clusterIP] })
    const tried = await api.create(services, second, { dryRun: true })
    expect(tried).toMatchObject({ spec: { clusterIP } })
    const labels = { app: 'x' }
    expect(await api.update(services, { ...first, metadata: { ...first.metadata, labels } })).toMatchObject({
      spec: { clusterIP },
    })
    await api.delete(services, inDefault('a'))
    expect(await api.create(services, second)).toMatchObject({ spec: { clusterIP } })
  })

  it('may be none, as often as it pleases', async () => {
    const { api } = fixture()
    await api.create(services, service('a', { clusterIP: 'None' }))
    expect(await api.create(services, service('b', { clusterIP: 'None' }))).toMatchObject({ metadata: { name: 'b' } })
  })
})
