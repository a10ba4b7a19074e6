import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HealthCheck } from '@cofferdam/kubernetes/runtime/health.ts'
import { Counter, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { startHealthServer } from './health-server.ts'

async function ask(checks: HealthCheck[], path: string, method = 'GET') {
  const registry = new Registry()
  new Counter({ name: 'cofferdam_story_total', help: 'A count.', registers: [registry] }).inc(3)
  const server = await startHealthServer({ host: '127.0.0.1', port: 0, checks, registry })
  try {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method })
    return { code: response.status, body: await response.text() }
  } finally {
    await server.close()
  }
}

const good: HealthCheck = { name: 'caches', kind: 'ready', check: () => ({ ok: true }) }
const bad: HealthCheck = { name: 'leader', kind: 'ready', check: () => ({ ok: false, why: 'no lease yet' }) }
const broken: HealthCheck = {
  name: 'queue',
  kind: 'alive',
  check: () => {
    throw new Error('no queue')
  },
}

describe('the health server', () => {
  it('is ready only when every check is, and names the one that is not', async () => {
    expect(await ask([good, bad], '/readyz')).toEqual({
      code: 503,
      body: '[+] caches ok\n[-] leader failed: no lease yet\nnot ok\n',
    })
    expect(await ask([good], '/readyz')).toEqual({ code: 200, body: '[+] caches ok\nok\n' })
  })

  it('counts a check that throws as failed, and does not ask readiness checks whether it is alive', async () => {
    expect(await ask([bad, broken], '/healthz')).toEqual({ code: 503, body: '[-] queue failed: no queue\nnot ok\n' })
  })

  it('serves metrics in the text format', async () => {
    expect((await ask([], '/metrics')).body).toContain('cofferdam_story_total 3')
  })

  it('refuses what it does not know with words', async () => {
    expect(await ask([], '/secrets')).toEqual({ code: 404, body: 'try /healthz, /readyz or /metrics\n' })
    expect((await ask([], '/metrics', 'POST')).code).toBe(405)
  })

  it('says which port is taken and how to choose another', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const options = { host: '127.0.0.1', port, checks: [], registry: new Registry() }
    await expect(startHealthServer(options)).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: `port ${port} on 127.0.0.1 is taken`,
      hint: 'Stop the other program, or choose another port with --health-port.',
    })
    other.close()
  })
})
