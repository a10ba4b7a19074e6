import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { longhornDefinitions } from '@cofferdam/simulator/cluster-file/longhorn-definitions.ts'
import { rookDefinitions } from '@cofferdam/simulator/cluster-file/rook-definitions.ts'
import { openWorld } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { observeVerdicts } from '../../observe/verdicts.ts'
import { installOperator } from '../demo/install-operator.ts'
import { createExplainCommand } from '../explain/explain.ts'
import { rehearseNodes } from '../observe/rehearse-nodes.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import type { DrainPlanFile } from './drain-plan-file.ts'
import { createPlanDrainCommand } from './plan-drain.ts'

let scenario: Awaited<ReturnType<typeof openWorld>>
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 4 })
  await installOperator(scenario.server)
  for (const definition of [...rookDefinitions(), ...longhornDefinitions()]) await create(definition)
  await create(podOn('node-1', 'osd', { app: 'rook-ceph-osd' }))
  await create(podOn('node-2', 'copies', { 'longhorn.io/component': 'instance-manager' }))
  await create(podOn('node-3', 'web', { app: 'web' }))
  await scenario.seconds(30)
})
afterEach(() => scenario.stop())

function podOn(nodeName: string, name: string, labels: Readonly<Record<string, string>>): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: { nodeName, containers: [{ name: 'main', image: 'main:1' }] },
  }
}

async function create(object: KubeObject): Promise<void> {
  const type = object.kind === 'Pod' ? pods : typeOfObject(scenario.server.catalogue, object)
  if (type === undefined) throw new Error(`the embedded server does not serve ${object.kind}`)
  await scenario.api.create(type as typeof pods, object as Pod)
}

const ofCofferdam = ['disruptionledgers', 'disruptionpolicies', 'nodedisruptions']
const readable = [
  { apiGroups: ['', 'apps', 'policy', 'storage.k8s.io', 'coordination.k8s.io'], resources: ['*'] },
  { apiGroups: ['ceph.rook.io'], resources: ['*'] },
  { apiGroups: ['longhorn.io'], resources: ['*'] },
  ...ofCofferdam.map((resource) => ({ apiGroups: ['cofferdam.io'], resources: [resource] })),
]

/** The cluster of a user who may read all that a plan needs, but for one kind or the kinds of one group. */
async function connectWithout(unread: string, ...more: readonly (typeof readable)[number][]) {
  const name = 'planner'
  const rules = [...readable, ...more]
    .filter(({ apiGroups, resources }) => !apiGroups.includes(unread) && !resources.includes(unread))
    .map((rule) => ({ ...rule, verbs: ['get', 'list'] }))
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await create({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules } as KubeObject)
  await create({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  } as KubeObject)
  return inProcess(scenario.server.as({ username: name, groups: ['system:authenticated'] })).connect
}

async function planWithout(unread: string, ...argv: string[]) {
  const connect = await connectWithout(unread)
  return runCommand(createPlanDrainCommand({ connect, clock: scenario.clock }), 'drain', '--all', '--force', ...argv)
}

describe('a plan by a user who may not read everything', () => {
  const rows: Record<string, { readonly unread: string; readonly waves: string[]; readonly unknown: string[] }> = {
    'has every node in a wave where all could be read': {
      unread: 'none',
      waves: ['node-1', 'node-2', 'node-3', 'node-4'],
      unknown: [],
    },
    'leaves out nodes with daemons of Ceph where its clusters are unread, so that no placement group pays for it': {
      unread: 'ceph.rook.io',
      waves: ['node-2', 'node-3', 'node-4'],
      unknown: ['node-1 cephclusters.ceph.rook.io'],
    },
    'leaves out all nodes where Longhorn is there and unread: a node whose instance manager is gone has its last copy still':
      {
        unread: 'longhorn.io',
        waves: [],
        unknown: [1, 2, 3, 4].map((at) => `node-${at} nodes.longhorn.io`),
      },
    'leaves out all nodes where the ledger is unread, since another drain may hold what they need': {
      unread: 'disruptionledgers',
      waves: [],
      unknown: [1, 2, 3, 4].map((at) => `node-${at} disruptionledger cluster`),
    },
    'leaves out all nodes where the limits are unread, since none may be allowed to be away': {
      unread: 'disruptionpolicies',
      waves: [],
      unknown: [1, 2, 3, 4].map((at) => `node-${at} disruptionpolicies.cofferdam.io`),
    },
  }
  for (const [says, { unread, waves, unknown }] of Object.entries(rows)) {
    it(says, async () => {
      const { code, out } = await planWithout(unread, '-o', 'json')
      const plan = JSON.parse(out) as DrainPlanFile
      expect({
        code,
        waves: plan.waves.flat().sort(),
        unknown: plan.unknown.map(({ node, object }) => `${node} ${object}`),
        reasons: [...new Set(plan.unknown.map(({ reason }) => reason))],
      }).toEqual({
        code: unknown.length === 0 ? 0 : 3,
        waves,
        unknown,
        reasons: unknown.length === 0 ? [] : ['NotReadable'],
      })
    })
  }

  it('says in its text which nodes are in no wave, and what has to be readable', async () => {
    const { code, out } = await planWithout('longhorn.io')
    expect(code).toBe(3)
    expect(
      out.split('\n').filter((line) => /nodes |wave 1|not readable|node-2|nodes\.longhorn/.test(line)),
    ).toMatchInlineSnapshot(`
      [
        "4 nodes  none is known to go, 4 cannot be judged",
        "not readable with these rights: these nodes are in no wave",
        "  node-1, node-2, node-3, node-4",
        "    nodes.longhorn.io: it is not known whether Longhorn needs its node: nodes.longhorn.io is",
        "  nodes.longhorn.io: nodes.longhorn.io is forbidden: User "planner" cannot list resource "nodes" in",
      ]
    `)
  })
})

describe('explain and the page, asked by a user who may not read everything', () => {
  for (const unread of ['none', 'ceph.rook.io', 'longhorn.io']) {
    it(`call the same nodes unknown as the plan, without ${unread}: two answers to one question are trusted by no one`, async () => {
      const connect = await connectWithout(unread)
      const plan = createPlanDrainCommand({ connect, clock: scenario.clock })
      const { out } = await runCommand(plan, 'drain', '--all', '--force', '-o', 'json')
      const planned = (JSON.parse(out) as DrainPlanFile).unknown.map(({ node }) => node)
      const names = [1, 2, 3, 4].map((at) => `node-${at}`)
      const explain = createExplainCommand({ connect, clock: scenario.clock })
      const codes = await Promise.all(names.map(async (name) => (await runCommand(explain, 'explain', name)).code))
      const explained = names.filter((_, at) => codes[at] === 3)
      const { api } = await connect({} as never)
      const place = { api, clock: scenario.clock, leaseNamespace: 'cofferdam-system' }
      const { signal } = new AbortController()
      const { nodes } = await observeVerdicts({ ...place, signal, rehearse: rehearseNodes }, [])
      const shown = names.filter((name) => nodes.get(name)?.blocker?.reason === 'NotReadable')
      expect({ explained, shown }).toEqual({ explained: planned, shown: planned })
    })
  }
})

describe('explain node, asked by a user who may not read Longhorn', () => {
  async function explain(node: string, connect: Awaited<ReturnType<typeof connectWithout>>) {
    return runCommand(createExplainCommand({ connect, clock: scenario.clock }), 'explain', node)
  }

  it('answers as the plan does for every node, also for those without an instance manager: they were called free', async () => {
    const connect = await connectWithout('longhorn.io')
    const codes = [1, 2, 3, 4].map(async (at) => (await explain(`node-${at}`, connect)).code)
    expect(await Promise.all(codes)).toEqual([3, 3, 3, 3])
  })

  it('says which list is not readable, and what to do', async () => {
    const { code, out } = await explain('node-4', await connectWithout('longhorn.io'))
    expect(code).toBe(3)
    expect(out.split('\n\nnot seen')[0]).toMatchInlineSnapshot(`
      "node/node-4  unknown: It is not known whether it may go: what may hold it cannot be read.

        state     Ready

      nodes.longhorn.io  NotReadable
        why       it is not known whether Longhorn needs its node: nodes.longhorn.io is forbidden: User "planner" cannot list resource "nodes" in API group "longhorn.io" at the cluster scope
        held by   missing rights
        ends with an answer with the right to read it: ask again with another --context or --as
        override  an eviction asks its budgets and the eviction guard in any case; they may refuse it"
    `)
  })

  it('calls nodes free where nothing shows Longhorn: its kinds are refused in a cluster without it, too', async () => {
    await stopLonghorn()
    const connect = await connectWithout('longhorn.io')
    expect((await explain('node-4', connect)).code).toBe(0)
  })

  it('answers as the plan does where nothing of Longhorn runs and its definitions may be read: its copies are on disks', async () => {
    await stopLonghorn()
    const connect = await connectWithout('longhorn.io', { apiGroups: ['apiextensions.k8s.io'], resources: ['*'] })
    const plan = createPlanDrainCommand({ connect, clock: scenario.clock })
    expect((await explain('node-4', connect)).code).toBe(3)
    const { unknown } = JSON.parse(
      (await runCommand(plan, 'drain', '--all', '--force', '-o', 'json')).out,
    ) as DrainPlanFile
    expect(unknown.map(({ node }) => node)).toContain('node-4')
  })

  async function stopLonghorn() {
    await scenario.api.delete(pods, { namespace: 'default', name: 'copies' })
    await scenario.seconds(60)
  }
})

it('a plan with nodes that cannot be judged does not end with 0: a script would begin a maintenance that stops halfway', () => {
  const { exitCode } = createPlanDrainCommand({} as never)
  const node = { node: 'node-1', object: 'longhorn/longhorn-system', why: 'it may not be read' }
  const plan = { never: [], unknown: [node] } as unknown as DrainPlanFile
  expect([exitCode?.(plan), exitCode?.({ ...plan, unknown: [] })]).toEqual([3, 0])
})
