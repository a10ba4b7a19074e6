import { describe, expect, it } from 'vitest'
import { cephUnreachable, clientMissing } from './ceph-unreachable.ts'
import { createFallbackCommands } from './fallback-commands.ts'
import { scriptCeph } from './testing/scripted-ceph.ts'

const missing = (name: string) => scriptCeph(() => clientMissing(name, `${name} is not installed`, 'install it'))
const status = { prefix: 'status' }

describe('the first client that is installed', () => {
  it('is asked, and no other', async () => {
    const cli = scriptCeph(() => 'cli')
    const commands = createFallbackCommands([
      { name: 'rados', commands: scriptCeph(() => 'rados') },
      { name: 'cli', commands: cli },
    ])
    expect(await commands.run(status)).toEqual({ code: 0, out: 'rados', err: '' })
    expect(cli.asked).toEqual([])
  })

  it('is found by trying, reported once, and remembered', async () => {
    const rados = missing('rados')
    const reports: object[] = []
    const commands = createFallbackCommands(
      [
        { name: 'rados', commands: rados },
        { name: 'cli', commands: scriptCeph(() => 'cli') },
      ],
      { report: (change) => reports.push(change) },
    )
    const answers = await Promise.all([commands.run(status), commands.run(status)])
    answers.push(await commands.run(status))
    expect(answers.map(({ out }) => out)).toEqual(['cli', 'cli', 'cli'])
    expect(rados.asked).toHaveLength(2)
    expect(reports).toEqual([{ missing: 'rados', why: 'rados is not installed' }])
  })

  it('is kept when Ceph does not answer: another would not get an answer either', async () => {
    const cli = scriptCeph(() => 'cli')
    const commands = createFallbackCommands([
      { name: 'rados', commands: scriptCeph(() => cephUnreachable('status', 'no answer within 15 s')) },
      { name: 'cli', commands: cli },
    ])
    await expect(commands.run(status)).rejects.toMatchObject({ message: 'ceph status: no answer within 15 s' })
    expect(cli.asked).toEqual([])
  })

  it('may be installed later: while there is none, every command looks again', async () => {
    const commands = createFallbackCommands([
      { name: 'rados', commands: missing('rados') },
      {
        name: 'cli',
        commands: scriptCeph((_, count) => (count === 1 ? clientMissing('cli', 'cli is not installed', '') : 'cli')),
      },
    ])
    await expect(commands.run(status)).rejects.toMatchObject({
      code: 'CEPH_UNREACHABLE',
      message: 'Ceph cannot be asked: none of rados, cli is installed',
      hint: 'install python3-rados or ceph-common',
    })
    expect(await commands.run(status)).toEqual({ code: 0, out: 'cli', err: '' })
  })
})
