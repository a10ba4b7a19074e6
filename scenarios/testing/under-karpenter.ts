import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type Karpenter, startKarpenter } from '@cofferdam/simulator/world/tools/karpenter.ts'
import { type KarpenterSeed, seedKarpenter } from '@cofferdam/simulator/world/tools/testing/seed-karpenter.ts'
import { type LockFixture, openLockFixture } from './lock-fixture.ts'

export interface UnderKarpenter extends LockFixture {
  readonly karpenter: Karpenter
  /** Whether node-2 is. */
  isGone(): boolean
}

/** Three nodes with a pod each that stays for a reboot; the second is Karpenter's, which takes empty nodes at once. */
export async function openUnderKarpenter(seed: Partial<KarpenterSeed> = {}): Promise<UnderKarpenter> {
  const fixture = await openLockFixture()
  const { api, clock, views, world } = fixture
  await fixture.addStaying('db')
  await seedKarpenter(api, { nodes: ['node-2'], consolidateAfter: '0s', ...seed })
  const karpenter = startKarpenter({ api, clock, views, kubelet: world.kubelet })
  return {
    ...fixture,
    karpenter,
    isGone: () => views.of(nodes).get('node-2') === undefined,
    async close() {
      karpenter.stop()
      await fixture.close()
    },
  }
}

/** A request after which node-2 is empty. */
export const everyPodLeaves = { nodeName: 'node-2', honourSkipDrain: false }
