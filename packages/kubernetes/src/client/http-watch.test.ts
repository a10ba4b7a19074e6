import type { ServerResponse } from 'node:http'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import { pods } from '../api/resources.ts'
import { CofferdamError } from '../errors.ts'
import { seededRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import { createHttpKubeApi, type HttpKubeApiOptions } from './http-kube-api.ts'
import type { WatchEvent, WatchQuery } from './kube-api.ts'
import { answerStatus, type Script, startScriptedServer } from './testing/scripted-server.ts'

const pod = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name, resourceVersion },
})
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
const added = (name: string, version: string) => ({ type: 'ADDED', object: pod(name, version) })
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (9)' }

async function apiFor(script: Script, more: Partial<HttpKubeApiOptions> = {}) {
  const server = await startScriptedServer(script)
  const api = createHttpKubeApi({ config: server.connection(), clock: realClock, random: seededRandom(1), ...more })
  onTestFinished(() => api.close())
  return { server, api }
}

/** Everything a watch brings, and how it ended. */
async function collect(events: AsyncIterable<WatchEvent>): Promise<{ events: WatchEvent[]; end: unknown }> {
  const seen: WatchEvent[] = []
  try {
    for await (const event of events) seen.push(event)
    return { events: seen, end: 'closed' }
  } catch (error) {
    if (error instanceof ApiError) return { events: seen, end: { reason: error.reason, code: error.code } }
    if (error instanceof CofferdamError) return { events: seen, end: error.code }
    throw error
  }
}

async function watchScript(send: (response: ServerResponse) => void, query: WatchQuery = {}, more = {}) {
  const { server, api } = await apiFor((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    send(response)
  }, more)
  return { server, ...(await collect(api.watch(pods, query))) }
}

describe('a watch over HTTP', () => {
  it('asks for what it was told to, and passes events and bookmarks on', async () => {
    const { server, events, end } = await watchScript(
      (response) => {
        response.write(line('ADDED', pod('a', '5')))
        response.write(line('BOOKMARK', { metadata: { resourceVersion: '6' } }))
        const annotations = { 'k8s.io/initial-events-end': 'true' }
        response.write(line('BOOKMARK', { metadata: { resourceVersion: '7', annotations } }))
        response.end(line('DELETED', pod('a', '8')))
      },
      {
        namespace: 'ns',
        labelSelector: 'a=b',
        fieldSelector: 'spec.nodeName=n',
        resourceVersion: '4',
        allowBookmarks: true,
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        timeoutSeconds: 30,
      },
    )
    expect(server.requests.map(({ method, path, query }) => ({ method, path, query }))).toEqual([
      {
        method: 'GET',
        path: '/api/v1/namespaces/ns/pods',
        query: {
          watch: 'true',
          labelSelector: 'a=b',
          fieldSelector: 'spec.nodeName=n',
          resourceVersion: '4',
          allowWatchBookmarks: 'true',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          timeoutSeconds: '30',
        },
      },
    ])
    expect({ events, end }).toEqual({
      events: [
        added('a', '5'),
        { type: 'BOOKMARK', resourceVersion: '6' },
        { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
        { type: 'DELETED', object: pod('a', '8') },
      ],
      end: 'closed',
    })
  })

  it('a character cut in two by the network comes out whole', async () => {
    const bytes = Buffer.from(line('ADDED', pod('schlüssel-🔑', '5')))
    const { events } = await watchScript((response) => {
      // Each byte goes out in its own packet.
      const send = (at: number) => {
        if (at === bytes.length) response.end()
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(send, at + 1))
      }
      send(0)
    })
    expect(events).toEqual([added('schlüssel-🔑', '5')])
  })

  it('a line of some megabytes is one event', async () => {
    const annotations = { big: 'x'.repeat(5_000_000) }
    const object = { ...pod('a', '5'), metadata: { ...pod('a', '5').metadata, annotations } }
    const { events } = await watchScript((response) => response.end(line('ADDED', object)))
    expect(events).toEqual([{ type: 'ADDED', object }])
  })

  it('history that is gone is told as Expired, whether in an event or as the answer itself', async () => {
    const inEvent = await watchScript((response) => response.end(line('ADDED', pod('a', '5')) + line('ERROR', gone)))
    expect([inEvent.events, inEvent.end]).toEqual([[added('a', '5')], { reason: 'Expired', code: 410 }])

    const nameless = await watchScript((response) => response.end(line('ERROR', { code: 410 })))
    expect(nameless.end).toEqual({ reason: 'Expired', code: 410 })

    const { api } = await apiFor((_, response) => answerStatus(response, { code: 410, reason: 'Gone' }))
    expect(await collect(api.watch(pods))).toEqual({ events: [], end: { reason: 'Gone', code: 410 } })
  })

  it('an answer of 500 is thrown and not asked again: whoever watches knows when to', async () => {
    const { server, api } = await apiFor((_, response) =>
      answerStatus(response, { code: 500, reason: 'InternalError' }),
    )
    expect(await collect(api.watch(pods))).toEqual({ events: [], end: { reason: 'InternalError', code: 500 } })
    expect(server.requests).toHaveLength(1)
  })

  it('a reset in the middle of a line ends it as unreachable, after the events before', async () => {
    const { events, end } = await watchScript((response) => {
      response.write(`${line('ADDED', pod('a', '5'))}{"type":"ADD`, () =>
        setTimeout(() => response.socket?.resetAndDestroy(), 5),
      )
    })
    expect({ events, end }).toEqual({ events: [added('a', '5')], end: 'API_UNREACHABLE' })
  })

  it('a stream that ends properly in the middle of a line was cut off too', async () => {
    const { events, end } = await watchScript((response) => response.end(`${line('ADDED', pod('a', '5'))}{"type":"ADD`))
    expect({ events, end }).toEqual({ events: [added('a', '5')], end: 'API_UNREACHABLE' })
  })

  it('a last event without a line end counts', async () => {
    const { events, end } = await watchScript((response) => response.end(line('ADDED', pod('a', '5')).trimEnd()))
    expect({ events, end }).toEqual({ events: [added('a', '5')], end: 'closed' })
  })

  it('lines that are no events end it', async () => {
    for (const nonsense of ['hello\n', '{"type":"ADDED"}\n', '{"type":"NEWS","object":{}}\n', 'null\n']) {
      const { end } = await watchScript((response) => response.end(nonsense))
      expect(end).toBe('API_UNREACHABLE')
    }
  })

  it('a connection that died without a word is noticed by its silence', async () => {
    const clock = new VirtualClock()
    const { api } = await apiFor((_, response) => response.write(line('ADDED', pod('a', '5'))), { clock })
    const events = api.watch(pods, { allowBookmarks: true })[Symbol.asyncIterator]()
    expect(await events.next()).toEqual({ done: false, value: added('a', '5') })
    const ending = expect(events.next()).rejects.toMatchObject({
      code: 'API_UNREACHABLE',
      message: expect.stringMatching(/the watch sent nothing for 150 s$/) as string,
    })
    await clock.advance(150_000)
    await ending
  })

  it('a quiet collection without bookmarks is left alone until its time is over', async () => {
    const clock = new VirtualClock()
    const { api } = await apiFor((_, response) => response.write(line('ADDED', pod('a', '5'))), {
      clock,
      watchIdleMs: 1_000,
    })
    const events = api.watch(pods, { timeoutSeconds: 60 })[Symbol.asyncIterator]()
    await events.next()
    let isOver = false
    const ending = expect(
      events.next().finally(() => {
        isOver = true
      }),
    ).rejects.toMatchObject({ code: 'API_UNREACHABLE' })
    await clock.advance(89_000)
    expect(isOver).toBe(false)
    await clock.advance(1_000)
    await ending
  })

  it('a consumer that takes long is not mistaken for a dead server', async () => {
    const clock = new VirtualClock()
    const { api } = await apiFor(
      (_, response) => {
        for (const [at, name] of ['a', 'b', 'c'].entries()) response.write(line('ADDED', pod(name, String(at + 1))))
        response.end()
      },
      { clock },
    )
    const names: string[] = []
    for await (const event of api.watch(pods, { allowBookmarks: true })) {
      if (event.type !== 'BOOKMARK') names.push(event.object.metadata.name)
      await clock.advance(1_000_000)
    }
    expect(names).toEqual(['a', 'b', 'c'])
  })

  it('a server that never begins to answer is given up', async () => {
    const { api } = await apiFor(() => {}, { requestTimeoutMs: 20 })
    expect(await collect(api.watch(pods))).toEqual({ events: [], end: 'API_UNREACHABLE' })
  })

  it('ends quietly when the signal fires, before and after it began, and when the client is closed', async () => {
    const { server, api } = await apiFor((_, response) => response.write(line('ADDED', pod('a', '5'))))
    expect(await collect(api.watch(pods, { signal: AbortSignal.abort() }))).toEqual({ events: [], end: 'closed' })
    expect(server.requests).toHaveLength(0)

    const stop = new AbortController()
    const stopped: WatchEvent[] = []
    for await (const event of api.watch(pods, { signal: stop.signal })) {
      stopped.push(event)
      stop.abort()
    }
    expect(stopped).toEqual([added('a', '5')])

    const closed: WatchEvent[] = []
    for await (const event of api.watch(pods)) {
      closed.push(event)
      await api.close()
    }
    expect(closed).toEqual([added('a', '5')])
  })

  it('leaving the loop closes the stream on the server', async () => {
    let closed = () => {}
    const over = new Promise<void>((resolve) => {
      closed = resolve
    })
    const { api } = await apiFor((_, response) => {
      response.on('close', closed)
      response.write(line('ADDED', pod('a', '5')))
    })
    for await (const event of api.watch(pods)) {
      expect(event.type).toBe('ADDED')
      break
    }
    await over
  })
})
