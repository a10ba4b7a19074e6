import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
beforeEach(() => {
  shell = openShell('/', { PATH: process.env['PATH'] })
})
afterEach(() => shell.close())
const run = (command: string) => shell.run(command, { withinSeconds: 20 })

describe('the shell that walks through a document', () => {
  it('keeps what a command assigns, as the terminal of a reader does', async () => {
    await run('node=worker-a1   # a remark')
    expect(await run('echo $node')).toEqual({ text: 'worker-a1\n', exitCode: 0 })
  })

  it('gives exit codes, and both streams in their order', async () => {
    expect(await run('echo out; echo err >&2; (exit 4)')).toEqual({ text: 'out\nerr\n', exitCode: 4 })
  })

  it('gives text without a last line end as it is', async () => {
    expect(await run('printf no-end')).toEqual({ text: 'no-end', exitCode: 0 })
  })

  it('a command that reads its input gets none, or it would eat the next command', async () => {
    expect(await run('cat')).toEqual({ text: '', exitCode: 0 })
  })

  it('a command that does not end in time is an error with what it printed until then', async () => {
    await expect(shell.run('echo begun; sleep 60', { withinSeconds: 1 })).rejects.toThrow(
      'it was still running after 1 s, and had printed:\nbegun\n',
    )
  })
})
