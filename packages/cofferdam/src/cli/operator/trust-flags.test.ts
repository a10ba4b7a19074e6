import { Command } from 'commander'
import { expect, it } from 'vitest'
import { configureTrust, trustOf } from './trust-flags.ts'

function parse(...argv: string[]) {
  const command = new Command('operator').exitOverride().option('--ceph-conf <file>')
  configureTrust(command)
  command.parse(argv, { from: 'user' })
  return trustOf(command.opts())
}

it('without flags the operator acts on no CephCluster', () => {
  expect(parse()).toEqual({ named: [], own: [], grow: [], rookImage: undefined })
})

it('with all of them it acts on those named, owns those said to be its own, and adds OSDs with that image alone', () => {
  const argv = ['--ceph-clusters', 'a/x,b/y', '--own-osds', 'a/x', '--grow-osds', 'a/x', '--rook-image', 'rook:v1']
  expect(parse(...argv)).toEqual({ named: ['a/x', 'b/y'], own: ['a/x'], grow: ['a/x'], rookImage: 'rook:v1' })
})

it('a ceph.conf leads to one Ceph: with another number of clusters one would speak for the others, so nothing starts', () => {
  expect(parse('--ceph-conf', 'c', '--ceph-clusters', 'a/x').named).toEqual(['a/x'])
  expect(() => parse('--ceph-conf', 'c', '--ceph-clusters', 'a/x,b/y')).toThrow(/lead to one Ceph.*names 2/)
  expect(() => parse('--ceph-conf', 'c')).toThrow(/lead to one Ceph.*names 0/)
})

it('what cannot be used is named with its flag', () => {
  expect(() => parse('--ceph-clusters', 'rook-ceph')).toThrow('--ceph-clusters: "rook-ceph" is not NAMESPACE/NAME')
})
