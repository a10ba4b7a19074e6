import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodSpec, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { buildOsdDeployment } from './build-osd-deployment.ts'
import { adaptOsdDeployment, needsUpdate } from './osd-deployment.ts'

type Spec = NonNullable<CephCluster['spec']>

function cluster(spec: Spec): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'c', namespace: 'rook-ceph', uid: 'uid-1' },
    spec: { cephVersion: { image: 'ceph:1' }, ...spec },
  }
}

const memory = (amount: string) => ({ limits: { memory: amount } })
const onNode = { id: 3, node: 'node-a', location: { host: 'node-a' }, deviceClass: 'ssd' }
const onClaim = {
  id: 4,
  node: undefined,
  location: { host: 'set1-data-0' },
  pvc: 'set1-data-0',
  set: 'set1',
  topology: 'topology.kubernetes.io/zone=z1',
}
const setOf = (more: object) => ({ storageClassDeviceSets: [{ name: 'set1', count: 1, portable: true, ...more }] })

/** As Rook made it: with its labels, and without a note of ours. */
function rooks(built: Deployment, given: { version?: string; without?: string; resources?: object }): Deployment {
  const { [given.without ?? '']: _, ...labels } = built.metadata.labels ?? {}
  const [osd, ...others] = built.spec.template.spec.containers
  const containers = [{ ...osd, ...(given.resources && { resources: given.resources }) }, ...others]
  return {
    ...built,
    metadata: { ...built.metadata, labels: { ...labels, ...(given.version && { 'rook-version': given.version }) } },
    spec: {
      ...built.spec,
      template: { ...built.spec.template, spec: { ...built.spec.template.spec, containers } as PodSpec },
    },
  }
}

const resourcesOf = ({ spec }: Deployment) => spec.template.spec.containers[0]?.resources

describe('resources of an OSD', () => {
  it.each<{ story: string; spec: Spec; made: Deployment; gets: object | undefined }>([
    {
      story: 'an 8Gi OSD of a device set is not cut to the 4Gi of all OSDs, which would have it killed for memory',
      spec: { resources: { osd: memory('4Gi') }, storage: setOf({ resources: memory('8Gi') }) },
      made: rooks(buildOsdDeployment(cluster({}), onClaim), { resources: memory('8Gi') }),
      gets: memory('8Gi'),
    },
    {
      story: 'a storage node that is named with limits alone has the requests of all OSDs',
      spec: {
        resources: { osd: { limits: { memory: '4Gi' }, requests: { memory: '2Gi' } } },
        storage: { nodes: [{ name: 'node-a', resources: memory('8Gi') }] },
      },
      made: buildOsdDeployment(cluster({}), onNode),
      gets: { limits: { memory: '8Gi' }, requests: { memory: '2Gi' } },
    },
    {
      story: 'a storage node that is named with requests alone has the limits of all OSDs',
      spec: {
        resources: { osd: memory('4Gi') },
        storage: { nodes: [{ name: 'node-a', resources: { requests: { memory: '2Gi' } } }] },
      },
      made: buildOsdDeployment(cluster({}), onNode),
      gets: { ...memory('4Gi'), requests: { memory: '2Gi' } },
    },
    {
      story: 'an OSD on a node that is not named has those of all where no named node has its own',
      spec: { resources: { osd: memory('4Gi') }, storage: { nodes: [{ name: 'node-z' }] } },
      made: buildOsdDeployment(cluster({}), onNode),
      gets: memory('4Gi'),
    },
    {
      story:
        'an OSD on a node that is not named keeps what it has where a named node has its own: which is meant is not known',
      spec: {
        resources: { osd: memory('4Gi') },
        storage: { nodes: [{ name: 'node-z', resources: memory('8Gi') }] },
      },
      made: rooks(buildOsdDeployment(cluster({}), onNode), { resources: memory('6Gi') }),
      gets: memory('6Gi'),
    },
    {
      story: 'a device set without resources of its own has those of all OSDs',
      spec: { resources: { osd: memory('4Gi') }, storage: setOf({ resources: {} }) },
      made: buildOsdDeployment(cluster({}), onClaim),
      gets: memory('4Gi'),
    },
    {
      story: 'a Deployment of an older Rook names the claim alone: its set is found by the name of the claim',
      spec: { resources: { osd: memory('4Gi') }, storage: setOf({ resources: memory('8Gi') }) },
      made: rooks(buildOsdDeployment(cluster({}), onClaim), { without: 'ceph.rook.io/DeviceSet' }),
      gets: memory('8Gi'),
    },
    {
      story: 'where the device set has left the spec nothing is known, and the OSD keeps what it has',
      spec: {
        resources: { osd: memory('4Gi') },
        storage: { storageClassDeviceSets: [{ name: 'other', count: 1, resources: memory('6Gi') }] },
      },
      made: rooks(buildOsdDeployment(cluster({}), onClaim), { resources: memory('8Gi') }),
      gets: memory('8Gi'),
    },
    {
      story: 'a storage node has its own limits, and the requests of all OSDs beside them',
      spec: {
        resources: { osd: { limits: { memory: '4Gi' }, requests: { cpu: '1' } } },
        storage: { nodes: [{ name: 'node-a', resources: memory('16Gi') }] },
      },
      made: buildOsdDeployment(cluster({}), onNode),
      gets: { limits: { memory: '16Gi' }, requests: { cpu: '1' } },
    },
    {
      story: 'where all nodes are used those that are named do not count, as in Rook',
      spec: {
        resources: { osd: memory('4Gi') },
        storage: { useAllNodes: true, nodes: [{ name: 'node-a', resources: memory('16Gi') }] },
      },
      made: buildOsdDeployment(cluster({}), onNode),
      gets: memory('4Gi'),
    },
    {
      story: 'resources of the device class do not win over those of the node where an old Rook wrote the Deployment',
      spec: {
        resources: { 'osd-ssd': memory('4Gi') },
        storage: { nodes: [{ name: 'node-a', resources: memory('16Gi') }] },
      },
      made: rooks(buildOsdDeployment(cluster({}), onNode), { version: 'v1.18.4' }),
      gets: memory('16Gi'),
    },
    {
      story: 'from Rook 1.18.5 on resources of the device class win over all others, so a take-over restarts nothing',
      spec: {
        resources: { 'osd-ssd': memory('4Gi') },
        storage: { nodes: [{ name: 'node-a', resources: memory('16Gi') }] },
      },
      made: rooks(buildOsdDeployment(cluster({}), onNode), { version: 'v1.19.0-alpha.0', resources: memory('4Gi') }),
      gets: memory('4Gi'),
    },
  ])('$story', ({ spec, made, gets }) => {
    expect(resourcesOf(adaptOsdDeployment(made, cluster(spec)))).toEqual(gets)
  })

  it('of a new OSD stay as growth made them: it is not restarted right after its first start', () => {
    const spec = { resources: { osd: memory('4Gi') }, storage: setOf({ resources: memory('8Gi') }) }
    const made = buildOsdDeployment(cluster(spec), onClaim)
    expect([resourcesOf(made), needsUpdate(made, cluster(spec))]).toEqual([memory('8Gi'), false])
  })
})

const tolerates = (key: string): Toleration => ({ key, operator: 'Exists' })
const terms = (...keys: string[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: keys.map((key) => ({ matchExpressions: [{ key, operator: 'Exists' as const }] })),
  },
})
const zoneTerm = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z1'] }
const spread = [
  { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' as const },
]
const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] }

describe('the placement of an OSD on a claim', () => {
  const placement = { tolerations: [tolerates('set')], topologySpreadConstraints: spread, podAntiAffinity: apart }
  const spec = {
    placement: { all: { tolerations: [tolerates('all')] }, osd: { tolerations: [tolerates('disk')] } },
    storage: setOf({ placement: { ...placement, nodeAffinity: terms('storage') } }),
  }

  it('is that of its device set, beside what holds for all: without it the OSD starts nowhere on tainted nodes', () => {
    const { tolerations, topologySpreadConstraints, affinity } = buildOsdDeployment(cluster(spec), onClaim).spec
      .template.spec
    const kept = tolerations?.map(({ key }) => key)
    expect([kept, topologySpreadConstraints, affinity?.podAntiAffinity]).toEqual([
      ['node.kubernetes.io/unreachable', 'all', 'set'],
      spread,
      apart,
    ])
    const { nodeSelectorTerms } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
    expect(nodeSelectorTerms).toEqual([{ matchExpressions: [{ key: 'storage', operator: 'Exists' }, zoneTerm] }])
  })

  it('reaches an OSD that runs already, and leaves it again with the spec', () => {
    const plain = buildOsdDeployment(cluster({ storage: setOf({}) }), onClaim)
    const placed = adaptOsdDeployment(plain, cluster(spec))
    const { affinity, tolerations, topologySpreadConstraints } = placed.spec.template.spec
    expect([topologySpreadConstraints, affinity?.podAntiAffinity, tolerations?.length]).toEqual([spread, apart, 3])
    expect(needsUpdate(placed, cluster(spec))).toBe(false)
    const again = adaptOsdDeployment(placed, cluster({ storage: setOf({}) }))
    expect(again.spec.template.spec).toEqual(plain.spec.template.spec)
  })

  it('near other pods reaches the OSD, and leaves it with the spec', () => {
    const near = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'topology.kubernetes.io/zone' }] }
    const plain = buildOsdDeployment(cluster({ storage: setOf({}) }), onNode)
    const placed = adaptOsdDeployment(plain, cluster({ placement: { osd: { podAffinity: near } } }))
    expect(placed.spec.template.spec.affinity).toEqual({ podAffinity: near })
    expect(adaptOsdDeployment(placed, cluster({})).spec.template.spec.affinity).toBeUndefined()
  })

  it('that somebody else put there stays his when the same is written into the spec, and taken out again', () => {
    const spreads = cluster({ placement: { osd: { topologySpreadConstraints: spread } } })
    const plain = buildOsdDeployment(cluster({}), onNode)
    const { template } = plain.spec
    const his = { ...template, spec: { ...template.spec, topologySpreadConstraints: spread } } as typeof template
    const theirs = { ...plain, spec: { ...plain.spec, template: his } }
    const both = adaptOsdDeployment(theirs, { ...spreads, spec: { ...spreads.spec, cephVersion: { image: 'ceph:2' } } })
    expect(adaptOsdDeployment(both, cluster({ cephVersion: { image: 'ceph:2' } })).spec.template.spec).toMatchObject({
      topologySpreadConstraints: spread,
    })
  })

  it('and its resources stay ours where the device set has left the spec, and something else is written', () => {
    const set = setOf({ placement: { ...placement }, resources: memory('8Gi') })
    const plain = buildOsdDeployment(cluster({ storage: setOf({}) }), onClaim)
    const made = adaptOsdDeployment(plain, cluster({ storage: set }))
    const other = { storageClassDeviceSets: [{ name: 'other', count: 1, placement: {}, resources: memory('1Gi') }] }
    const newer = adaptOsdDeployment(made, cluster({ storage: other, cephVersion: { image: 'ceph:2' } }))
    expect([resourcesOf(newer), newer.spec.template.spec.topologySpreadConstraints]).toEqual([memory('8Gi'), spread])
    const back = adaptOsdDeployment(newer, cluster({ storage: setOf({}), cephVersion: { image: 'ceph:1' } }))
    expect(back.spec.template.spec).toEqual(plain.spec.template.spec)
  })

  it('of all OSDs is left out where onlyApplyOSDPlacement says so', () => {
    const made = buildOsdDeployment(
      cluster({ ...spec, storage: { ...spec.storage, onlyApplyOSDPlacement: true } }),
      onClaim,
    )
    expect(made.spec.template.spec.tolerations?.map(({ key }) => key)).not.toContain('all')
  })

  it('stays as it is where its device set has left the spec', () => {
    const made = buildOsdDeployment(cluster(spec), onClaim)
    const other = { storageClassDeviceSets: [{ name: 'other', count: 1, placement: {} }] }
    expect(needsUpdate(made, cluster({ ...spec, storage: other }))).toBe(false)
  })

  it('is not written anew because Rook joins affinities in another way: a take-over restarts no OSD', () => {
    const two = { placement: { all: { nodeAffinity: terms('a', 'b') } }, storage: setOf({}) }
    const made = buildOsdDeployment(cluster(two), onClaim)
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' as const }, zoneTerm] }],
      },
    }
    const { template } = made.spec
    const rooksOwn = {
      ...made,
      spec: { ...made.spec, template: { ...template, spec: { ...template.spec, affinity: { nodeAffinity } } } },
    } as Deployment
    expect([needsUpdate(made, cluster(two)), needsUpdate(rooksOwn, cluster(two))]).toEqual([false, false])
  })
})

describe('the placement of an OSD on a disk', () => {
  it('holds for all OSDs and for those on disks together', () => {
    const placement = { all: { nodeAffinity: terms('a') }, osd: { nodeAffinity: terms('b') } }
    const { affinity } = buildOsdDeployment(cluster({ placement }), onNode).spec.template.spec
    const { nodeSelectorTerms } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
    expect(nodeSelectorTerms?.[0]?.matchExpressions?.map(({ key }) => key)).toEqual(['a', 'b'])
  })
})
