import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { ConfigMap, Pod } from '../api/core.ts'
import { configMaps, nodes, pods } from '../api/resources.ts'
import { CofferdamError } from '../errors.ts'
import { seededRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { createHttpKubeApi, type HttpKubeApi, type HttpKubeApiOptions } from './http-kube-api.ts'
import { evictPod } from './kube-api.ts'
import { answerJson, answerStatus, type Script, startScriptedServer } from './testing/scripted-server.ts'

const settings: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name: 'a', resourceVersion: '7' },
}
const key = { namespace: 'ns', name: 'a' }
/** Waits of a second or more pass at once; their order and length are the stories' business, not the wall's. */
const hurriedClock = {
  now: () => realClock.now(),
  after: (ms: number, go: () => void) => realClock.after(ms / 1000, go),
}

function openApi(config: ClusterConnection, more: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
  const api = createHttpKubeApi({ config, clock: realClock, random: seededRandom(1), ...more })
  onTestFinished(() => api.close())
  return api
}

async function apiFor(script: Script, more: Partial<HttpKubeApiOptions> = {}, connection?: Partial<ClusterConnection>) {
  const server = await startScriptedServer(script)
  return { server, api: openApi(server.connection(connection), more) }
}

async function refusalOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError || error instanceof CofferdamError) return error
  throw new Error('it should have been refused', { cause: error })
}

describe('what goes over the wire', () => {
  const echo: Script = (_, response) => answerJson(response, settings)
  const body = { ...settings, data: { x: '1' } }
  const deleteOptions = { kind: 'DeleteOptions', apiVersion: 'v1' }
  const stories: Record<
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

  for (const [story, { call, sends }] of Object.entries(stories)) {
    it(story, async () => {
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

describe('when the server turns us away', () => {
  const tired: Script = (_, response, count) => {
    if (count > 2) answerJson(response, settings)
    else answerStatus(response, { code: 503, reason: 'ServiceUnavailable' })
  }
  const busy =
    (asStatus: boolean): Script =>
    (_, response, count) => {
      if (count > 1) return answerJson(response, settings)
      response.setHeader('retry-after', '1')
      if (asStatus)
        return answerStatus(response, { code: 429, reason: 'TooManyRequests', message: 'a budget holds it' })
      response.writeHead(429, { 'content-type': 'text/plain' })
      response.end('Too many requests, please try again later.\n')
    }

  it('a read is asked again after 5xx, and then answered', async () => {
    const { server, api } = await apiFor(tired, { clock: hurriedClock })
    expect(await api.get(configMaps, key)).toEqual(settings)
    expect(server.requests).toHaveLength(3)
  })

  it('a read gives up after its attempts, with what the server said last', async () => {
    const { server, api } = await apiFor(
      (_, response) => answerStatus(response, { code: 500, reason: 'InternalError', message: 'etcd is away' }),
      { clock: hurriedClock, maxAttempts: 3 },
    )
    expect(await refusalOf(api.list(configMaps))).toMatchObject({ reason: 'InternalError', message: 'etcd is away' })
    expect(server.requests).toHaveLength(3)
  })

  it('a version from the future is not asked for again: the server has already waited for it', async () => {
    const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] }
    const { server, api } = await apiFor((_, response) =>
      answerStatus(response, { code: 504, reason: 'Timeout', details: { ...details, retryAfterSeconds: 1 } }),
    )
    expect(await refusalOf(api.list(configMaps, { resourceVersion: '999' }))).toMatchObject({ reason: 'Timeout' })
    expect(server.requests).toHaveLength(1)
  })

  it('a write is not asked again after 5xx: it may have been done', async () => {
    const { server, api } = await apiFor(tired, { clock: hurriedClock })
    expect(await refusalOf(api.update(configMaps, settings))).toMatchObject({ code: 503 })
    expect(server.requests).toHaveLength(1)
  })

  it('a write that flow control stopped at the door is asked again after the time it named', async () => {
    const waits: number[] = []
    const clock = {
      now: () => realClock.now(),
      after(ms: number, go: () => void) {
        waits.push(ms)
        return hurriedClock.after(ms, go)
      },
    }
    const { server, api } = await apiFor(busy(false), { clock, requestTimeoutMs: 50_000 })
    expect(await api.create(configMaps, settings)).toEqual(settings)
    expect(server.requests).toHaveLength(2)
    expect(waits.filter((ms) => ms !== 50_000)).toEqual([expect.closeTo(1_150, -2)])
  })

  it('an eviction that a budget refuses is told at once, and never asked again', async () => {
    const { server, api } = await apiFor(busy(true), { clock: hurriedClock })
    expect(await refusalOf(evictPod(api, { namespace: 'ns', name: 'p' }))).toMatchObject({
      reason: 'TooManyRequests',
      message: 'a budget holds it',
      details: { retryAfterSeconds: 1 },
    })
    expect(server.requests).toHaveLength(1)
  })

  it('a server that asks for more patience than half a minute gets none', async () => {
    const { server, api } = await apiFor((_, response) => {
      response.setHeader('retry-after', '120')
      answerStatus(response, { code: 429, reason: 'TooManyRequests' })
    })
    expect(await refusalOf(api.get(configMaps, key))).toMatchObject({ details: { retryAfterSeconds: 120 } })
    expect(server.requests).toHaveLength(1)
  })
})

describe('when there is no answer', () => {
  it('nobody listens: the address is named, with what to look at', async () => {
    const server = await startScriptedServer(() => {})
    const api = openApi(server.connection({ server: 'http://127.0.0.1:1' }))
    const error = await refusalOf(api.get(configMaps, key))
    expect(error).toMatchObject({
      code: 'API_UNREACHABLE',
      message:
        'the Kubernetes API at http://127.0.0.1:1 did not answer GET /api/v1/namespaces/ns/configmaps/a: connect ECONNREFUSED 127.0.0.1:1',
      hint: 'see whether the API server runs and whether the server address in the kubeconfig is right',
      facts: { server: 'http://127.0.0.1:1', method: 'GET', path: '/api/v1/namespaces/ns/configmaps/a' },
    })
    expect(error.cause).toBeInstanceOf(Error)
  })

  it('a connection that breaks under a read is made anew', async () => {
    const { server, api } = await apiFor(
      (_, response, count) => (count === 1 ? response.socket?.resetAndDestroy() : answerJson(response, settings)),
      { clock: hurriedClock },
    )
    expect(await api.get(configMaps, key)).toEqual(settings)
    expect(server.requests).toHaveLength(2)
  })

  it('a connection that breaks under a write is told: nobody knows whether it was done', async () => {
    const { server, api } = await apiFor((_, response) => response.socket?.resetAndDestroy(), { clock: hurriedClock })
    expect(await refusalOf(api.create(configMaps, settings))).toMatchObject({ code: 'API_UNREACHABLE' })
    expect(server.requests).toHaveLength(1)
  })

  it('an answer cut off in the middle is no answer', async () => {
    const { api } = await apiFor(
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"kind":"Pod"')
        setImmediate(() => response.destroy())
      },
      { maxAttempts: 1 },
    )
    expect(await refusalOf(api.get(configMaps, key))).toMatchObject({ code: 'API_UNREACHABLE' })
  })

  it('a server that takes the request and says nothing is given up', async () => {
    const { api } = await apiFor(() => {}, { requestTimeoutMs: 20 })
    const error = await refusalOf(api.get(configMaps, key))
    expect(error.message).toMatch(/no whole answer within 0\.02 s$/)
  })

  it('a caller who gives up is told so, and so is everybody when the client is closed', async () => {
    const { api } = await apiFor(() => {})
    const giveUp = new AbortController()
    const given = refusalOf(api.get(configMaps, key, { signal: giveUp.signal }))
    const closed = refusalOf(api.get(configMaps, key))
    giveUp.abort(new Error('had enough'))
    expect(await given).toMatchObject({ code: 'API_UNREACHABLE', cause: new Error('had enough') })
    await api.close()
    expect((await closed).message).toMatch(/the client was closed$/)
    expect((await refusalOf(api.get(configMaps, key))).message).toMatch(/the client was closed$/)
  })

  it('a name that does not resolve is told as one', async () => {
    const server = await startScriptedServer(() => {})
    const api = openApi(server.connection({ server: 'http://cluster.invalid:6443' }))
    const error = (await refusalOf(api.list<Pod>(pods))) as CofferdamError
    expect(error.code).toBe('API_UNREACHABLE')
    expect(error.hint).toMatch(/DNS/)
  })
})
