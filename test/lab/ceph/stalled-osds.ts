import type { Daemon } from '../processes/daemon.ts'

interface OsdInMap {
  readonly id: number
  readonly isUp: boolean
}

export interface StalledPorts {
  readonly daemon: (osd: number) => Pick<Daemon, 'pid' | 'isRunning' | 'wasSignalled'> | undefined
  readonly tell: (line: string) => void
}

/**
 * Tells OSDs that were marked down while their process ran on: on a busy machine their heartbeats came too late. One that has ended, was asked to
 * end or stopped, or is another process than when it was up, was taken by somebody and is none of them.
 */
export function watchForStalls({ daemon, tell }: StalledPorts) {
  /** By which process an OSD was up. */
  const upAs = new Map<number, number>()
  const stalled = new Set<number>()

  function isStalled({ id, isUp }: OsdInMap): boolean {
    const process = daemon(id)
    if (process === undefined || !process.isRunning() || process.wasSignalled()) return false
    if (isUp) upAs.set(id, process.pid)
    return !isUp && upAs.get(id) === process.pid
  }

  return (osds: readonly OsdInMap[]): readonly number[] => {
    for (const osd of osds) {
      if (!isStalled(osd)) stalled.delete(osd.id)
      else if (!stalled.has(osd.id)) {
        stalled.add(osd.id)
        tell(`osd.${osd.id} runs, and Ceph has marked it down: the machine stood still`)
      }
    }
    return [...stalled]
  }
}
