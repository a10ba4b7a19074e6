import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

/** After so many writes every further call fails, as for a process that died; `died` tells whether it came to that. */
export function dyingAfter(
  api: KubeApi,
  writes: number,
): {
  readonly api: KubeApi
  readonly died: () => boolean
  readonly kill: () => void
} {
  let left = writes
  let isDead = false
  const write = async <T>(call: () => Promise<T>): Promise<T> => {
    if (left === 0) isDead = true
    left -= 1
    return read(call)
  }
  const read = <T>(call: () => Promise<T>): Promise<T> =>
    isDead ? Promise.reject(new Error('the process is dead')) : call()
  return {
    died: () => isDead,
    kill() {
      isDead = true
    },
    api: {
      get: (...request) => read(() => api.get(...request)),
      list: (...request) => read(() => api.list(...request)),
      watch: (...request) => api.watch(...request),
      create: (...request) => write(() => api.create(...request)),
      createSubresource: (...request) => write(() => api.createSubresource(...request)),
      update: (...request) => write(() => api.update(...request)),
      patch: (...request) => write(() => api.patch(...request)),
      delete: (...request) => write(() => api.delete(...request)),
      deleteCollection: (...request) => write(() => api.deleteCollection(...request)),
    },
  }
}
