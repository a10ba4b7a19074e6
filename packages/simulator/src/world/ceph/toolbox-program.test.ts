import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { CephAnswer, CephCommand, CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { buildCommandLine } from '@cofferdam/product/ceph/command-line.ts'
import { describe, expect, it } from 'vitest'
import { openCeph } from './testing/ceph-fixture.ts'
import { runToolboxProgram } from './toolbox-program.ts'

function answering(answer: CephAnswer = { code: 0, out: '{"a":1}', err: '' }) {
  const asked: { command: CephCommand; timeoutMs: number | undefined }[] = []
  const commands: CephCommands = {
    run: async (command, options) => {
      asked.push({ command, timeoutMs: options?.timeoutMs })
      return answer
    },
  }
  return { asked, commands }
}

const cases: Record<string, CephCommand> = {
  'the plain word status': { prefix: 'status' },
  'OSDs that are to stop, and how many more may be added': { prefix: 'osd ok-to-stop', ids: ['3', '4'], max: 20 },
  'flags for a bucket': { prefix: 'osd set-group', flags: ['noout'], who: ['node-1'] },
  'a listing of placement groups for a parser': { prefix: 'pg dump', dumpcontents: ['pgs'], format: 'plain' },
  'pools with all they have': { prefix: 'osd pool ls', detail: ['detail'] },
}

describe('the ceph program of the toolbox', () => {
  it.each(Object.entries(cases))(
    'takes %s as our own client says it, back to the command it was made of',
    async (_, said) => {
      const { asked, commands } = answering()
      await runToolboxProgram(commands, ['ceph', '--connect-timeout', '15', ...buildCommandLine(said)])
      expect(asked).toEqual([{ command: { format: 'json', ...said }, timeoutMs: 15_000 }])
    },
  )

  it.each([
    { line: 'ceph -s', command: { prefix: 'status' } },
    { line: 'ceph --format=json health detail', command: { prefix: 'health', detail: ['detail'], format: 'json' } },
    {
      line: 'ceph --conf /etc/ceph/ceph.conf osd tree down in',
      command: { prefix: 'osd tree', states: ['down', 'in'] },
    },
  ])('takes what people type: $line', async ({ line, command }) => {
    const { asked, commands } = answering()
    const end = await runToolboxProgram(commands, line.split(' '))
    expect(asked.map((each) => each.command)).toEqual([command])
    expect(end.code).toBe(0)
  })

  it('prints what people can read, and one line for programs', async () => {
    const { commands } = answering()
    expect((await runToolboxProgram(commands, ['ceph', 'status'])).out).toBe('{\n  "a": 1\n}\n')
    expect((await runToolboxProgram(commands, ['ceph', 'status', '-f', 'json'])).out).toBe('{"a":1}\n')
  })

  it('ends with the errno of Ceph, and its name', async () => {
    const { commands } = answering({ code: 16, out: '{}', err: 'unsafe to stop' })
    expect(await runToolboxProgram(commands, ['ceph', 'osd', 'ok-to-stop', '1', '-f', 'json'])).toEqual({
      code: 16,
      out: '{}\n',
      err: 'Error EBUSY: unsafe to stop\n',
    })
  })

  it.each([
    { line: 'rbd ls', code: 127, err: 'exec: "rbd": executable file not found in $PATH\n' },
    { line: 'ceph osd purge 3', code: 22, err: 'Error EINVAL: command not known to the simulated Ceph: osd purge 3\n' },
    { line: 'ceph status --watch x', code: 22, err: 'Error EINVAL: the simulated Ceph takes no --watch x\n' },
    { line: 'ceph status --format', code: 22, err: 'Error EINVAL: --format needs a value\n' },
  ])('refuses $line and asks Ceph nothing', async ({ line, code, err }) => {
    const { asked, commands } = answering()
    expect(await runToolboxProgram(commands, line.split(' '))).toEqual({ code, out: '', err })
    expect(asked).toEqual([])
  })

  it('says so when Ceph does not answer, as the real one does', async () => {
    const run = async () => {
      throw new CofferdamError('CEPH_UNREACHABLE', 'no quorum')
    }
    expect(await runToolboxProgram({ run }, ['ceph', 'status'])).toEqual({
      code: 1,
      out: '',
      err: '[errno 110] RADOS timed out (no quorum)\n',
    })
  })

  it('knows every command that it names', async () => {
    const fixture = await openCeph()
    for (const line of [
      'osd stat',
      'osd ls',
      'osd crush rule dump',
      'osd find 1',
      'osd out 3',
      'osd set noout',
      'mgr stat',
    ]) {
      expect((await runToolboxProgram(fixture.ceph.commands, ['ceph', ...line.split(' ')])).code, line).toBe(0)
    }
    fixture.stop()
  })
})
