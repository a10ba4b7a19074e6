import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { describe, expect, it } from 'vitest'
import { encodeMessage } from './protobuf.ts'
import { decodeProtobuf } from './protobuf-body.ts'

/** Bodies as kubectl 1.36.4 sent them. */
const sentByKubectl: Record<string, { body: string; object: JsonObject }> = {
  'create deployment web --image=web:1 --replicas=0 keeps the zero that was asked for and drops those that were not': {
    body: 'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EqkBCh8KA3dlYhIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEngIABIMCgoKA2FwcBIDd2ViGl4KHAoAEgAaACIAKgAyADgAQgBaCgoDYXBwEgN3ZWISPhIgCgN3ZWISBXdlYjoxKgBCAGoAcgCAAQCIAQCQAQCiAQAaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAIgIKACgAOAAaDAgAEAAYACAAKAA4ABoAIgA=',
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image: 'web:1', resources: {} }] },
        },
        strategy: {},
      },
      status: {},
    },
  },
  'create pdb b --min-available=50% carries a text where a number may stand': {
    body: 'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSNgoRCgFiEgAaACIAKgAyADgAQgASFQoJCAEQABoDNTAlEggKBgoBYRIBYhoKCAAYACAAKAAwABoAIgA=',
    object: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  },
  'auth can-i create pods is a question without a name': {
    body: 'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSPwoQCgASABoAIgAqADIAOABCABIhCh8KB2RlZmF1bHQSBmNyZWF0ZRoAIgAqBHBvZHMyADoAGggIABIAGgAgABoAIgA=',
    object: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes: { namespace: 'default', verb: 'create', resource: 'pods' } },
      status: { allowed: false },
    },
  },
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = encodeMessage([
    [1, apiVersion],
    [2, kind],
  ])
  const unknown = encodeMessage([
    [1, type],
    [2, raw],
  ])
  return Buffer.concat([Buffer.from('k8s\0', 'latin1'), unknown])
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

describe('a protobuf body', () => {
  for (const [sentence, { body, object }] of Object.entries(sentByKubectl)) {
    it(sentence, () => expect(decodeProtobuf(Buffer.from(body, 'base64'))).toEqual(object))
  }

  it('of a Lease carries times to the microsecond', () => {
    const seconds = Date.parse('2026-01-01T00:00:00Z') / 1000
    const time = Buffer.from([8, ...varint(seconds), 16, ...varint(123_456_000)])
    const spec = encodeMessage([
      [1, 'op-1'],
      [4, time],
    ])
    expect(decodeProtobuf(envelope('coordination.k8s.io/v1', 'Lease', encodeMessage([[2, spec]])))).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      spec: { holderIdentity: 'op-1', renewTime: '2026-01-01T00:00:00.123456Z' },
    })
  })

  it('of a volume is unfolded where JSON has no level of its own', () => {
    const claim = encodeMessage([[1, 'data']])
    const volume = encodeMessage([
      [1, 'v'],
      [2, encodeMessage([[10, claim]])],
    ])
    const decoded = decodeProtobuf(envelope('v1', 'Pod', encodeMessage([[2, encodeMessage([[1, volume]])]])))
    expect(decoded).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
    })
  })

  it('of a kind nobody knows is left to others', () => {
    expect(decodeProtobuf(envelope('example.com/v1', 'Widget', Buffer.alloc(0)))).toBeUndefined()
  })

  it('that is broken is refused, wherever it breaks', () => {
    const whole = Buffer.from(Object.values(sentByKubectl)[0]?.body ?? '', 'base64')
    expect(() => decodeProtobuf(Buffer.from('{"kind":"Pod"}'))).toThrow(RangeError)
    for (let length = 5; length < whole.length; length += 1) {
      const cut = whole.subarray(0, length)
      try {
        decodeProtobuf(cut)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }
  })
})
