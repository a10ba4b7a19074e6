import { describe, expect, it } from 'vitest'
import { watchForStalls } from './stalled-osds.ts'

function fixture() {
  const process = { pid: 7, isThere: true, wasSignalled: false }
  const told: string[] = []
  const stalls = watchForStalls({
    daemon: () => ({
      pid: process.pid,
      isRunning: () => process.isThere,
      wasSignalled: () => process.wasSignalled,
    }),
    tell: (line) => told.push(line),
  })
  return { process, told, look: (isUp: boolean) => stalls([{ id: 3, isUp }]).length > 0 }
}

describe('an OSD that Ceph has marked down', () => {
  it('has stalled where its process runs on: nobody is to blame for a machine that stood still, and it is told once', () => {
    const { told, look } = fixture()
    expect([look(true), look(false), look(false), look(true)]).toEqual([false, true, true, false])
    expect(told).toEqual(['osd.3 runs, and Ceph has marked it down: the machine stood still'])
  })

  it('was evicted where its process has ended, and is only starting where there is a new one', () => {
    const { process, look } = fixture()
    look(true)
    process.isThere = false
    expect(look(false)).toBe(false)
    Object.assign(process, { pid: 8, isThere: true })
    expect([look(false), look(true), look(false)]).toEqual([false, false, true])
  })

  it('was killed and started between two looks, where the process is another', () => {
    const { process, look } = fixture()
    look(true)
    process.pid = 8
    expect(look(false)).toBe(false)
  })

  it('was taken where its process was asked to end or stopped, though it still runs: an OSD marks itself down before it has ended', () => {
    const { process, look } = fixture()
    look(true)
    process.wasSignalled = true
    expect(look(false)).toBe(false)
  })
})
