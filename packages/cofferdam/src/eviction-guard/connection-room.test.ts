import { describe, expect, it } from 'vitest'
import { ConnectionRoom, type RoomSocket } from './connection-room.ts'

class Line implements RoomSocket {
  readonly remoteAddress = '10.0.0.1'
  readonly remotePort: number
  isCut = false
  #onClose = () => {}
  constructor(port: number) {
    this.remotePort = port
  }
  once(_event: 'close', listener: () => void): void {
    this.#onClose = listener
  }
  destroy(): void {
    this.isCut = true
    this.#onClose()
  }
}

const lines = (count: number) => Array.from({ length: count }, (_, port) => new Line(port))
const openOf = (all: readonly Line[]) => all.filter(({ isCut }) => !isCut).map(({ remotePort }) => remotePort)

describe('the room for connections', () => {
  it('gives a new one the place of the oldest stranger: a thousand silent ones kept the API server out', () => {
    const room = new ConnectionRoom({ most: 3 })
    const all = lines(5)
    for (const line of all) room.admit(line)
    expect([openOf(all), room.size]).toEqual([[2, 3, 4], 3])
  })

  it('keeps the API server’s however many come after it', () => {
    const room = new ConnectionRoom({ most: 3 })
    const all = lines(50)
    for (const line of all) {
      room.admit(line)
      if (line.remotePort === 0) room.recognise({ remoteAddress: '10.0.0.1', remotePort: 0 })
    }
    expect(openOf(all)).toEqual([0, 48, 49])
  })

  it('turns a new one away when all places are the API server’s own', () => {
    const room = new ConnectionRoom({ most: 2 })
    const all = lines(3)
    for (const line of all) {
      room.admit(line)
      room.recognise(line)
    }
    expect(openOf(all)).toEqual([0, 1])
  })

  it('has the place of one that ended, once', () => {
    const room = new ConnectionRoom({ most: 2 })
    const [first, second, third] = lines(3) as [Line, Line, Line]
    room.admit(first)
    room.recognise(first)
    room.admit(second)
    first.destroy()
    first.destroy()
    room.admit(third)
    expect([openOf([first, second, third]), room.size]).toEqual([[1, 2], 2])
  })
})
