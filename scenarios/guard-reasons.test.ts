import { readFileSync } from 'node:fs'
import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterEach, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { openLonghornFixture } from './testing/longhorn-fixture.ts'
import { pair } from './testing/longhorn-rows.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: Pick<CephFixture, 'close'>
afterEach(() => fixture.close())

const cluster = readFileSync(new URL('../examples/clusters/default.yaml', import.meta.url), 'utf8')

/** `429 Pod … must stay: …`, as kubectl prints it while it tries again. */
async function refusalOf(api: KubeApi, name: string, namespace: string): Promise<string> {
  try {
    await evictPod(api, { namespace, name }, { dryRun: true })
    return 'granted'
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`
    throw error
  }
}

async function podOn(api: KubeApi, node: string, labelSelector: string): Promise<string> {
  const { items } = await api.list(pods, { labelSelector, fieldSelector: `spec.nodeName=${node}` })
  return items[0]?.metadata.name ?? ''
}

it('whoever evicts an OSD while another zone is drained reads in kubectl which zone that is, since when and what ends it, in the words of explain', async () => {
  const opened = await openCephFixture(cluster, { isGuarded: true })
  fixture = opened
  opened.startOperator()
  await opened.seconds(30)
  await writeOperatorLease(opened)
  const drain = opened.drain('worker-a1')
  await opened.until('worker-a1 is drained', drain.isOver)
  await opened.seconds(5)
  const osd = await podOn(opened.api, 'worker-b1', 'app=rook-ceph-osd')
  const says = await refusalOf(opened.api, osd, 'rook-ceph')
  expect(says).toMatch(/^429 .*Pod rook-ceph\/rook-ceph-osd-.* must stay: zone b waits until a is back/)
  expect(says).toMatch(
    /\(OtherDomainDown since 2026-01-01T.*Z, held by cephcluster\/rook-ceph\/rook-ceph\); it waits for /,
  )
  const { answer } = await askExplain(opened, `pod/rook-ceph/${osd}`)
  expect(answer.mayGo).toBe(false)
  const [blocker] = answer.blockers
  expect(says).toContain(blocker?.unblocks)
  expect(says).toContain(`(cofferdam explain pod/rook-ceph/${osd}).`)

  // Nobody was refused who could have gone, and what was refused goes by itself later.
  await opened.uncordon('worker-a1')
  await opened.until('the OSD may go', async () => (await refusalOf(opened.api, osd, 'rook-ceph')) === 'granted')
  expect(opened.oracle.violations).toEqual([])
})

it('whoever evicts an instance manager of Longhorn reads in kubectl which replica holds its node', async () => {
  const opened = await openLonghornFixture(
    { volumes: [pair] },
    { policy: 'block-for-eviction', annotations: { 'cofferdam.io/manage': 'hold' } },
  )
  fixture = opened
  opened.operate({ isGuard: true })
  await opened.seconds(5)
  await opened.cordon('node-1')
  await opened.seconds(5)
  const manager = await podOn(opened.api, 'node-1', 'longhorn.io/component=instance-manager')
  // Longhorn is read with the first question, and the budget answers that one by itself.
  await refusalOf(opened.api, manager, 'longhorn-system')
  await opened.seconds(5)
  const says = await refusalOf(opened.api, manager, 'longhorn-system')
  expect(says).toMatch(/^429 .*must stay: .*[Rr]eplica .* of volume /)
  const { answer } = await askExplain(opened, `pod/longhorn-system/${manager}`)
  expect(says).toContain(answer.blockers[0]?.reason)
  expect(says).toContain((answer.blockers[0]?.explanation ?? '').replace(/\.$/, ''))
})
