import { type UpgradePlan, upgradePlans } from '@cofferdam/kubernetes/api/kinds/system-upgrade.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions, jobs, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { upgradePlanDefinition } from '../../cluster-file/system-upgrade-definitions.ts'
import { startWorld } from '../start-world.ts'
import { node, openScenario } from '../testing/scenario.ts'
import { startSystemUpgrade } from './system-upgrade.ts'
import { type UpgradeRun, type UpgradeWork, upgradePods } from './upgrade-pods.ts'

const plan: UpgradePlan = {
  apiVersion: 'upgrade.cattle.io/v1',
  kind: 'Plan',
  metadata: {
    name: 'os',
    namespace: 'default',
    annotations: { 'example.com/team': 'a', 'upgrade.cattle.io/digest': '' },
  },
  spec: {
    concurrency: 2,
    version: 'v1+k3s1',
    prepare: { image: 'check:1', args: ['check', '$(SYSTEM_UPGRADE_NODE_NAME)'] },
    cordon: true,
    upgrade: { image: 'upgrade:1' },
  },
}

async function open(work: UpgradeWork, more: Partial<UpgradePlan['spec']> = {}) {
  const scenario = openScenario(1)
  const { api, clock, random } = scenario
  await api.create(customResourceDefinitions, upgradePlanDefinition())
  for (const number of [1, 2, 3]) await api.create(nodes, node(number))
  const world = startWorld({ api, clock, random, kubelet: { runtime: upgradePods({ api, clock }, work) } })
  const controller = startSystemUpgrade({ api, clock, random, views: world.views })
  await scenario.seconds(5)
  await api.create(upgradePlans, { ...plan, spec: { ...plan.spec, ...more } })
  return {
    ...scenario,
    complete: async () => {
      const { status, reason } = conditionOf((await api.list(upgradePlans)).items[0] as UpgradePlan, 'Complete') ?? {}
      return `${status} ${reason}`
    },
    stop() {
      controller.stop()
      world.stop()
      scenario.stop()
    },
  }
}

describe('system-upgrade-controller', () => {
  it('applies a Plan to as many nodes at a time as it allows, prepares each first, and opens it again', async () => {
    const running = new Set<string>()
    const seen: string[] = []
    let most = 0
    const note = (what: string) => async (run: UpgradeRun) => {
      seen.push([what, ...run.args].join(' '))
      running.add(run.nodeName)
      most = Math.max(most, running.size)
      if (what === 'upgrade') running.delete(run.nodeName)
      return 0
    }
    const { api, complete, seconds, stop } = await open({ prepare: note('prepare'), upgrade: note('upgrade') })
    await seconds(120)
    expect([await complete(), most]).toEqual(['True Complete', 2])
    expect(seen.filter((line) => line.startsWith('prepare')).sort()).toEqual(
      [1, 2, 3].map((number) => `prepare check node-${number}`),
    )
    const { items } = await api.list(nodes)
    const hashes = items.map(({ metadata }) => metadata.labels?.['plan.upgrade.cattle.io/os'])
    expect([new Set(hashes).size, hashes.includes(undefined)]).toEqual([1, false])
    expect(items.map(({ spec }) => spec?.unschedulable === true)).toEqual([false, false, false])
    const [job] = (await api.list(jobs)).items
    expect(job?.spec.template.metadata?.annotations).toEqual({ 'example.com/team': 'a' })
    stop()
  })

  it('stops at a node whose Job has failed for good, and leaves it cordoned', async () => {
    const { api, complete, seconds, stop } = await open({ upgrade: async () => 1 }, { concurrency: 1 })
    await seconds(300)
    expect(await complete()).toBe('False JobFailed')
    const { items } = await api.list(nodes)
    expect(items.filter(({ spec }) => spec?.unschedulable === true)).toHaveLength(1)
    stop()
  })
})
