import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PageActions } from './action-desk.ts'
import type { RunningDashboard } from './dashboard-server.ts'
import { startDashboard } from './start-dashboard.ts'

const token = 'a-token-of-this-start'
const performed: string[] = []
const actions: PageActions = {
  token,
  offer: async (object) => [{ id: 'cordon', label: 'Cordon', commands: [`kubectl cordon ${object.slice(5)}`] }],
  async perform({ object, action }) {
    if (action !== 'cordon') throw new Error(`${action} is not\n possible`)
    performed.push(`${action} ${object}`)
  },
}

let pageDirectory: string
let demo: RunningDashboard
let readOnly: RunningDashboard
beforeAll(async () => {
  pageDirectory = mkdtempSync(join(tmpdir(), 'cofferdam-desk-'))
  for (const file of ['index.html', 'page.js', 'page.css', 'favicon.svg']) writeFileSync(join(pageDirectory, file), '')
  const api = new ApiServer({ clock: realClock, random: seededRandom(1) }).as(clusterAdmin)
  const options = {
    api,
    clock: realClock,
    random: seededRandom(1),
    port: 0,
    pageDirectory,
    shown: [],
    rehearse: async () => new Map(),
    explain: async () => ({ code: 0, text: '' }),
  }
  demo = await startDashboard({ ...options, actions })
  readOnly = await startDashboard(options)
})
afterAll(async () => {
  await demo.close()
  await readOnly.close()
  rmSync(pageDirectory, { recursive: true })
})
beforeEach(() => {
  performed.length = 0
})

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
}

/** `fetch` sets Origin and Host itself; only a plain request can lie about them. */
function send(page: RunningDashboard, path: string, { method = 'GET', headers = {}, body = '' }: Sent = {}) {
  return new Promise<{ code: number | undefined; says: string }>((resolve, reject) => {
    const given = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    const asked = request(new URL(path, page.url), { method, headers: Object.fromEntries(given) })
    asked.on('response', (response) => {
      let says = ''
      response.on('data', (chunk) => (says += chunk))
      response.on('end', () => resolve({ code: response.statusCode, says }))
    })
    asked.on('error', reject).end(body)
  })
}

const cordon = JSON.stringify({ object: 'node/n1', action: 'cordon' })
const honest = (page: RunningDashboard) => ({
  origin: page.url,
  'content-type': 'application/json',
  'x-cofferdam-token': token,
})

describe('the actions of a demo', () => {
  it('are offered with the command that each of them runs', async () => {
    const { code, says } = await send(demo, '/api/actions?object=node/n1')
    expect(code).toBe(200)
    expect(JSON.parse(says)).toEqual({
      actions: [{ id: 'cordon', label: 'Cordon', commands: ['kubectl cordon n1'] }],
    })
    expect(performed).toEqual([])
  })

  it('are performed for the page itself', async () => {
    expect(await send(demo, '/api/actions', { method: 'POST', headers: honest(demo), body: cordon })).toEqual({
      code: 200,
      says: '{}',
    })
    expect(performed).toEqual(['cordon node/n1'])
  })

  it('that fail say why in one line', async () => {
    const body = JSON.stringify({ object: 'node/n1', action: 'explode' })
    expect(await send(demo, '/api/actions', { method: 'POST', headers: honest(demo), body })).toEqual({
      code: 409,
      says: '{"error":"explode is not possible"}',
    })
  })

  const refused: Record<string, { headers?: Sent['headers']; method?: string; body?: string; code: number }> = {
    'a site that the browser has open beside it cannot drain a node': {
      headers: { origin: 'http://evil.example' },
      code: 403,
    },
    'nor can a page of another port of this machine': { headers: { origin: 'http://127.0.0.1:1' }, code: 403 },
    'nor can one without an Origin': { headers: { origin: undefined }, code: 403 },
    'nor can a frame, whose Origin is null': { headers: { origin: 'null' }, code: 403 },
    'nor can one that the browser itself calls foreign': { headers: { 'sec-fetch-site': 'cross-site' }, code: 403 },
    'nor can a name that was pointed at this machine': { headers: { host: 'evil.example' }, code: 403 },
    'a form is refused: it needs no leave of the browser to be sent': {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      code: 403,
    },
    'a page of an earlier start is refused: its token is another one': {
      headers: { 'x-cofferdam-token': 'another-token-of-old1' },
      code: 403,
    },
    'without a token nothing happens': { headers: { 'x-cofferdam-token': undefined }, code: 403 },
    'a body that is no JSON is refused': { body: 'cordon', code: 400 },
    'a body without an action is refused': { body: '{"object":"node/n1"}', code: 400 },
    'an object that is no name is refused': { body: '{"object":"../etc","action":"cordon"}', code: 400 },
    'a body of megabytes is not read to its end': { body: 'x'.repeat(100_000), code: 400 },
    'DELETE does nothing': { method: 'DELETE', body: '', code: 405 },
  }
  it.each(Object.entries(refused))('%s', async (_sentence, { headers, method = 'POST', body = cordon, code }) => {
    const sent = { method, headers: { ...honest(demo), ...headers }, body }
    expect((await send(demo, '/api/actions', sent)).code).toBe(code)
    expect(performed).toEqual([])
  })
})

describe('a page that is no demo', () => {
  it('has no such route at all', async () => {
    expect((await send(readOnly, '/api/actions?object=node/n1')).code).toBe(404)
    expect((await send(readOnly, '/api/plan')).code).toBe(404)
    const sent = { method: 'POST', headers: honest(readOnly), body: cordon }
    expect(await send(readOnly, '/api/actions', sent)).toEqual({
      code: 405,
      says: 'this page is read-only: it accepts GET and HEAD\n',
    })
    expect(performed).toEqual([])
  })
})
