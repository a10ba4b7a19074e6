import { describe, expect, it } from 'vitest'
import { configMapNamed, configMapsPath, faceForTest } from './testing/face.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const json = { 'content-type': 'application/json-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const lease = (name: string, metadata: object = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...metadata },
})

describe('as on the real server', () => {
  it('items of a list do not say what they are: code that reads their kind would fail in production only', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const { kind, items } = (await call(configMapsPath)).json
    expect([kind, Object.keys(items[0]).includes('kind'), Object.keys(items[0]).includes('apiVersion')]).toEqual([
      'ConfigMapList',
      false,
      false,
    ])
  })

  it('an empty map or list is no map or list: writing one changes nothing and owns nothing', async () => {
    const { call } = await faceForTest()
    const made = (await call(configMapsPath, { body: configMapNamed('a') })).json
    const body = { data: {}, metadata: { labels: {}, finalizers: [] } }
    const patched = (await call(`${configMapsPath}/a`, { method: 'PATCH', headers: merge, body })).json
    expect(patched).toEqual(made)
    expect('data' in made).toBe(false)
  })

  it('a patch that the object cannot hold is refused with 422, not 400: retries on conflict go by that', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const refused = await call(`${configMapsPath}/a`, { method: 'PATCH', headers: merge, body: { data: [] } })
    expect([refused.status, refused.json.reason, refused.json.details.causes[0].field]).toEqual([
      422,
      'Invalid',
      'patch',
    ])
  })

  it('a JSON patch replaces a field that is not there: operators send such patches', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a', { x: '1' }) })
    const body = [{ op: 'replace', path: '/data/y', value: '2' }]
    const patched = await call(`${configMapsPath}/a`, { method: 'PATCH', headers: json, body })
    expect([patched.status, patched.json.data]).toEqual([200, { x: '1', y: '2' }])
  })

  it('a patch of what is not there answers 404, whatever it says', async () => {
    const { call } = await faceForTest()
    const refused = await call(`${configMapsPath}/a`, { method: 'PATCH', headers: json, body: {} })
    expect(refused.status).toBe(404)
  })

  it('what never changes is refused when a patch changes it, instead of quietly put back', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    for (const metadata of [{ uid: 'other' }, { deletionGracePeriodSeconds: 3 }]) {
      const refused = await call(`${configMapsPath}/a`, { method: 'PATCH', headers: merge, body: { metadata } })
      expect([refused.status, refused.json.message]).toEqual([422, expect.stringContaining('field is immutable')])
    }
  })

  it('an applied field that the kind does not have is refused: a typo in a manifest does not get lost', async () => {
    const { call } = await faceForTest()
    const path = `${configMapsPath}/a?fieldManager=me`
    const refused = await call(path, { method: 'PATCH', headers: apply, body: { ...configMapNamed('a'), surprise: 1 } })
    expect([refused.status, refused.json.message]).toEqual([
      500,
      expect.stringContaining('.surprise: field not declared in schema'),
    ])
  })

  it('applying with the uid of an object that has gone makes no new one', async () => {
    const { call } = await faceForTest()
    const body = { ...configMapNamed('a'), metadata: { name: 'a', uid: 'gone' } }
    const refused = await call(`${configMapsPath}/a?fieldManager=me`, { method: 'PATCH', headers: apply, body })
    expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining('uid mismatch')])
  })

  it('a lease that was deleted is not renewed into being: its late holder loses with 409', async () => {
    const { call } = await faceForTest()
    const held = (await call(leasesPath, { body: lease('leader') })).json
    await call(`${leasesPath}/leader`, { method: 'DELETE' })
    const renewed = await call(`${leasesPath}/leader`, { method: 'PUT', body: held })
    expect([renewed.status, (await call(`${leasesPath}/leader`)).status]).toEqual([409, 404])
  })

  it('version 0 is no version where one must be named', async () => {
    const { call } = await faceForTest()
    await call(leasesPath, { body: lease('leader') })
    const body = lease('leader', { resourceVersion: '0' })
    expect((await call(`${leasesPath}/leader`, { method: 'PUT', body })).status).toBe(422)
  })

  it('a node that says it is schedulable says nothing: no new version, and no conflict with who cordons it', async () => {
    const { call } = await faceForTest()
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
    const made = (await call('/api/v1/nodes', { body: node })).json
    const body = { spec: { unschedulable: false } }
    expect((await call('/api/v1/nodes/n', { method: 'PATCH', headers: merge, body })).json).toEqual(made)
  })

  it('a refusal carries the warnings that came before it', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a') })
    const refused = await call(configMapsPath, { body: { ...configMapNamed('a'), surprise: 1 } })
    expect([refused.status, refused.headers.get('warning')]).toEqual([409, '299 - "unknown field \\"surprise\\""'])
  })

  it('a name whose object is on its way out is refused with the reason to wait', async () => {
    const { call } = await faceForTest()
    const held = { ...configMapNamed('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } }
    await call(configMapsPath, { body: held })
    await call(`${configMapsPath}/a`, { method: 'DELETE' })
    expect((await call(configMapsPath, { body: configMapNamed('a') })).json.message).toBe(
      'object is being deleted: configmaps "a" already exists',
    )
  })

  it('nobody deletes all namespaces in one request', async () => {
    const { call } = await faceForTest()
    expect((await call('/api/v1/namespaces', { method: 'DELETE' })).status).toBe(405)
  })

  it('a budget nobody has counted for says so in numbers, so that status is never absent', async () => {
    const { call } = await faceForTest()
    const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'a' }, spec: {} }
    const made = await call('/apis/policy/v1/namespaces/default/poddisruptionbudgets', { body })
    expect(made.json.status).toEqual({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 })
  })

  it('a selector with a hole in it is refused, instead of selecting more than was meant', async () => {
    const { call } = await faceForTest()
    expect((await call(`${configMapsPath}?labelSelector=${encodeURIComponent('app=x,')}`)).status).toBe(400)
  })
})
