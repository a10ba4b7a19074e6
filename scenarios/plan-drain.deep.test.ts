import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { type DisruptionPolicy, disruptionPolicies } from '@cofferdam/product/shared/kinds/disruption-policy.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { carryOutPlan } from './testing/plan-run.ts'

/** `COFFERDAM_SEEDS=5,6,7` plans other clusters than these. */
const seeds = (process.env['COFFERDAM_SEEDS'] ?? '1,2,3').split(',').map(Number)

let fixture: CephFixture | LonghornFixture
afterEach(() => fixture.close())

const mib = 1024 ** 2
const chanceOf = (random: Random) => ({
  whole: (from: number, to: number) => from + Math.floor(random.next() * (to - from + 1)),
  oneOf: <T>(...choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)] as T,
})
type Chance = ReturnType<typeof chanceOf>

/** Three zones with one to three nodes each, applications that stay or leave, and Ceph over zones or hosts. */
function randomCephFile({ whole, oneOf }: Chance): string {
  const domain = oneOf('zone', 'zone', 'host')
  const zones = ['a', 'b', 'c'].map((zone) => `  - { name: 'worker-${zone}{n}', zone: ${zone}, count: ${whole(1, 3)} }`)
  const apps = Array.from({ length: whole(1, 3) }, (_, at) => {
    const replicas = whole(2, 3)
    const stays = oneOf(true, false, false)
    return `  - { name: app-${at}, namespace: shop, kind: StatefulSet, replicas: ${replicas}, spread: host, skipDrain: ${stays}, pdb: { maxUnavailable: 1 } }`
  })
  return `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: a }, { name: b }, { name: c }]
nodes:
${zones.join('\n')}
apps:
${apps.join('\n')}
ceph:
  osds: { perNode: ${whole(1, 2)} }
  pools: [{ name: replicapool, failureDomain: ${domain} }, { name: .mgr, failureDomain: ${domain}, pgs: 1 }]
  pace: { recoveryPgsPerSecond: 4, outAfterSeconds: 600 }
`
}

async function limitNodes(api: KubeApi, maxNodes: number): Promise<void> {
  const policy: DisruptionPolicy = {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionPolicy',
    metadata: { name: 'cluster' },
    spec: { limits: [{ name: 'all', maxNodes }] },
  }
  await api.create(disruptionPolicies, policy)
}

async function lockFirst({ api, clock }: CephFixture, seconds: number): Promise<void> {
  const until = new Date(clock.now() + seconds * 1_000).toISOString()
  const text = JSON.stringify({ holder: 'ann', until, reason: 'migration' })
  const body = { metadata: { annotations: { [appLockAnnotation]: text } } }
  await api.patch(podDisruptionBudgets, { namespace: 'shop', name: 'app-0' }, { type: 'merge', body })
}

describe('the waves of a plan, carried out by the operator', () => {
  it.each(seeds)(
    'on Ceph over zones or hosts, with locks and limits: every node is rebooted once, no data and no budget is harmed, and nothing waits for ever (seed %i)',
    async (seed) => {
      const chance = chanceOf(seededRandom(seed * 7_919))
      const opened = await openCephFixture(randomCephFile(chance), { seed, isGuarded: true })
      fixture = opened
      opened.startOperator()
      await opened.seconds(60)
      const most = chance.oneOf(undefined, 1, 2)
      if (most !== undefined) await limitNodes(opened.api, most)
      const isLocked = chance.oneOf(true, false)
      if (isLocked) await lockFirst(opened, 240)
      await opened.seconds(10)
      const done = await carryOutPlan(opened, ['--force', '--delete-emptydir-data'])
      const { plan, code, says } = done
      expect(plan.never).toEqual([])
      expect({ says: code === 0 ? '' : says, code, harmed: done.harmed, rebooted: done.rebooted.toSorted() }).toEqual({
        says: '',
        code: 0,
        harmed: [],
        rebooted: plan.waves.flat().toSorted(),
      })
      expect(opened.oracle.violations).toEqual([])
      expect(done.mostDown).toBeLessThanOrEqual(most ?? Number.POSITIVE_INFINITY)
    },
  )

  it.each(seeds)(
    'on Longhorn with one to three copies and any drain policy: every node of a wave is rebooted once, no volume loses its last copy (seed %i)',
    async (seed) => {
      const { whole, oneOf } = chanceOf(seededRandom(seed * 104_729))
      const nodeCount = whole(3, 5)
      const volumes = Array.from({ length: whole(2, 4) }, (_, at) => ({
        name: `vol-${at}`,
        numberOfReplicas: whole(1, 3),
        filled: 0.25,
        sizeBytes: 64 * mib,
      }))
      const policy = oneOf(
        'block-for-eviction',
        'block-if-contains-last-replica',
        'block-for-eviction-if-contains-last-replica',
      )
      const opened = await openLonghornFixture(
        { volumes, timings: { rebuildBytesPerSecond: 8 * mib } },
        { nodeCount, seed, policy },
      )
      fixture = opened
      opened.operate({ isGuard: true })
      for (const { name } of volumes) if (oneOf(true, true, false)) await opened.use(name)
      await opened.seconds(30)
      const done = await carryOutPlan({ ...opened, machines: opened.world.kubelet }, [
        '--force',
        '--delete-emptydir-data',
      ])
      const { plan, code, says, rebooted } = done
      expect({ says: code === 0 ? '' : says, code, rebooted: rebooted.toSorted() }).toEqual({
        says: '',
        code: 0,
        rebooted: plan.waves.flat().toSorted(),
      })
      expect(
        plan.never
          .flatMap(({ reasons }) => reasons.map(({ reason }) => reason))
          .filter((each) => each !== 'StorageNeedsNode'),
      ).toEqual([])
      expect(opened.isIntact(...volumes.map(({ name }) => name))).toBe(true)
      expect(opened.oracle.violations).toEqual([])
    },
  )
})
