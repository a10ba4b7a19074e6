import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runStep, StepError } from './run-step.ts'
import { withLock } from './with-lock.ts'

describe('a step of a set-up', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'step-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('a step that ends well leaves its output in the log, after what is there', async () => {
    const log = join(folder, 'logs', 'step.log')
    await runStep({ task: 'one', command: ['sh', '-c', 'echo one; echo two >&2'], log })
    await runStep({ task: 'two', command: ['sh', '-c', 'echo $WORD'], log, environment: { WORD: 'three' } })
    expect(await readFile(log, 'utf8')).toBe('one\ntwo\nthree\n')
  })

  it('a step that fails says what was tried, where the output is, and its last lines', async () => {
    const log = join(folder, 'step.log')
    const failure = runStep({ task: 'building x', command: ['sh', '-c', 'echo no room; exit 3'], log })
    await expect(failure).rejects.toThrow(
      `building x failed: sh ended with exit code 3; its output is in ${log}\n  | no room`,
    )
    await expect(failure).rejects.toBeInstanceOf(StepError)
  })

  it('a program that is missing is a failure like any other', async () => {
    const step = { task: 'asking', command: ['no-such-program-here'], log: join(folder, 'step.log') } as const
    await expect(runStep({ ...step, diesWithUs: false })).rejects.toThrow(
      'asking failed: no-such-program-here could not',
    )
    await expect(runStep(step)).rejects.toThrow('asking failed: no-such-program-here ended with exit code 127')
  })

  it('two set-ups of the same thing work one after the other, and a failed one frees the way', async () => {
    const lock = join(folder, 'x.lock')
    const order: string[] = []
    const first = withLock(
      lock,
      () => {},
      async () => {
        order.push('first begins')
        await runStep({ task: 'first', command: ['sleep', '0.05'], log: join(folder, 'step.log') })
        order.push('first ends')
        throw new Error('first failed')
      },
    )
    await expect.poll(() => order).toEqual(['first begins'])
    const second = withLock(
      lock,
      () => {},
      async () => void order.push('second'),
    )
    await expect(first).rejects.toThrow('first failed')
    await second
    expect(order).toEqual(['first begins', 'first ends', 'second'])
  })
})
