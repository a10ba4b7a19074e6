import { chmod } from 'node:fs/promises'
import { scratchFolder } from '@cofferdam/kubernetes/client/testing/scratch-folder.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { type CliOptions, createCliCommands } from './cli-commands.ts'
import { readSampleText } from './testing/read-sample.ts'

/** A program that does what the script says, in the place of `ceph`. */
async function fixture(script: string, more: Partial<CliOptions> & { clock?: Clock } = {}) {
  const folder = await scratchFolder({ ceph: `#!${process.execPath}\n${script}\n` })
  const program = `${folder}/ceph`
  await chmod(program, 0o755)
  return createCliCommands({ clock: realClock, environment: { PATH: '/bin' }, program, ...more })
}

function silence(message: string) {
  return { code: 'CEPH_UNREACHABLE', message: expect.stringContaining(message) }
}

const status = { prefix: 'status' }

describe('the ceph command line', () => {
  it('is given each word by itself, with where and as whom to connect', async () => {
    const access = { conf: '/c', name: 'client.x', keyring: '/k', keyFile: '/f', monHost: '10.0.0.1:3300' }
    const commands = await fixture('console.log("\\n" + JSON.stringify(process.argv.slice(2)))', { access })
    const connect =
      '--conf /c --mon-host 10.0.0.1:3300 --name client.x --keyring /k --keyfile /f --connect-timeout 15'.split(' ')
    const { code, out, err } = await commands.run({ prefix: 'osd set-group', flags: 'noout', who: ['a b'] })
    expect({ code, err, argv: JSON.parse(out) }).toEqual({
      code: 0,
      err: '',
      argv: [...connect, 'osd', 'set-group', 'noout', 'a b', '--format', 'json'],
    })
  })

  it('answers with the errno of Ceph and the JSON that it prints all the same', async () => {
    const json = readSampleText('ok-to-stop-3-notok').trim()
    const words = 'Error EBUSY: unsafe to stop osd(s) at this time (4 PGs are or would become offline)'
    const commands = await fixture(
      `console.log(${JSON.stringify(json)}); console.error(${JSON.stringify(words)}); process.exitCode = 16`,
    )
    expect(await commands.run({ prefix: 'osd ok-to-stop', ids: ['0', '1', '2'] })).toEqual({
      code: 16,
      out: `${json}\n`,
      err: `${words}\n`,
    })
  })

  const failures: Record<string, { script: string; message: string }> = {
    'without a connection Ceph has said nothing': {
      script: 'console.error("[errno 110] RADOS timed out (error connecting to the cluster)"); process.exitCode = 1',
      message: 'the command line ended with 1: [errno 110] RADOS timed out (error connecting to the cluster)',
    },
    'a client that waited in vain has no answer, although it names an errno': {
      script: 'console.error("Error ETIMEDOUT: "); process.exitCode = 110',
      message: 'the command line ended with 110',
    },
    'a program that dies without a word has no answer': {
      script: 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)',
      message: 'was ended by SIGTERM',
    },
    'a program that fails without a word has no answer': {
      script: 'process.exitCode = 1',
      message: 'the command line ended with 1: it said nothing',
    },
    'an answer without end is cut off and the program is killed': {
      script: 'const pour = () => process.stdout.write("x".repeat(100_000), pour); pour()',
      message: 'the answer is larger than 1000000 bytes',
    },
  }
  it.each(Object.entries(failures))('%s', async (_, { script, message }) => {
    const commands = await fixture(script, { limits: { maxBytes: 1_000_000 } })
    await expect(commands.run(status)).rejects.toMatchObject(silence(message))
  })

  it('is killed when its time is over', async () => {
    const clock = new VirtualClock()
    const commands = await fixture('setInterval(() => {}, 1000)', { clock })
    const run = expect(commands.run(status, { timeoutMs: 2500 })).rejects.toMatchObject(
      silence('no answer within 2.5 s'),
    )
    await clock.advance(2500)
    await run
  })

  it('is killed when the caller gives up, and not even started after that', async () => {
    const giving = new AbortController()
    const commands = await fixture('setInterval(() => {}, 1000)')
    const run = commands.run(status, { signal: giving.signal })
    giving.abort()
    await expect(run).rejects.toMatchObject(silence('the caller gave up'))
    await expect(commands.run(status, { signal: giving.signal })).rejects.toMatchObject(silence('the caller gave up'))
  })

  it('that is not installed says so, and what to do', async () => {
    const commands = await fixture('', { program: '/nonexistent/ceph' })
    await expect(commands.run(status)).rejects.toMatchObject({
      ...silence('/nonexistent/ceph is not installed'),
      facts: { missingClient: '/nonexistent/ceph' },
      hint: 'install ceph-common, or talk to Ceph through the toolbox pod',
    })
  })
})

describe('the cluster log', () => {
  const follow = (commands: Awaited<ReturnType<typeof fixture>>, until: string) => {
    const heard: string[] = []
    const leaving = new AbortController()
    const end = commands.followLog?.({
      onOpen: () => heard.push('open'),
      onLine(line) {
        heard.push(line)
        if (line === until) leaving.abort()
      },
      signal: leaving.signal,
    })
    return { heard, end }
  }

  it('is what ceph --watch prints, until nobody wants it any more', async () => {
    const script =
      'console.log(process.argv.slice(4).join(" ")); console.log("osd.1 failed"); setInterval(() => {}, 1000)'
    const { heard, end } = follow(await fixture(script), 'osd.1 failed')
    await end
    expect(heard).toEqual(['open', '--watch --watch-channel cluster', 'osd.1 failed'])
  })

  it('has broken off when the program ends, or is not there', async () => {
    await expect(follow(await fixture('process.exit(1)'), '').end).rejects.toMatchObject(silence('ended with 1'))
    const missing = createCliCommands({ clock: realClock, environment: {}, program: '/no/ceph' })
    await expect(follow(missing, '').end).rejects.toMatchObject(silence('/no/ceph'))
  })
})
