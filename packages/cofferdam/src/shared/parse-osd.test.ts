import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { type HostnamedNode, nodesByHostname } from './node-hostnames.ts'
import { known } from './observed.ts'
import { parseOsd } from './parse-osd.ts'

const labels = {
  app: 'rook-ceph-osd',
  'ceph-osd-id': '3',
  osd: '3',
  'topology-location-zone': 'zone-a',
  'topology-location-host': 'node-a',
}

function deployment(facts: {
  labels?: Record<string, string>
  ready?: number
  annotations?: Record<string, string>
  pinnedTo?: string
}): Deployment {
  const own = facts.labels ?? labels
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'rook-ceph-osd-3',
      labels: own,
      ...(facts.annotations ? { annotations: facts.annotations } : {}),
    },
    spec: {
      selector: {},
      template: {
        metadata: { labels: own },
        spec: {
          containers: [],
          ...(facts.pinnedTo === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': facts.pinnedTo } }),
        },
      },
    },
    status: { readyReplicas: facts.ready ?? 1 },
  }
}

function pod(name: string, facts: { ready?: boolean; going?: boolean; node?: string; of?: string } = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...labels, 'ceph-osd-id': facts.of ?? '3' },
      ...(facts.going === true ? { deletionTimestamp: '2026-01-01T12:00:00Z' } : {}),
    },
    spec: { containers: [], ...(facts.node === undefined ? {} : { nodeName: facts.node }) },
    status: { conditions: [{ type: 'Ready', status: facts.ready === false ? 'False' : 'True' }] },
  }
}

const osd = {
  id: 3,
  isReady: true,
  isBeingReplaced: false,
  nodeName: { known: true, value: 'node-a' },
  topology: { zone: 'zone-a', host: 'node-a' },
  hasPodOnNode: false,
}

describe('an OSD from its Deployment and pods', () => {
  const nodes = [{ name: 'node-a', hostname: 'node-a' }]
  type Row = {
    given: [Deployment, Pod[], string?]
    nodes?: readonly HostnamedNode[]
    then: object
  }
  const rows: Record<string, Row> = {
    'a ready pod on its node': {
      given: [deployment({}), [pod('p', { node: 'node-a' })]],
      then: { osd: { ...osd, hasPodOnNode: true } },
    },
    'its pod is being deleted: it is down before the Deployment says so': {
      given: [deployment({}), [pod('p', { node: 'node-a', going: true })]],
      then: { osd: { ...osd, isReady: false, hasPodOnNode: true } },
    },
    'no pod can be placed: the Deployment names the node': {
      given: [deployment({ ready: 0, pinnedTo: 'node-a' }), [pod('p', { ready: false })]],
      then: { osd: { ...osd, isReady: false } },
    },
    'its node has another name than hostname: it is the node that counts, or an OSD at rest on a schedulable node would count as drained':
      {
        given: [deployment({ ready: 0, pinnedTo: 'a' }), []],
        nodes: [{ name: 'node-a', hostname: 'a' }],
        then: { osd: { ...osd, isReady: false } },
      },
    'two nodes have the hostname it is pinned to: its node is not known, for one of them may be cordoned': {
      given: [deployment({ ready: 0, pinnedTo: 'a' }), []],
      nodes: [
        { name: 'node-a', hostname: 'a' },
        { name: 'node-b', hostname: 'a' },
      ],
      then: {
        osd: {
          ...osd,
          isReady: false,
          nodeName: { known: false, why: 'nodes node-a and node-b have the same label kubernetes.io/hostname=a' },
        },
      },
    },
    'no node has the hostname it is pinned to, and Ceph never saw it run: its node is not known': {
      given: [deployment({ ready: 0, pinnedTo: 'a' }), [], ''],
      then: {
        osd: {
          ...osd,
          isReady: false,
          nodeName: { known: false, why: 'no node has the label kubernetes.io/hostname=a' },
        },
      },
    },
    'the node it is pinned to is gone: Ceph remembers the name of the node it ran on': {
      given: [deployment({ ready: 0, pinnedTo: 'b' }), [], 'node-a'],
      then: { osd: { ...osd, isReady: false } },
    },
    'no pod and no node selector: Ceph remembers where it ran': {
      given: [deployment({ ready: 0 }), [], 'node-a'],
      then: { osd: { ...osd, isReady: false } },
    },
    'it never ran: its node is not known': {
      given: [deployment({ ready: 0 }), [], ''],
      then: {
        osd: {
          ...osd,
          isReady: false,
          nodeName: { known: false, why: 'no pod, no node selector, and Ceph never saw it run' },
        },
      },
    },
    'pods of other OSDs say nothing about it': {
      given: [deployment({ pinnedTo: 'node-a' }), [pod('q', { node: 'node-b', ready: false, of: '4' })]],
      then: { osd },
    },
    'its disk is being replaced by Rook': {
      given: [
        deployment({ ready: 0, pinnedTo: 'node-a', annotations: { 'osd.rook.io/replace-in-progress': 'true' } }),
        [],
      ],
      then: { osd: { ...osd, isReady: false, isBeingReplaced: true } },
    },
    'a user asked to replace it, and nobody has begun: it is down like any other': {
      given: [deployment({ ready: 0, pinnedTo: 'node-a', annotations: { 'osd.rook.io/replace': 'yes' } }), []],
      then: { osd: { ...osd, isReady: false } },
    },
    'Rook is told to keep its hands off it: it counts all the same': {
      given: [deployment({ pinnedTo: 'node-a', labels: { ...labels, 'ceph.rook.io/do-not-reconcile': '' } }), []],
      then: { osd },
    },
    'an empty label counts as none': {
      given: [deployment({ pinnedTo: 'node-a', labels: { ...labels, 'topology-location-zone': '' } }), []],
      then: { osd: { ...osd, topology: { host: 'node-a' } } },
    },
    'no number: it is a problem of its own': {
      given: [deployment({ labels: { app: 'rook-ceph-osd' } }), []],
      then: { problem: { object: 'deployment/rook-ceph-osd-3', problem: 'has no label ceph-osd-id' } },
    },
    'a number that is none': {
      given: [deployment({ labels: { 'ceph-osd-id': 'three' } }), []],
      then: { problem: { object: 'deployment/rook-ceph-osd-3', problem: 'its label ceph-osd-id "three" is no OSD' } },
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { given: [of, pods, cephHostname], nodes: seen = nodes, then }) => {
    expect(parseOsd(of, pods, { nodeOf: nodesByHostname(seen), cephHostname })).toEqual(then)
  })
})

describe('an OSD that was read before', () => {
  const deployed = deployment({ pinnedTo: 'node-a' })
  const nodeNow = (name: string) => ({ nodeOf: nodesByHostname([{ name, hostname: 'node-a' }]) })

  it('is the same as long as its Deployment and its pods are', () => {
    const own = pod('one', { node: 'node-a' })
    const before = parseOsd(deployed, [own], nodeNow('node-a'))
    expect(parseOsd(deployed, [own], nodeNow('node-a'))).toBe(before)
    const going = pod('one', { node: 'node-a', going: true })
    expect(parseOsd(deployed, [going], nodeNow('node-a'))).toMatchObject({ osd: { isReady: false } })
  })

  it('without a pod of its own on a node follows the node of its hostname, whatever was read before', () => {
    const unplaced = [pod('waits'), pod('of another', { node: 'node-z', of: '4' })]
    expect(parseOsd(deployed, unplaced, nodeNow('node-a'))).toMatchObject({ osd: { nodeName: known('node-a') } })
    expect(parseOsd(deployed, unplaced, nodeNow('node-b'))).toMatchObject({ osd: { nodeName: known('node-b') } })
  })
})
