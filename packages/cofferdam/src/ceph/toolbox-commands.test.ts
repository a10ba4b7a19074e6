import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { ExecInPod } from './exec-in-pod.ts'
import { createToolboxCommands, type ToolboxOptions } from './toolbox-commands.ts'

const place = { namespace: 'rook-ceph', pod: 'rook-ceph-tools-1' }
const status = { prefix: 'status' }

function fixture(exec: ExecInPod, more: Partial<ToolboxOptions> = {}) {
  const clock = new VirtualClock()
  const commands = createToolboxCommands({ exec, findPod: () => Promise.resolve(place), clock, ...more })
  return { clock, commands }
}

/** A program that never ends by itself. */
const endless: ExecInPod = (_place, _argv, { signal }) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(new CofferdamError('API_UNREACHABLE', 'the caller gave up'))
    signal.addEventListener('abort', () => reject(new CofferdamError('API_UNREACHABLE', 'the caller gave up')))
  })

describe('the toolbox pod', () => {
  it('runs the command line with each word by itself', async () => {
    const runs: unknown[] = []
    const { commands } = fixture(
      (where, argv, { maxBytes }) => {
        runs.push({ where, argv, maxBytes })
        return Promise.resolve({ code: 0, out: '\n{}', err: '' })
      },
      { limits: { maxBytes: 1000 } },
    )
    expect(await commands.run({ prefix: 'pg dump', dumpcontents: ['pgs'] })).toEqual({ code: 0, out: '\n{}', err: '' })
    const argv = ['ceph', '--connect-timeout', '15', 'pg', 'dump', 'pgs', '--format', 'json']
    expect(runs).toEqual([{ where: place, argv, maxBytes: 1000 }])
  })

  it('passes on what Ceph refuses', async () => {
    const refusal = { code: 16, out: '{"ok_to_stop":false}', err: 'Error EBUSY: unsafe' }
    const { commands } = fixture(() => Promise.resolve(refusal))
    expect(await commands.run({ prefix: 'osd ok-to-stop', ids: ['0'] })).toEqual(refusal)
  })

  const failures: Record<string, { options: Partial<ToolboxOptions>; message: string }> = {
    'that is not there leaves Ceph without an answer': {
      options: { findPod: () => Promise.resolve(undefined) },
      message: 'ceph status: no toolbox pod is running',
    },
    'that we may not enter leaves Ceph without an answer': {
      options: { exec: () => Promise.reject(new ApiError('Forbidden', 'pods/exec is forbidden')) },
      message: 'ceph status: the toolbox pod cannot be used: pods/exec is forbidden',
    },
    'that Kubernetes does not reach leaves Ceph without an answer': {
      options: { exec: () => Promise.reject(new CofferdamError('API_UNREACHABLE', 'connection refused')) },
      message: 'ceph status: the toolbox pod cannot be used: connection refused',
    },
    'that has no connection itself leaves Ceph without an answer': {
      options: { exec: () => Promise.resolve({ code: 1, out: '', err: 'Error initializing cluster client' }) },
      message: 'ceph status: the command line ended with 1: Error initializing cluster client',
    },
  }
  it.each(Object.entries(failures))('%s', async (_, { options, message }) => {
    const { commands } = fixture(endless, options)
    await expect(commands.run(status)).rejects.toMatchObject({ code: 'CEPH_UNREACHABLE', message })
  })

  it('that takes too long is left', async () => {
    const { clock, commands } = fixture(endless)
    const run = expect(commands.run(status)).rejects.toThrow('ceph status: no answer within 15 s')
    await clock.advance(15_000)
    await run
  })

  it('is left when the caller gives up', async () => {
    const { clock, commands } = fixture(endless)
    const giving = new AbortController()
    const run = expect(commands.run(status, { signal: giving.signal })).rejects.toThrow('the caller gave up')
    giving.abort()
    await run
    await expect(commands.run(status, { signal: giving.signal })).rejects.toThrow('the caller gave up')
    expect(clock.nextAt()).toBeUndefined()
  })

  it('does not hide a bug', async () => {
    const bug = new TypeError('x is undefined')
    const { commands } = fixture(() => Promise.reject(bug))
    await expect(commands.run(status)).rejects.toBe(bug)
  })
})

describe('the cluster log over the toolbox pod', () => {
  const follow = (exec: ExecInPod) => {
    const heard: string[] = []
    const { commands } = fixture(exec)
    const { signal } = new AbortController()
    const end = commands.followLog?.({ onOpen: () => heard.push('open'), onLine: (line) => heard.push(line), signal })
    return { heard, end }
  }

  it('is what ceph prints, line by line, by a program with an end of its own: one whose stream was cut would run for ever', async () => {
    const runs: unknown[] = []
    const { heard, end } = follow((_, argv, { onOut }) => {
      runs.push(argv.slice(0, 3))
      for (const text of ['cluster:\nosd.1 fai', 'led\n']) onOut?.(Buffer.from(text))
      return Promise.resolve({ code: 124, out: '', err: '' })
    })
    await end
    expect([runs, heard]).toEqual([[['timeout', '3600', 'ceph']], ['open', 'cluster:', 'osd.1 failed']])
  })

  it('that ends in any other way has broken off', async () => {
    const { heard, end } = follow(() => Promise.resolve({ code: 127, out: '', err: 'timeout: not found' }))
    await expect(end).rejects.toThrow('ceph ended with 127 timeout: not found')
    expect(heard).toEqual([])
  })
})
