import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { expect, it } from 'vitest'
import { createLog } from '../../operator/log.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { startDemo } from './start-demo.ts'

const small = `
pace: { readyAfterSeconds: 0, terminationSeconds: 0 }
zones: [{ name: a }, { name: b }]
nodes: [{ name: "worker-{zone}", roles: [worker] }]
apps:
  - { name: web, namespace: shop, replicas: 2, spread: zone, pdb: { maxUnavailable: 1 } }
`

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 1_500; tries += 1) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    await sleep(realClock, 10)
  }
  throw new Error('it never came about')
}

it('in the demo an owner’s lock stops evictions and drains alike, with the guard’s own words, until it is taken away', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-demo-'))
  const demo = await startDemo({
    description: parseClusterFile(small, 'small.yaml'),
    clock: realClock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  const { api } = demo
  const budget = { namespace: 'shop', name: 'web' }
  const setLock = (lock: string | null) =>
    api.patch(podDisruptionBudgets, budget, {
      type: 'merge',
      body: { metadata: { annotations: { 'cofferdam.io/lock': lock } } },
    })
  try {
    await demo.whenReady({ withinMs: 30_000, signal: new AbortController().signal })
    await until(() => api.get(validatingWebhookConfigurations, { name: 'cofferdam-eviction-guard' }))
    const endsAt = new Date(Date.now() + 3_600_000).toISOString()
    await setLock(JSON.stringify({ until: endsAt, holder: 'bob', reason: 'rebalance' }))
    const [pod] = (await api.list(pods, { namespace: 'shop', fieldSelector: 'spec.nodeName=worker-a' })).items
    const name = pod?.metadata.name ?? ''
    const refusal = await until(() =>
      evictPod(api, { namespace: 'shop', name }, { dryRun: true }).then(
        () => undefined,
        (error: Error) => error.message,
      ),
    )
    expect(refusal).toContain(`Pod shop/${name} must stay: bob locked budget shop/web until`)
    await api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'reboot-a' },
      spec: { nodeName: 'worker-a', intent: 'Reboot', honourSkipDrain: true },
    })
    const blocked = await until(async () => (await api.get(nodeDisruptions, { name: 'reboot-a' })).status?.blockedBy)
    expect(blocked.map(({ object, reason, holder }) => [object, reason, holder])).toEqual([
      ['pdb/shop/web', 'AppLocked', 'bob'],
    ])
    await setLock(null)
    await until(async () => {
      const { status } = await api.get(nodeDisruptions, { name: 'reboot-a' })
      return status?.phase === 'Drained' ? status : undefined
    })
    expect((await api.list(pods, { fieldSelector: 'spec.nodeName=worker-a' })).items).toEqual([])
  } finally {
    await demo.stop()
    rmSync(home, { recursive: true, force: true })
  }
}, 30_000)
