import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { invalidObject } from '../schema/field-error.ts'
import { type MetadataRules, validateMetadata } from './metadata-validation.ts'

function objectWith(metadata: Partial<ObjectMeta>): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'it', namespace: 'shop', ...metadata } }
}

interface Case {
  given: Partial<ObjectMeta>
  previous?: Partial<ObjectMeta>
  rules?: MetadataRules
  then: string[]
}

const keyRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: 'u', controller: true }

const cases: Record<string, Case> = {
  'a plain object is fine': { given: { labels: { a: 'b', 'c.io/d': '' }, finalizers: ['c.io/hold'] }, then: [] },
  'a name with capitals is refused with the rule': {
    given: { name: 'It' },
    then: [
      "metadata.name: Invalid value: \"It\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  },
  'a label name has no dots': {
    given: { name: 'a.b' },
    rules: { namespaced: true, nameRule: 'label' },
    then: ['metadata.name: Invalid value: "a.b": must not contain dots'],
  },
  'a role may be called almost anything': {
    given: { name: 'system:Node%2' },
    rules: { namespaced: true, nameRule: 'path' },
    then: [`metadata.name: Invalid value: "system:Node%2": may not contain '%'`],
  },
  'something must name the object': {
    given: { name: '' },
    then: ['metadata.name: Required value: name or generateName is required'],
  },
  'what lives in no namespace may not name one': {
    given: {},
    rules: { namespaced: false },
    then: ['metadata.namespace: Forbidden: not allowed on this type'],
  },
  'what lives in a namespace must name it': {
    given: { namespace: '' },
    then: ['metadata.namespace: Required value'],
  },
  'a label key that is none is refused': {
    given: { labels: { '-a': 'b' } },
    then: [`metadata.labels: Invalid value: "-a": ${keyRule}`],
  },
  'a label value that is too long is refused': {
    given: { labels: { a: 'b'.repeat(64) } },
    then: [`metadata.labels: Invalid value: "${'b'.repeat(64)}": must be no more than 63 bytes`],
  },
  'annotation keys may have capitals': { given: { annotations: { 'Example.com/Key': '{"any": "text"}' } }, then: [] },
  'annotations may not be a store of their own': {
    given: { annotations: { a: 'é'.repeat(140_000) } },
    then: ['metadata.annotations: Too long: may not be more than 262144 bytes'],
  },
  'an object has one controller': {
    given: { ownerReferences: [owner, { ...owner, name: 'b' }] },
    then: [
      `metadata.ownerReferences: Invalid value: ${JSON.stringify([owner, { ...owner, name: 'b' }])}: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/a and ReplicaSet/b`,
    ],
  },
  'an owner without a uid is refused': {
    given: { ownerReferences: [{ ...owner, uid: '' }] },
    then: ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
  },
  'a finalizer has a name like a label key': {
    given: { finalizers: ['a/b/c'] },
    then: [
      `metadata.finalizers: Invalid value: "a/b/c": a valid label key ${keyRule.replace('name part ', '')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  },
  'a finalizer without a domain is one of Kubernetes itself, or is refused by its place': {
    given: { finalizers: ['foregroundDeletion', 'hold'] },
    rules: { namespaced: true, hasQualifiedFinalizers: true },
    then: [
      'metadata.finalizers[1]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified',
    ],
  },
  'some kinds do not mind a finalizer without a domain': { given: { finalizers: ['hold'] }, then: [] },
  'an object on its way out takes no new finalizers': {
    given: { finalizers: ['a.io/x', 'b.io/y'], deletionTimestamp: 't' },
    previous: { finalizers: ['a.io/x'], deletionTimestamp: 't' },
    then: [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"b.io/y"}',
    ],
  },
  'an object keeps its uid': {
    given: { uid: 'b' },
    previous: { uid: 'a' },
    then: ['metadata.uid: Invalid value: "b": field is immutable'],
  },
}

describe('validateMetadata', () => {
  for (const [sentence, { given, previous, rules = { namespaced: true }, then }] of Object.entries(cases)) {
    it(sentence, () => {
      const errors = validateMetadata(objectWith(given), previous && objectWith(previous), rules)
      const lines = errors.map((error) => invalidObject({ group: '', kind: 'Thing', name: 'it' }, [error]).message)
      expect(lines.map((line) => line.replace('Thing "it" is invalid: ', ''))).toEqual(then)
    })
  }

  it('metadata that did not change is not looked at', () => {
    const metadata = { name: 'NOT valid' }
    const object = { apiVersion: 'v1', kind: 'Thing', metadata }
    expect(validateMetadata({ ...object }, object, { namespaced: true })).toEqual([])
  })
})
