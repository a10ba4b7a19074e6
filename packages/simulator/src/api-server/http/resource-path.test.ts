import { describe, expect, it } from 'vitest'
import { parseResourcePath, type ResourcePath } from './resource-path.ts'

const core = { group: '', version: 'v1' }

const scenarios: Record<string, ResourcePath | undefined> = {
  'api/v1/pods': { ...core, plural: 'pods' },
  'api/v1/nodes/n1': { ...core, plural: 'nodes', name: 'n1' },
  'api/v1/nodes/n1/status': { ...core, plural: 'nodes', name: 'n1', subresource: 'status' },
  'api/v1/namespaces': { ...core, plural: 'namespaces' },
  'api/v1/namespaces/db': { ...core, plural: 'namespaces', name: 'db' },
  'api/v1/namespaces/db/status': { ...core, plural: 'namespaces', name: 'db', subresource: 'status' },
  'api/v1/namespaces/db/finalize': { ...core, plural: 'namespaces', name: 'db', subresource: 'finalize' },
  'api/v1/namespaces/db/pods': { ...core, plural: 'pods', namespace: 'db' },
  'api/v1/namespaces/db/pods/p/eviction': {
    ...core,
    plural: 'pods',
    namespace: 'db',
    name: 'p',
    subresource: 'eviction',
  },
  'apis/apps/v1/namespaces/db/deployments/web/scale': {
    group: 'apps',
    version: 'v1',
    plural: 'deployments',
    namespace: 'db',
    name: 'web',
    subresource: 'scale',
  },
  'api/v1': undefined,
  'apis/apps/v1': undefined,
  'api/v1/namespaces/db/pods/p/eviction/more': undefined,
  'api/v1//pods': undefined,
  'metrics/v1/pods': undefined,
}

describe('a path says what it is about', () => {
  for (const [path, then] of Object.entries(scenarios)) {
    it(then ? `/${path} names a resource` : `/${path} names none`, () => {
      expect(parseResourcePath(path.split('/'))).toEqual(then)
    })
  }
})
