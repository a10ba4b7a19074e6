import { readFileSync } from 'node:fs'
import type { Daemon } from '../processes/daemon.ts'

interface OsdInMap {
  readonly id: number
  readonly isUp: boolean
}

export interface StalledPorts {
  readonly daemon: (osd: number) => Pick<Daemon, 'pid' | 'isRunning'> | undefined
  /** Whether somebody has stopped the process; it runs on for Ceph, and for nobody else. */
  readonly isStopped?: (pid: number) => boolean
  readonly tell: (line: string) => void
}

/**
 * Tells OSDs that were marked down while their process ran on: on a busy machine their heartbeats came too late. One that was stopped or started
 * meanwhile was taken by somebody, and is none of them until it has been up again.
 */
export function watchForStalls({ daemon, isStopped = hasStopped, tell }: StalledPorts) {
  /** By which process an OSD was up. */
  const upAs = new Map<number, number>()
  const stalled = new Set<number>()

  function isStalled({ id, isUp }: OsdInMap): boolean {
    const process = daemon(id)
    const pid = process?.isRunning() === true && !isStopped(process.pid) ? process.pid : undefined
    if (pid === undefined) upAs.delete(id)
    else if (isUp) upAs.set(id, pid)
    return !isUp && pid !== undefined && upAs.get(id) === pid
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

function hasStopped(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything.
    return text.slice(text.lastIndexOf(')') + 2)[0] === 'T'
  } catch {
    return true
  }
}
