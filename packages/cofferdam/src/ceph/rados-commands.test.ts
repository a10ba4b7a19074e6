import { fileURLToPath } from 'node:url'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRadosCommands, type RadosOptions } from './rados-commands.ts'

const fake = fileURLToPath(new URL('./testing/fake-rados.mjs', import.meta.url))

/** Commands through a child of Node that stands in for Python, on a clock that stands still. */
function fixture(more: Partial<RadosOptions> = {}) {
  const clock = new VirtualClock()
  const commands = createRadosCommands({
    clock,
    random: seededRandom(1),
    environment: process.env,
    interpreter: process.execPath,
    program: fake,
    ...more,
  })
  onTestFinished(() => commands.close())
  const out = async (prefix: string) => (await commands.run({ prefix })).out
  return { clock, commands, out }
}

const least: Random = { next: () => 0, stream: () => least }

function silence(message: string) {
  return { code: 'CEPH_UNREACHABLE', message: expect.stringContaining(message) }
}

describe('one lasting connection', () => {
  it('takes all commands through the same child, in JSON unless told otherwise', async () => {
    const { commands, out } = fixture()
    const pids = [await out('pid'), await out('pid')]
    expect(new Set(pids).size).toBe(1)
    expect(await commands.run({ prefix: 'echo', who: ['a b'], max: 3 })).toEqual({
      code: 0,
      out: '{"format":"json","prefix":"echo","who":["a b"],"max":3}',
      err: '',
    })
    expect(JSON.parse((await commands.run({ prefix: 'echo', format: 'plain' })).out)).toEqual({
      prefix: 'echo',
      format: 'plain',
    })
  })

  it('is told where and as whom to connect, and to give up a second before we do', async () => {
    const access = { conf: '/c', name: 'client.x', keyring: '/k', keyFile: '/f', monHost: '10.0.0.1:3300' }
    const { out } = fixture({ access, limits: { timeoutMs: 8000 } })
    const settings = [
      'mon_host=10.0.0.1:3300',
      'keyring=/k',
      'keyfile=/f',
      'client_mount_timeout=7',
      'rados_mon_op_timeout=7',
    ].flatMap((setting) => ['--set', setting])
    expect(JSON.parse(await out('argv'))).toEqual(['--conf', '/c', '--name', 'client.x', ...settings])
  })

  it('gives each caller its own answer, whichever comes first', async () => {
    const { out } = fixture()
    const first = out('hold')
    const second = out('release')
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
  })

  it('passes on what Ceph refuses, with its JSON', async () => {
    const { commands } = fixture()
    expect(await commands.run({ prefix: 'busy' })).toEqual({
      code: 16,
      out: '{"ok_to_stop":false}',
      err: 'unsafe to stop',
    })
  })

  it('puts answers together that come in pieces, and ignores those that nobody waits for', async () => {
    const { out } = fixture()
    expect(await out('pieces')).toBe('größer')
    expect(await out('stray')).toBe('mine')
  })

  it('gives a large answer as bytes too, and takes the next command all the same', async () => {
    const { commands, out } = fixture()
    const { bytes = [], ...answer } = await commands.run({ prefix: 'large' })
    expect(answer).toEqual({ code: 0, out: 'größer '.repeat(100_000), err: '' })
    expect(Buffer.concat(bytes).toString('utf8')).toBe(answer.out)
    expect(await out('pieces')).toBe('größer')
  })
})

describe('no answer of Ceph', () => {
  it('within the time is an error, and the connection is kept when it answers others', async () => {
    const { clock, out } = fixture()
    const pid = await out('pid')
    const slow = expect(out('silent')).rejects.toMatchObject(silence('ceph silent: no answer within 15 s'))
    await out('pid')
    await clock.advance(15_000)
    await slow
    expect(await out('pid')).toBe(pid)
  })

  it('at all means that the connection is stuck: it is ended and made anew', async () => {
    const { clock, out } = fixture()
    const pid = await out('pid')
    const slow = expect(out('silent')).rejects.toMatchObject(silence('no answer within 15 s'))
    await clock.advance(15_000)
    await slow
    await expect(out('pid')).rejects.toMatchObject(silence('the connection to Ceph is stuck'))
    await clock.advance(1_000)
    expect(await out('pid')).not.toBe(pid)
  })

  it('to a question with a short time of its own does not end the connection', async () => {
    const { clock, commands, out } = fixture()
    const pid = await out('pid')
    const run = commands.run({ prefix: 'silent' }, { timeoutMs: 50 })
    const slow = expect(run).rejects.toMatchObject(silence('no answer within 0.05 s'))
    await clock.advance(50)
    await slow
    expect(await out('pid')).toBe(pid)
  })

  it('before it was ready is an error too', async () => {
    const { clock, out } = fixture({ access: { conf: 'never-ready' } })
    const run = expect(out('pid')).rejects.toMatchObject(silence('no answer within 15 s'))
    await clock.advance(15_000)
    await run
  })

  const cases: Record<string, string> = {
    timeout: 'the client gave up (errno 110) timed out',
    problem: 'the client failed: "ObjectNotFound: gone"',
    tooLarge: 'the answer is too large (5000000 bytes)',
  }
  it.each(Object.entries(cases))('%s is an error, and the connection stays', async (prefix, message) => {
    const { out } = fixture()
    const pid = await out('pid')
    await expect(out(prefix)).rejects.toMatchObject(silence(message))
    expect(await out('pid')).toBe(pid)
  })

  it('is wanted when the caller gives up', async () => {
    const { commands, out } = fixture()
    await out('pid')
    const giving = new AbortController()
    const run = commands.run({ prefix: 'silent' }, { signal: giving.signal })
    giving.abort()
    await expect(run).rejects.toMatchObject(silence('the caller gave up'))
    const signal = AbortSignal.abort()
    await expect(commands.run({ prefix: 'pid' }, { signal })).rejects.toMatchObject(silence('the caller gave up'))
  })
})

describe('a connection that ends', () => {
  const endings: Record<string, string> = {
    crash: 'the connection to Ceph ended with 9: Fatal Python error: Segmentation fault',
    garbage: 'the connection to Ceph cannot be understood: it wrote a line that is not JSON',
    announce: 'the connection to Ceph cannot be understood: it announced an answer of 999999999 bytes',
  }
  it.each(Object.entries(endings))('by %s rejects all that wait, rests, and is made anew', async (prefix, message) => {
    const { clock, out } = fixture()
    const pid = await out('pid')
    const other = expect(out('silent')).rejects.toMatchObject(silence(message))
    await expect(out(prefix)).rejects.toMatchObject(silence(message))
    await other
    await expect(out('pid')).rejects.toMatchObject(silence(message))
    await clock.advance(500)
    expect(await out('pid')).not.toBe(pid)
  })

  it('again and again rests longer each time, and does not even try before', async () => {
    const { clock, out } = fixture({ access: { conf: 'no-connection' }, random: least })
    const whoFailed = () => out('pid').then(String, (error: Error) => error.message)
    for (const restMs of [250, 500, 1000, 2000]) {
      const failed = await whoFailed()
      expect(failed).toMatch(/^ceph pid: no connection: "TimedOut in child \d+"$/)
      await clock.advance(restMs - 1)
      expect(await whoFailed()).toBe(failed)
      await clock.advance(1)
    }
  })

  it('is tried again when the clock was turned back: else Ceph would not be asked until it has caught up', async () => {
    const clock = new VirtualClock()
    const skew = { ms: 86_400_000 }
    const skewed = { now: () => clock.now() + skew.ms, after: clock.after.bind(clock) }
    const { out } = fixture({ clock: skewed, access: { conf: 'no-connection' }, random: least })
    const whoFailed = () => out('pid').then(String, (error: Error) => error.message)
    const failed = await whoFailed()
    expect(await whoFailed()).toBe(failed)
    skew.ms = 0
    expect(await whoFailed()).not.toBe(failed)
  })

  it('when it is closed takes what waits with it, and takes nothing more', async () => {
    const { commands, out } = fixture()
    await out('pid')
    const waiting = expect(out('silent')).rejects.toMatchObject(silence('the connection was closed'))
    await commands.close()
    await waiting
    await expect(out('pid')).rejects.toMatchObject(silence('the connection was closed'))
  })
})

describe('a client that is not installed', () => {
  const cases: Record<string, Partial<RadosOptions>> = {
    'has no module rados': { access: { conf: 'no-module' } },
    '/nonexistent/python3 is not installed': { interpreter: '/nonexistent/python3' },
  }
  it.each(Object.entries(cases))('%s: says so, and what to do', async (message, options) => {
    const { out } = fixture(options)
    await expect(out('pid')).rejects.toMatchObject({
      ...silence(message),
      facts: { missingClient: 'python3-rados' },
      hint: expect.stringContaining('install python3-rados'),
    })
  })
})

describe('the cluster log', () => {
  const following = (commands: ReturnType<typeof fixture>['commands']) => {
    const heard: string[] = []
    const leaving = new AbortController()
    let hear: () => void = () => {}
    const line = new Promise<void>((resolve) => {
      hear = resolve
    })
    const end = commands
      .followLog({
        onOpen: () => heard.push('open'),
        onLine(text) {
          heard.push(text)
          hear()
        },
        signal: leaving.signal,
      })
      .catch((error: Error) => error)
    return { heard, line, leave: () => leaving.abort(), end }
  }

  it('comes over the same connection as answers, to everybody who follows it, and is no answer to anybody', async () => {
    const { commands, out } = fixture()
    const first = following(commands)
    const second = following(commands)
    expect(await out('stray')).toBe('mine')
    await Promise.all([first.line, second.line])
    first.leave()
    expect(await first.end).toBeUndefined()
    expect(await out('pid')).toMatch(/^\d+$/)
  })

  it('breaks off for all who follow it when the connection does, and can be followed again over the next', async () => {
    const { commands, clock } = fixture({ random: least })
    const { end, heard, line } = following(commands)
    await line
    await expect(commands.run({ prefix: 'crash' })).rejects.toMatchObject(silence('Segmentation fault'))
    expect(await end).toMatchObject(silence('Segmentation fault'))
    await clock.advance(1_000)
    const again = following(commands)
    await again.line
    expect([heard, again.heard]).toEqual([
      ['open', 'osd.1 failed'],
      ['open', 'osd.1 failed'],
    ])
  })

  it('of a module that is too old for it is missing, and every command is answered as before', async () => {
    const { commands, out } = fixture({ access: { conf: 'no-log' } })
    const { end } = following(commands)
    expect(await end).toMatchObject(silence('the client failed: "AttributeError: monitor_log2"'))
    expect(await out('pid')).toMatch(/^\d+$/)
  })
})
