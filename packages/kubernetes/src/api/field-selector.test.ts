import { expect, it } from 'vitest'
import { fieldText, parseFieldSelector } from './field-selector.ts'

it('reads equality and inequality, with escaped commas in values', () => {
  expect(parseFieldSelector('spec.nodeName=node-1,status.phase!=Failed,metadata.name==a\\,b')).toEqual([
    { field: 'spec.nodeName', operator: '=', value: 'node-1' },
    { field: 'status.phase', operator: '!=', value: 'Failed' },
    { field: 'metadata.name', operator: '=', value: 'a,b' },
  ])
})

it('refuses what is no comparison, and names it', () => {
  expect(() => parseFieldSelector('spec.nodeName')).toThrow('invalid field selector "spec.nodeName"')
})

it('compares an absent field, and one that is no scalar, as the empty string', () => {
  const pod = { spec: { nodeName: 'node-1', hostNetwork: true, containers: [] } }
  expect(
    ['spec.nodeName', 'spec.hostNetwork', 'spec.containers', 'status.phase'].map((path) => fieldText(pod, path)),
  ).toEqual(['node-1', 'true', '', ''])
})
