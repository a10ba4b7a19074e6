import { readFileSync } from 'node:fs'
import { nodes, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { type CephFixture, openCephFixture } from '../testing/ceph-fixture.ts'
import { type CrashScenario, type CrashStory, crashScenario } from './crash-scenario.ts'
import { drainPersistently } from './persistent-drain.ts'

/** Three zones with a node each, and two OSDs on each node. */
const threeZones = () => readFileSync('examples/clusters/ceph-zones.yaml', 'utf8')

/** Four hosts of which one can take over the data of another; a minute of maintenance, and an OSD is out after a minute more. */
const fourHosts = (pools = '{ name: replicapool, failureDomain: host }') => `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall }]
nodes: [{ name: "node-{n}", count: 4 }]
ceph:
  osds: { perNode: 2 }
  pools: [${pools}]
  disruptionManagement: { osdMaintenanceTimeout: 1 }
  pace: { recoveryPgsPerSecond: 2, outAfterSeconds: 60 }
`

const isCalm = (fixture: CephFixture) => () => fixture.osdBudgets().join() === 'rook-ceph-osd'

async function calm(fixture: CephFixture, withinSeconds = 400): Promise<void> {
  await fixture.until('the default budget stands alone', isCalm(fixture), withinSeconds)
}

type Story = Pick<CrashStory<CephFixture>, 'title' | 'act'> & { readonly file?: () => string }

function onCeph({ title, act, file = threeZones }: Story): CrashScenario {
  return crashScenario<CephFixture>({
    title,
    open: () => openCephFixture(file(), { isGuarded: true }),
    async act(fixture) {
      await calm(fixture, 60)
      await fixture.seconds(5)
      await act(fixture)
    },
    facts: async (fixture) => [
      `noout: ${(await fixture.nooutBuckets()).sort().join()}`,
      `running: ${fixture.runningOsds().join()}`,
    ],
  })
}

export const cephCrashScenarios = {
  'drain-one': onCeph({
    title: 'a zone is drained and comes back',
    async act(fixture) {
      await drainPersistently(fixture, 'node-a')
      await fixture.uncordon('node-a')
      await calm(fixture)
    },
  }),
  'drain-two-domains': onCeph({
    title: 'a second zone waits until the first is back and clean, and goes then',
    async act(fixture) {
      await drainPersistently(fixture, 'node-a')
      const second = drainPersistently(fixture, 'node-b')
      await fixture.seconds(20)
      await fixture.uncordon('node-a')
      await second
      await fixture.uncordon('node-b')
      await calm(fixture)
    },
  }),
  'drain-empty-osd': onCeph({
    title: 'the first OSDs that are drained have no placement group',
    file: () => fourHosts('{ name: .mgr, failureDomain: host, pgs: 1 }'),
    async act(fixture) {
      for (const node of ['node-1', 'node-4']) {
        await drainPersistently(fixture, node)
        await fixture.uncordon(node)
        await calm(fixture)
      }
    },
  }),
  'drain-while-disk-dead': onCeph({
    title: 'a disk is dead, its data clean elsewhere, and another zone is drained',
    async act(fixture) {
      fixture.failOsd(1)
      await fixture.until(
        'the budget leaves it out',
        () => fixture.budgetText('rook-ceph-osd') === 'maxUnavailable 1, without osd 1',
        400,
      )
      await drainPersistently(fixture, 'node-b')
      await fixture.uncordon('node-b')
      await calm(fixture)
    },
  }),
  'drain-node-never-returns': onCeph({
    title: 'a drained host stays away, its data is rebuilt, and another one is drained',
    file: fourHosts,
    async act(fixture) {
      await drainPersistently(fixture, 'node-1')
      await fixture.until('noout has expired', async () => (await fixture.nooutBuckets()).length === 0, 400)
      await calm(fixture)
      await drainPersistently(fixture, 'node-4')
      await fixture.uncordon('node-4')
      await calm(fixture)
    },
  }),
  'drain-node-deleted': onCeph({
    title: 'a drained host is deleted for good',
    file: fourHosts,
    async act(fixture) {
      await drainPersistently(fixture, 'node-1')
      await fixture.api.delete(nodes, { name: 'node-1' })
      await calm(fixture)
    },
  }),
  'cordon-only-weeks': onCeph({
    title: 'a host is cordoned, never drained, for far longer than maintenance may take',
    file: fourHosts,
    async act(fixture) {
      await fixture.cordon('node-1')
      await fixture.seconds(300)
      await drainPersistently(fixture, 'node-4')
      await fixture.uncordon('node-4')
      await calm(fixture)
      await fixture.uncordon('node-1')
      await calm(fixture)
    },
  }),
  'uncordon-mid-drain': onCeph({
    title: 'an OSD of a cordoned node has left when the drain is called off',
    async act(fixture) {
      await fixture.cordon('node-a')
      await fixture.seconds(5)
      const [osd] = [...fixture.views.of(pods).values()].filter(
        ({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-osd' && spec.nodeName === 'node-a',
      )
      await evictPod(fixture.api, { namespace: 'rook-ceph', name: osd?.metadata.name ?? '' }).catch(() => undefined)
      await fixture.seconds(10)
      await fixture.uncordon('node-a')
      await calm(fixture)
    },
  }),
  'mon-move-during-drain': onCeph({
    title: 'a mon elsewhere is deleted and comes back while a zone is drained',
    async act(fixture) {
      const drained = drainPersistently(fixture, 'node-a')
      await fixture.seconds(3)
      const [mon] = [...fixture.views.of(pods).values()].filter(
        ({ metadata, spec }) => metadata.labels?.['app'] === 'rook-ceph-mon' && spec.nodeName === 'node-c',
      )
      await fixture.api.delete(pods, { namespace: 'rook-ceph', name: mon?.metadata.name ?? '' })
      await drained
      await fixture.uncordon('node-a')
      await calm(fixture)
    },
  }),
  'webhook-cert-rotate': onCeph({
    title: 'the certificate of the guard is lost, and made anew, while a zone is drained',
    async act(fixture) {
      const drained = drainPersistently(fixture, 'node-a')
      await fixture.seconds(3)
      const { namespace } = operatorAccount
      const { items } = await fixture.api.list(secrets, { namespace })
      for (const { metadata } of items) await fixture.api.delete(secrets, { namespace, name: metadata.name })
      await drained
      await fixture.uncordon('node-a')
      await calm(fixture)
      await fixture.until(
        'there is a certificate',
        async () => (await fixture.api.list(secrets, { namespace })).items.length > 0,
        120,
      )
    },
  }),
} satisfies Record<string, CrashScenario>
