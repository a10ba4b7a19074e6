import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { untilEnter } from './until-enter.ts'

const terminal = () => Object.assign(new PassThrough(), { isTTY: true })
const { signal: never } = new AbortController()

describe('waiting for Enter', () => {
  it('ends with Enter, and leaves the keys to the next that waits', async () => {
    const keys = terminal()
    for (let presses = 0; presses < 2; presses += 1) {
      const pressed = untilEnter(keys, never)
      keys.write('\n')
      await pressed
    }
    expect([keys.isPaused(), keys.listenerCount('data')]).toEqual([true, 0])
  })

  it('ends with Ctrl-C, or a tour could not be left', async () => {
    const ending = new AbortController()
    const keys = terminal()
    const pressed = untilEnter(keys, ending.signal)
    ending.abort()
    await pressed
    expect(keys.isPaused()).toBe(true)
  })

  it('ends when the input does', async () => {
    const keys = terminal()
    const pressed = untilEnter(keys, never)
    keys.end()
    await pressed
  })

  it('without a terminal waits for no key: scripts press none', async () => {
    await untilEnter(new PassThrough(), never)
  })
})
