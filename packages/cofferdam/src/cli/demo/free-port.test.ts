import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import { listenOn } from './free-port.ts'

/** Listens on any port that is not taken. */
function listening(isTaken: (port: number) => boolean) {
  return async (port: number) => {
    if (isTaken(port)) throw new CofferdamError('PORT_IN_USE', `port ${port} is taken`)
    return port
  }
}

describe('the port of a demo', () => {
  it('is the next free one where none was named, so that a second demo starts beside the first', async () => {
    expect(
      await listenOn(
        { from: 7400 },
        listening((port) => port < 7402),
      ),
    ).toBe(7402)
  })

  it('is the one that was named, or an error: scripts rely on it', async () => {
    expect(
      await listenOn(
        7400,
        listening(() => false),
      ),
    ).toBe(7400)
    await expect(
      listenOn(
        7400,
        listening((port) => port === 7400),
      ),
    ).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  })

  it('is any free one where dozens are taken', async () => {
    expect(
      await listenOn(
        { from: 7400 },
        listening((port) => port !== 0),
      ),
    ).toBe(0)
  })

  it('is not searched for after another fault, which the next port would have too', async () => {
    const tried: number[] = []
    const broken = async (port: number) => {
      tried.push(port)
      throw new Error('no network')
    }
    await expect(listenOn({ from: 7400 }, broken)).rejects.toThrow('no network')
    expect(tried).toEqual([7400])
  })
})
