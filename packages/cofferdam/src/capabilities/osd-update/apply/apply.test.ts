import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { removeDeployment, startRestart } from './apply.ts'

const { signal } = new AbortController()
const pod = { namespace: 'rook-ceph', name: 'rook-ceph-osd-3-abcde', uid: 'uid-3' }

function listening() {
  const asked: string[] = []
  const api = {
    createSubresource: async (_type: unknown, { name }: { name: string }, subresource: string) => {
      asked.push(`${subresource} ${name}`)
      return {}
    },
    delete: async (
      _type: unknown,
      { name }: { name: string },
      options?: { readonly preconditions?: { readonly uid?: string } },
    ) => {
      asked.push(`delete ${name} ${options?.preconditions?.uid}`)
      if (options?.preconditions?.uid === 'uid-before') throw new ApiError('Conflict', 'the uid differs')
      return {}
    },
  } as unknown as KubeApi
  return { api, asked }
}

describe('the restart of an OSD', () => {
  it('by eviction never deletes its pod: budgets that somebody else keeps closed would be passed by', async () => {
    const { api, asked } = listening()
    await startRestart(api, { osd: 3, pods: [pod], by: 'eviction' }, signal)
    expect(asked).toEqual(['eviction rook-ceph-osd-3-abcde'])
  })

  it('past its budgets deletes the very pod that was seen', async () => {
    const { api, asked } = listening()
    await startRestart(api, { osd: 3, pods: [pod], by: 'deletion' }, signal)
    expect(asked).toEqual(['delete rook-ceph-osd-3-abcde uid-3'])
  })
})

it('the Deployment of an OSD that was made anew stays: it has the name of the lost one, and another disk', async () => {
  const { api, asked } = listening()
  const lost = { osd: 3, namespace: 'rook-ceph', name: 'rook-ceph-osd-3', uid: 'uid-before' }
  expect(await removeDeployment(api, lost, signal)).toBe(false)
  expect(asked).toEqual(['delete rook-ceph-osd-3 uid-before'])
})
