import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { expect, it } from 'vitest'
import { operatorArguments } from './operator-arguments.ts'

function pod(args?: readonly string[]): Pod {
  const container = { name: 'operator', ...(args === undefined ? {} : { args }) }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [container] } }
}

it('keeps what the pod asks for, and moves only what two processes on one network cannot share', () => {
  const asked = ['operator', '--health-host', '0.0.0.0', '--dry-run', '--health-port', '7480', '--log-level', 'debug']
  const ceph = { conf: 'ceph.conf', name: 'client.x', keyring: 'x.keyring' }
  expect(
    operatorArguments(pod(asked), {
      port: 5,
      kubeconfig: 'k',
      ceph,
      cluster: { key: 'rook-ceph/rook-ceph', rookImage: 'rook:v1' },
      guard: { port: 6, url: 'https://127.0.0.1:7' },
    }),
  ).toEqual([
    'operator',
    '--dry-run',
    '--log-level',
    'debug',
    '--kubeconfig',
    'k',
    '--ceph-conf',
    'ceph.conf',
    '--ceph-name',
    'client.x',
    '--ceph-keyring',
    'x.keyring',
    '--ceph-clusters',
    'rook-ceph/rook-ceph',
    '--own-osds',
    'rook-ceph/rook-ceph',
    '--grow-osds',
    'rook-ceph/rook-ceph',
    '--rook-image',
    'rook:v1',
    '--health-host',
    '127.0.0.1',
    '--health-port',
    '5',
    '--guard-port',
    '6',
    '--guard-url',
    'https://127.0.0.1:7',
  ])
})

it('beside Rook the cluster is named, and its OSDs are not called our own', () => {
  const cluster = { key: 'rook-ceph/rook-ceph', besideRook: true }
  const words = operatorArguments(pod(), { port: 5, kubeconfig: 'k', ceph: undefined, cluster, guard: undefined })
  expect(words).toContain('--ceph-clusters')
  expect(words).not.toContain('--own-osds')
})

it('a pod without arguments runs the operator as it is, and without a Ceph none is named', () => {
  expect(operatorArguments(pod(), { port: 5, kubeconfig: 'k', ceph: undefined, guard: undefined })).toEqual([
    'operator',
    '--kubeconfig',
    'k',
    '--health-host',
    '127.0.0.1',
    '--health-port',
    '5',
  ])
})
