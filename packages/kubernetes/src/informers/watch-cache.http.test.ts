import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pods } from '../api/resources.ts'
import { createHttpKubeApi } from '../client/http-kube-api.ts'
import { answerJson, answerStatus, type Script, startScriptedServer } from '../client/testing/scripted-server.ts'
import type { Clock } from '../runtime/clock.ts'
import { seededRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import { createWatchCache } from './watch-cache.ts'

/** Ten times faster than the wall: short stories, and still patience for a busy machine. */
const hurriedClock: Clock = {
  now: () => realClock.now() * 10,
  after: (delayMs, callback) => realClock.after(delayMs / 10, callback),
}

const pod = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name, uid: `uid-${name}`, resourceVersion },
})
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
const initialEnd = (resourceVersion: string) =>
  line('BOOKMARK', { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } })
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }

/** What the server does with the watches that come after the first list, one after the other; then it is good. */
type Mischief = (response: ServerResponse) => void

const mischief: Record<string, { readonly acts: readonly Mischief[]; readonly relists: boolean }> = {
  'the server closes the stream: it is resumed': { acts: [(response) => response.end()], relists: false },
  '410 in an event: a new list': { acts: [(response) => response.end(line('ERROR', gone))], relists: true },
  '410 as the answer: a new list': {
    acts: [(response) => answerStatus(response, { code: 410, reason: 'Gone' })],
    relists: true,
  },
  'watches answer 500 and 503: resumed after a pause': {
    acts: [
      (response) => answerStatus(response, { code: 500, reason: 'InternalError' }),
      (response) => answerStatus(response, { code: 503, reason: 'ServiceUnavailable' }),
    ],
    relists: false,
  },
  'a reset in the middle of a line: resumed': {
    acts: [
      (response) => {
        const half = line('MODIFIED', pod('a', '6')).slice(0, 30)
        response.write(half, () => setTimeout(() => response.socket?.resetAndDestroy(), 2))
      },
    ],
    relists: false,
  },
  'flow control turns the watch away: resumed': {
    acts: [
      (response) => {
        response.setHeader('retry-after', '1')
        response.writeHead(429).end('Too many requests, please try again later.')
      },
    ],
    relists: false,
  },
  'the connection dies without a word: resumed': {
    acts: [(response) => response.writeHead(200).flushHeaders()],
    relists: false,
  },
  'nonsense on the line: resumed': { acts: [(response) => response.end('<html>\n')], relists: false },
}

describe('a cache over HTTP', () => {
  for (const [scenario, { acts, relists }] of Object.entries(mischief)) {
    it(scenario, async () => {
      const left = [...acts]
      let version = 5
      const script: Script = ({ query }, response) => {
        if (query['watch'] === undefined && query['limit'] === '1') {
          answerJson(response, { kind: 'PodList', metadata: { resourceVersion: String(version) }, items: [] })
          return
        }
        if (query['watch'] === undefined) {
          answerStatus(response, { code: 404, reason: 'NotFound', message: 'nobody should list in pages here' })
          return
        }
        if (query['sendInitialEvents'] === 'true') {
          response.write(line('ADDED', pod('a', String(version))) + initialEnd(String(version)))
          if (version === 5) response.end()
          version = 7
          return
        }
        const act = left.shift()
        if (act !== undefined) act(response)
        else response.write(line('MODIFIED', pod('a', '7')))
      }
      const server = await startScriptedServer(script)
      const api = createHttpKubeApi({
        config: server.connection(),
        clock: hurriedClock,
        random: seededRandom(1),
        watchIdleMs: 5_000,
      })
      const cache = createWatchCache({ api, type: pods, clock: hurriedClock, random: seededRandom(1) })
      onTestFinished(async () => {
        await cache.stop()
        await api.close()
      })
      await cache.whenSeen('7')
      expect(cache.list()).toEqual([pod('a', '7')])
      const lists = server.requests.filter(({ query }) => query['sendInitialEvents'] === 'true')
      expect([left.length, lists.length]).toEqual([0, relists ? 2 : 1])
      const resumed = server.requests.filter(({ query }) => query['resourceVersion'] !== undefined)
      expect(new Set(resumed.map(({ query }) => query['resourceVersion']))).toEqual(new Set(['5']))
    })
  }

  it('a server of old days: the first list fails, streaming is refused, items lack their kind', async () => {
    let lists = 0
    const server = await startScriptedServer(({ query }, response) => {
      if (query['sendInitialEvents'] !== undefined) {
        answerStatus(response, { code: 422, reason: 'Invalid', message: 'sendInitialEvents: Forbidden' })
      } else if (query['watch'] !== undefined) {
        response.write(line('DELETED', pod('b', '9')))
      } else {
        lists += 1
        if (lists <= 5) answerStatus(response, { code: 500, reason: 'InternalError' })
        else {
          const { metadata } = pod(query['continue'] === undefined ? 'a' : 'b', '3')
          const more = query['continue'] === undefined ? { continue: 'next' } : {}
          answerJson(response, { metadata: { resourceVersion: '8', ...more }, items: [{ metadata }] })
        }
      }
    })
    const api = createHttpKubeApi({ config: server.connection(), clock: hurriedClock, random: seededRandom(1) })
    const cache = createWatchCache({ api, type: pods, clock: hurriedClock, random: seededRandom(1), pageSize: 1 })
    onTestFinished(async () => {
      await cache.stop()
      await api.close()
    })
    await cache.whenSynced()
    await cache.whenSeen('9')
    expect(cache.list()).toEqual([pod('a', '3')])
  })
})
