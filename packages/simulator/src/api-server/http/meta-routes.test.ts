import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { compareVersions } from './discovery.ts'
import { bytesOf, readFields } from './protobuf-reader.ts'
import { faceForTest } from './testing/face.ts'

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wg'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
}

type Named = { name: string }

describe('discovery', () => {
  it('lists the groups, the preferred version first', async () => {
    const { call } = await faceForTest()
    expect((await call('/api')).json).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
    const groups = (await call('/apis')).json
    expect(groups.kind).toBe('APIGroupList')
    expect(groups.groups.map(({ name }: Named) => name)).toContain('policy')
    expect((await call('/apis/apps')).json).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    })
  })

  it('lists the resources of a version with their subresources', async () => {
    const { call } = await faceForTest()
    const core = (await call('/api/v1')).json
    expect([core.kind, core.groupVersion]).toEqual(['APIResourceList', 'v1'])
    const entry = (name: string) => core.resources.find((resource: Named) => resource.name === name)
    expect(entry('pods')).toEqual({
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
    })
    expect(entry('pods/eviction')).toEqual({
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    })
    expect(entry('bindings').verbs).toEqual(['create'])
    expect(entry('namespaces/finalize').verbs).toEqual(['update'])
  })

  it('comes in one document to whoever asks, with a tag that saves asking again', async () => {
    const { call } = await faceForTest()
    const first = await call('/apis', { accept: `${aggregated},application/json` })
    expect(first.headers.get('content-type')).toBe(aggregated)
    expect([first.json.kind, first.json.apiVersion]).toEqual(['APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'])
    const apps = first.json.items.find(({ metadata }: { metadata: Named }) => metadata.name === 'apps')
    const deployments = apps.versions[0].resources.find(
      ({ resource }: { resource: string }) => resource === 'deployments',
    )
    expect(deployments).toMatchObject({
      responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      subresources: [{ subresource: 'status' }, { subresource: 'scale', responseKind: { group: 'autoscaling' } }],
    })
    const etag = first.headers.get('etag') as string
    const again = await call('/apis', { accept: aggregated, headers: { 'if-none-match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
    const older = await call('/api', { accept: aggregated.replace('v2', 'v2beta1') })
    expect([older.json.apiVersion, older.json.items.length]).toEqual(['apidiscovery.k8s.io/v2beta1', 1])
  })

  it('learns of a new kind at once, and the tag changes', async () => {
    const { call, api } = await faceForTest()
    const before = (await call('/apis', { accept: aggregated })).headers.get('etag')
    expect((await call('/apis/example.com/v1')).status).toBe(404)
    await api.create(customResourceDefinitions, widgets)
    expect((await call('/apis', { accept: aggregated })).headers.get('etag')).not.toBe(before)
    const { resources } = (await call('/apis/example.com/v1')).json
    expect(resources.map(({ name }: Named) => name)).toEqual(['widgets', 'widgets/status'])
    expect((await call('/apis/example.com/v1/namespaces/default/widgets')).json.kind).toBe('WidgetList')
  })

  it('ranks versions as Kubernetes does', () => {
    const ranked = ['v1', 'v2beta1', 'foo', 'v10', 'v1alpha1', 'v2', 'v11beta2', 'v1beta2', 'bar'].sort(compareVersions)
    expect(ranked).toEqual(['v10', 'v2', 'v1', 'v11beta2', 'v2beta1', 'v1beta2', 'v1alpha1', 'bar', 'foo'])
  })
})

describe('OpenAPI version 3', () => {
  it('leads from the index to documents that tell kubectl what PATCH can do', async () => {
    const { call } = await faceForTest()
    const index = (await call('/openapi/v3')).json
    const address = index.paths['apis/apps/v1'].serverRelativeURL
    expect(address).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64}$/)
    const document = (await call(address)).json
    const { patch } = document.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' })
    const named = patch.parameters.map(({ name, in: place }: { name: string; in: string }) => `${place} ${name}`)
    expect(named).toEqual(expect.arrayContaining(['query dryRun', 'query fieldManager', 'query fieldValidation']))
    expect(Object.keys(patch.requestBody.content)).toContain('application/strategic-merge-patch+json')
    const schema = document.components.schemas['io.k8s.api.apps.v1.Deployment']
    expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group: 'apps', version: 'v1', kind: 'Deployment' }])
  })

  it('refers to nothing it does not hold', async () => {
    const { call, api } = await faceForTest()
    await api.create(customResourceDefinitions, widgets)
    const { paths } = (await call('/openapi/v3')).json
    for (const path of Object.keys(paths)) {
      const text = (await call(`/openapi/v3/${path}`)).text
      const held = Object.keys(JSON.parse(text).components.schemas)
      const referred = new Set([...text.matchAll(/#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name))
      expect(
        [...referred].filter((name) => !held.includes(name as string)),
        path,
      ).toEqual([])
    }
  })

  it('describes custom kinds, which take no strategic merge', async () => {
    const { call, api } = await faceForTest()
    await api.create(customResourceDefinitions, widgets)
    const document = (await call('/openapi/v3/apis/example.com/v1')).json
    expect(document.components.schemas['com.example.v1.Widget'].properties.spec).toMatchObject({
      properties: { size: { type: 'integer' } },
    })
    const { patch } = document.paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}']
    expect(Object.keys(patch.requestBody.content)).not.toContain('application/strategic-merge-patch+json')
  })
})

describe('OpenAPI version 2', () => {
  it('comes as JSON', async () => {
    const { call } = await faceForTest()
    const { json } = await call('/openapi/v2')
    expect(json.swagger).toBe('2.0')
    expect(json.definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toEqual({
      type: 'string',
      format: 'int-or-string',
    })
  })

  it('comes as protobuf to old kubectl, under a media type that Go can read', async () => {
    const { face } = await faceForTest()
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const response = await fetch(`${face.url}/openapi/v2`, { headers: { accept, 'accept-encoding': 'identity' } })
    expect(response.headers.get('content-type')).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
    const document = readFields(Buffer.from(await response.arrayBuffer()))
    expect(bytesOf(document, 1)?.toString()).toBe('2.0')
    const definitions = readFields(bytesOf(document, 9) as Buffer)
    const names = definitions.map((field) => bytesOf(readFields((field as { bytes: Buffer }).bytes), 1)?.toString())
    expect(names).toContain('io.k8s.api.policy.v1.PodDisruptionBudget')
  })
})

describe('what the server tells of itself', () => {
  it('its version is that of the Kubernetes it follows', async () => {
    const { call } = await faceForTest()
    expect((await call('/version')).json).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.4+cofferdam' })
  })

  it('its health is ok, or each check by name', async () => {
    const { call } = await faceForTest()
    for (const path of ['/healthz', '/livez', '/readyz', '/livez/ping'])
      expect((await call(path)).text, path).toBe('ok')
    expect((await call('/readyz?verbose')).text).toBe('[+]ping ok\n[+]cluster ok\nreadyz check passed\n')
    expect((await call('/readyz/nosuch')).status).toBe(404)
  })

  it('it is alive before it is ready', async () => {
    let isReady = false
    const { call } = await faceForTest({ isReady: () => isReady })
    expect([(await call('/livez')).status, (await call('/readyz')).status]).toEqual([200, 500])
    expect((await call('/readyz')).text).toBe('[+]ping ok\n[-]cluster failed\nreadyz check failed\n')
    isReady = true
    expect((await call('/readyz')).status).toBe(200)
  })

  it('its root lists the paths', async () => {
    const { call } = await faceForTest()
    expect((await call('/')).json.paths).toEqual(expect.arrayContaining(['/api/v1', '/apis/policy/v1', '/version']))
  })
})

describe('paths that are no resource', () => {
  it('are served by right: an account may discover the API, and is refused the rest in the words of the real server', async () => {
    const { server, call, tokenOf } = await faceForTest()
    server.start()
    onTestFinished(() => server.stop())
    const headers = { authorization: `Bearer ${await tokenOf('bot')}` }
    for (const path of ['/api', '/apis', '/apis/apps/v1', '/openapi/v3', '/version', '/healthz']) {
      expect((await call(path, { headers })).status, path).toBe(200)
    }
    expect((await call('/', { headers })).json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: 'forbidden: User "system:serviceaccount:default:bot" cannot get path "/"',
    })
    expect((await call('/api', { headers: { authorization: 'Bearer odd' } })).status).toBe(401)
  })
})
