import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { expect, it } from 'vitest'
import type { LonghornViews } from '../observe/observe.ts'
import { applySurplusRemoval } from './surplus.ts'

it('a replica is deleted only as it was seen: one that has changed since may be the last copy by now', async () => {
  const asked: unknown[] = []
  const conflict = new ApiError('Conflict', 'the replica has been modified')
  const remove: KubeApi['delete'] = (_type, { name }, options) => {
    asked.push([name, options?.preconditions])
    return Promise.reject(conflict)
  }
  const failures = await applySurplusRemoval(
    { api: { delete: remove }, views: {} as LonghornViews },
    [{ name: 'db-r-1', uid: 'uid-1', resourceVersion: '8' }],
    { objects: { namespace: 'longhorn-system' }, signal: new AbortController().signal },
  )
  expect(asked).toEqual([['db-r-1', { uid: 'uid-1', resourceVersion: '8' }]])
  expect(failures).toEqual([conflict])
})
