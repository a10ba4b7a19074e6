import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type {
  LonghornInstanceManager,
  LonghornNode,
  LonghornReplica,
  LonghornVolume,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { known } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import { createLonghornParser, type LonghornObjects, noLonghornObjects, parseLonghorn } from './parse-longhorn.ts'

const longhorn = { apiVersion: 'longhorn.io/v1beta2' }
const nothing: LonghornObjects = {
  ...noLonghornObjects,
  namespace: 'longhorn-system',
  nowMs: Date.parse('2026-01-01T01:00:00Z'),
}

function setting(name: string, value: string): LonghornObjects['settings'][number] {
  return { ...longhorn, kind: 'Setting', metadata: { name }, value }
}

function longhornNode(name: string, more: Omit<Partial<LonghornNode>, 'metadata'> = {}): LonghornNode {
  return { ...longhorn, kind: 'Node', metadata: { name }, ...more }
}

function kubeNode(name: string, spec: Node['spec'] = {}, more: NonNullable<Node['status']>['conditions'] = []): Node {
  const ready = { type: 'Ready', status: 'True' } as const
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec, status: { conditions: [...more, ready] } }
}

function replica(name: string, spec: LonghornReplica['spec'], status: LonghornReplica['status'] = {}): LonghornReplica {
  return { ...longhorn, kind: 'Replica', metadata: { name }, ...(spec === undefined ? {} : { spec }), status }
}

function manager(name: string, nodeID: string, image = 'new'): LonghornInstanceManager {
  const spec = { nodeID, image, type: 'aio', dataEngine: 'v1' } as const
  return { ...longhorn, kind: 'InstanceManager', metadata: { name }, spec, status: { currentState: 'running' } }
}

function volume(name: string, more: Omit<Partial<LonghornVolume>, 'metadata'> = {}, label?: string): LonghornVolume {
  const labels = label === undefined ? {} : { labels: { 'cofferdam.io/node-drain-policy': label } }
  return { ...longhorn, kind: 'Volume', metadata: { name, ...labels }, ...more }
}

function disruption(nodeName: string, intent: 'Reboot' | 'Remove', phase: string): NodeDisruption {
  const status = { phase } as NonNullable<NodeDisruption['status']>
  const spec = { nodeName, intent, honourSkipDrain: true }
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: `${nodeName}-${phase}` },
    spec,
    status,
  }
}

/** As something a careless client may have written. */
function broken<T>(object: unknown): T {
  return object as T
}

describe('nodes', () => {
  function parsed(more: Partial<LonghornObjects>) {
    return parseLonghorn({ ...nothing, nodes: [longhornNode('n1')], ...more }).nodes[0]
  }

  it('carry what Longhorn and Kubernetes say of them', () => {
    const node = longhornNode('n1', {
      spec: { evictionRequested: true, disks: { d1: { evictionRequested: true }, d2: {} } },
      status: { autoEvicting: true, diskStatus: { d1: { diskUUID: 'u1' }, d2: { diskUUID: 'u2' } } },
    })
    expect(parsed({ nodes: [node], kubeNodes: [kubeNode('n1', { unschedulable: true })] })).toEqual({
      name: 'n1',
      kubernetes: 'ready',
      isCordoned: true,
      closing: { isCordoned: true, taint: undefined, unreadable: undefined },
      isDraining: false,
      intent: undefined,
      isEvictionAsked: true,
      isAutoEvicting: true,
      disks: [
        { name: 'd1', uuid: 'u1', isEvictionAsked: true, allowScheduling: false },
        { name: 'd2', uuid: 'u2', isEvictionAsked: false, allowScheduling: false },
      ],
      takesReplicas: true,
      managerPod: 'away',
    })
  })

  it('carry since when they are cordoned: the later of what Kubernetes and Longhorn say, and nothing where neither says it', () => {
    const cordon = (timeAdded?: string) =>
      kubeNode('n1', {
        unschedulable: true,
        taints: [
          {
            key: 'node.kubernetes.io/unschedulable',
            effect: 'NoSchedule',
            ...(timeAdded === undefined ? {} : { timeAdded }),
          },
        ],
      })
    const seen = (lastTransitionTime: string) =>
      longhornNode('n1', {
        status: {
          conditions: [{ type: 'Schedulable', status: 'False', reason: 'KubernetesNodeCordoned', lastTransitionTime }],
        },
      })
    const since = (more: Partial<LonghornObjects>) => parsed(more)?.cordonedSinceMs
    const [early, late] = ['1970-01-01T00:00:10Z', '1970-01-01T00:00:20Z']
    expect([
      since({ kubeNodes: [cordon(early)] }),
      since({ kubeNodes: [cordon(early)], nodes: [seen(late)] }),
      since({ kubeNodes: [cordon(late)], nodes: [seen(early)] }),
      since({ kubeNodes: [cordon()] }),
      since({ kubeNodes: [kubeNode('n1')], nodes: [seen(early)] }),
    ]).toEqual([10_000, 20_000, 20_000, undefined, undefined])
  })

  it('carry whether a manager of Longhorn is ready on them, and nothing where its pods cannot be read', () => {
    const pod = (nodeName: string, status: 'True' | 'False', deletionTimestamp?: string) => ({
      metadata: { name: 'm', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
      spec: { nodeName },
      status: { conditions: [{ type: 'Ready', status }] },
    })
    const down = { type: 'Ready', status: 'False', reason: 'ManagerPodDown' } as const
    const manager = (more: Partial<LonghornObjects>) => parsed(more)?.managerPod
    expect([
      manager({ managerPods: [pod('n1', 'True')] }),
      manager({ managerPods: [pod('n1', 'False')] }),
      manager({ managerPods: [pod('n1', 'True', 'now')] }),
      manager({ managerPods: [pod('n2', 'True')] }),
      manager({ managerPods: undefined }),
      manager({ managerPods: undefined, nodes: [longhornNode('n1', { status: { conditions: [down] } })] }),
    ]).toEqual(['ready', 'away', 'away', 'away', undefined, 'away'])
  })

  it('take no replicas where a user or Longhorn says so', () => {
    const unschedulable = { type: 'Schedulable', status: 'False', reason: 'KubernetesNodeCordoned' } as const
    const takes = (node: object) => parsed({ nodes: [longhornNode('n1', node)] })?.takesReplicas
    expect(takes({})).toBe(true)
    expect(takes({ spec: { allowScheduling: false } })).toBe(false)
    expect(takes({ status: { conditions: [unschedulable] } })).toBe(false)
  })

  it.each<[string, string | undefined, object | undefined]>([
    [
      'carry since when replicas move off them',
      '{"since":"2026-01-01T00:30:00Z","bytes":5000}',
      { sinceMs: Date.UTC(2026, 0, 1, 0, 30), bytes: 5000 },
    ],
    ['have no such record where there is none', undefined, undefined],
    ['have none where the text is no JSON', 'since yesterday', undefined],
    ['have none where it is JSON of something else', 'null', undefined],
    ['have none where the time is none', '{"since":"yesterday","bytes":5000}', undefined],
    ['have none where the bytes are none', '{"since":"2026-01-01T00:30:00Z","bytes":"many"}', undefined],
  ])('%s', (_, text, moving) => {
    const { metadata, ...rest } = longhornNode('n1')
    const annotations = text === undefined ? {} : { 'cofferdam.io/moving': text }
    expect(parsed({ nodes: [{ ...rest, metadata: { ...metadata, annotations } }] })?.moving).toEqual(moving)
  })

  it('without a Kubernetes node are absent, and no error', () => {
    expect(parsed({})?.kubernetes).toBe('absent')
  })

  it('whose kubelet is silent for a moment are not silent yet, and are known to waver', () => {
    const silentSince = (lastTransitionTime: string) => {
      const condition = { type: 'Ready', status: 'Unknown', lastTransitionTime } as const
      const view = parsed({ kubeNodes: [kubeNode('n1', {}, [condition])] })
      return [view?.kubernetes, view?.isBlipping]
    }
    expect(silentSince('2026-01-01T00:59:50Z')).toEqual(['ready', true])
    expect(silentSince('2026-01-01T00:59:40Z')).toEqual(['silent', undefined])
  })

  it('that Longhorn itself holds for down are silent', () => {
    const down = { type: 'Ready', status: 'False', reason: 'KubernetesNodeNotReady' } as const
    const node = longhornNode('n1', { status: { conditions: [down] } })
    expect(parsed({ nodes: [node], kubeNodes: [kubeNode('n1')] })?.kubernetes).toBe('silent')
  })

  it('with the taint of a tool that empties nodes count as cordoned', () => {
    const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' } as const]
    const taint = { key: 'karpenter.sh/disrupted', tool: 'Karpenter' }
    const seen = parsed({ kubeNodes: [kubeNode('n1', { taints })] })
    expect(seen).toMatchObject({ isCordoned: true, closing: { isCordoned: false, taint } })
    expect(seen?.ownCordon).toBeUndefined()
  })

  it('that Cofferdam cordoned for Longhorn bear its mark, and another client may have lifted the cordon since', () => {
    const marked = (unschedulable: boolean, mark: string) => {
      const node = kubeNode('n1', { unschedulable })
      const annotations = { 'cofferdam.io/cordoned-by': mark }
      return parsed({ kubeNodes: [{ ...node, metadata: { ...node.metadata, annotations } }] })?.ownCordon
    }
    expect(marked(true, 'longhorn-drain')).toBe('set')
    expect(marked(false, 'longhorn-drain')).toBe('lifted')
    expect(marked(true, 'longhorn-drain, lifted')).toBe('lifted')
    expect(marked(true, 'uid-of-a-request')).toBeUndefined()
  })

  it('are being drained when an eviction was attempted', () => {
    const kubeNodes = [kubeNode('n1', { unschedulable: true }, [{ type: 'DrainInProgress', status: 'True' }])]
    expect(parsed({ kubeNodes })?.isDraining).toBe(true)
  })

  it.each([
    ['Waiting', true, 'Reboot'],
    ['Draining', true, 'Reboot'],
    ['Recovering', false, 'Reboot'],
    ['Completed', false, undefined],
    ['Rejected', false, undefined],
  ])('with a request in the phase %s: draining %s, for %s', (phase, isDraining, intent) => {
    const seen = parsed({ kubeNodes: [kubeNode('n1')], disruptions: [disruption('n1', 'Reboot', phase)] })
    expect([seen?.isDraining, seen?.intent]).toEqual([isDraining, intent])
  })

  it('with two requests follow the one that does not bring the data back', () => {
    const disruptions = [disruption('n1', 'Reboot', 'Draining'), disruption('n1', 'Remove', 'Waiting')]
    expect(parsed({ disruptions })?.intent).toBe('Remove')
  })
})

describe('replicas', () => {
  it('carry where they are, how they are and by which instance manager', () => {
    const place = { nodeID: 'n1', diskID: 'u1', dataDirectoryName: 'v-1' }
    const spec = { volumeName: 'v', active: true, ...place, healthyAt: 't', desireState: 'stopped' } as const
    const objects = {
      ...nothing,
      replicas: [replica('r', spec, { currentState: 'stopped', instanceManagerName: 'im' })],
    }
    expect(parseLonghorn(objects).replicas).toEqual([
      {
        name: 'r',
        volume: 'v',
        isActive: true,
        directory: 'v-1',
        node: 'n1',
        diskUuid: 'u1',
        healthyAt: 't',
        failedAt: '',
        isStopped: true,
        isEvictionRequested: false,
        instanceManager: 'im',
        isBeingDeleted: false,
      },
    ])
  })

  it.each([undefined, false])('that say active: %s count as doubles, as Longhorn takes them', (active) => {
    const spec = { volumeName: 'v', ...(active === undefined ? {} : { active }) }
    expect(parseLonghorn({ ...nothing, replicas: [replica('r', spec)] }).replicas[0]?.isActive).toBe(false)
  })

  it('that should be stopped but are in error are not stopped', () => {
    const spec = { volumeName: 'v', desireState: 'stopped' } as const
    const objects = { ...nothing, replicas: [replica('r', spec, { currentState: 'error' })] }
    expect(parseLonghorn(objects).replicas[0]?.isStopped).toBe(false)
  })

  it('that name no instance manager have the one of the default image on their node', () => {
    const replicas = [replica('r', { volumeName: 'v', nodeID: 'n1' })]
    const instanceManagers = [manager('im-old', 'n1', 'old'), manager('im-new', 'n1', 'new'), manager('im-2', 'n2')]
    const managerOf = (more: Partial<LonghornObjects>) =>
      parseLonghorn({ ...nothing, replicas, instanceManagers, ...more }).replicas[0]?.instanceManager
    expect(managerOf({ settings: [setting('default-instance-manager-image', 'new')] })).toBe('im-new')
    expect(managerOf({})).toBeUndefined()
  })

  it('that name no instance manager have none of another image, also where it is the only one: Longhorn does not count on it, and kept what was let go here', () => {
    const seen = (image: string | undefined) =>
      parseLonghorn({
        ...nothing,
        replicas: [replica('r', { volumeName: 'v', nodeID: 'n1', healthyAt: 't' })],
        instanceManagers: [manager('im-old', 'n1', 'old')],
        settings: image === undefined ? [] : [setting('default-instance-manager-image', image)],
      })
    const said = (image: string | undefined) => {
      const { replicas, settings } = seen(image)
      return [replicas[0]?.instanceManager, settings.problems.filter((problem) => problem.includes('image'))]
    }
    const missing =
      'the setting default-instance-manager-image does not exist or is empty, so one stopped replica protects nothing: where it would run is not known'
    expect([said('old'), said('new'), said(''), said(undefined)]).toEqual([
      ['im-old', []],
      [undefined, []],
      [undefined, [missing]],
      [undefined, [missing]],
    ])
  })
})

describe('volumes', () => {
  it('that are attached for a move say by whom: Longhorn was blamed for a ticket of ours', () => {
    const by = (id: string) => {
      const spec = {
        volume: 'v',
        attachmentTickets: { [id]: { id, type: 'volume-eviction-controller', nodeID: 'n1' } },
      }
      const attachment = { apiVersion: 'longhorn.io/v1beta2', kind: 'VolumeAttachment', metadata: { name: 'v' }, spec }
      const volumes = [volume('v', { spec: { numberOfReplicas: 1 }, status: { state: 'attached' } })]
      return parseLonghorn({ ...nothing, volumes, attachments: [attachment] }).volumes[0]?.attachedBy
    }
    expect([by('volume-eviction-controller-v'), by('cofferdam-eviction-v')]).toEqual([
      'Longhorn for the move of a replica',
      'a ticket left over from an earlier Cofferdam',
    ])
  })

  it('that are linked clones are bound or not by the version of Longhorn, also when that changes later', () => {
    const parse = createLonghornParser()
    const volumes = [volume('v', { spec: { numberOfReplicas: 1, cloneMode: 'linked-clone' } })]
    const isBound = (version: string) =>
      parse({ ...nothing, volumes, settings: [setting('current-longhorn-version', version)] }).volumes[0]
        ?.boundClone !== undefined
    expect([isBound('v1.12.0'), isBound('v1.12.1')]).toEqual([true, false])
  })

  it('carry who attached them, and how far a new copy is', () => {
    const seen = parseLonghorn({
      ...nothing,
      volumes: [
        volume('v', {
          spec: { numberOfReplicas: 2, dataLocality: 'strict-local' },
          status: {
            state: 'attached',
            robustness: 'degraded',
            currentNodeID: 'n1',
            actualSize: 5000,
            kubernetesStatus: { namespace: 'shop', workloadsStatus: [{ podName: 'db-0' }] },
          },
        }),
      ],
      attachments: [
        {
          ...longhorn,
          kind: 'VolumeAttachment',
          metadata: { name: 'v' },
          spec: { attachmentTickets: { a: { type: 'csi-attacher' }, b: { type: 'longhorn-api' } } },
        },
      ],
      engines: [
        {
          ...longhorn,
          kind: 'Engine',
          metadata: { name: 'v-e-0' },
          spec: { volumeName: 'v' },
          status: {
            rebuildStatus: { a: { isRebuilding: true, progress: 40 }, b: { isRebuilding: false, progress: 0 } },
          },
        },
      ],
    })
    expect(seen.volumes).toEqual([
      {
        name: 'v',
        state: 'attached',
        robustness: 'degraded',
        numberOfReplicas: 2,
        isStrictLocal: true,
        policy: undefined,
        actualBytes: 5000,
        attachedBy: 'pod shop/db-0, the Longhorn UI',
        attachedTo: 'n1',
        unsettled: 'its spec.migrationNodeID is not known',
        rebuiltShare: 0.4,
        tickets: [
          { id: 'a', type: 'csi-attacher', node: '' },
          { id: 'b', type: 'longhorn-api', node: '' },
        ],
      },
    ])
  })

  it.each<[string, string | undefined, string | undefined, true | undefined]>([
    ['may have two copies on one node where the setting says so', 'ignored', 'true', true],
    ['may not where neither the setting nor they say so', undefined, undefined, undefined],
    ['may where they say so themselves', 'enabled', 'false', true],
    ['may not where they say so themselves', 'disabled', 'true', undefined],
  ])('%s', (_, own, setting, expected) => {
    const spec = own === undefined ? {} : { replicaSoftAntiAffinity: own as 'ignored' }
    const settings = [
      {
        ...longhorn,
        kind: 'Setting',
        metadata: { name: 'replica-soft-anti-affinity' },
        ...(setting === undefined ? {} : { value: setting }),
      },
    ]
    const seen = parseLonghorn({ ...nothing, settings, volumes: [volume('v', { spec })] })
    expect(seen.volumes[0]?.sharesNodes).toBe(expected)
  })

  it('have the policy of their label, else that of the class of their PersistentVolume', () => {
    const seen = parseLonghorn({
      ...nothing,
      volumes: [volume('a', {}, 'always-allow'), volume('b'), volume('c')],
      storageClasses: [
        {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'StorageClass',
          metadata: { name: 'fast' },
          parameters: { nodeDrainPolicy: 'block-for-eviction' },
        },
      ],
      persistentVolumes: ['a', 'b'].map((volumeHandle) => ({
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: `pv-${volumeHandle}` },
        spec: { storageClassName: 'fast', csi: { volumeHandle } },
      })),
    })
    expect(seen.volumes.map(({ policy }) => policy)).toEqual([
      known('always-allow'),
      known('block-for-eviction'),
      undefined,
    ])
  })
})

it('an instance manager names the volumes whose engines and frontends it runs, also when an engine is gone', () => {
  const running = manager('im', 'n1')
  const status = {
    ...running.status,
    instanceEngines: { 'odd-name': {}, 'v-e-0': {} },
    instanceEngineFrontends: { 'w-e-1': {} },
  }
  const engines = [{ ...longhorn, kind: 'Engine', metadata: { name: 'odd-name' }, spec: { volumeName: 'real' } }]
  const seen = parseLonghorn({ ...nothing, instanceManagers: [{ ...running, status }], engines })
  expect(seen.instanceManagers[0]?.engines).toEqual(['real', 'v', 'w'])
})

it('engines in an instance manager from before 1.5 are seen: without them a node was let go that had a volume attached', () => {
  const running = manager('im', 'n1')
  const old = (type: 'engine' | 'replica') =>
    parseLonghorn({
      ...nothing,
      instanceManagers: [
        { ...running, spec: { ...running.spec, type }, status: { ...running.status, instances: { 'v-e-0': {} } } },
      ],
    }).instanceManagers[0]?.engines
  expect(old('engine')).toEqual(['v'])
  expect(old('replica')).toEqual([])
})

it('only budgets whose selector is for instance managers are seen, whatever their name', () => {
  const budget = (name: string, component: string) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { selector: { matchLabels: { 'longhorn.io/component': component } } },
  })
  const budgets = [budget('instance-manager-1', 'instance-manager'), budget('instance-manager-mine', 'other')]
  expect([...parseLonghorn({ ...nothing, budgets }).budgets]).toEqual(['instance-manager-1'])
})

describe('objects that cannot be read', () => {
  it('are told with why and where, and all others are read', () => {
    const seen = parseLonghorn({
      ...nothing,
      nodes: [longhornNode('n1', broken({ spec: { disks: 7 } })), longhornNode('n2')],
      volumes: [volume('bad', broken({ spec: { numberOfReplicas: 'many' } })), volume('good')],
      replicas: [
        { ...replica('lost', undefined), metadata: { name: 'lost', labels: { longhornnode: 'n2' } } },
        replica('good', { volumeName: 'good' }),
      ],
      instanceManagers: [broken({ ...manager('im', 'n1'), spec: 'x' }), manager('im-2', 'n2')],
    })
    expect(seen.unreadable).toEqual([
      { object: 'instancemanager/im', why: 'spec is not an object' },
      { object: 'node/n1', why: 'spec.disks is not an object', node: 'n1' },
      { object: 'replica/lost', why: 'spec.volumeName is not set', node: 'n2' },
      { object: 'volume/bad', why: 'spec.numberOfReplicas is not a number from 0' },
    ])
    const names = [seen.nodes, seen.volumes, seen.replicas, seen.instanceManagers].map((views) =>
      views.map(({ name }) => name),
    )
    expect(names).toEqual([['n1', 'n2'], ['good'], ['good'], ['im-2']])
  })

  it('never stop the reading nor the decision, whatever they hold', () => {
    const hostile = fc.record({ spec: fc.anything(), status: fc.anything() })
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 7, maxLength: 7 }), (parts) => {
        const one = <T>(at: number, name: string): T[] => [broken<T>({ metadata: { name }, ...parts[at] })]
        const good = replica('good', { volumeName: 'v', nodeID: 'n1', healthyAt: 't' }, { instanceManagerName: 'im' })
        const seen = parseLonghorn({
          ...nothing,
          nodes: [...one<LonghornNode>(0, 'n9'), longhornNode('n1')],
          volumes: one(1, 'v'),
          replicas: [...one<LonghornReplica>(2, 'r'), good],
          engines: one(3, 'e'),
          instanceManagers: one(4, 'im'),
          attachments: one(5, 'v'),
          kubeNodes: one(6, 'n1'),
        })
        expect(seen.replicas.map(({ name }) => name)).toContain('good')
        expect(() => decideLonghornDrain(seen)).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })
})

it('what did not change is the same view as before, and what changed is another', () => {
  const parse = createLonghornParser()
  const replicas = ['a', 'b', 'c'].map((name) => replica(name, { volumeName: 'v', nodeID: 'n1' }))
  const objects = {
    ...nothing,
    replicas,
    volumes: [volume('v')],
    nodes: [longhornNode('n1')],
    kubeNodes: [kubeNode('n1')],
  }
  const first = parse(objects)
  const failed = replica('b', { volumeName: 'v', nodeID: 'n1', failedAt: 't' })
  const second = parse({
    ...objects,
    replicas: [replicas[0] as LonghornReplica, failed, replicas[2] as LonghornReplica],
  })
  expect(second.replicas.map((view, at) => view === first.replicas[at])).toEqual([true, false, true])
  expect([second.volumes[0] === first.volumes[0], second.nodes[0] === first.nodes[0]]).toEqual([true, true])
  const third = parse({ ...objects, replicas: replicas.slice(1), kubeNodes: [kubeNode('n1', { unschedulable: true })] })
  expect(third.replicas[1]).toBe(first.replicas[2])
  expect(third.nodes[0]?.isCordoned).toBe(true)
})
