import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { DaemonName } from '../ceph/lab-ceph.ts'
import type { PlaneDaemon } from '../control-plane/control-plane.ts'
import type { Lab } from '../lab.ts'
import type { Weather } from '../machines/service-proxy.ts'
import type { Daemon } from '../processes/daemon.ts'
import type { DataWatch } from './data-watch.ts'

/** A lab that burns. */
export interface FireStage {
  readonly lab: Lab
  readonly data: DataWatch
  readonly random: Random
  readonly racks: ReadonlyMap<string, readonly string[]>
  /** Processes that stand still. */
  readonly frozen: Set<Daemon>
  /** Ends with the run: whatever waits gives up. */
  readonly signal: AbortSignal
  /** Operators do not reach the API server now. */
  isCutOff(): boolean
  /** They do not while this lasts. */
  cutOff(act: () => Promise<void>): Promise<void>
}

export interface Fire {
  readonly name: string
  /** Resolves to what burned when it is over; undefined when there was nothing to burn. */
  light(stage: FireStage): Promise<string | undefined>
}

function oneOf<T>(random: Random, items: readonly T[]): T | undefined {
  return items[Math.min(items.length - 1, Math.floor(random.next() * items.length))]
}

const between = (random: Random, least: number, most: number) => least + random.next() * (most - least)

/** Waits, or less when the run ends. */
const wait = (stage: FireStage, seconds: number) =>
  pause(seconds * 1_000, undefined, { signal: stage.signal }).catch(() => {})

async function freeze(stage: FireStage, daemon: Daemon, seconds: number): Promise<string> {
  stage.frozen.add(daemon)
  daemon.signal('SIGSTOP')
  await wait(stage, seconds)
  daemon.signal('SIGCONT')
  stage.frozen.delete(daemon)
  return `${daemon.name} stood still for ${seconds.toFixed(0)} s`
}

function killOperators(most: number): Fire['light'] {
  return async ({ lab, random }) => {
    const alive = [...lab.operators().values()].sort(() => random.next() - 0.5).slice(0, most)
    for (const daemon of alive) daemon.signal('SIGKILL')
    return alive.map(({ name }) => name).join(' and ') || undefined
  }
}

function killPlane(key: PlaneDaemon, mostSeconds: number): Fire['light'] {
  return async (stage) => {
    const { plane } = stage.lab
    const daemon = plane.daemons[key]
    const seconds = between(stage.random, 0, mostSeconds)
    daemon.signal('SIGKILL')
    await daemon.ended
    await wait(stage, seconds)
    plane.revive(key)
    return `${daemon.name} was away for ${seconds.toFixed(0)} s`
  }
}

function freezePlane(key: PlaneDaemon, mostSeconds: number): Fire['light'] {
  return (stage) => freeze(stage, stage.lab.plane.daemons[key], between(stage.random, 3, mostSeconds))
}

/** A daemon of Ceph that runs, of this kind; OSDs only where they may be hit, and marked as hit. */
function pickCephDaemon({ lab, data, random, racks }: FireStage, kind: 'mon' | 'mgr' | 'osd'): Daemon | undefined {
  const running = (name: DaemonName) => {
    const daemon = lab.ceph.daemon(name)
    return daemon?.isRunning() === true ? [daemon] : []
  }
  if (kind !== 'osd') {
    const ids = kind === 'mon' ? ['a', 'b', 'c'] : ['a', 'b']
    const all = ids.flatMap((id) => running(`${kind}.${id}`))
    // One at a time: two of three mons would be an outage, and no operator could do anything about it.
    return all.length === ids.length ? oneOf(random, all) : undefined
  }
  const rack = oneOf(random, data.racksToHit())
  const osds = (racks.get(rack ?? '') ?? []).flatMap((node) => lab.osdsOn(node))
  const daemon = oneOf(
    random,
    osds.flatMap((id) => running(`osd.${id}`)),
  )
  if (daemon !== undefined && rack !== undefined) data.hit(rack)
  return daemon
}

function killCeph(kind: 'mon' | 'mgr' | 'osd'): Fire['light'] {
  return async (stage) => {
    const daemon = pickCephDaemon(stage, kind)
    daemon?.signal('SIGKILL')
    return daemon?.name
  }
}

function freezeCeph(kind: 'mon' | 'mgr' | 'osd', mostSeconds: number): Fire['light'] {
  return async (stage) => {
    const daemon = pickCephDaemon(stage, kind)
    return daemon && freeze(stage, daemon, between(stage.random, 3, mostSeconds))
  }
}

function spoil(link: 'api' | 'guards', draw: (random: Random) => Weather, mostSeconds: number): Fire['light'] {
  return async (stage) => {
    const weather = draw(stage.random)
    const proxy = stage.lab.links[link]
    const seconds = between(stage.random, 2, mostSeconds)
    const burn = async () => {
      proxy?.setWeather(weather)
      await wait(stage, seconds)
      proxy?.setWeather('fair')
    }
    await (link === 'api' ? stage.cutOff(burn) : burn())
    return `${JSON.stringify(weather)} for ${seconds.toFixed(0)} s`
  }
}

export const fires: readonly Fire[] = [
  { name: 'kill -9 of an operator', light: killOperators(1) },
  { name: 'kill -9 of both operators', light: killOperators(2) },
  {
    name: 'an operator stands still',
    async light(stage) {
      const daemon = oneOf(stage.random, [...stage.lab.operators().values()])
      return daemon && freeze(stage, daemon, between(stage.random, 5, 40))
    },
  },
  { name: 'kill -9 of the API server', light: killPlane('apiserver', 10) },
  { name: 'the API server stands still', light: freezePlane('apiserver', 15) },
  { name: 'kill -9 of etcd', light: killPlane('etcd', 3) },
  { name: 'kill -9 of the controller manager', light: killPlane('controllerManager', 20) },
  { name: 'the controller manager stands still', light: freezePlane('controllerManager', 25) },
  { name: 'kill -9 of the scheduler', light: killPlane('scheduler', 10) },
  { name: 'kill -9 of a mon', light: killCeph('mon') },
  { name: 'a mon stands still', light: freezeCeph('mon', 15) },
  { name: 'kill -9 of a mgr', light: killCeph('mgr') },
  { name: 'kill -9 of an OSD', light: killCeph('osd') },
  { name: 'an OSD stands still', light: freezeCeph('osd', 15) },
  {
    name: 'a node loses its power',
    async light({ lab, data, random, racks }) {
      const rack = oneOf(random, data.racksToHit())
      const node = oneOf(
        random,
        (racks.get(rack ?? '') ?? []).filter((each) => lab.machines.isOn(each)),
      )
      if (rack === undefined || node === undefined) return undefined
      data.hit(rack)
      lab.machines.reboot(node, between(random, 3, 15))
      return node
    },
  },
  { name: 'the way to the API server is cut', light: spoil('api', () => 'cut', 20) },
  { name: 'the way to the API server is still', light: spoil('api', () => 'still', 30) },
  {
    name: 'the way to the API server is slow',
    light: spoil('api', (random) => ({ delayMs: Math.round(between(random, 50, 1_500)) }), 30),
  },
  { name: 'the way to the guards is cut', light: spoil('guards', () => 'cut', 20) },
  { name: 'the way to the guards is still', light: spoil('guards', () => 'still', 20) },
]

/** Everything that stands still goes on, everything that is dead comes back, every way is open. */
export function putOut({ lab, frozen }: FireStage): void {
  for (const daemon of frozen) daemon.signal('SIGCONT')
  frozen.clear()
  for (const key of ['etcd', 'apiserver', 'controllerManager', 'scheduler'] as const) lab.plane.revive(key)
  lab.links.api?.setWeather('fair')
  lab.links.guards.setWeather('fair')
}
