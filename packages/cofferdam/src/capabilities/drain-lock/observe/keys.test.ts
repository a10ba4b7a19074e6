import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { expect, it } from 'vitest'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { observeKeys } from './keys.ts'

const observe = (error: ApiError) => {
  const api = { get: () => Promise.reject(error) }
  const entry = { key: 'node/node-1', scope: '' } as LedgerEntry
  return observeKeys({ api, observeStorage: async () => [] }, [entry], new AbortController().signal)
}

it('a node that could not be read is not gone: what is held for it would be free while it is down', async () => {
  await expect(observe(new ApiError('InternalError', 'etcd has no leader'))).rejects.toThrow('etcd has no leader')
  expect(await observe(new ApiError('NotFound', 'no such node'))).toEqual(
    new Map([['node/node-1', { kind: 'node', node: undefined }]]),
  )
})
