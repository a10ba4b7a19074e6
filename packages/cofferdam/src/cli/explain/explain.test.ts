import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap, Lease } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import {
  configMaps,
  deployments,
  leases,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  budget,
  changedApi,
  deployment,
  openWorld,
  type Scenario,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createExplainCommand } from './explain.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
  await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
  await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  await scenario.seconds(30)
})
afterEach(() => scenario.stop())

async function explain(...argv: string[]) {
  const { connect, links } = inProcess(scenario.api)
  const result = await runCommand(createExplainCommand({ connect, clock: scenario.clock }), 'explain', ...argv)
  expect(links.closed).toBe(links.opened)
  return result
}

const podsOfWeb = async () =>
  (await scenario.podsOf('web')).map(({ metadata, spec }) => ({ ...metadata, node: spec.nodeName }))

describe('explain, against a living cluster', () => {
  it('what is free ends with 0, and the eviction it promised is granted', async () => {
    const [pod] = await podsOfWeb()
    expect(await explain(`pod/default/${pod?.name}`)).toEqual({
      code: 0,
      err: '',
      out: [
        `pod/default/${pod?.name}  free: It may be evicted now.`,
        '',
        '  why       budget web: it allows the eviction of one pod now (BudgetAllows)',
        `  node      ${pod?.node}`,
        '',
      ].join('\n'),
    })
    expect((await explain(`node/${pod?.node}`)).code).toBe(0)
    await evictPod(scenario.api, { namespace: 'default', name: pod?.name as string })
  })

  it('what is blocked ends with 3, and the eviction it warned of is refused', async () => {
    const [first, second] = await podsOfWeb()
    await evictPod(scenario.api, { namespace: 'default', name: first?.name as string })
    for (const object of [`pod/default/${second?.name}`, `node/${second?.node}`, 'pdb/default/web']) {
      const { code, out } = await explain(object)
      expect({ object, code }).toEqual({ object, code: 3 })
      expect(out).toMatch(new RegExp(`^${object}  blocked: `))
      expect(out).toContain('pdb/default/web  BudgetExhausted')
      expect(out).toContain(`pod/default/${first?.name}`)
    }
    await expect(evictPod(scenario.api, { namespace: 'default', name: second?.name as string })).rejects.toMatchObject({
      reason: 'TooManyRequests',
    })
  })

  it('a cordon is told with the tool that made it, and a drain with its end', async () => {
    await scenario.api.patch(
      nodes,
      { name: 'node-1' },
      { type: 'merge', body: { spec: { unschedulable: true } } },
      { fieldManager: 'kured' },
    )
    await scenario.seconds(90)
    const { out } = await explain('node/node-1')
    expect(out).toMatch(/\n {2}state {5}Ready, cordoned by kured for 90s, /)
  })

  describe('of a node with OSDs', () => {
    const whole = {
      'cofferdam.io/reason': 'DomainReleased',
      'cofferdam.io/explanation': 'zone-x may go, zone-y and zone-z are held',
      'cofferdam.io/since': '2026-01-01T00:00:00Z',
    }
    const answer = {
      domain: 'zone-z',
      osds: [4],
      nodes: ['node-2'],
      mayDrain: false,
      reason: 'OtherDomainDown',
      explanation: 'zone zone-z waits until zone-x is back and all data is clean.',
    }
    const byDomain = {
      ...whole,
      'cofferdam.io/failure-domain-type': 'zone',
      'cofferdam.io/domains': JSON.stringify({ total: 3, held: 2, answers: [answer] }),
    }
    const cases: Record<
      string,
      {
        notes: Record<string, string>
        observed?: Record<string, string>
        leaseAgeSeconds?: number
        code: number
        says: string[]
      }
    > = {
      'its failure domain answers from what is on record, and says so': {
        notes: byDomain,
        leaseAgeSeconds: 5,
        code: 3,
        says: [
          'node/node-2  blocked: It may not be drained now.\n',
          '  storage   rook-ceph/rook-ceph, zone zone-z, osd.4: zone zone-z waits until zone-x is back and all data is clean. (OtherDomainDown for 2m, as last recorded)\n',
          'cephcluster/rook-ceph/rook-ceph  OtherDomainDown for 2m\n  why       zone zone-z waits until zone-x is back and all data is clean.\n  held by',
        ],
      },
      'without an answer for the domain the cluster as a whole answers': {
        notes: whole,
        leaseAgeSeconds: 5,
        code: 0,
        says: [
          '  storage   rook-ceph/rook-ceph, osd.4: zone-x may go, zone-y and zone-z are held (DomainReleased for 2m, as last recorded)\n',
        ],
      },
      'a record that nobody keeps up to date may be old, since the lease was renewed last': {
        notes: byDomain,
        leaseAgeSeconds: 90,
        code: 3,
        says: [
          '(OtherDomainDown for 2m, as last recorded; it may be old: no operator has been running for 90s)\n',
          'the operator is not running, so this may be out of date, and the budget does not change, for 90s\n',
          '  ends with the operator running again, then zone zone-x back',
        ],
      },
      'what was seen while Rook has the budgets goes before what an older record says': {
        notes: whole,
        observed: { ...byDomain, 'cofferdam.io/reason': 'ManagedElsewhere' },
        leaseAgeSeconds: 5,
        code: 3,
        says: ['cephcluster/rook-ceph/rook-ceph  OtherDomainDown for 2m\n'],
      },
      'where no operator ever led, the record may be old since nobody knows when': {
        notes: byDomain,
        code: 3,
        says: ['(OtherDomainDown for 2m, as last recorded; it may be old: no operator is running)\n'],
      },
      'answers that cannot be read are told, and the cluster as a whole answers': {
        notes: { ...byDomain, 'cofferdam.io/domains': '{"total":3' },
        leaseAgeSeconds: 5,
        code: 0,
        says: [
          'zone zone-z, osd.4: zone-x may go, zone-y and zone-z are held (DomainReleased for 2m, as last recorded)\n',
          'not seen: configmap rook-ceph/rook-ceph-pdbstatemap: annotation cofferdam.io/domains: it is no JSON\n',
        ],
      },
    }
    it.each(Object.entries(cases))('%s', async (_name, { notes, observed, leaseAgeSeconds, code, says }) => {
      const labels = { app: 'rook-ceph-osd', 'ceph-osd-id': '4', 'topology-location-zone': 'zone-z' }
      await createOsd(scenario, labels)
      await scenario.seconds(120)
      const renewTime =
        leaseAgeSeconds === undefined ? undefined : rfc3339(scenario.clock.now() - leaseAgeSeconds * 1_000)
      const { connect } = inProcess(withRook(scenario, { notes, observed, renewTime }))
      const result = await runCommand(
        createExplainCommand({ connect, clock: scenario.clock }),
        'explain',
        'node/node-2',
      )
      expect(result).toMatchObject({ code, err: '' })
      for (const text of says) expect(result.out).toContain(text)
    })
  })

  it('what may not be read is told instead of passed over', async () => {
    const api = changedApi(scenario.api, {
      list: (type, query) =>
        type.plural === cephClusters.plural
          ? Promise.reject(new ApiError('Forbidden', 'cephclusters.ceph.rook.io is forbidden'))
          : scenario.api.list(type, query),
    })
    const { connect } = inProcess(api)
    const { code, out } = await runCommand(
      createExplainCommand({ connect, clock: scenario.clock }),
      'explain',
      'node/node-1',
    )
    expect(code).toBe(0)
    expect(out).toContain('not seen: cephclusters.ceph.rook.io: cephclusters.ceph.rook.io is forbidden')
  })

  it('the data of a node has the documented fields and no others', async () => {
    const [pod] = await podsOfWeb()
    const { out } = await explain(`node/${pod?.node}`, '-o', 'json')
    expect(JSON.parse(out)).toEqual({
      kind: 'node',
      object: `node/${pod?.node}`,
      mayGo: true,
      verdict: 'free',
      summary: 'Its only pod may go.',
      blockers: [],
      holds: [],
      disruptions: [],
      node: { isReady: true, isCordoned: false, drain: 'NotCordoned' },
      pods: [
        {
          pod: `default/${pod?.name}`,
          node: pod?.node,
          verdict: 'goes',
          reason: 'BudgetAllows',
          explanation: 'budget web: it allows the eviction of one pod now',
          budgets: ['default/web'],
          needs: [],
        },
      ],
      storage: [],
      command: `kubectl drain ${pod?.node} --ignore-daemonsets`,
      observedAt: '2026-01-01T00:00:32Z',
      notSeen: [],
    })
  })
})

describe('explain of what is not there ends with 1 and names it', () => {
  const cases: Record<string, { given: string; says: string }> = {
    'a node, with the closest there is': {
      given: 'node/nod-1',
      says: 'error: there is no Node nod-1\nhint: did you mean node-1?\n',
    },
    'a pod': {
      given: 'pod/default/nothing-like-it',
      says: 'error: there is no Pod default/nothing-like-it\nhint: kubectl get pods -n default shows those there are\n',
    },
    'a budget': {
      given: 'pdb/default/wep',
      says: 'error: there is no PodDisruptionBudget default/wep\nhint: did you mean web?\n',
    },
    'an OSD where there is no Ceph': {
      given: 'osd.4',
      says: 'error: there is no OSD 4: no CephCluster is seen in this cluster\nhint: with the namespace: cofferdam explain osd/NAMESPACE/4\n',
    },
    'a name that nothing has, with the closest node': {
      given: 'nod-1',
      says: 'error: nothing is called nod-1: no node, pod, workload, budget, claim or request\nhint: did you mean node node-1?\n',
    },
    'a zone in which no node is': {
      given: 'zone/nowhere',
      says: 'error: no node is in zone nowhere\nhint: nodes are in zone zone-a, zone-b, zone-c\n',
    },
    'a volume that neither Longhorn nor Kubernetes has': {
      given: 'volume/v-1',
      says: 'error: neither Longhorn nor Kubernetes has a volume v-1\nhint: kubectl get pv, and kubectl get volumes.longhorn.io -A where there is Longhorn, show those there are\n',
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { given, says }) => {
    expect(await explain(given)).toEqual({ code: 1, out: '', err: says })
  })
})

describe('explain takes what people have at hand', () => {
  const cases: Record<
    string,
    { given: (pod: string, node: string) => string[]; answers: (pod: string, node: string) => string }
  > = {
    'the name of a node alone': { given: (_, node) => [node], answers: (_, node) => `node/${node}` },
    "kubectl's short form": { given: (_, node) => [`no/${node}`], answers: (_, node) => `node/${node}` },
    'two words instead of one': { given: (_, node) => ['nodes', node], answers: (_, node) => `node/${node}` },
    'a pod in the namespace of the kubeconfig': {
      given: (pod) => [`po/${pod}`],
      answers: (pod) => `pod/default/${pod}`,
    },
    'a pod with -n': { given: (pod) => [`pod/${pod}`, '-n', 'default'], answers: (pod) => `pod/default/${pod}` },
    'the name of a pod alone': { given: (pod) => [pod], answers: (pod) => `pod/default/${pod}` },
    'a budget by its long name': {
      given: () => ['PodDisruptionBudgets.policy', 'web'],
      answers: () => 'pdb/default/web',
    },
    'a workload': { given: () => ['deploy/web'], answers: () => 'deployment/default/web' },
  }
  it.each(Object.entries(cases))('%s', async (_name, { given, answers }) => {
    const [pod] = await podsOfWeb()
    const [name, node] = [pod?.name as string, pod?.node as string]
    const { code, out, err } = await explain(...given(name, node))
    expect({ code, err, first: out.split('  ')[0] }).toEqual({ code: 0, err: '', first: answers(name, node) })
  })

  it('a workload that lives in another namespace is found there, so that nobody has to remember it at 3 a.m.', async () => {
    await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const cart = deployment('cart', { replicas: 1 })
    await scenario.api.create(deployments, { ...cart, metadata: { ...cart.metadata, namespace: 'shop' } })
    await scenario.seconds(10)
    expect((await explain('deploy/cart')).out).toMatch(
      /^deployment\/shop\/cart {2}free: Its only pod may be evicted now\./,
    )
  })
})

describe('explain that is not understood ends with 2 and says what it takes', () => {
  const cases: Record<string, { given: string[]; says: string }> = {
    'a kind of which nothing is known': { given: ['service/shop/web'], says: 'knows no kind "service"' },
    'an empty name': { given: ['node/'], says: '"node/" is not what explain takes' },
    'three words': { given: ['node', 'a', 'b'], says: '"node a b" is not what explain takes' },
    'a node in a namespace': { given: ['node/shop/a'], says: '"node/shop/a" is not what explain takes' },
    'an OSD that is no number': { given: ['osd/rook-ceph/four'], says: '"four" is not its id' },
    'two namespaces at once': {
      given: ['pod/shop/web', '-n', 'default'],
      says: '"pod/shop/web" and -n default name two namespaces',
    },
    'a name that several things have': { given: ['web'], says: '2 objects are called web' },
  }
  it.each(Object.entries(cases))('%s', async (_name, { given, says }) => {
    const { code, out, err } = await explain(...given)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(says)
    expect(err).toMatch(/\nhint: |namespaces\n$/)
  })
})

function withRook(
  { api }: Scenario,
  given: {
    readonly notes: Record<string, string>
    readonly observed: Record<string, string> | undefined
    readonly renewTime: string | undefined
  },
) {
  const { notes, observed, renewTime } = given
  const cluster: CephCluster = {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph' },
  }
  const record: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph-pdbstatemap', annotations: notes },
    data: { 'draining-failure-domain': 'zone-x' },
  }
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'cofferdam-system', name: 'cofferdam-operator' },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 15, ...(renewTime === undefined ? {} : { renewTime }) },
  }
  return changedApi(api, {
    list: (async (type, query) =>
      type.plural === cephClusters.plural
        ? { items: [cluster], resourceVersion: '1' }
        : api.list(type, query)) as typeof api.list,
    get: (async (type, key, options) => {
      if (type === (configMaps as typeof type) && key.name === record.metadata.name) return record
      if (type === (configMaps as typeof type) && observed !== undefined) {
        return { ...record, metadata: { namespace: 'rook-ceph', name: key.name, annotations: observed }, data: {} }
      }
      if (type === (leases as typeof type) && renewTime !== undefined) return lease
      return api.get(type, key, options)
    }) as typeof api.get,
  })
}

async function createOsd({ api }: Scenario, labels: Record<string, string>) {
  await api.create(
    { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'rook-ceph' },
    },
  )
  await api.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph-osd-4', labels },
    spec: { nodeName: 'node-2', containers: [{ name: 'osd', image: 'registry.example/ceph:1' }] },
  })
}
