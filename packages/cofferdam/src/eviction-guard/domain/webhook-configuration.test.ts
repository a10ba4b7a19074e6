import { describe, expect, it } from 'vitest'
import {
  buildGuardConfiguration,
  type GuardConfigurationOptions,
  isAsBuilt,
  parseGuardPath,
} from './webhook-configuration.ts'

const options: GuardConfigurationOptions = {
  address: { service: { namespace: 'cofferdam-system', name: 'cofferdam-guard', port: 443 } },
  caBundle: 'Y2E=',
  ownNamespace: 'cofferdam-system',
  guardsDeletions: false,
  proof: 'word',
}
const notOwn = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['cofferdam-system'] }
const evictions = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods/eviction'],
  scope: 'Namespaced',
}

describe('the registration of the guard', () => {
  it('fails open where no lock is held, closed where one is, and never speaks of its own namespace', () => {
    const shared = {
      rules: [evictions],
      matchPolicy: 'Equivalent',
      objectSelector: {},
      sideEffects: 'NoneOnDryRun',
      timeoutSeconds: 3,
      admissionReviewVersions: ['v1'],
    }
    const service = (path: string) => ({
      service: { namespace: 'cofferdam-system', name: 'cofferdam-guard', port: 443, path },
      caBundle: 'Y2E=',
    })
    expect(buildGuardConfiguration(options).webhooks).toEqual([
      {
        ...shared,
        name: 'eviction.guard.cofferdam.io',
        clientConfig: service('/validate/eviction/word'),
        failurePolicy: 'Ignore',
        namespaceSelector: {
          matchExpressions: [notOwn, { key: 'cofferdam.io/locked', operator: 'NotIn', values: ['true'] }],
        },
      },
      {
        ...shared,
        name: 'locked.guard.cofferdam.io',
        clientConfig: service('/validate/locked/word'),
        failurePolicy: 'Fail',
        namespaceSelector: {
          matchExpressions: [notOwn, { key: 'cofferdam.io/locked', operator: 'In', values: ['true'] }],
        },
      },
    ])
  })

  it('with deletions looks at them too, but never at those of kubelets or of pods that are going', () => {
    const { webhooks = [] } = buildGuardConfiguration({ ...options, guardsDeletions: true })
    for (const { rules = [], matchConditions = [] } of webhooks) {
      expect(rules.map(({ operations, resources }) => [operations, resources])).toEqual([
        [['CREATE'], ['pods/eviction']],
        [['DELETE'], ['pods']],
      ])
      expect(matchConditions.map(({ name }) => name)).toEqual([
        'kubelets-finish-pods',
        'leaving-pods-go',
        'finished-pods-go',
        'own-controllers-go-on',
      ])
    }
  })

  it('is reached under a URL where the guard runs outside of the cluster, with the same paths and proof', () => {
    const { webhooks = [] } = buildGuardConfiguration({ ...options, address: { url: 'https://127.0.0.1:9443' } })
    expect(webhooks.map(({ clientConfig }) => clientConfig)).toEqual([
      { url: 'https://127.0.0.1:9443/validate/eviction/word', caBundle: 'Y2E=' },
      { url: 'https://127.0.0.1:9443/validate/locked/word', caBundle: 'Y2E=' },
    ])
  })

  it('counts as changed when a webhook or a label of ours differs, not when others add labels of theirs', () => {
    const built = buildGuardConfiguration(options)
    const labels = { ...built.metadata.labels, 'argocd.example/instance': 'x' }
    expect(isAsBuilt({ ...built, metadata: { ...built.metadata, labels } }, built)).toBe(true)
    expect(isAsBuilt({ ...built, metadata: { name: built.metadata.name } }, built)).toBe(false)
    expect(isAsBuilt({ ...built, webhooks: [] }, built)).toBe(false)
    expect(isAsBuilt(buildGuardConfiguration({ ...options, caBundle: 'b3RoZXI=' }), built)).toBe(false)
  })
})

describe('a path under which the guard is called', () => {
  const paths: Record<string, readonly [string, ReturnType<typeof parseGuardPath>]> = {
    'has the word at its end': ['/validate/eviction/word', { isStrict: false, proof: 'word' }],
    'says that the namespace holds a lock': ['/validate/locked/word', { isStrict: true, proof: 'word' }],
    'without a word is still judged: a registration of an earlier version must not fail evictions': [
      '/validate/locked',
      { isStrict: true, proof: '' },
    ],
    'with more behind it is none': ['/validate/locked/word/more', undefined],
    'of anything else is none': ['/validate/else', undefined],
    'that is empty is none': ['', undefined],
  }
  it.each(Object.entries(paths))('%s', (_, [path, says]) => {
    expect(parseGuardPath(path)).toEqual(says)
  })
})
