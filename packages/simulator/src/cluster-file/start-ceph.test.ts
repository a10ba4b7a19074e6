import { readFileSync } from 'node:fs'
import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, deployments, jobs, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { parsePrepareStatus } from '@cofferdam/product/capabilities/osd-update/domain/prepare-status.ts'
import { expect, it } from 'vitest'
import { startWorld } from '../world/start-world.ts'
import { openScenario } from '../world/testing/scenario.ts'
import { parseClusterFile } from './cluster-file.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import { observeReadiness } from './readiness.ts'
import { seedCluster } from './seed-cluster.ts'
import { startCeph } from './start-ceph.ts'

it('the Ceph of the default cluster is up and clean in less than half a minute, lacks only an operator, makes OSDs of new disks, and loses an OSD with its disk', async () => {
  const file = new URL('../../../../examples/clusters/default.yaml', import.meta.url)
  const description = parseClusterFile(readFileSync(file, 'utf8'), 'default.yaml')
  const scenario = openScenario()
  const { api, clock, random } = scenario
  const { readyAfterSeconds: readySeconds, terminationSeconds } = description.pace
  const world = startWorld({ api, clock, random, kubelet: { readySeconds, terminationSeconds } })
  const ceph = startCeph(description.ceph as CephClusterDescription, { api, clock, random, world })
  try {
    await seedCluster(api, description)
    await scenario.seconds(5)
    expect((await observeReadiness(api, [ceph])).waitingFor).not.toEqual([])
    await scenario.seconds(20)
    expect((await observeReadiness(api, [ceph])).waitingFor).toEqual(['budget rook-ceph/rook-ceph-osd'])
    const cluster = (await api.get(cephClusters, { namespace: 'rook-ceph', name: 'rook-ceph' })) as CephCluster & {
      readonly status: unknown
    }
    expect(cluster.status).toMatchObject({ phase: 'Ready', ceph: { health: 'HEALTH_OK' } })

    const { commandsOf } = ceph
    expect(commandsOf({ namespace: 'rook-ceph', name: 'rook-ceph' })).toBeDefined()
    expect(commandsOf({ namespace: 'elsewhere', name: 'rook-ceph' })).toBeUndefined()

    await api.patch(
      nodes,
      { name: 'worker-a1' },
      { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/disks': 'sdc' } } } },
    )
    await api.create(jobs, prepareJob('worker-a1'))
    await scenario.seconds(20)
    const name = 'rook-ceph-osd-worker-a1-status'
    const parsed = parsePrepareStatus(await api.get(configMaps, { namespace: 'rook-ceph', name }))
    const { osds } = description.ceph as CephClusterDescription
    const own = osds.filter(({ node }) => node === 'worker-a1').map(({ id }) => id)
    expect(parsed).toMatchObject({ status: { state: 'completed', osds: [...own, osds.length].map((id) => ({ id })) } })

    const osdMap = async () => {
      const { out } =
        (await commandsOf({ namespace: 'rook-ceph', name: 'rook-ceph' })?.run({ prefix: 'osd dump' })) ?? {}
      return JSON.parse(out ?? '') as { readonly osds: readonly { readonly osd: number; readonly up: number }[] }
    }
    const isUp = async (id: number) => (await osdMap()).osds.find(({ osd }) => osd === id)?.up === 1
    const wishDisk = (disk: string | null) =>
      api.patch(
        deployments,
        { namespace: 'rook-ceph', name: 'rook-ceph-osd-0' },
        { type: 'merge', body: { metadata: { annotations: { 'cofferdam.io/disk': disk } } } },
      )
    await wishDisk('failed')
    await scenario.seconds(10)
    expect([await isUp(0), await isUp(1)]).toEqual([false, true])
    await wishDisk(null)
    await scenario.seconds(20)
    expect(await isUp(0)).toBe(true)
  } finally {
    await ceph.stop()
    world.stop()
    scenario.stop()
  }
})

function prepareJob(node: string): Job {
  const labels = { app: 'rook-ceph-osd-prepare' }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `rook-ceph-osd-prepare-${node}`, namespace: 'rook-ceph', labels },
    spec: {
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'provision', image: 'registry.example/ceph:1' }],
          restartPolicy: 'OnFailure',
          nodeSelector: { 'kubernetes.io/hostname': node },
        },
      },
    },
  }
}
