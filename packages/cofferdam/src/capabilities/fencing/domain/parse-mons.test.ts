import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { parseMons } from './parse-mons.ts'

const labels = (app: string, id: string) => ({ app, ceph_daemon_id: id })
const deployment = (app: string, id: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: `${app}-${id}`, namespace: 'rook-ceph', labels: labels(app, id) },
  spec: { selector: {}, template: { spec: { containers: [] } } },
})
const pod = (app: string, id: string, nodeName: string, ready: boolean): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${app}-${id}-pod`, namespace: 'rook-ceph', labels: labels(app, id) },
  spec: { nodeName, containers: [] },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

it('a ready mgr of the same name makes no dead mon look alive: its machine would never be released', () => {
  const deployments = [deployment('rook-ceph-mgr', 'a'), deployment('rook-ceph-mon', 'a')]
  const pods = [pod('rook-ceph-mgr', 'a', 'node-2', true), pod('rook-ceph-mon', 'a', 'node-1', false)]
  expect(parseMons(deployments, pods)).toEqual([{ name: 'a', places: [{ nodeName: 'node-1', isReady: false }] }])
})

it('a mon without a name is none, and a pod without a node is nowhere: neither may stand for a quorum', () => {
  const { labels: _, ...metadata } = deployment('rook-ceph-mon', 'b').metadata
  const nameless = { ...deployment('rook-ceph-mon', 'b'), metadata: { ...metadata, labels: { app: 'rook-ceph-mon' } } }
  const { nodeName: __, ...spec } = pod('rook-ceph-mon', 'a', 'node-1', false).spec
  const unbound = { ...pod('rook-ceph-mon', 'a', 'node-1', false), spec }
  expect(parseMons([nameless, deployment('rook-ceph-mon', 'a')], [unbound])).toEqual([{ name: 'a', places: [] }])
})
