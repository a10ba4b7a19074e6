import { describe, expect, it } from 'vitest'
import { configMapNamed, configMapsPath, faceForTest, podNamed, podsPath } from './testing/face.ts'

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

describe('tables over HTTP', () => {
  it('a list becomes rows under the columns of its kind, with the metadata of each object', async () => {
    const { call } = await faceForTest()
    await call(podsPath, { body: podNamed('a', { nodeName: 'n1' }) })
    const { json } = await call(podsPath, { accept: `${table},application/json` })
    expect([json.kind, json.apiVersion]).toEqual(['Table', 'meta.k8s.io/v1'])
    expect(
      json.columnDefinitions.map((column: { name: string; priority: number }) => [column.name, column.priority]),
    ).toEqual([
      ['Name', 0],
      ['Ready', 0],
      ['Status', 0],
      ['Restarts', 0],
      ['Age', 0],
      ['IP', 1],
      ['Node', 1],
      ['Nominated Node', 1],
      ['Readiness Gates', 1],
    ])
    expect(json.rows[0].cells.slice(0, 4)).toEqual(['a', '0/1', 'Pending', '0'])
    expect(json.rows[0].object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', namespace: 'default' },
    })
    expect(json.rows[0].object.spec).toBeUndefined()
  })

  it('a row carries the whole object or none of it, as asked', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a', { x: '1' }) })
    const rowWith = async (include: string) =>
      (await call(`${configMapsPath}?includeObject=${include}`, { accept: table })).json.rows[0]
    expect((await rowWith('Object')).object.data).toEqual({ x: '1' })
    expect((await rowWith('None')).object).toBeUndefined()
  })

  it('one object becomes one row, in the older version too', async () => {
    const { call } = await faceForTest()
    const { json } = await call('/api/v1/namespaces/default', { accept: table.replace('v=v1', 'v=v1beta1') })
    expect([json.apiVersion, json.rows[0].cells.slice(0, 2)]).toEqual(['meta.k8s.io/v1beta1', ['default', 'Active']])
  })

  it('a refusal stays a Status', async () => {
    const { call } = await faceForTest()
    expect((await call(`${configMapsPath}/none`, { accept: table })).json.kind).toBe('Status')
  })

  it('a page of a table continues', async () => {
    const { call } = await faceForTest()
    for (const name of ['a', 'b']) await call(configMapsPath, { body: configMapNamed(name) })
    const { json } = await call(`${configMapsPath}?limit=1`, { accept: table })
    expect([json.rows.length, typeof json.metadata.continue, json.metadata.remainingItemCount]).toEqual([
      1,
      'string',
      1,
    ])
  })
})

describe('metadata alone over HTTP', () => {
  const partial = (as: string) => `application/json;as=${as};v=v1;g=meta.k8s.io`

  it('of an object and of a list leaves everything else out', async () => {
    const { call } = await faceForTest()
    await call(configMapsPath, { body: configMapNamed('a', { x: '1' }) })
    const one = await call(`${configMapsPath}/a`, { accept: partial('PartialObjectMetadata') })
    expect(Object.keys(one.json)).toEqual(['kind', 'apiVersion', 'metadata'])
    const list = await call(configMapsPath, { accept: partial('PartialObjectMetadataList') })
    expect([list.json.kind, list.json.items[0].kind, list.json.items[0].data]).toEqual([
      'PartialObjectMetadataList',
      'PartialObjectMetadata',
      undefined,
    ])
  })
})
