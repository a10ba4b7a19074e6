import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { container, deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import {
  type ClusterAutoscaler,
  type ClusterAutoscalerOptions,
  startClusterAutoscaler,
} from '@cofferdam/simulator/world/tools/cluster-autoscaler.ts'
import { type LockFixture, openLockFixture } from './lock-fixture.ts'

/** A cluster-autoscaler that takes nodes of its group after two minutes without use; the last one too. */
export function autoscale(
  { api, clock, views, world }: LockFixture,
  options: Partial<ClusterAutoscalerOptions> = {},
): ClusterAutoscaler {
  const ports = { api, clock, views, kubelet: world.kubelet }
  return startClusterAutoscaler(ports, { group: ['node-2'], minSize: 0, unneededSeconds: 120, ...options })
}

/** An application that needs a quarter of every node: none of them is without use, until one is drained. */
export async function openBusyNodes(): Promise<LockFixture> {
  const fixture = await openLockFixture()
  const busy = { ...container, resources: { requests: { cpu: '1' } } }
  const web = deployment('web', { replicas: 3, pod: { containers: [busy] } })
  await fixture.api.create(deployments, { ...web, metadata: { name: 'web', namespace: 'shop' } })
  await fixture.seconds(10)
  return fixture
}
