import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { expect, it } from 'vitest'
import { openScenario } from '../world/testing/scenario.ts'
import { reportCephHealth } from './report-ceph-health.ts'
import { rookDefinitions } from './rook-definitions.ts'

const cluster = { namespace: 'default', name: 'rook-ceph' }

function statusAnswer(health: string) {
  const osdmap = { epoch: 1, num_osds: 0, num_up_osds: 0, num_in_osds: 0 }
  const pgmap = { num_pgs: 0, pgs_by_state: [] }
  const out = JSON.stringify({
    fsid: 'f-1',
    health: { status: health, checks: {} },
    quorum_names: ['a'],
    osdmap,
    pgmap,
  })
  return { code: 0, out, err: '' }
}

it('the CephCluster says how Ceph is, is written on a change only, and outlives a Ceph that does not answer', async () => {
  const scenario = openScenario()
  const { api, clock } = scenario
  for (const definition of rookDefinitions()) await api.create(customResourceDefinitions, definition)
  const object: CephCluster = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: cluster, spec: {} }
  await api.create(cephClusters, object)
  let health: string | undefined = 'HEALTH_OK'
  const commands = {
    run: () =>
      health === undefined
        ? Promise.reject(new CofferdamError('CEPH_UNREACHABLE', 'no mon answers'))
        : Promise.resolve(statusAnswer(health)),
  }
  const ending = new AbortController()
  const ended = reportCephHealth({ api, clock, commands, cluster }, ending.signal)
  const read = async () => (await api.get(cephClusters, cluster)) as CephCluster & { status?: { ceph?: unknown } }
  try {
    await scenario.seconds(1)
    const first = await read()
    expect(first.status?.ceph).toEqual({ health: 'HEALTH_OK', fsid: 'f-1', lastChanged: '2026-01-01T00:00:00Z' })
    await scenario.seconds(20)
    expect((await read()).metadata.resourceVersion).toBe(first.metadata.resourceVersion)

    health = undefined
    await scenario.seconds(10)
    health = 'HEALTH_WARN'
    await scenario.seconds(10)
    expect((await read()).status?.ceph).toEqual({
      health: 'HEALTH_WARN',
      fsid: 'f-1',
      lastChanged: '2026-01-01T00:00:32Z',
      previousHealth: 'HEALTH_OK',
    })
  } finally {
    ending.abort()
    await ended
    scenario.stop()
  }
})
