import { describe, expect, it } from 'vitest'
import { configMaps, nodes, pods } from '../api/resources.ts'
import type { HttpKubeApi } from './http-kube-api.ts'
import { evictPod } from './kube-api.ts'
import { apiFor, key, openApi, refusalOf, settings } from './testing/scripted-api.ts'
import { answerJson, answerStatus, type Script, startScriptedServer } from './testing/scripted-server.ts'

describe('what goes over the wire', () => {
  const echo: Script = (_, response) => answerJson(response, settings)
  const body = { ...settings, data: { x: '1' } }
  const deleteOptions = { kind: 'DeleteOptions', apiVersion: 'v1' }
  const scenarios: Record<
    string,
    {
      readonly call: (api: HttpKubeApi) => Promise<unknown>
      readonly sends: { method: string; path: string; query?: object; body?: unknown; type?: string }
    }
  > = {
    'a get names the object and its subresource': {
      call: (api) => api.get(configMaps, key, { subresource: 'status' }),
      sends: { method: 'GET', path: '/api/v1/namespaces/ns/configmaps/a/status' },
    },
    'a list carries its selectors, its page and its version': {
      call: (api) =>
        api.list(pods, {
          labelSelector: 'a=b,c in (d)',
          fieldSelector: 'spec.nodeName=n1',
          limit: 10,
          continueToken: 't/+=',
          resourceVersion: '5',
          resourceVersionMatch: 'Exact',
        }),
      sends: {
        method: 'GET',
        path: '/api/v1/pods',
        query: {
          labelSelector: 'a=b,c in (d)',
          fieldSelector: 'spec.nodeName=n1',
          limit: '10',
          continue: 't/+=',
          resourceVersion: '5',
          resourceVersionMatch: 'Exact',
        },
      },
    },
    'a create posts to the namespace of the object, as whom and how it was asked': {
      call: (api) => api.create(configMaps, body, { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' }),
      sends: {
        method: 'POST',
        path: '/api/v1/namespaces/ns/configmaps',
        query: { dryRun: 'All', fieldManager: 'me', fieldValidation: 'Strict' },
        body,
        type: 'application/json',
      },
    },
    'an update puts the object with its version': {
      call: (api) => api.update(configMaps, body, { subresource: 'status' }),
      sends: { method: 'PUT', path: '/api/v1/namespaces/ns/configmaps/a/status', body, type: 'application/json' },
    },
    'a json patch says what it is': {
      call: (api) => api.patch(configMaps, key, { type: 'json', body: [{ op: 'remove', path: '/data' }] }),
      sends: {
        method: 'PATCH',
        path: '/api/v1/namespaces/ns/configmaps/a',
        body: [{ op: 'remove', path: '/data' }],
        type: 'application/json-patch+json',
      },
    },
    'a merge patch says what it is': {
      call: (api) => api.patch(nodes, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } }),
      sends: {
        method: 'PATCH',
        path: '/api/v1/nodes/n1',
        body: { spec: { unschedulable: true } },
        type: 'application/merge-patch+json',
      },
    },
    'a strategic patch says what it is': {
      call: (api) => api.patch(nodes, { name: 'n1' }, { type: 'strategic', body: {} }, { subresource: 'status' }),
      sends: {
        method: 'PATCH',
        path: '/api/v1/nodes/n1/status',
        body: {},
        type: 'application/strategic-merge-patch+json',
      },
    },
    'an apply names its manager and may take fields over': {
      call: (api) =>
        api.patch(configMaps, key, { type: 'apply', body: {}, force: true }, { fieldManager: 'cofferdam' }),
      sends: {
        method: 'PATCH',
        path: '/api/v1/namespaces/ns/configmaps/a',
        query: { fieldManager: 'cofferdam', force: 'true' },
        body: {},
        type: 'application/apply-patch+yaml',
      },
    },
    'a delete sends its conditions in the body': {
      call: (api) =>
        api.delete(configMaps, key, {
          dryRun: true,
          gracePeriodSeconds: 0,
          propagationPolicy: 'Foreground',
          preconditions: { uid: 'u', resourceVersion: '7' },
        }),
      sends: {
        method: 'DELETE',
        path: '/api/v1/namespaces/ns/configmaps/a',
        body: {
          ...deleteOptions,
          dryRun: ['All'],
          gracePeriodSeconds: 0,
          propagationPolicy: 'Foreground',
          preconditions: { uid: 'u', resourceVersion: '7' },
        },
        type: 'application/json',
      },
    },
    'deleting a collection carries its selectors': {
      call: (api) => api.deleteCollection(configMaps, { namespace: 'ns', labelSelector: 'a=b' }),
      sends: {
        method: 'DELETE',
        path: '/api/v1/namespaces/ns/configmaps',
        query: { labelSelector: 'a=b' },
        body: deleteOptions,
        type: 'application/json',
      },
    },
    'an eviction posts to the pod': {
      call: (api) => evictPod(api, { namespace: 'ns', name: 'p', uid: 'u' }),
      sends: {
        method: 'POST',
        path: '/api/v1/namespaces/ns/pods/p/eviction',
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { namespace: 'ns', name: 'p' },
          deleteOptions: { preconditions: { uid: 'u' } },
        },
        type: 'application/json',
      },
    },
    'any path can be read raw': {
      call: (api) => api.getRaw('/version'),
      sends: { method: 'GET', path: '/version' },
    },
  }

  for (const [scenario, { call, sends }] of Object.entries(scenarios)) {
    it(scenario, async () => {
      const { server, api } = await apiFor(echo)
      await call(api)
      const sent = server.requests.map(({ method, path, query, headers, body: text }) => ({
        method,
        path,
        query,
        body: text === '' ? undefined : JSON.parse(text),
        type: headers['content-type'],
      }))
      expect(sent).toEqual([{ query: {}, body: undefined, type: undefined, ...sends }])
    })
  }

  it('a path in front of the server address is kept, and the client says who it is', async () => {
    const server = await startScriptedServer(echo)
    const api = openApi(server.connection({ server: `${server.url}/k8s/clusters/c-1` }), { userAgent: 'cofferdam/1' })
    await api.get(configMaps, key)
    expect(server.requests[0]).toMatchObject({
      path: '/k8s/clusters/c-1/api/v1/namespaces/ns/configmaps/a',
      headers: { 'user-agent': 'cofferdam/1', accept: 'application/json' },
    })
  })

  it('acting as another is asked for in headers, one line for each group', async () => {
    const { server, api } = await apiFor(
      echo,
      {},
      {
        authentication: { kind: 'basic', username: 'ü', password: 'p' },
        impersonation: { user: 'bob', uid: '7', groups: ['a', 'b'], extra: { 'corp.example/scope': ['x'] } },
      },
    )
    await api.get(configMaps, key)
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('ü:p').toString('base64')}`,
      'impersonate-user': 'bob',
      'impersonate-uid': '7',
      'impersonate-group': 'a, b',
      'impersonate-extra-corp.example%2fscope': 'x',
    })
  })

  it('a thousand reads share a connection, or a second one when the first is not yet free again', async () => {
    const { server, api } = await apiFor(echo)
    for (let turn = 0; turn < 1_000; turn += 1) await api.get(configMaps, key)
    expect(server.connections()).toBeLessThanOrEqual(2)
  })

  for (const name of ['', '.', '..', 'a/b', 'a%2fb']) {
    it(`the name ${JSON.stringify(name)} is refused before it can reach another path`, async () => {
      const { server, api } = await apiFor(echo)
      expect(await refusalOf(api.delete(configMaps, { namespace: 'ns', name }))).toMatchObject({ reason: 'BadRequest' })
      expect(await refusalOf(api.get(configMaps, { namespace: name, name: 'a' }))).toMatchObject({ code: 400 })
      expect(server.requests).toEqual([])
    })
  }
})

describe('what comes back', () => {
  it('items of a list get the kind and version that servers leave out there', async () => {
    const metadata = { namespace: 'ns', name: 'p' }
    const { api } = await apiFor((_, response) =>
      answerJson(response, {
        kind: 'PodList',
        metadata: { resourceVersion: '9', continue: 'next', remainingItemCount: 3 },
        items: [{ metadata }],
      }),
    )
    expect(await api.list(pods)).toEqual({
      items: [{ apiVersion: 'v1', kind: 'Pod', metadata }],
      resourceVersion: '9',
      continueToken: 'next',
      remainingItemCount: 3,
    })
  })

  it('an empty list may come as null', async () => {
    const { api } = await apiFor((_, response) =>
      answerJson(response, { metadata: { resourceVersion: '9', continue: '' }, items: null }),
    )
    expect(await api.list(pods)).toEqual({ items: [], resourceVersion: '9' })
  })

  it('a delete that is answered with a bare Status gives what is known of the object', async () => {
    const { api } = await apiFor((_, response) =>
      answerJson(response, { kind: 'Status', status: 'Success', details: { name: 'a', uid: 'u-1' } }),
    )
    expect(await api.delete(configMaps, key)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'ns', name: 'a', uid: 'u-1' },
    })
  })

  it('a refusal is thrown with its reason, its code and its details', async () => {
    const details = { kind: 'configmaps', causes: [{ field: 'data', message: 'no', reason: 'FieldValueInvalid' }] }
    const { api } = await apiFor((_, response) =>
      answerStatus(response, { code: 422, reason: 'Invalid', message: 'is invalid', details }),
    )
    expect(await refusalOf(api.create(configMaps, settings))).toMatchObject({
      name: 'ApiError',
      code: 422,
      reason: 'Invalid',
      message: 'is invalid',
      details,
    })
  })

  it('a refusal by something that is no API server is told by its code and first line', async () => {
    const { api } = await apiFor((_, response) => {
      response.writeHead(403, { 'content-type': 'text/html' })
      response.end('<h1>Blocked by the gate</h1>\n<p>and more</p>')
    })
    expect(await refusalOf(api.get(configMaps, key))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: '<h1>Blocked by the gate</h1>',
    })
  })

  it('a login page in place of an answer is told as one', async () => {
    const { api } = await apiFor((_, response) => response.end('<html>token: hunter2</html>'))
    const error = await refusalOf(api.get(configMaps, key))
    expect(error).toMatchObject({ code: 'API_UNREACHABLE' })
    expect(error.message).toContain('what came is not a JSON object')
    expect(error.message).not.toContain('hunter2')
  })
})
