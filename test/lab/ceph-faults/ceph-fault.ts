import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommand } from '@cofferdam/product/ceph/ceph-commands.ts'

/** What can be done to a Ceph, real or not. */
export type CephFault =
  | { readonly does: 'stop' | 'kill' | 'start'; readonly daemon: `osd.${number}` | `mon.${string}` }
  | { readonly does: 'command'; readonly command: CephCommand }

interface Drawn {
  readonly down: Set<string>
  readonly out: Set<number>
  readonly noout: Set<string>
  minSize: number
}

const mons = ['a', 'b', 'c']
const mostOsdsDown = 3

export function faultText(fault: CephFault): string {
  return fault.does === 'command' ? JSON.stringify(fault.command) : `${fault.does} ${fault.daemon}`
}

/** So many faults in a row, each possible after those before it; at the end everything is as it was. */
export function drawFaults(
  random: Random,
  count: number,
  zones: Readonly<Record<string, readonly number[]>>,
): CephFault[] {
  const state: Drawn = { down: new Set(), out: new Set(), noout: new Set(), minSize: 2 }
  const osds = Object.values(zones).flat()
  const oneOf = <T>(items: readonly T[]) => items[Math.floor(random.next() * items.length)]
  const drawOne = (): CephFault | undefined => {
    const osd = oneOf(osds) as number
    const name = `osd.${osd}` as const
    switch (Math.floor(random.next() * 8)) {
      case 0:
      case 1:
        return takeDown(state, name, random.next() < 0.5 ? 'stop' : 'kill')
      case 2:
        return bringUp(state, oneOf([...state.down].filter((each) => each.startsWith('osd'))))
      case 3:
        return move(state, osd, true)
      case 4:
        return move(state, oneOf([...state.out]), false)
      case 5:
        return setNoout(state, oneOf(Object.keys(zones)) as string)
      case 6:
        return setFloor(state)
      default: {
        const monsDown = [...state.down].filter((each) => each.startsWith('mon'))
        // One of three: without a quorum nothing is answered, and there is nothing to compare.
        return monsDown.length > 0
          ? bringUp(state, monsDown[0])
          : takeDown(state, `mon.${oneOf(mons)}`, random.next() < 0.5 ? 'stop' : 'kill')
      }
    }
  }
  const drawn: CephFault[] = []
  while (drawn.length < count) {
    const fault = drawOne()
    if (fault !== undefined) drawn.push(fault)
  }
  return [...drawn, ...undo(state)]
}

function takeDown(state: Drawn, daemon: `osd.${number}` | `mon.${string}`, does: 'stop' | 'kill') {
  const osdsDown = [...state.down].filter((each) => each.startsWith('osd')).length
  if (state.down.has(daemon) || (daemon.startsWith('osd') && osdsDown >= mostOsdsDown)) return undefined
  state.down.add(daemon)
  return { does, daemon } as const
}

function bringUp(state: Drawn, daemon: string | undefined): CephFault | undefined {
  if (daemon === undefined) return undefined
  state.down.delete(daemon)
  return { does: 'start', daemon: daemon as `osd.${number}` }
}

function move({ out }: Drawn, osd: number | undefined, isOut: boolean): CephFault | undefined {
  if (osd === undefined || out.has(osd) === isOut || (isOut && out.size > 0)) return undefined
  if (isOut) out.add(osd)
  else out.delete(osd)
  return { does: 'command', command: { prefix: isOut ? 'osd out' : 'osd in', ids: [String(osd)] } }
}

function setNoout({ noout }: Drawn, zone: string): CephFault {
  const isSet = noout.has(zone)
  if (isSet) noout.delete(zone)
  else noout.add(zone)
  return {
    does: 'command',
    command: { prefix: isSet ? 'osd unset-group' : 'osd set-group', flags: 'noout', who: [zone] },
  }
}

function setFloor(state: Drawn): CephFault {
  state.minSize = state.minSize === 2 ? 1 : 2
  const command = { prefix: 'osd pool set', pool: 'rep', var: 'min_size', val: String(state.minSize) }
  return { does: 'command', command }
}

function undo(state: Drawn): CephFault[] {
  const { down, out, noout, minSize } = state
  return [
    ...Array.from(down, (daemon) => bringUp(state, daemon) as CephFault),
    ...Array.from(out, (osd) => move(state, osd, false) as CephFault),
    ...Array.from(noout, (zone) => setNoout(state, zone)),
    ...(minSize === 2 ? [] : [setFloor(state)]),
  ]
}
