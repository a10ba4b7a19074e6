import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from '../program.ts'
import { createTerminal } from '../terminal.ts'
import { inProcess } from '../testing/run-command.ts'
import { createDashboardCommand } from './dashboard.ts'

let pageDirectory: string
beforeAll(() => {
  pageDirectory = mkdtempSync(join(tmpdir(), 'cofferdam-page-'))
  for (const file of ['index.html', 'page.js', 'page.css', 'favicon.svg'])
    writeFileSync(join(pageDirectory, file), file)
})
afterAll(() => rmSync(pageDirectory, { recursive: true }))

const api = () => new ApiServer({ clock: realClock, random: seededRandom(1) }).as(clusterAdmin)

/** Runs the command until the page is up, then does something with its address, then ends it as Ctrl-C does. */
async function whileItRuns(cluster: ReturnType<typeof api>, use: (url: string) => Promise<void>) {
  const { connect, links } = inProcess(cluster)
  const ending = new AbortController()
  let err = ''
  let printed = (_text: string) => {}
  const up = new Promise<string>((resolve) => (printed = resolve))
  const terminal = createTerminal({
    stdout: { write: (text) => printed(text) },
    stderr: { write: (text) => (err += text) },
    environment: {},
  })
  const commands = [createDashboardCommand({ connect, clock: realClock, random: seededRandom(1), pageDirectory })]
  const argv = ['dashboard', '--port', '0']
  const ended = runProgram({ argv, commands, version: '', terminal, signal: ending.signal, debug: false })
  const text = await Promise.race([up, ended.then(() => '')])
  const url = /http:\S+\d/.exec(text)?.[0]
  if (url !== undefined) await use(url)
  ending.abort()
  return { code: await ended, err, links }
}

describe('cofferdam dashboard', () => {
  it('serves the page of the cluster on this machine until Ctrl-C, and leaves no connection open', async () => {
    const cluster = api()
    await cluster.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
    const { code, links } = await whileItRuns(cluster, async (url) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect(await (await fetch(url)).text()).toBe('index.html')
      const answer = await (await fetch(new URL('/api/explain?object=node/n1', url))).json()
      expect(answer).toMatchObject({ code: 0, text: expect.stringContaining('It holds nothing to evict.') })
      expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    })
    expect({ code, links }).toEqual({ code: 0, links: { opened: 1, closed: 1 } })
  })

  it('is an error where the server does not answer, and no page of an empty cluster', async () => {
    const cluster = api()
    cluster.list = () => Promise.reject(new CofferdamError('API_UNREACHABLE', 'no answer from https://10.0.0.1'))
    const { code, err, links } = await whileItRuns(cluster, async () => expect.unreachable())
    expect({ code, links }).toEqual({ code: 1, links: { opened: 1, closed: 1 } })
    expect(err).toContain('no answer from https://10.0.0.1')
  })
})
