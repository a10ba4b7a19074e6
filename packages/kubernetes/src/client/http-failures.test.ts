import { describe, expect, it } from 'vitest'
import type { Pod } from '../api/core.ts'
import { configMaps, pods } from '../api/resources.ts'
import type { CofferdamError } from '../errors.ts'
import { realClock } from '../runtime/real-clock.ts'
import { evictPod } from './kube-api.ts'
import { apiFor, hurriedClock, key, openApi, refusalOf, settings } from './testing/scripted-api.ts'
import { answerJson, answerStatus, type Script, startScriptedServer } from './testing/scripted-server.ts'

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
