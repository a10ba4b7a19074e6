import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { manageAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import type { ClusterShape } from '../story.ts'
import { type Deeds, openDeeds, smallShape } from './testing/open-deeds.ts'

let deeds: Deeds
afterEach(() => deeds.stage.close())

const withOsds: ClusterShape = {
  ...smallShape,
  file: { ...smallShape.file, ceph: { pools: [{ name: 'replicapool', failureDomain: 'host', pgs: 8 }] } },
  osds: [0, 1, 2],
}
const withLonghorn: ClusterShape = {
  ...smallShape,
  file: { ...smallShape.file, longhorn: { volumes: [{ name: 'data' }] } },
  volumes: ['data'],
}

it('an override takes the storage from a request that holds it, which says so', async () => {
  deeds = await openDeeds(withOsds)
  await deeds.perform('two people ask for two nodes at the same moment')
  await deeds.perform('an administrator breaks the glass for a node', 2)
  await deeds.stage.clock.advance(3_000)
  const { items } = await deeds.stage.api.list(nodeDisruptions)
  const reasons = items.flatMap(({ status }) => (status?.blockedBy ?? []).map(({ reason }) => reason))
  expect(reasons).toContain('LocksBroken')
})

it('Longhorn decides alone for a while, and then Cofferdam is in charge as before', async () => {
  deeds = await openDeeds(withLonghorn)
  const mode = async () => {
    const setting = await deeds.stage.api.get(longhornSettings, {
      namespace: 'longhorn-system',
      name: drainPolicySetting,
    })
    return setting.metadata.annotations?.[manageAnnotation]
  }
  const before = await mode()
  const done = deeds.perform('Longhorn is handed back, and over again')
  await deeds.stage.clock.advance(2_000)
  expect([before, await mode()]).toEqual(['hold', undefined])
  await done
  expect(await mode()).toBe('hold')
})
