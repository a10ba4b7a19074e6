import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from '../program.ts'
import { createTerminal } from '../terminal.ts'
import { createDemoCommand } from './demo.ts'
import type { DemoReport } from './demo-text.ts'

const small = `
pace: { readyAfterSeconds: 0, terminationSeconds: 0 }
zones: [{ name: a }, { name: b }]
nodes: [{ name: "worker-{zone}", roles: [worker] }]
apps:
  - { name: web, namespace: shop, replicas: 2, spread: zone, pdb: { maxUnavailable: 1 } }
  - { name: agent, namespace: shop, kind: DaemonSet }
`

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cofferdam-demo-'))
  writeFileSync(join(home, 'small.yaml'), small)
  for (const file of ['index.html', 'page.js', 'page.css', 'favicon.svg']) writeFileSync(join(home, file), file)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Runs `cofferdam demo …`; `printed` resolves with the first thing it prints, `ended` when it is over. */
function runDemo(...argv: string[]) {
  const ending = new AbortController()
  const written = { out: '', err: '' }
  let isPrinted = (_text: string) => {}
  const printed = new Promise<string>((resolve) => {
    isPrinted = resolve
  })
  const terminal = createTerminal({
    stdout: {
      write(text) {
        written.out += text
        isPrinted(text)
      },
    },
    stderr: { write: (text) => (written.err += text) },
    environment: {},
  })
  const command = createDemoCommand({ pageDirectory: home, defaultClusterFile: join(home, 'small.yaml') })
  const ended = runProgram({
    argv: ['demo', '--kubeconfig-out', kubeconfig(), ...argv],
    commands: [command],
    version: '0.0.0',
    terminal,
    signal: ending.signal,
    debug: false,
  })
  return { printed, ended, written, end: () => ending.abort() }
}

const kubeconfig = () => join(home, '.cofferdam', 'kubeconfig')
const anyPorts = ['--port', '0', '--kube-port', '0', '--metrics-port', '0']

function get(url: string): Promise<{ code: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false }, (response) => {
      let body = ''
      response.on('data', (chunk) => (body += chunk))
      response.on('end', () => resolve({ code: response.statusCode, body }))
    })
    asked.on('error', reject).end()
  })
}

/** Servers and timers that would keep the process alive. */
function openHandles(): { servers: number; timers: number } {
  const kinds = process.getActiveResourcesInfo()
  const count = (kind: string) => kinds.filter((each) => each === kind).length
  return { servers: count('TCPServerWrap'), timers: count('Timeout') }
}

describe('the demo', () => {
  it('serves a cluster and its page, then ends and leaves nothing behind', async () => {
    const before = openHandles()
    const demo = runDemo(...anyPorts, '--seed', '7', '-o', 'json')
    const report = JSON.parse(await demo.printed) as DemoReport
    expect(report).toEqual({
      cluster: 'demo',
      nodes: 2,
      zones: 2,
      pods: 4,
      dashboard: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      kubernetes: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/),
      kubeconfig: kubeconfig(),
      seed: 7,
      notReady: [],
      tryThis: expect.any(Array),
    })
    expect(existsSync(kubeconfig())).toBe(true)
    const { kubernetes, dashboard, metrics } = report as Required<DemoReport>
    expect((await get(metrics)).body).toMatch(/^cofferdam_build_info\{.*\} 1$/m)
    expect(await get(`${kubernetes}/readyz`)).toEqual({ code: 200, body: 'ok' })
    expect(await get(`${dashboard}/readyz`)).toEqual({ code: 200, body: 'ok\n' })
    expect(await get(dashboard)).toEqual({ code: 200, body: 'index.html' })
    const names = JSON.parse((await get(`${kubernetes}/api/v1/nodes`)).body).items.map(
      (node: { metadata: { name: string } }) => node.metadata.name,
    )
    expect(names).toEqual(['worker-a', 'worker-b'])

    demo.end()
    expect(await demo.ended).toBe(0)
    const after = openHandles()
    expect(after.servers).toBe(before.servers)
    expect(after.timers).toBeLessThanOrEqual(before.timers)
    expect(demo.written.err).toBe('Stopped.\n')
    expect(existsSync(join(home, '.cofferdam'))).toBe(false)
    await expect(get(kubernetes)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await expect(get(dashboard)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await expect(get(metrics)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('without a page tells people where things are and what to try', async () => {
    const demo = runDemo(...anyPorts, '--headless')
    const text = await demo.printed
    demo.end()
    expect(await demo.ended).toBe(0)
    expect(text).toMatch(/^Ready: cluster demo, 2 nodes in 2 zones, 4 pods\.\n\n {2}Kubernetes {2}http:/)
    expect(text).toContain(`\n  export KUBECONFIG=${kubeconfig()}\n`)
    expect(text).toContain('kubectl drain worker-a --ignore-daemonsets')
    expect(text).not.toContain('Dashboard')
  })

  it('that is ended before it is ready ends as cleanly', async () => {
    const demo = runDemo(...anyPorts)
    demo.end()
    expect(await demo.ended).toBe(0)
    expect(demo.written.out).toBe('')
    expect(existsSync(join(home, '.cofferdam'))).toBe(false)
  })
})

describe('a demo that cannot start says why, and leaves nothing behind', () => {
  it('a taken port, with the flag that chooses another', async () => {
    const first = runDemo(...anyPorts, '-o', 'json')
    const { kubernetes, dashboard } = JSON.parse(await first.printed) as Required<DemoReport>
    const elsewhere = ['--kubeconfig-out', join(home, 'other/kubeconfig')]
    const [kubePort, port] = [new URL(kubernetes).port, new URL(dashboard).port]
    const second = runDemo('--port', '0', '--kube-port', kubePort, ...elsewhere)
    expect(await second.ended).toBe(1)
    expect(second.written.err).toContain(`port ${kubePort} on 127.0.0.1 is taken by another program`)
    expect(second.written.err).toContain('--kube-port')
    const third = runDemo('--kube-port', '0', '--port', port, ...elsewhere)
    expect(await third.ended).toBe(1)
    expect(third.written.err).toContain(`port ${port} on 127.0.0.1 is taken by another program`)
    expect(third.written.err).toContain('with --port')
    expect(existsSync(join(home, 'other'))).toBe(false)
    first.end()
    expect(await first.ended).toBe(0)
  })

  it('a kubeconfig of a demo that still runs, which stays in reach', async () => {
    const first = runDemo(...anyPorts, '-o', 'json')
    const { kubernetes } = JSON.parse(await first.printed) as DemoReport
    const second = runDemo(...anyPorts)
    expect(await second.ended).toBe(2)
    const secure = kubernetes.replace(/^http:/, 'https:')
    expect(second.written.err).toContain(`belongs to another demo, which runs at ${secure}; it stays as it is`)
    expect(readFileSync(kubeconfig(), 'utf8')).toContain(secure)
    first.end()
    expect(await first.ended).toBe(0)
  })

  it('a cluster file with problems, all of them', async () => {
    writeFileSync(join(home, 'bad.yaml'), 'zones: []\nnodez: 1')
    const demo = runDemo(...anyPorts, '--cluster', join(home, 'bad.yaml'))
    expect(await demo.ended).toBe(1)
    expect(demo.written.err).toContain('bad.yaml has 3 problems:\n')
    expect(demo.written.err).toContain('nodez: unknown field; did you mean "nodes"?')
  })

  const wrong: Record<string, { given: string[]; says: string }> = {
    'an unknown scenario, naming the known ones': {
      given: ['--scenario', 'flood'],
      says: "argument 'flood' is invalid. Allowed choices are default.",
    },
    'a tour of a cluster of your own, whose names it does not know': {
      given: ['--tour', '--cluster', 'mine.yaml'],
      says: 'the tour is for the default cluster: --tour and --cluster exclude each other',
    },
    'a port that is none': { given: ['--port', 'http'], says: 'a port is a whole number from 0 to 65535.' },
    'a port out of range': { given: ['--kube-port', '70000'], says: 'a port is a whole number from 0 to 65535.' },
    'a seed that is none': { given: ['--seed', '-1'], says: 'a seed is a whole number from 0 to 4294967295.' },
  }
  it.each(Object.entries(wrong))('%s', async (_name, { given, says }) => {
    const demo = runDemo(...given)
    expect(await demo.ended).toBe(2)
    expect(demo.written.err).toContain(says)
  })
})
