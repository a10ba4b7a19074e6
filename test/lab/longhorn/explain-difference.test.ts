import { describe, expect, it } from 'vitest'
import type { LonghornOracle } from './ask-longhorn.ts'
import { compareAnswers, type Difference } from './compare-answers.ts'
import { createExplainer, judge } from './explain-difference.ts'
import type { LonghornBudgetAnswer, LonghornState } from './longhorn-state.ts'
import { buildBudget, wellSettings } from './random-longhorn.ts'

const apiVersion = 'longhorn.io/v1beta2'
const name = 'instance-manager-1'
const labels = { 'longhorn.io/component': 'instance-manager' }

/** One cordoned node with an instance manager, its budget, and nothing on it: we release. */
const empty: LonghornState = {
  settings: Object.entries(wellSettings).map(([setting, value]) => ({
    apiVersion,
    kind: 'Setting',
    metadata: { name: setting },
    value,
  })),
  kubeNodes: [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-1' },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    },
  ],
  nodes: [{ apiVersion, kind: 'Node', metadata: { name: 'node-1' }, spec: { name: 'node-1' } }],
  volumes: [],
  replicas: [],
  instanceManagers: [
    {
      apiVersion,
      kind: 'InstanceManager',
      metadata: { name, labels },
      spec: { nodeID: 'node-1', type: 'aio', dataEngine: 'v1' },
      status: { currentState: 'running' },
    },
  ],
  budgets: [buildBudget(name, labels)],
}
/** The same with a copy on a node that Kubernetes does not have. */
const haunted: LonghornState = {
  ...empty,
  replicas: [
    {
      apiVersion,
      kind: 'Replica',
      metadata: { name: 'v-r-1' },
      spec: { volumeName: 'v', nodeID: 'gone', active: true },
    },
  ],
}

/**
 * A node that a taint closes, with no budget, and on it the last copy of a volume that answers: we make a budget. Another copy is on a node
 * that Kubernetes does not have; the one here names no instance manager, and there is none of its data engine.
 */
const tainted: LonghornState = {
  ...empty,
  settings: empty.settings.map((setting) =>
    setting.metadata.name === 'kubernetes-cluster-autoscaler-enabled' ? { ...setting, value: 'true' } : setting,
  ),
  kubeNodes: empty.kubeNodes.map((node) => ({
    ...node,
    spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] },
  })),
  replicas: ['node-1', 'gone'].map((nodeID) => ({
    apiVersion,
    kind: 'Replica',
    metadata: { name: `v-r-${nodeID}` },
    spec: { volumeName: 'v', nodeID, dataEngine: 'v2', active: true, healthyAt: '2026-01-01T00:00:00Z' },
  })),
  budgets: [],
}

const second = 'instance-manager-2'
/** Two open nodes of an autoscaled cluster. Each has a copy of a volume: the one on the first node runs, the one on the second is stopped. */
const autoscaled: LonghornState = {
  ...empty,
  settings: Object.entries({
    ...wellSettings,
    'node-drain-policy': 'allow-if-replica-is-stopped',
    'kubernetes-cluster-autoscaler-enabled': 'true',
  }).map(([setting, value]) => ({ apiVersion, kind: 'Setting', metadata: { name: setting }, value })),
  kubeNodes: ['node-1', 'node-2'].map((node) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: node },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })),
  nodes: ['node-1', 'node-2'].map((node) => ({
    apiVersion,
    kind: 'Node',
    metadata: { name: node },
    spec: { name: node },
  })),
  replicas: [
    copyOf('v', { node: 'node-1', manager: name, state: 'running' }),
    copyOf('v', { node: 'node-2', manager: second, state: 'stopped' }),
  ],
  instanceManagers: [name, second].map((manager, at) => ({
    apiVersion,
    kind: 'InstanceManager',
    metadata: { name: manager, labels },
    spec: { nodeID: `node-${at + 1}`, type: 'aio', dataEngine: 'v1' },
    status: { currentState: 'running' },
  })),
  budgets: [buildBudget(name, labels), buildBudget(second, labels)],
}

function copyOf(
  volume: string,
  { node, manager, state }: { readonly node: string; readonly manager: string; readonly state: 'running' | 'stopped' },
): LonghornState['replicas'][number] {
  return {
    apiVersion,
    kind: 'Replica',
    metadata: { name: `${volume}-${node}` },
    spec: {
      volumeName: volume,
      nodeID: node,
      dataEngine: 'v1',
      active: true,
      healthyAt: '2026-01-01T00:00:00Z',
      failedAt: '',
      desireState: state,
      dataDirectoryName: `${volume}-${node}`,
    },
    status: { currentState: state, instanceManagerName: manager },
  }
}

const releases: LonghornBudgetAnswer = { instanceManager: name, does: 'delete', mayGo: 'yes' }
const holds: LonghornBudgetAnswer = { instanceManager: name, does: 'nothing', mayGo: 'no', why: 'a replica is there' }
const fails: LonghornBudgetAnswer = { instanceManager: name, does: 'nothing', mayGo: 'unknown', error: 'no such node' }

const leaves: LonghornBudgetAnswer = { instanceManager: name, does: 'nothing', mayGo: 'no' }
const makes: LonghornBudgetAnswer = { instanceManager: name, does: 'create', mayGo: 'no' }

/** As Longhorn does it: where there is no budget on a cordoned node it looks no further. */
function looksNoFurther({ kubeNodes, budgets }: LonghornState): boolean {
  return budgets.length === 0 && kubeNodes.some(({ spec }) => spec?.unschedulable)
}

/** Each of the two makes it fail. */
function failsTwice(state: LonghornState): LonghornBudgetAnswer {
  if (looksNoFurther(state)) return leaves
  const isLost = state.replicas.some(({ spec }) => spec?.nodeID === 'gone')
  const isUnnamed = state.replicas.some(({ status }) => (status?.instanceManagerName ?? '') === '')
  if (isLost || isUnnamed) return fails
  return state.budgets.length === 0 ? makes : leaves
}

/** A Longhorn that decides as it is told. */
function deciding(budget: (state: LonghornState) => LonghornBudgetAnswer): LonghornOracle {
  return { ask: async (state) => ({ budgets: [budget(state)], evictions: [] }), close: async () => {} }
}

async function explained(oracle: LonghornOracle, state: LonghornState): Promise<readonly string[] | 'the same'> {
  const judged = await judge(oracle, state)
  const { differences } = compareAnswers(judged)
  if (differences.length === 0) return 'the same'
  const causes = await createExplainer(oracle, judged)(differences[0] as Difference)
  return causes.map((cause) => cause.name)
}

describe('why Longhorn and we differ', () => {
  it('both release: there is no difference', async () => {
    expect(
      await explained(
        deciding(() => releases),
        empty,
      ),
    ).toBe('the same')
  })

  it('what Longhorn holds and we release is never explained, whatever else is there', async () => {
    expect(
      await explained(
        deciding(({ replicas }) => (replicas.length > 0 ? holds : releases)),
        haunted,
      ),
    ).toEqual([])
  })

  it('what Longhorn fails at is explained by the cause without which it releases too', async () => {
    expect(
      await explained(
        deciding(({ replicas }) => (replicas.length > 0 ? fails : releases)),
        haunted,
      ),
    ).toEqual(['a copy on a node that Kubernetes does not have'])
  })

  it('and is not explained where it holds the node without that cause: we release what it would have kept', async () => {
    expect(
      await explained(
        deciding(({ replicas }) => (replicas.length > 0 ? fails : holds)),
        haunted,
      ),
    ).toEqual([])
  })

  it('what Longhorn fails at twice has both causes, and not the taint, which only hides them once the node is cordoned', async () => {
    expect(await explained(deciding(failsTwice), tainted)).toEqual([
      'a copy on a node that Kubernetes does not have',
      'the instance manager of a replica that names none, or one of another node',
    ])
  })

  it('a failure is not explained by a budget that is put there: it fails as before, and nobody knows why', async () => {
    const alwaysFails = deciding((state) => (looksNoFurther(state) ? leaves : fails))
    expect(await explained(alwaysFails, tainted)).toEqual([])
  })

  it('a failure that Longhorn misses, since another volume holds the node first, is still to be explained', async () => {
    const [here] = tainted.replicas
    if (here === undefined) throw new Error('the tainted node has no copy')
    const other = {
      ...here,
      metadata: { name: 'w-r-1' },
      spec: { ...here.spec, volumeName: 'w', dataEngine: 'v1' as const },
      status: { instanceManagerName: name },
    }
    const beforeTheOther = deciding((state) => {
      const isHeldFirst = state.replicas.includes(other)
      const isLost = state.replicas.some(({ spec }) => spec?.nodeID === 'gone')
      const answer = failsTwice(state)
      return answer === fails && isHeldFirst && !isLost ? makes : answer
    })
    expect(await explained(beforeTheOther, { ...tainted, replicas: [...tainted.replicas, other] })).toEqual([
      'a copy on a node that Kubernetes does not have',
      'the instance manager of a replica that names none, or one of another node',
    ])
  })

  it('two causes are found though Longhorn fails for another reason once a third thing is taken away with them', async () => {
    const moving = { ...tainted, nodes: tainted.nodes.map((node) => ({ ...node, status: { autoEvicting: true } })) }
    const failsUnmoved = deciding((state) =>
      state.nodes.some(({ status }) => status?.autoEvicting) ? failsTwice(state) : fails,
    )
    expect(await explained(failsUnmoved, moving)).toEqual([
      'a copy on a node that Kubernetes does not have',
      'the instance manager of a replica that names none, or one of another node',
    ])
  })

  it('a stopped copy that Longhorn relies on explains that it releases the node of one that runs', async () => {
    expect(
      await explained(
        deciding(() => releases),
        autoscaled,
      ),
    ).toEqual(['a stopped copy under `allow-if-replica-is-stopped`, where the cluster is autoscaled'])
  })

  it('but stopped copies on that very node explain nothing: without them it would be another node that is judged', async () => {
    const lone = {
      ...autoscaled,
      replicas: [
        copyOf('v', { node: 'node-1', manager: name, state: 'running' }),
        copyOf('w', { node: 'node-1', manager: name, state: 'stopped' }),
      ],
    }
    const holdsIfNoneStopped = deciding(({ replicas }) =>
      replicas.some(({ status }) => status?.currentState === 'stopped') ? releases : holds,
    )
    expect(await explained(holdsIfNoneStopped, lone)).toEqual([])
  })

  it('nothing on the list is there, so nothing explains it', async () => {
    expect(
      await explained(
        deciding(() => fails),
        empty,
      ),
    ).toEqual([])
  })
})
