import type { Deployment, Job } from '@cofferdam/kubernetes/api/apps.ts'
import { describe, expect, it } from 'vitest'
import { type CephTrust, trustsAlone, trustsNone } from '../../../shared/ceph-trust/named-clusters.ts'
import { type GrowthMode, type GrowthObjects, growthMode, growthSnapshotOf } from './growth-snapshot.ts'
import type { PrepareJob } from './prepare-job.ts'
import { growingCluster, node, osdOf, prepareJob, prepareResult, rookImage } from './testing/growth-objects.ts'

const seen = (given: Partial<GrowthObjects> = {}) =>
  growthSnapshotOf({
    cluster: growingCluster(),
    nodes: [node('a')],
    jobs: [],
    configMaps: [],
    deployments: [],
    ...given,
  })

describe('what is seen of a cluster that grows', () => {
  it('nothing of other namespaces and other programs: their ids would keep disks from getting their OSD', () => {
    const elsewhere = <T extends Job | Deployment>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, namespace: 'other' },
    })
    const unlabelled = <T extends Job | Deployment>(object: T): T => {
      const { labels: _, ...metadata } = object.metadata
      return { ...object, metadata }
    }
    const { jobs, existing, statuses } = seen({
      jobs: [prepareJob('a'), elsewhere(prepareJob('b')), unlabelled(prepareJob('c'))],
      deployments: [osdOf(1, 'a'), elsewhere(osdOf(2, 'a')), unlabelled(osdOf(3, 'a'))],
      configMaps: [
        prepareResult('a', []),
        { ...prepareResult('b', []), metadata: { ...prepareResult('b', []).metadata, namespace: 'other' } },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'rook-config-override', namespace: 'rook-ceph' } },
      ],
    })
    expect([jobs.map(({ place }) => place), [...existing], statuses.length]).toEqual([['a'], [1], 1])
  })

  const withLabels = (name: string, labels: Record<string, string>): Deployment => {
    const plain = osdOf(0, 'a')
    return { ...plain, metadata: { name, namespace: 'rook-ceph', labels: { app: 'rook-ceph-osd', ...labels } } }
  }
  it.each([
    ['its label', withLabels('x', { 'ceph-osd-id': '7', osd: '8' }), [7]],
    ['the label of an older Rook', withLabels('x', { osd: '8' }), [8]],
    ['its name where it has neither, so that it is not made a second time', withLabels('rook-ceph-osd-9', {}), [9]],
    ['nothing where none makes sense', withLabels('x', { osd: 'one' }), []],
    ['nothing where there is none', withLabels('x', {}), []],
  ])('an OSD is known by %s', (_, deployment, existing) => {
    expect([...seen({ deployments: [deployment] }).existing]).toEqual(existing)
  })

  it('an object that was read without a generation is inspected as the first one, and its deletion is seen', () => {
    const { generation: _, ...metadata } = growingCluster({ deletionTimestamp: '2026-11-15T08:00:00Z' }).metadata
    const { generation, isBeingDeleted, places } = seen({ cluster: { ...growingCluster(), metadata } })
    expect([generation, isBeingDeleted, places.map(({ asked }) => asked)]).toEqual([0, true, ['0']])
  })

  it('what cannot be read counts as an inspection of its place: no claim is made beside the one that it is about', () => {
    const base = growingCluster()
    const storageClassDeviceSets = [{ name: 'set1', count: 1, volumeClaimTemplates: [{ spec: {} }] }]
    const cluster = { ...base, spec: { ...base.spec, storage: { storageClassDeviceSets } } }
    const broken = { ...prepareResult('set1-data-3', []), data: {} }
    expect(seen({ cluster, configMaps: [broken] }).places.map(({ name }) => name)).toEqual(['set1-data-3'])
  })
})

describe('a prepare Job', () => {
  const base = prepareJob('a')
  const bare = (job: Job, metadata: Partial<Job['metadata']>, nodeSelector?: Record<string, string>): Job => {
    const { nodeSelector: _, ...spec } = job.spec.template.spec
    const pod = nodeSelector === undefined ? spec : { ...spec, nodeSelector }
    return {
      ...job,
      metadata: {
        name: job.metadata.name,
        namespace: 'rook-ceph',
        labels: { app: 'rook-ceph-osd-prepare' },
        ...metadata,
      },
      spec: { ...job.spec, template: { ...job.spec.template, spec: pod } },
    }
  }
  const table: Record<string, { readonly job: Job; readonly is: Partial<PrepareJob> }> = {
    'of ours says its place, what was asked and its token': {
      job: base,
      is: { place: 'a', asked: '2', nonce: 'of a', isOurs: true, state: 'succeeded' },
    },
    'of a claim is known by its label, which Rook sets too': {
      job: bare(base, { labels: { app: 'rook-ceph-osd-prepare', 'ceph.rook.io/pvc': 'set1-data-0' } }),
      is: { place: 'set1-data-0' },
    },
    'of Rook is known by the node that it runs on, and is none of ours': {
      job: bare(base, {}, { 'kubernetes.io/hostname': 'b' }),
      is: { place: 'b', asked: undefined, nonce: undefined, isOurs: false },
    },
    'that says nothing is known by its name, so that none is started beside it': {
      job: bare(base, {}),
      is: { place: 'a' },
    },
    'that failed is no proof of a result': { job: prepareJob('a', { ended: 'Failed' }), is: { state: 'failed' } },
    'that has not ended runs': { job: prepareJob('a', { ended: 'Suspended' }), is: { state: 'active' } },
  }
  it.each(Object.entries(table))('%s', (_, { job, is }) => {
    expect(seen({ jobs: [job] }).jobs).toMatchObject([is])
  })
})

describe('whether OSDs are added here', () => {
  const all = trustsAlone([{ namespace: 'rook-ceph', name: 'rook-ceph' }], rookImage)
  const external = { ...growingCluster(), spec: { external: { enable: true } } }
  const planned = growingCluster({ annotations: { 'cofferdam.io/updates': 'plan' } })
  const table: Record<
    string,
    {
      readonly cluster?: GrowthObjects['cluster']
      readonly trust?: CephTrust
      readonly rookRuns?: boolean
      readonly is: GrowthMode
    }
  > = {
    'yes where the administrator says so and no Rook runs': { is: { isOn: true, rookImage } },
    'no where the OSDs run in another cluster: a pod here would open no disk': {
      cluster: external,
      is: { isOn: false, explanation: 'its OSDs run elsewhere' },
    },
    'no where the operator does not name the cluster: its owner alone could start privileged pods': {
      trust: trustsNone,
      is: { isOn: false, explanation: '--grow-osds of the operator does not name it' },
    },
    'no where updates are not ours: what is added could not be updated': {
      cluster: planned,
      is: { isOn: false, explanation: 'cofferdam.io/updates is plan, and OSDs are added only with own' },
    },
    "no where Rook's operator runs: two would prepare the same disk": {
      rookRuns: true,
      is: { isOn: false, explanation: "Rook's own operator runs, and adds OSDs here" },
    },
  }
  it.each(Object.entries(table))('%s', (_, { cluster = growingCluster(), trust = all, rookRuns = false, is }) => {
    expect(growthMode(cluster, { trust, rookRuns })).toEqual(is)
  })
})
