import { writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { realClock } from '../runtime/real-clock.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { createPodExec } from './exec-in-pod.ts'
import { type ExecStream, startExecServer } from './testing/exec-server.ts'
import { scratchFolder } from './testing/scratch-folder.ts'

const place = { namespace: 'rook-ceph', pod: 'rook-ceph-tools-1', container: 'tools' }
const success = JSON.stringify({ metadata: {}, status: 'Success' })

function execOn(connection: ClusterConnection) {
  const pod = createPodExec({ connection, clock: realClock })
  onTestFinished(() => pod.close())
  return (argv: readonly string[], limits: { signal?: AbortSignal; maxBytes?: number } = {}) =>
    pod.exec(place, argv, { signal: new AbortController().signal, maxBytes: 1_000_000, ...limits })
}

async function execAgainst(speak: (stream: ExecStream) => void, more: Partial<ClusterConnection> = {}) {
  const server = await startExecServer(speak)
  return execOn(server.connection(more))
}

describe('a program in a pod', () => {
  it('is asked for word by word, with the token, and what it prints comes back by channel', async () => {
    let seen: { path: string; query: readonly [string, string][]; authorization: string | undefined } | undefined
    const exec = await execAgainst(
      ({ request, url, send, close }) => {
        const { authorization } = request.headers
        seen = { path: url.pathname, query: [...url.searchParams], authorization }
        send(1, '{"epoch"')
        send(2, 'dumped all\n')
        send(1, `:${'7'.repeat(300)}}`)
        send(3, success)
        close()
      },
      { authentication: { kind: 'token', token: 'secret', origin: 'a test' } },
    )
    expect(await exec(['ceph', 'osd', 'dump', '; rm -rf &'])).toEqual({
      code: 0,
      out: `{"epoch":${'7'.repeat(300)}}`,
      err: 'dumped all\n',
    })
    expect(seen).toEqual({
      path: '/api/v1/namespaces/rook-ceph/pods/rook-ceph-tools-1/exec',
      query: [
        ['command', 'ceph'],
        ['command', 'osd'],
        ['command', 'dump'],
        ['command', '; rm -rf &'],
        ['container', 'tools'],
        ['stdout', 'true'],
        ['stderr', 'true'],
      ],
      authorization: 'Bearer secret',
    })
  })

  it('that fails brings its exit code and what it printed all the same', async () => {
    const exec = await execAgainst(({ send, close }) => {
      send(1, '{"ok_to_stop":false}')
      send(2, 'Error EBUSY: unsafe')
      const causes = [{ reason: 'ExitCode', message: '16' }]
      send(3, JSON.stringify({ status: 'Failure', reason: 'NonZeroExitCode', details: { causes } }))
      close()
    })
    expect(await exec(['ceph'])).toEqual({ code: 16, out: '{"ok_to_stop":false}', err: 'Error EBUSY: unsafe' })
  })

  it('that could not be started is told as the server tells it', async () => {
    const exec = await execAgainst(({ send, close }) => {
      send(3, JSON.stringify({ status: 'Failure', reason: 'InternalError', message: 'no such container', code: 500 }))
      close()
    })
    await expect(exec(['ceph'])).rejects.toMatchObject({ name: 'ApiError', code: 500, message: 'no such container' })
  })

  it('whose stream breaks has no answer, however much it printed', async () => {
    const exec = await execAgainst(({ send, drop }) => {
      send(1, '{"ok_to_stop":true}')
      setImmediate(drop)
    })
    await expect(exec(['ceph'])).rejects.toMatchObject({
      code: 'API_UNREACHABLE',
      message: expect.stringContaining('the stream ended before the program did'),
    })
  })

  it('that prints too much is let go', async () => {
    const exec = await execAgainst(({ send }) => send(1, 'x'.repeat(2000)))
    await expect(exec(['ceph'], { maxBytes: 1000 })).rejects.toMatchObject({
      code: 'API_UNREACHABLE',
      message: expect.stringContaining('larger than 1000 bytes'),
    })
  })

  it('is let go when the caller gives up, before and after it began', async () => {
    const giving = new AbortController()
    const exec = await execAgainst(() => giving.abort())
    const gaveUp = { code: 'API_UNREACHABLE', message: expect.stringContaining('the caller gave up') }
    await expect(exec(['ceph'], { signal: giving.signal })).rejects.toMatchObject(gaveUp)
    await expect(exec(['ceph'], { signal: AbortSignal.abort() })).rejects.toMatchObject(gaveUp)
  })
})

describe('a handshake that is refused', () => {
  it('says which right may be missing', async () => {
    const server = await startExecServer(() => {}, { admits: () => false })
    await expect(execOn(server.connection())(['ceph'])).rejects.toMatchObject({
      code: 'API_UNREACHABLE',
      hint: expect.stringContaining('pods/exec'),
    })
  })

  it('is tried once more when the token in the file is another by now', async () => {
    const folder = await scratchFolder({ token: 'old' })
    const tokens: (string | undefined)[] = []
    const server = await startExecServer(
      ({ send, close }) => {
        send(3, success)
        close()
      },
      {
        admits({ headers }) {
          tokens.push(headers.authorization)
          writeFileSync(`${folder}/token`, 'new-one')
          return headers.authorization === 'Bearer new-one'
        },
      },
    )
    const authentication = { kind: 'token', tokenFile: `${folder}/token`, origin: 'a test' } as const
    expect(await execOn(server.connection({ authentication }))(['true'])).toEqual({ code: 0, out: '', err: '' })
    expect(tokens).toEqual(['Bearer old', 'Bearer new-one'])
  })

  it('never happens for somebody who must act as another: that cannot be said here', async () => {
    const impersonation = { user: 'ann', groups: [], extra: {} }
    const server = await startExecServer(() => {})
    const connection = server.connection({ impersonation })
    expect(() => createPodExec({ connection, clock: realClock })).toThrow('cannot act as another user')
  })
})
