import {
  deployments,
  namespaces,
  nodes,
  podDisruptionBudgets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { disruptionPolicies, policyName } from '@cofferdam/product/shared/kinds/disruption-policy.ts'
import { budget, deployment, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { computeNodes, storageNodes } from './fencing-cluster.ts'
import { type FencingFixture, openFencingFixture } from './fencing-fixture.ts'

export const shop = 'shop'
export const controlNodes = ['control-1', 'control-2', 'control-3']
const storage = 9
const compute = 88

export const workers = [...storageNodes(storage), ...computeNodes(compute)]

/** Applications that leave a node that is drained, and one that stays on its nodes; each with a budget. */
const leaving = { web: [30, 3], api: [12, 1], queue: [5, 1] } as const
const staying = { db: [7, 1] } as const
export const budgetNames = [...Object.keys(leaving), ...Object.keys(staying)]

const patient = ['not-ready', 'unreachable'].map((absence) => ({
  key: `node.kubernetes.io/${absence}`,
  operator: 'Exists' as const,
  effect: 'NoExecute' as const,
  tolerationSeconds: 1_200,
}))

/**
 * A hundred nodes: a control plane of three, nine with OSDs, eighty-eight without, in three zones. Ten may be in maintenance at once, and
 * a remediator reboots every node that has not been Ready for three minutes.
 */
export async function openHundredNodes(seed: number): Promise<FencingFixture> {
  const fixture = await openFencingFixture({
    seed,
    storage,
    compute,
    domain: 'zone',
    remediator: 'medik8s',
    remedy: 'reboot',
    notReadySeconds: 180,
    recoveryPgsPerSecond: 8,
    truthEvery: 5,
    timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
  })
  const { api } = fixture
  for (const name of controlNodes) {
    const body = { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } }
    await api.patch(nodes, { name }, { type: 'merge', body })
  }
  await setMost(fixture, 10)
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: shop } })
  for (const [name, [replicas, maxUnavailable]] of Object.entries(leaving)) {
    const metadata = { name, namespace: shop }
    await api.create(deployments, { ...deployment(name, { replicas }), metadata })
    await api.create(podDisruptionBudgets, { ...budget(name, { maxUnavailable }), metadata })
  }
  for (const [name, [replicas, maxUnavailable]] of Object.entries(staying)) {
    const metadata = { name, namespace: shop }
    const apart = [{ labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' }]
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } }
    const set = statefulSet(name, {
      replicas,
      pod: { affinity, tolerations: patient },
      annotations: { 'cofferdam.io/skip-drain': 'true' },
      podManagementPolicy: 'Parallel',
    })
    await api.create(statefulSets, { ...set, metadata })
    await api.create(podDisruptionBudgets, { ...budget(name, { maxUnavailable }), metadata })
  }
  await fixture.seconds(30)
  return fixture
}

/** How many nodes may be in maintenance at once. */
export async function setMost({ api }: FencingFixture, maxNodes: number): Promise<void> {
  const spec = { limits: [{ name: 'all', maxNodes }] }
  const policy = {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'DisruptionPolicy',
    metadata: { name: policyName },
    spec,
  }
  const present = await api.get(disruptionPolicies, { name: policyName }).catch(() => undefined)
  if (present === undefined) await api.create(disruptionPolicies, policy)
  else await api.update(disruptionPolicies, { ...present, spec })
}
