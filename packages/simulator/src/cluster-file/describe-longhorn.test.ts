import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import { parseClusterFile } from './cluster-file.ts'
import type { LonghornClusterDescription } from './describe-longhorn.ts'

const around = `
zones: [{ name: a }]
nodes:
  - { name: "n{n}", count: 3 }
  - { name: control, taints: [{ key: only-control, effect: NoSchedule }] }
apps:
  - { name: cart, namespace: shop }
  - { name: web, namespace: shop, replicas: 2 }
  - { name: orders, namespace: shop, kind: StatefulSet, replicas: 2 }
  - { name: agent, namespace: shop, kind: DaemonSet }
`
const described = (fields: string) =>
  parseClusterFile(`${around}longhorn: ${fields}`, 'my.yaml').longhorn as LonghornClusterDescription
const withVolumes = (...volumes: string[]) => `{ volumes: [${volumes.map((fields) => `{ ${fields} }`).join(', ')}] }`

function problemsOf(fields: string): string[] {
  try {
    described(fields)
  } catch (error) {
    expect(error).toBeInstanceOf(CofferdamError)
    const [, ...problems] = (error as CofferdamError).message.split('\n')
    return problems.map((line) => line.trim())
  }
  return []
}

describe('a Longhorn', () => {
  it('is on every node without a taint, and decides drains itself, held by Cofferdam', () => {
    expect(described('{}')).toEqual({
      namespace: 'longhorn-system',
      nodes: ['n1', 'n2', 'n3'],
      disks: { perNode: 1, size: 100 * 1024 ** 3 },
      drainPolicy: 'block-if-contains-last-replica',
      manage: 'hold',
      trigger: 'cordon',
      surplus: 'keep',
      settings: {
        'allow-volume-creation-with-degraded-availability': 'false',
        'node-drain-policy': 'block-if-contains-last-replica',
      },
      storageClasses: [],
      volumes: [],
      pace: { rebuildPerSecond: 64 * 1024 ** 2 },
    })
  })

  it('takes settings as people write them, and puts them down as texts', () => {
    const { settings } = described(
      '{ drainPolicy: always-allow, settings: { replica-soft-anti-affinity: true, replica-replenishment-wait-interval: 30 } }',
    )
    expect(settings).toEqual({
      'allow-volume-creation-with-degraded-availability': 'false',
      'node-drain-policy': 'always-allow',
      'replica-replenishment-wait-interval': '30',
      'replica-soft-anti-affinity': 'true',
    })
  })

  it('claims volumes for the only pod of a Deployment and for each pod of a StatefulSet, as Kubernetes names them', () => {
    const { volumes } = described(
      withVolumes(
        'name: cart, attachedBy: shop/cart',
        'name: o0, attachedBy: shop/orders-0',
        'name: o1, attachedBy: shop/orders-1',
        'name: log0, attachedBy: shop/orders-0',
        'name: log1, attachedBy: shop/orders-1',
        'name: by-hand, attachedTo: n2',
        'name: unused',
      ),
    )
    expect(volumes.map(({ name, claim }) => [name, claim?.name, claim?.mount, claim?.ordinal])).toEqual([
      ['cart', 'cart-data', 'data', undefined],
      ['o0', 'data-orders-0', 'data', 0],
      ['o1', 'data-orders-1', 'data', 1],
      ['log0', 'data-2-orders-0', 'data-2', 0],
      ['log1', 'data-2-orders-1', 'data-2', 1],
      ['by-hand', undefined, undefined, undefined],
      ['unused', undefined, undefined, undefined],
    ])
  })

  it('may have more replicas than nodes where two may share one', () => {
    const soft = '{ settings: { replica-soft-anti-affinity: true }, volumes: [{ name: v, replicas: 4 }] }'
    expect(problemsOf(soft)).toEqual([])
  })
})

describe('a Longhorn that cannot be is refused with the place and the way out', () => {
  const cases: Record<string, { given: string; says: string[] }> = {
    'a node that is not there': {
      given: '{ nodes: [n1, n22] }',
      says: ['longhorn.nodes[1]: "n22" is not a node; did you mean "n2"?'],
    },
    'a node that no pod may use': {
      given: '{ nodes: [n1, control] }',
      says: ['longhorn.nodes[1]: "control" has a taint that keeps Longhorn away; leave it out'],
    },
    'a node that is named twice': {
      given: '{ nodes: [n1, n1] }',
      says: ['longhorn.nodes[1]: "n1" is named twice; disks.perNode says how many disks it has'],
    },
    'a policy with a slip of the pen': {
      given: '{ drainPolicy: block-for-evicton }',
      says: [
        'longhorn.drainPolicy: must be one of block-if-contains-last-replica, allow-if-replica-is-stopped, always-allow, block-for-eviction, block-for-eviction-if-contains-last-replica, not "block-for-evicton"; did you mean "block-for-eviction"?',
      ],
    },
    'a mode of an earlier version': {
      given: '{ manage: owner }',
      says: ['longhorn.manage: must be one of observe, guide, hold, not "owner"'],
    },
    'a wanted policy that nobody would bring about': {
      given: '{ manage: observe, wantedPolicy: always-allow }',
      says: [
        'longhorn.wantedPolicy: is for manage: guide and manage: hold; with observe nothing puts it in force: set drainPolicy',
      ],
    },
    'a policy for reboots that nobody would bring about': {
      given: '{ manage: observe, rebootPolicy: always-allow }',
      says: [
        'longhorn.rebootPolicy: is for manage: guide and manage: hold; with observe nothing puts it in force: set drainPolicy',
      ],
    },
    'a policy for reboots that is none of the five': {
      given: '{ rebootPolicy: block-for-evicton }',
      says: [expect.stringMatching(/^longhorn.rebootPolicy: must be one of .* did you mean "block-for-eviction"\?$/)],
    },
    'settings that are not known, or are written elsewhere': {
      given: '{ settings: { replica-auto-balanse: disabled, node-drain-policy: always-allow } }',
      says: [
        'longhorn.settings.replica-auto-balanse: the simulated Longhorn has no such setting; did you mean "replica-auto-balance"?',
        'longhorn.settings.node-drain-policy: is written as longhorn.drainPolicy',
      ],
    },
    'a setting that is a list': {
      given: '{ settings: { auto-salvage: [] } }',
      says: ['longhorn.settings.auto-salvage: must be a text, a number, or true or false'],
    },
    'two volumes and two classes of one name': {
      given: '{ storageClasses: [{ name: fast }, { name: fast }], volumes: [{ name: v }, { name: v }] }',
      says: [
        'longhorn.storageClasses[1].name: "fast" is already the name of longhorn.storageClasses[0]',
        'longhorn.volumes[1].name: "v" is already the name of longhorn.volumes[0]',
      ],
    },
    'a class that is not there': {
      given: withVolumes('name: v, storageClass: longhron', 'name: w, storageClass: gold'),
      says: [
        'longhorn.volumes[0].storageClass: there is no class "longhron"; did you mean "longhorn"?',
        'longhorn.volumes[1].storageClass: there is no class "gold"; add it to longhorn.storageClasses',
      ],
    },
    'more replicas than nodes': {
      given: withVolumes('name: v, replicas: 4'),
      says: [
        'longhorn.volumes[0].replicas: 4 replicas need a node with Longhorn each, and there are 3; use fewer, or write replica-soft-anti-affinity: true under longhorn.settings',
      ],
    },
    'a strict-local volume of more than one replica': {
      given: withVolumes('name: v, dataLocality: strict-local'),
      says: ['longhorn.volumes[0].dataLocality: a strict-local volume has one replica, not 3; write replicas: 1'],
    },
    'a volume that is greater than its disks': {
      given: withVolumes('name: v, size: 200Gi, filled: 0'),
      says: [
        'longhorn.volumes[0].size: 200Gi do not fit on a disk with room for volumes of 100Gi and 75Gi of data; make longhorn.disks.size greater, or volumes smaller',
      ],
    },
    'volumes that fit one by one, but not together': {
      given: withVolumes('name: v, size: 60Gi', 'name: w, size: 60Gi'),
      says: [
        'longhorn.volumes: all replicas together have 360Gi, of which 180Gi are written; that does not fit on 3 disks, each with room for volumes of 100Gi and 75Gi of data; make longhorn.disks.size greater, or volumes smaller',
      ],
    },
    'a size that is none': {
      given: withVolumes('name: v, size: big', 'name: w, size: 5'),
      says: [
        'longhorn.volumes[0].size: must be a number of bytes of at least 1Mi, as in 500Mi or 2Gi',
        'longhorn.volumes[1].size: must be a number of bytes of at least 1Mi, as in 500Mi or 2Gi',
      ],
    },
    'a volume that is attached in two ways': {
      given: withVolumes('name: v, attachedBy: shop/cart, attachedTo: n1'),
      says: ['longhorn.volumes[0]: has both attachedBy and attachedTo; keep one of them'],
    },
    'places that are no nodes with Longhorn, or too many': {
      given: withVolumes('name: v, attachedTo: control', 'name: w, replicas: 1, placedOn: [n1, n9]'),
      says: [
        'longhorn.volumes[0].attachedTo: "control" is not a node with Longhorn; known: n1, n2, n3',
        'longhorn.volumes[1].placedOn: names 2 nodes for one replica',
        'longhorn.volumes[1].placedOn[1]: "n9" is not a node with Longhorn; did you mean "n1"?',
      ],
    },
    'an app that is not there': {
      given: withVolumes('name: v, attachedBy: shop/card'),
      says: [
        'longhorn.volumes[0].attachedBy: "shop/card" is neither an app, as in shop/cart, nor a pod of a StatefulSet, as in shop/orders-0; did you mean "shop/cart"?',
      ],
    },
    'an app of several pods, of which only one could attach it': {
      given: withVolumes('name: v, attachedBy: shop/web', 'name: w, attachedBy: shop/orders'),
      says: [
        'longhorn.volumes[0].attachedBy: shop/web has 2 pods, and a volume is attached to one node at a time; give it replicas: 1, or make it a StatefulSet and name the pod',
        'longhorn.volumes[1].attachedBy: shop/orders has 2 pods, and a volume is attached to one node at a time; name the pod, as in shop/orders-0',
      ],
    },
    'a DaemonSet': {
      given: withVolumes('name: v, attachedBy: shop/agent'),
      says: [
        'longhorn.volumes[0].attachedBy: shop/agent is a DaemonSet, with a pod on every node; a volume is attached to one node at a time',
      ],
    },
    'a pod that its set does not have': {
      given: withVolumes('name: v, attachedBy: shop/orders-2'),
      says: ['longhorn.volumes[0].attachedBy: shop/orders has 2 pods, numbers 0 to 1, so there is no shop/orders-2'],
    },
    'a StatefulSet of which one pod would wait for its volume for ever': {
      given: withVolumes('name: v, attachedBy: shop/orders-1'),
      says: [
        'longhorn.volumes: pods of shop/orders use one volume each, but orders-0 has none; add one with attachedBy: shop/orders-0',
      ],
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, says }) => {
    expect(problemsOf(given)).toEqual(says)
  })
})
