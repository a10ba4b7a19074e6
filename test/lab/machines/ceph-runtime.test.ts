import { setImmediate as settled } from 'node:timers/promises'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { RunningContainer } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { expect, it } from 'vitest'
import type { DaemonName, DaemonStart } from '../ceph/lab-ceph.ts'
import type { Daemon, DaemonEnd } from '../processes/daemon.ts'
import { cephRuntime } from './ceph-runtime.ts'

interface FakeDaemon extends Daemon {
  end(end: DaemonEnd): void
}

/** Daemons that only end when the test or a SIGKILL ends them. */
function fakeCeph() {
  const started: FakeDaemon[] = []
  const latest = new Map<DaemonName, FakeDaemon>()
  const told: string[] = []
  const launch = (name: DaemonName): FakeDaemon => {
    let isRunning = true
    let resolve: (end: DaemonEnd) => void = () => {}
    const ended = new Promise<DaemonEnd>((fulfil) => {
      resolve = fulfil
    })
    const daemon: FakeDaemon = {
      name,
      pid: 1,
      logFile: '',
      ended,
      isRunning: () => isRunning,
      wasSignalled: () => false,
      end(end) {
        isRunning = false
        resolve(end)
      },
      signal: (signal) => daemon.end({ code: null, signal }),
      stop: async () => {
        told.push(`stop ${name}`)
        await ended
      },
    }
    started.push(daemon)
    latest.set(name, daemon)
    return daemon
  }
  return {
    started,
    told,
    daemon: (name: DaemonName) => latest.get(name),
    start: (name: DaemonName, { isBroken }: DaemonStart = {}): Daemon => {
      if (isBroken) told.push(`break ${name}`)
      const last = latest.get(name)
      return last?.isRunning() ? last : launch(name)
    },
    ready: async () => {},
  }
}

const journal = { tell: () => {}, text: () => '' }

function pod(name: string, labels: Record<string, string>, namespace = 'rook-ceph'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-${name}`, labels },
    spec: { containers: [] },
  }
}

const osd3 = (name: string) => pod(name, { app: 'rook-ceph-osd', osd: '3' })

it('runs the daemon that the labels name, and nothing for pods of others', async () => {
  const ceph = fakeCeph()
  const runtime = cephRuntime(ceph, 'rook-ceph', journal)
  const others = [
    pod('web', { app: 'web' }),
    pod('osd', { app: 'rook-ceph-osd', osd: '0' }, 'elsewhere'),
    pod('mds', { app: 'rook-ceph-mds', mds: 'a' }),
  ]
  expect(others.map((other) => runtime.start(other))).toEqual([undefined, undefined, undefined])
  const container = runtime.start(pod('mgr', { app: 'rook-ceph-mgr', mgr: 'a' })) as RunningContainer
  await container.ready
  expect(ceph.started.map(({ name }) => name)).toEqual(['mgr.a'])
  container.kill()
  expect(await container.ended).toBe(137)
})

it('takes over a daemon that runs already, so that the first pods do not restart a whole Ceph', async () => {
  const ceph = fakeCeph()
  ceph.start('osd.3')
  const container = cephRuntime(ceph, 'rook-ceph', journal).start(osd3('a')) as RunningContainer
  await container.ready
  expect(ceph.started).toHaveLength(1)
  const stopped = container.stop(30)
  ceph.started[0]?.end({ code: 0, signal: null })
  await stopped
  expect([ceph.told, await container.ended]).toEqual([['stop osd.3'], 0])
})

it('a second pod of one daemon waits for the process of the first, so that two never open one store', async () => {
  const ceph = fakeCeph()
  const runtime = cephRuntime(ceph, 'rook-ceph', journal)
  const first = runtime.start(osd3('a')) as RunningContainer
  await first.ready
  const second = runtime.start(osd3('b')) as RunningContainer
  await settled()
  expect(ceph.started).toHaveLength(1)
  ceph.started[0]?.end({ code: 0, signal: null })
  await second.ready
  expect([ceph.started.length, await first.ended]).toEqual([2, 0])
})

it('a pod that goes while it waits never starts the daemon, and the next still waits for the first', async () => {
  const ceph = fakeCeph()
  const runtime = cephRuntime(ceph, 'rook-ceph', journal)
  await (runtime.start(osd3('a')) as RunningContainer).ready
  const second = runtime.start(osd3('b')) as RunningContainer
  const third = runtime.start(osd3('c')) as RunningContainer
  await second.stop(30)
  await expect(second.ready).rejects.toThrow('was given up before it started')
  await settled()
  expect([ceph.started.length, ceph.told]).toEqual([1, []])
  ceph.started[0]?.end({ code: null, signal: 'SIGKILL' })
  await third.ready
  expect(ceph.started).toHaveLength(2)
})

it('the same pod asked for twice gets what it has, as after a restart of the kubelet', async () => {
  const ceph = fakeCeph()
  const runtime = cephRuntime(ceph, 'rook-ceph', journal)
  const container = runtime.start(osd3('a'))
  expect(runtime.start(osd3('a'))).toBe(container)
  await settled()
  expect(ceph.started).toHaveLength(1)
})

it('a pod of a broken image gets a daemon that is broken, and one of a good image after it a good one', async () => {
  const ceph = fakeCeph()
  const runtime = cephRuntime(ceph, 'rook-ceph', journal)
  const withImage = (name: string, image: string): Pod => ({
    ...osd3(name),
    spec: { containers: [{ name: 'osd', image }] },
  })
  await (runtime.start(withImage('a', 'registry.example/ceph:v20-broken')) as RunningContainer).ready
  ceph.started[0]?.end({ code: 1, signal: null })
  await (runtime.start(withImage('b', 'registry.example/ceph:v20')) as RunningContainer).ready
  expect([ceph.started.length, ceph.told]).toEqual([2, ['break osd.3']])
})
